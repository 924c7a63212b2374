// stored.js - answers from the data in a report, where there is no program to ask (timeline.c).
import { GOROUTINE, nameOf, PROC, TASK, THREAD } from './format.js';
import { Bytes, Stretches, TILE, tileOf } from './stretches.js';

// The window of the report in which this page is a frame; null: it is the page of `gotrace view`.
export const report = location.href === 'about:srcdoc' ? parent : null;

const KEYS = { begin: (track) => track.begin, id: (track) => Number(track.id), name: (track) => track.name };

class Stored {
  constructor(bytes) {
    const from = new Bytes(bytes);
    const part = () => {
      const size = from.number();
      from.at += size;
      return bytes.subarray(from.at - size, from.at);
    };
    this.decoder = new TextDecoder();
    this.entries = new Map();
    while (from.at < bytes.length)
      this.entries.set(this.decoder.decode(part()), part());
    this.tiles = new Map();
    this.names = new Map();
    for (const entry of [...this.entries.keys()].filter((name) => name.startsWith('names ')))
      this.json(entry).forEach((name, n) => this.names.set(entry.slice(6).split(',')[n], name));
    this.lists = Array.from({ length: 15 }, (_, kind) => this.entries.has(`tracks ${kind}`) ? this.json(`tracks ${kind}`).tracks : []);
    this.goroutines = new Map(this.lists[GOROUTINE].map((track) => [track.id, nameOf(track)]));
    this.trace = this.json('trace');
    this.top = 0;
    while (!this.entries.has(`12:0 ${this.top} 0`) && this.top < 50)
      this.top++;
    while (this.entries.has(`12:0 ${this.top + 1} 0`))
      this.top++;
  }

  static async open() {
    const packed = Uint8Array.from(atob(report.document.getElementById('timeline-data').textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Stored(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  json(name) {
    return JSON.parse(this.decoder.decode(this.entries.get(name)));
  }

  missing(what) {
    return new Error(`${what} in a report: gotrace view ${this.trace.files[0]}`);
  }

  answer(question, options = {}) {
    const { ids, id, kind, at } = options;
    const name = [question, ...question === 'interval' ? [`${kind}:${id}:${at}`] : id === undefined ? [] : [id]].join(' ');
    if (question === 'tracks')
      return this.list(options);
    if (question === 'names')
      return ids.split(',').map((one) => this.names.get(one) ?? '');
    if (this.entries.has(name))
      return this.json(name);
    if (question === 'interval')
      return this.interval(kind, id, Number(at));
    throw this.missing(`There is no ${question}`);
  }

  list({ kind, group, sort = 'cost', from = -Infinity, until = Infinity, offset = 0, limit = 100 }) {
    const tracks = this.lists[kind].filter((track) => (group === undefined || track.group === Number(group)) && track.begin < until && track.end > from);
    const key = KEYS[sort];
    if (key)
      tracks.sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
    return { total: tracks.length, tracks: tracks.slice(offset, offset + limit) };
  }

  interval(kind, id, at) {
    const list = this.window(`${kind}:${id}`, at, at + 1, 0);
    if (!list.length)
      throw this.missing('Nothing is known of this');
    if (list.several[0] >= 0)
      throw this.missing(`${list.sums[list.several[0]].count} intervals are too short`);
    const [begin, end, state, stack, other] = ['begin', 'end', 'state', 'stack', 'other'].map((name) => list[name][0]);
    const reason = this.names.get(String(list.reason[0])) ?? '', runs = kind === PROC || kind === THREAD;
    const name = kind === TASK ? reason : this.goroutines.get(String(runs ? other : id)) ?? '';
    return { begin, end, state, reason, stack, name, goroutine: runs && other ? String(other) : null,
      cause: kind === GOROUTINE && other ? { goroutine: String(other), name: this.goroutines.get(String(other)) ?? '' } : null };
  }

  tile(track, level, index) {
    const name = `${track} ${level} ${index}`, bytes = this.entries.get(name);
    if (bytes && !this.tiles.has(name))
      this.tiles.set(name, tileOf(track, level, index, new Stretches().read(new Bytes(bytes), bytes.length, index * TILE * 2 ** level)));
    return this.tiles.get(name);
  }

  // The parts of a window: [tile, from, until], of tiles with as much detail as there is.
  parts(track, wanted, from, until, report = () => {}) {
    const list = [], level = Math.min(wanted, this.top), span = TILE * 2 ** level;
    const last = Math.floor(Math.min(until, this.trace.end) / span);
    for (let index = Math.floor(Math.max(from, 0) / span); index <= last; index++) {
      let up = 0;
      while (level + up < this.top && !this.tile(track, level + up, Math.floor(index / 2 ** up)))
        up++;
      const tile = this.tile(track, level + up, Math.floor(index / 2 ** up));
      if (!tile)
        continue;
      if (list.at(-1)?.[0] === tile)
        list.at(-1)[2] = (index + 1) * span;
      else
        list.push([tile, index * span, (index + 1) * span]);
      if (up > 2 && !tile.bins && tile.stretches.sums.length && !this.reported) {
        this.reported = true;
        report(this.missing('There is no more detail'));
      }
    }
    return list;
  }

  window(track, from, until, level) {
    const list = new Stretches();
    let first = -Infinity;
    for (const [tile, a, b] of this.parts(track, level, from, until)) {
      list.add(tile.stretches, Math.max(a, from), Math.min(b, until), first);
      first = b;
    }
    return list;
  }
}

export const stored = report && await Stored.open();
