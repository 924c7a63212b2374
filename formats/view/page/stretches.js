// stretches.js - what tracks do, in tiles: the binary form of windows.
//
// A tile is what one track does in TILE pixels of time, where a pixel is 2^level ns.
import { ALL, ASSIST, GROUP, LOCK, RUN, RUNNABLE, STATES, SYSCALL, TYPE } from './format.js';

export const TILE = 1024;
// What a row of many goroutines shows: how many run, assist, are in system calls, are runnable, wait
// for locks, and wait for other things.
export const CROWD = 6;
const CROWD_OF = Array.from({ length: STATES }, (_, state) => [RUN, ASSIST, SYSCALL, RUNNABLE, LOCK].indexOf(state))
  .map((place) => place < 0 ? CROWD - 1 : place);

export const levelOf = (nsPerPixel) => Math.max(0, Math.floor(Math.log2(nsPerPixel)));
const isCrowd = (track) => [GROUP, TYPE, ALL].includes(parseInt(track, 10));

export class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  // A number, or a BigInt if it is too large.
  number() {
    let value = 0, factor = 1;
    for (let n = 0; n < 7; n++) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128)
        return value;
      factor *= 128;
    }
    let large = BigInt(value), shift = 49n, byte;
    do {
      byte = this.bytes[this.at++];
      large |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte >= 128);
    return large <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(large) : BigInt.asUintN(64, large);
  }

  time() {
    return Number(this.number());
  }

  difference() {
    const zigzag = this.number();
    if (typeof zigzag === 'bigint')
      return Number(zigzag & 1n ? -(zigzag >> 1n) - 1n : zigzag >> 1n);
    return zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
  }
}

// Stretches as arrays. `several` has the place of their sums in `sums`, or -1 for one interval.
export class Stretches {
  constructor() {
    this.begin = [];
    this.end = [];
    this.state = [];
    this.reason = [];
    this.stack = [];
    this.other = [];
    this.several = [];
    this.sums = [];
  }

  get length() {
    return this.begin.length;
  }

  read(bytes, end, from) {
    let time = from;
    while (bytes.at < end) {
      const head = bytes.bytes[bytes.at++];
      const begin = time + (head & 0x20 ? bytes.difference() : 0);
      time = begin + bytes.time();
      this.begin.push(begin);
      this.end.push(time);
      this.state.push(head & 15);
      this.reason.push(bytes.time());
      this.stack.push(head & 0x40 ? bytes.number() : 0);
      this.other.push(head & 0x80 ? bytes.number() : 0);
      this.several.push(head & 0x10 ? this.sums.length : -1);
      if (head & 0x10)
        this.readSums(bytes, begin);
    }
    return this;
  }

  // The stretches of another list that have a part between two times; what begins before `first` is
  // in this one already.
  add(list, from, until, first) {
    for (let n = 0; n < list.length; n++) {
      if (list.begin[n] >= until || list.begin[n] < first || (list.end[n] <= from && list.begin[n] < from))
        continue;
      for (const name of ['begin', 'end', 'state', 'reason', 'stack', 'other'])
        this[name].push(list[name][n]);
      this.several.push(list.several[n] < 0 ? -1 : this.sums.length);
      if (list.several[n] >= 0)
        this.sums.push(list.sums[list.several[n]]);
    }
  }

  readSums(bytes, begin) {
    const sums = { count: bytes.time(), longest: bytes.time(), longestBegin: begin + bytes.time(), ns: new Array(STATES).fill(0) };
    const has = bytes.time();
    for (let state = 0; state < STATES; state++)
      if (has >> state & 1)
        sums.ns[state] = bytes.time();
    this.sums.push(sums);
  }

  // The first stretch that ends after that time.
  after(time) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time || this.begin[middle] >= time)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  // The time in each state between two times, added to ns.
  addTo(ns, from, until) {
    for (let n = 0; n < this.length; n++) {
      const length = this.end[n] - this.begin[n];
      const part = Math.min(until, this.end[n]) - Math.max(from, this.begin[n]);
      if (part <= 0)
        continue;
      if (this.several[n] < 0)
        ns[this.state[n]] += part;
      else
        this.sums[this.several[n]].ns.forEach((one, state) => { ns[state] += part >= length ? one : one * part / length; });
    }
  }
}

// How many goroutines do what, for each pixel of a tile.
export const binsOf = (stretches, from, pixel) => {
  const bins = new Float32Array(TILE * CROWD);
  const mean = new Float64Array(CROWD);
  for (let n = 0; n < stretches.length; n++) {
    const begin = stretches.begin[n], end = stretches.end[n];
    if (end <= begin)
      continue;
    mean.fill(0);
    const sums = stretches.sums[stretches.several[n]];
    if (sums)
      sums.ns.forEach((ns, state) => { mean[CROWD_OF[state]] += ns / (end - begin); });
    else
      mean[CROWD_OF[stretches.state[n]]] = 1;
    const last = Math.min(TILE - 1, Math.floor((end - from) / pixel));
    for (let bin = Math.max(0, Math.floor((begin - from) / pixel)); bin <= last; bin++) {
      const part = Math.min(end, from + (bin + 1) * pixel) - Math.max(begin, from + bin * pixel);
      for (let place = 0; place < CROWD && part > 0; place++)
        bins[bin * CROWD + place] += mean[place] * part / pixel;
    }
  }
  return bins;
};

// A tile; of a crowd with its bins.
export const tileOf = (track, level, index, stretches) => {
  const pixel = 2 ** level, from = index * TILE * pixel;
  return { from, pixel, stretches, bins: isCrowd(track) ? binsOf(stretches, from, pixel) : null };
};
