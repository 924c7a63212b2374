// rows.js - which rows there are, and where: sections, tracks, and lists of which only the visible
// part is asked for.
import { askJson } from './api.js';
import { GOROUTINE, GROUP, METRIC, PROC, RANGE, REGION, SAMPLES, TASK, THREAD, TYPE } from './format.js';

const PAGE = 200, MOST_FOLDED = 2000, LANES = 4;
const HEIGHTS = { section: 22, track: 20, crowd: 34, metric: 24, lane: 13 };

// Tracks of a kind, of one group or of all, in pages.
class List {
  constructor(app, kind, group, sort) {
    Object.assign(this, { app, kind, group, sort, total: 0, lanes: 0, pages: new Map(), asked: new Map(), epoch: -1 });
  }

  track(n) {
    const page = Math.floor(n / PAGE);
    if (this.asked.get(page) !== this.app.epoch)
      this.ask(page);
    return this.pages.get(page)?.[n % PAGE];
  }

  async ask(page) {
    this.asked.set(page, this.app.epoch);
    try {
      const { total, tracks } = await askJson('tracks', { kind: this.kind, group: this.group, sort: this.sort, offset: page * PAGE, limit: PAGE,
        ...(this.kind === GOROUTINE || this.kind === GROUP || this.kind === TASK || this.kind === TYPE ? this.app.listed() : {}) });
      this.total = total;
      this.pages.set(page, tracks);
      if (this.kind === GOROUTINE)
        tracks.forEach((track) => this.app.nameGoroutine(track.id, track));
      if (page === 0)
        await this.findLanes();
    } catch (error) {
      this.app.report(error);
    }
    this.app.layoutChanged();
  }

  // How many regions in one another goroutines of the group have.
  async findLanes() {
    if (this.kind !== GOROUTINE)
      return;
    for (let lane = this.lanes; lane < LANES; lane++) {
      const { total } = await askJson('tracks', { kind: REGION + lane, group: this.group, limit: 0 });
      if (total === 0)
        return;
      this.lanes = lane + 1;
    }
  }

  // All of them, up to a limit; what is not here yet is undefined.
  *all() {
    this.track(0);
    for (let n = 0; n < Math.min(this.total, MOST_FOLDED); n++)
      yield this.track(n);
  }
}

const SECTIONS = [
  { key: 'program', title: 'Program', lists: [[RANGE, 'id'], [METRIC, 'id'], [SAMPLES, 'id']] },
  { key: 'procs', title: 'Procs', lists: [[PROC, 'id']] },
  { key: 'tasks', title: 'Tasks', lists: [[TYPE, null]], members: TASK },
  { key: 'threads', title: 'Threads', lists: [[THREAD, 'id']] },
  { key: 'goroutines', title: 'Goroutines', lists: [[GROUP, null]], members: GOROUTINE },
];

export const OPEN_AT_FIRST = ['pinned', 'program', 'procs', 'tasks', 'goroutines'];

// The rows from top to bottom, as blocks of rows of one height.
export class Rows {
  constructor(app) {
    this.app = app;
    this.lists = new Map();
    this.blocks = [];
    this.height = 0;
  }

  list(kind, group, sort) {
    const key = `${kind} ${group} ${sort}`;
    if (!this.lists.has(key))
      this.lists.set(key, new List(this.app, kind, group, sort));
    return this.lists.get(key);
  }

  ranges() {
    return [...this.list(RANGE, undefined, 'id').all()].filter(Boolean);
  }

  groups() {
    return [...this.list(GROUP, undefined, this.app.state.sort).all()].filter(Boolean);
  }

  types() {
    return [...this.list(TYPE, undefined, this.app.state.sort).all()].filter(Boolean);
  }

  layout() {
    this.blocks = [];
    this.height = 0;
    const { pins } = this.app.state;
    if (pins.length) {
      this.add({ type: 'section', key: 'pinned', title: 'Pinned', count: pins.length, height: HEIGHTS.section });
      for (const pin of this.app.isOpen('pinned') ? pins : [])
        this.add(this.track(GOROUTINE, { id: pin, name: this.app.goroutineName(pin) }, 1, this.app.lanesOf(pin), 'pin'));
    }
    for (const section of SECTIONS)
      this.addSection(section);
  }

  add(row) {
    this.blocks.push({ top: this.height, height: row.height, count: 1, row });
    this.height += row.height;
  }

