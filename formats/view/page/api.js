// api.js - asks the program, and keeps the answers: names, stacks, and what tracks do, in tiles. In a
// report they are stored.
import { whole } from './format.js';
import { stored } from './stored.js';
import { Bytes, levelOf, Stretches, TILE, tileOf } from './stretches.js';

const REQUESTS = 5, TRACKS = 100, MOST_WEIGHT = 6e6, PAUSE = 2000;

export const ask = async (question, options = {}, signal = undefined) => {
  const query = new URLSearchParams(Object.entries(options).filter(([, value]) => value !== undefined));
  const response = await fetch(`api/1/${question}?${query}`, { signal, credentials: 'same-origin' });
  if (response.ok)
    return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `${question}: status ${response.status}`);
};

export const askJson = async (...all) => stored ? stored.answer(...all) : (await ask(...all)).json();

// What these tracks ("kind:id") do in a window.
export const askWindow = async (tracks, from, until, pixel, signal = undefined) => {
  if (stored)
    return tracks.map((track) => stored.window(track, from, until, levelOf(pixel)));
  const response = await ask('window', { from: whole(from), until: whole(until), pixel: whole(pixel), tracks: tracks.join(',') }, signal);
  const bytes = new Bytes(new Uint8Array(await response.arrayBuffer()));
  return tracks.map(() => {
    const end = bytes.number() + bytes.at;
    return new Stretches().read(bytes, end, Math.round(from));
  });
};

// ---- tiles -----------------------------------------------------------------------------------------

export class Tiles {
  constructor(arrived, failed) {
    this.arrived = arrived;
    this.failed = failed;
    this.tiles = new Map();
    this.weight = 0;
    this.epoch = 0;
    this.begin = 0;
    this.end = 0;
    this.paused = 0;
    this.wanted = new Map();
    this.asked = new Map();
  }

  // The trace is longer now: what is here is shown until there is more.
  grow(begin, end) {
    this.begin = begin;
    this.end = end;
    this.epoch++;
  }

  find(track, level, index) {
    const key = `${track} ${level} ${index}`;
    const tile = this.tiles.get(key);
    if (tile && tile.used !== this.frame) {
      tile.used = this.frame;
      this.tiles.delete(key);
      this.tiles.set(key, tile);
    }
    return tile;
  }

  startFrame(frame) {
    this.frame = frame;
    this.missing = 0;
    this.wanted.clear();
  }

  // The parts of a window: [tile, from, until]; what is not here yet, in another level.
  parts(track, level, from, until) {
    if (stored)
      return stored.parts(track, level, from, until, this.failed);
    const list = [];
    const span = TILE * 2 ** level;
    const last = Math.floor(Math.min(until, this.end) / span);
    for (let index = Math.floor(Math.max(from, this.begin) / span); index <= last; index++) {
      const tile = this.find(track, level, index);
      if (!tile || tile.epoch !== this.epoch)
        this.want(track, level, index);
      if (tile)
        list.push([tile, index * span, (index + 1) * span]);
      else
        this.otherLevel(list, track, level, index);
    }
    return list;
  }

  otherLevel(list, track, level, index) {
    const span = TILE * 2 ** level;
    for (let up = 1; up <= 10; up++) {
      const tile = this.find(track, level + up, Math.floor(index / 2 ** up));
      if (tile) {
        list.push([tile, index * span, (index + 1) * span]);
        return;
      }
    }
    for (let part = 0; part < 4 && level >= 2; part++) {
      const tile = this.find(track, level - 2, index * 4 + part);
      if (tile)
        list.push([tile, index * span + part * span / 4, index * span + (part + 1) * span / 4]);
    }
  }

  want(track, level, index) {
    this.missing++;
    const place = `${level} ${index}`;
    if (!this.wanted.has(place))
      this.wanted.set(place, new Set());
    this.wanted.get(place).add(track);
  }

  // Asks for what was wanted in this frame, and gives up what no longer is.
  flush() {
    if (performance.now() < this.paused)
      return;
    for (const request of this.asked.values())
      if (!request.tracks.some((track) => this.wanted.get(request.place)?.has(track)))
        request.controller.abort();
    for (const request of this.asked.values())
      request.tracks.forEach((track) => this.wanted.get(request.place)?.delete(track));
    for (const [place, tracks] of this.wanted) {
      const list = [...tracks];
      while (list.length && this.asked.size < REQUESTS)
        this.request(place, list.splice(0, TRACKS));
    }
  }

  async request(place, tracks) {
    const request = { place, tracks, controller: new AbortController() };
    this.asked.set(request, request);
    const [level, index] = place.split(' ').map(Number);
    const pixel = 2 ** level, from = index * TILE * pixel, epoch = this.epoch;
    try {
      const answers = await askWindow(tracks, from, from + TILE * pixel, level ? pixel : 0, request.controller.signal);
      answers.forEach((stretches, n) => this.store(`${tracks[n]} ${level} ${index}`, { ...tileOf(tracks[n], level, index, stretches), epoch }));
    } catch (error) {
      if (error.name !== 'AbortError')
        this.pause(error);
    }
    this.asked.delete(request);
    this.arrived();
  }

  // After a failure: not at once again.
  pause(error) {
    this.failed(error);
    this.paused = performance.now() + PAUSE;
    setTimeout(this.arrived, PAUSE);
  }

  store(key, tile) {
    tile.weight = 16 + tile.stretches.length * 7 + (tile.bins?.length ?? 0);
    if (tile.bins)
      tile.stretches = null;
    this.weight += tile.weight - (this.tiles.get(key)?.weight ?? 0);
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    for (const [old, { weight, used }] of this.tiles) {
      if (this.weight < MOST_WEIGHT || used === this.frame)
        break;
      this.tiles.delete(old);
      this.weight -= weight;
    }
  }
}

// ---- names and stacks ------------------------------------------------------------------------------

export class Names {
  constructor(arrived) {
    this.arrived = arrived;
    this.names = new Map([[0, '']]);
    this.wanted = new Set();
    this.asking = false;
  }

  // The name, or '' until it is here.
  get(id) {
    const name = this.names.get(id);
    if (name === undefined)
      this.wanted.add(id);
    return name ?? '';
  }

  async flush() {
    if (this.asking || this.wanted.size === 0)
      return;
    this.asking = true;
    const ids = [...this.wanted].slice(0, 200);
    try {
      const texts = await askJson('names', { ids: ids.join(',') });
      ids.forEach((id, n) => this.names.set(id, texts[n]));
    } catch {
      ids.forEach((id) => this.names.set(id, ''));
    }
    ids.forEach((id) => this.wanted.delete(id));
    this.asking = false;
    this.arrived();
  }
}

const stacks = new Map();
export const askStack = async (id) => {
  if (!stacks.has(id))
    stacks.set(id, await askJson('stack', { id }));
  return stacks.get(id);
};