  track(kind, track, depth, lanes, prefix = '') {
    const crowd = kind === GROUP || kind === TYPE;
    const height = crowd ? HEIGHTS.crowd : kind === METRIC ? HEIGHTS.metric : HEIGHTS.track + lanes * HEIGHTS.lane;
    return { type: 'track', key: `${prefix}${kind}:${track.id}`, kind, id: String(track.id), track, depth, lanes, height, crowd };
  }

  addSection({ key, title, lists, members }) {
    const all = lists.map(([kind, sort]) => this.list(kind, undefined, sort ?? this.app.state.sort));
    const open = this.app.isOpen(key);
    all.forEach((list) => list.track(0));
    const count = all.reduce((sum, list) => sum + list.total, 0);
    if (count === 0)
      return;
    this.add({ type: 'section', key, title, count, height: HEIGHTS.section, sorts: members !== undefined });
    for (const list of open ? all : []) {
      if (list.kind === METRIC)
        this.addMetrics(list);
      else if (members === undefined)
        this.addList(list, 1);
      else
        this.addFolded(list, members);
    }
  }

  // The goal of the heap is shown with the heap.
  addMetrics(list) {
    const tracks = [...list.all()].filter(Boolean);
    for (const track of tracks)
      if (track.id !== '3' || !tracks.some(({ id }) => id === '2'))
        this.add(this.track(METRIC, track, 1, 0));
  }

  // Rows of which each can be opened.
  addFolded(list, members) {
    for (const track of list.all()) {
      if (!track)
        continue;
      const row = this.track(list.kind, track, 1, 0);
      row.folds = true;
      this.add(row);
      if (this.app.isOpen(row.key))
        this.addList(this.list(members, track.id, this.app.state.sort), 2);
    }
    if (list.total > MOST_FOLDED)
      this.add({ type: 'note', key: `more${list.kind}`, title: `${list.total - MOST_FOLDED} more`, height: HEIGHTS.section, depth: 1 });
  }

  addList(list, depth) {
    list.track(0);
    const { height } = this.track(list.kind, { id: 0 }, depth, list.lanes);
    this.blocks.push({ top: this.height, height, count: list.total, list, depth });
    this.height += height * list.total;
  }

  // Rows with a part between two heights: [row, y].
  *visible(top, bottom) {
    let low = 0, high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.blocks[middle].top + this.blocks[middle].height * this.blocks[middle].count > top)
        high = middle;
      else
        low = middle + 1;
    }
    for (; low < this.blocks.length && this.blocks[low].top < bottom; low++) {
      const block = this.blocks[low];
      const last = Math.min(block.count, Math.ceil((bottom - block.top) / block.height));
      for (let n = Math.max(0, Math.floor((top - block.top) / block.height)); n < last; n++)
        yield [this.rowOf(block, n), block.top + n * block.height];
    }
  }

  rowOf(block, n) {
    if (block.row)
      return block.row;
    const track = block.list.track(n);
    return track ? this.track(block.list.kind, track, block.depth, block.list.lanes)
      : { type: 'note', key: `${block.list.kind} ${block.list.group} ${n}`, title: '\u2026', height: block.height, depth: block.depth };
  }

  rowAt(y) {
    for (const [row, top] of this.visible(y, y + 1))
      return { row, top };
    return null;
  }

  // Where a track is, if it is in a part that was loaded.
  find(kind, id) {
    for (const block of this.blocks) {
      if (block.row && block.row.kind === kind && block.row.id === String(id))
        return { row: block.row, top: block.top };
      if (!block.list || block.list.kind !== kind)
        continue;
      for (const [page, tracks] of block.list.pages) {
        const n = tracks.findIndex((track) => String(track.id) === String(id));
        if (n >= 0)
          return { row: this.rowOf(block, page * PAGE + n), top: block.top + (page * PAGE + n) * block.height };
      }
    }
    return null;
  }
}

// What of a row is at that height: the track itself, or one of its lanes of regions.
export const laneAt = (row, y) => {
  const lane = Math.floor((y - HEIGHTS.track) / HEIGHTS.lane);
  return row.lanes && lane >= 0 ? REGION + Math.min(lane, row.lanes - 1) : row.kind;
};
export const { track: TRACK_HEIGHT, lane: LANE_HEIGHT } = HEIGHTS;
