// draw.js - draws the visible rows, the axis and the overview on canvases.
import { ALL, bytes, GOROUTINE, LOCK, METRIC, moment, number, PROC, RANGE, REGION, roundUp, RUN, STATES, SYSCALL, TASK, THREAD, TYPE,
  titleOf } from './format.js';
import { LANE_HEIGHT, TRACK_HEIGHT } from './rows.js';
import { CROWD, levelOf, TILE } from './stretches.js';

const FONT = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
// From the bottom of a column to its top.
const ORDER = [0, 1, 3, 2, 4, 10, 7, 5, 6, 8, 9, 11];
const CROWD_STATES = [0, 1, 3, 2, 4, 11];
const PALETTE = 8;

// ---- colors ----------------------------------------------------------------------------------------

const pack = (r, g, b) => (0xff000000 | b << 16 | g << 8 | r) >>> 0;

export const readColors = () => {
  const style = getComputedStyle(document.documentElement);
  const css = (name) => style.getPropertyValue(`--${name}`).trim();
  const packed = (name) => {
    const text = css(name);
    return pack(...[1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
  };
  const bright = (color) => 0.3 * (color & 255) + 0.59 * (color >> 8 & 255) + 0.11 * (color >> 16 & 255) > 135;
  const states = Array.from({ length: STATES }, (_, state) => packed(`s${state}`));
  const palette = Array.from({ length: PALETTE }, (_, n) => packed(`f${n}`));
  const shade = (color, factor) => pack(...[0, 8, 16].map((shift) => Math.min(255, Math.round((color >> shift & 255) * factor))));
  return {
    states, palette, css, shades: [1, 0.86, 1.14].map((factor) => shade(states[RUN], factor)), page: packed('page'), raised: packed('raised'), heap: packed('heap'), pale: packed('pale'),
    textOn: (color) => bright(color) ? '#101620' : '#ffffff',
  };
};

export const hash = (value) => {
  let sum = 0;
  for (const c of String(value))
    sum = (sum * 31 + c.codePointAt(0)) % 65521;
  return sum;
};

// How much of a stretch its intervals are.
const shareOf = (stretches, n) => {
  const sums = stretches.sums[stretches.several[n]], length = stretches.end[n] - stretches.begin[n];
  return sums && length > 0 ? Math.min(1, sums.ns.reduce((sum, one) => sum + one, 0) / length) : 1;
};

// ---- pixels ----------------------------------------------------------------------------------------

// Rectangles as pixels of memory: tens of thousands of them in a frame.
class Raster {
  resize(context, width, height) {
    if (this.width === width && this.height === height)
      return;
    this.width = width;
    this.height = height;
    this.image = context.createImageData(Math.max(1, width), Math.max(1, height));
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.columns = new Float32Array(width * STATES);
    this.touched = new Uint8Array(width);
  }

  rect(left, right, top, bottom, color) {
    left = Math.max(0, left);
    right = Math.min(this.width, right);
    bottom = Math.min(this.height, bottom);
    if (right <= left)
      return;
    for (let y = Math.max(0, top); y < bottom; y++)
      this.pixels.fill(color, y * this.width + left, y * this.width + right);
  }

  // Adds time in a state to the columns between two places; widths are in pixels.
  addColumns(left, right, state, amount) {
    const first = Math.max(0, Math.floor(left)), last = Math.min(this.width - 1, Math.ceil(right) - 1, Math.floor(right));
    const each = right > left ? amount / (right - left) : 0;
    for (let x = first; x <= Math.max(first, last) && x < this.width; x++) {
      const part = Math.min(right, x + 1) - Math.max(left, x);
      this.columns[x * STATES + state] += right > left ? each * Math.max(0, part) : amount;
      this.touched[x] = 1;
    }
  }

  flushColumns(top, bottom, colors) {
    const height = bottom - top;
    for (let x = 0; x < this.width; x++) {
      if (!this.touched[x])
        continue;
      this.touched[x] = 0;
      let y = bottom, sum = 0, all = 0;
      for (let state = 0; state < STATES; state++)
        all += this.columns[x * STATES + state];
      const scale = height / Math.max(1, all);
      for (const state of ORDER) {
        const amount = this.columns[x * STATES + state];
        if (amount === 0)
          continue;
        sum += amount * scale;
        const to = Math.max(top, Math.min(bottom - Math.round(sum), y - (y === bottom ? 1 : 0)));
        this.rect(x, x + 1, to, y, colors[state]);
        y = to;
      }
      this.columns.fill(0, x * STATES, (x + 1) * STATES);
    }
  }
}

const hatching = (color) => {
  const tile = Object.assign(document.createElement('canvas'), { width: 8, height: 8 }), context = tile.getContext('2d');
  context.strokeStyle = color;
  for (const x of [-8, 0, 8]) {
    context.moveTo(x - 1, 9);
    context.lineTo(x + 9, -1);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat');
};

// ---- the drawing -----------------------------------------------------------------------------------

export class Drawing {
  constructor(app, elements) {
    this.app = app;
    Object.assign(this, elements);
    this.raster = new Raster();
    this.stripRaster = new Raster();
    this.setColors();
  }

  setColors() {
    this.colors = readColors();
    this.hatching = hatching(this.colors.css('warn-line'));
  }

  size(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = canvas;
    const width = Math.round(clientWidth * ratio), height = Math.round(clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height)
      Object.assign(canvas, { width, height });
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    return { context, ratio, width: clientWidth, height: clientHeight };
  }

  // ---- rows --------------------------------------------------------------------------------------

  rows() {
    const { context, ratio, width, height } = this.size(this.canvas);
    const { from, until } = this.app.state;
    Object.assign(this, { context, ratio, width, height, from, until, scale: width / (until - from), places: new Map(), labels: [], boxes: [] });
    this.level = levelOf((until - from) / (width * ratio));
    this.raster.resize(context, Math.round(width * ratio), Math.round(height * ratio));
    this.raster.pixels.fill(this.colors.page);
    const visible = [...this.app.rows.visible(this.app.scroll, this.app.scroll + height)];
    for (const [row, top] of visible)
      this.row(row, top - this.app.scroll);
    context.putImageData(this.raster.image, 0, 0);
    this.text();
    this.shade();
    this.overlays();
    this.axis();
    return visible;
  }

  row(row, y) {
    const { ratio } = this;
    const top = Math.round(y * ratio), bottom = Math.round((y + row.height) * ratio);
    if (row.type === 'section') {
      this.raster.rect(0, this.raster.width, top, bottom, this.colors.raised);
      return;
    }
    if (row.type !== 'track')
      return;
    if (!this.places.has(`${row.kind}:${row.id}`))
      this.places.set(`${row.kind}:${row.id}`, { y, height: TRACK_HEIGHT });
    if (row.crowd)
      this.crowd(row, y);
    else if (row.kind === METRIC)
      this.metricRow(row, y);
    else
      this.slices(row.kind, row.id, y + 2, y + TRACK_HEIGHT - 1);
    for (let lane = 0; lane < row.lanes; lane++)
      this.slices(REGION + lane, row.id, y + TRACK_HEIGHT + lane * LANE_HEIGHT, y + TRACK_HEIGHT + (lane + 1) * LANE_HEIGHT - 1);
  }

  colorOf(kind, stretches, n) {
    if (kind === TASK || (kind >= REGION && kind < RANGE))
      return this.colors.palette[hash(stretches.reason[n]) % PALETTE];
    if ((kind === PROC || kind === THREAD) && stretches.state[n] === RUN)
      return this.colors.shades[hash(stretches.other[n]) % 3];
    return this.colors.states[stretches.state[n]];
  }

  slices(kind, id, top, bottom) {
    const { raster, ratio, from, until } = this;
    const factor = raster.width / (until - from);
    const y0 = Math.round(top * ratio), y1 = Math.round(bottom * ratio);
    let whole = -Infinity; // until then one interval is drawn, of which later tiles have a part, too
    for (const [tile, a, b] of this.app.tiles.parts(`${kind}:${id}`, this.level, from, until)) {
      const { stretches } = tile, low = Math.max(a, from), high = Math.min(b, until);
      for (let n = stretches.after(low); n < stretches.length && stretches.begin[n] < high; n++) {
        const single = stretches.several[n] < 0;
        const begin = Math.max(low, stretches.begin[n]), end = Math.min(single ? until : high, stretches.end[n]);
        if (single && stretches.begin[n] < low && end <= whole)
          continue;
        whole = single ? Math.max(whole, end) : whole;
        const left = (begin - from) * factor, right = (end - from) * factor;
        if (!single)
          this.several(kind, stretches, n, left, right, factor);
        else if (right - left < 1.5)
          raster.addColumns(left, right, stretches.state[n], Math.max(right - left, 0.05));
        else
          this.one(kind, id, stretches, n, left, right, y0, y1);
      }
    }
    raster.flushColumns(y0, y1, this.colors.states);
  }

  several(kind, stretches, n, left, right, factor) {
    const { ns } = stretches.sums[stretches.several[n]];
    const part = (right - left) / Math.max(1e-9, (stretches.end[n] - stretches.begin[n]) * factor);
    for (let state = 0; state < STATES; state++)
      if (ns[state] > 0)
        this.raster.addColumns(left, right, state, ns[state] * factor * Math.min(1, part));
    if (right <= left)
      this.raster.addColumns(left, left, stretches.state[n], 0.05);
  }

  one(kind, id, stretches, n, left, right, y0, y1) {
    const color = this.colorOf(kind, stretches, n);
    const x0 = Math.round(left), x1 = Math.round(right);
    this.raster.rect(x0, Math.max(x0 + 1, x1 - (right - left > 4 ? 1 : 0)), y0, y1, color);
    if (right - left > 26 * this.ratio)
      this.labels.push([kind, stretches.state[n], stretches.reason[n], kind === RANGE ? id : stretches.other[n], left / this.ratio, right / this.ratio, (y0 + y1) / 2 / this.ratio, color]);
  }

  labelOf(kind, state, reason, other) {
    if (kind === PROC)
      return titleOf(GOROUTINE, other, this.app.goroutineName(other));
    if (kind === THREAD)
      return state === SYSCALL ? `G${other} in a system call` : `P${other}`;
    const name = this.app.names.get(reason);
    if (kind === GOROUTINE)
      return name || this.app.stateName(state);
    return kind === RANGE ? name || this.app.rangeName(other) : name;
  }

  text() {
    const { context } = this;
    for (const [kind, state, reason, other, left, right, y, color] of this.labels) {
      const text = this.fit(context, this.labelOf(kind, state, reason, other), right - left - 6);
      if (!text)
        continue;
      context.fillStyle = this.colors.textOn(color);
      context.fillText(text, left + 3, y);
    }
    context.fillStyle = this.colors.css('dim');
    for (const [text, y] of this.boxes) {
      const width = context.measureText(text).width;
      context.globalAlpha = 0.8;
      context.fillStyle = this.colors.css('page');
      context.fillRect(1, y - 6, width + 5, 12);
      context.globalAlpha = 1;
      context.fillStyle = this.colors.css('dim');
      context.fillText(text, 3, y);
    }
  }

  // As much of a text as has room. Glyphs are about six pixels wide.
  fit(context, text, room) {
    if (text.length * 4 > room * 2)
      text = text.slice(0, Math.ceil(room / 2));
    let length = text.length;
    while (length > 0 && context.measureText(text.slice(0, length)).width > room)
      length -= Math.max(1, Math.floor((context.measureText(text.slice(0, length)).width - room) / 8));
    return length < 3 && length < text.length ? '' : length < text.length ? `${text.slice(0, length - 1)}\u2026` : text;
  }

  // ---- many goroutines ---------------------------------------------------------------------------

  // For each pixel, how many do what.
  crowdColumns(track, raster, level, from, until) {
    const columns = new Float32Array(raster.width * CROWD);
    const step = (until - from) / raster.width;
    for (const [tile, a, b] of this.app.tiles.parts(track, level, from, until)) {
      const last = Math.min(raster.width - 1, Math.floor((b - from) / step));
      for (let x = Math.max(0, Math.floor((a - from) / step)); x <= last; x++) {
        for (const at of [0.25, 0.75]) {
          const time = from + (x + at) * step;
          const bin = Math.floor((time - tile.from) / tile.pixel);
          if (time < a || time >= b || bin < 0 || bin >= TILE)
            continue;
          for (let place = 0; place < CROWD; place++)
            columns[x * CROWD + place] += tile.bins[bin * CROWD + place] / 2;
        }
      }
    }
    return columns;
  }

  // Draws what is active above, and what waits below; each has its own scale. Returns both.
  crowdArea(columns, raster, ratio, top, middle, bottom) {
    let active = 0, waiting = 0;
    for (let x = 0; x < raster.width; x++) {
      let sum = 0;
      for (let place = 0; place < CROWD - 1; place++)
        sum += columns[x * CROWD + place];
      active = Math.max(active, sum);
      waiting = Math.max(waiting, columns[x * CROWD + CROWD - 1]);
    }
    const most = roundUp(Math.max(active, 1)), mostWaiting = roundUp(Math.max(waiting, 1));
    const [y0, y1, y2] = [top, middle, bottom].map((y) => Math.round(y * ratio));
    for (let x = 0; x < raster.width; x++) {
      let sum = 0, y = y1;
      for (let place = 0; place < CROWD - 1; place++) {
        sum += columns[x * CROWD + place];
        const to = Math.round(y1 - (y1 - y0) * sum / most);
        raster.rect(x, x + 1, to, y, this.colors.states[CROWD_STATES[place]]);
        y = Math.min(y, to);
      }
      const waits = columns[x * CROWD + CROWD - 1];
      if (waits > 0)
        raster.rect(x, x + 1, Math.min(y2 - 1, Math.round(y2 - (y2 - y1 - ratio) * waits / mostWaiting)), y2, this.colors.states[11]);
    }
    return { active, waiting };
  }

  crowd(row, y) {
    const columns = this.crowdColumns(`${row.kind}:${row.id}`, this.raster, this.level, this.from, this.until);
    const middle = y + row.height - 12;
    const { active } = this.crowdArea(columns, this.raster, this.ratio, y + 2, row.kind === TYPE ? y + row.height - 3 : middle, y + row.height - 2);
    if (active > 0)
      this.boxes.push([`\u2264 ${number(roundUp(Math.max(1, active)))}`, y + 9]);
  }

  // The heap with its goal, or a line.
  metricRow(row, y) {
    const top = y + 2, bottom = y + row.height - 2;
    if (row.id !== '2') {
      this.metric(`${row.kind}:${row.id}`, this.raster, top, bottom, this.colors.heap, false, row);
      return;
    }
    const goal = this.metric(`${METRIC}:3`, this.raster, top, bottom, this.colors.states[LOCK], false);
    this.metric(`${METRIC}:2`, this.raster, top, bottom, this.colors.pale, true, row, this.level, this.from, this.until, this.ratio, goal);
    this.metric(`${METRIC}:3`, this.raster, top, bottom, this.colors.states[LOCK], false);
  }

  // What a row of many, or a metric, is at a time: a line for each part.
  describeAt(row, time) {
    const [[tile]] = [...this.app.tiles.parts(`${row.kind}:${row.id}`, this.level, time, time), [null]];
    if (!tile)
      return '';
    if (row.kind === METRIC) {
      const value = Number(tile.stretches.other[tile.stretches.after(time)] ?? 0);
      return row.id === '1' ? number(value) : bytes(value);
    }
    const bin = Math.max(0, Math.min(TILE - 1, Math.floor((time - tile.from) / tile.pixel))) * CROWD;
    return CROWD_STATES.map((state, place) => [tile.bins[bin + place], row.kind === TYPE ? 'open' : place === CROWD - 1 ? 'waiting' : this.app.stateName(state)])
      .filter(([many]) => many >= 0.05).map(([many, name]) => `${number(many)} ${name}`).join('\n');
  }

  metric(track, raster, top, bottom, color, filled, row = null, level = this.level, from = this.from, until = this.until, ratio = this.ratio, most = 0) {
    const factor = raster.width / (until - from);
    const found = [];
    for (const [tile, a, b] of this.app.tiles.parts(track, level, from, until)) {
      const { stretches } = tile, low = Math.max(a, from), high = Math.min(b, until);
      for (let n = stretches.after(low); n < stretches.length && stretches.begin[n] < high; n++) {
        const value = Number(stretches.other[n]);
        most = Math.max(most, value);
        found.push([Math.max(low, stretches.begin[n]), Math.min(high, stretches.end[n]), value]);
      }
    }
    const y0 = Math.round(top * ratio), y1 = Math.round(bottom * ratio);
    for (const [begin, end, value] of found) {
      const left = Math.floor((begin - from) * factor), right = Math.max(left + 1, Math.ceil((end - from) * factor));
      const y = Math.round(y1 - (y1 - y0) * value / Math.max(1, most));
      raster.rect(left, right, Math.min(y, y1 - 1), filled ? y1 : Math.min(y, y1 - 1) + Math.max(1, Math.round(ratio)), color);
    }
    if (row && found.length)
      this.boxes.push([`\u2264 ${row.id === '1' ? number(most) : bytes(most)}`, top + 6]);
    return most;
  }

  // ---- over the rows -----------------------------------------------------------------------------

  x(time) {
    return (time - this.from) * this.scale;
  }

  // GC and stop-the-worlds.
  shade() {
    const { context } = this;
    for (const { id, name } of this.app.rows.ranges()) {
      const stop = /stop/i.test(name);
      context.fillStyle = this.colors.css('gc');
      for (const [tile, a, b] of this.app.tiles.parts(`${RANGE}:${id}`, this.level, this.from, this.until))
        for (let n = tile.stretches.after(Math.max(a, this.from)); n < tile.stretches.length && tile.stretches.begin[n] < Math.min(b, this.until); n++) {
          const left = this.x(Math.max(a, tile.stretches.begin[n]));
          context.globalAlpha = (stop ? 0.3 : 0.09) * shareOf(tile.stretches, n);
          context.fillRect(left, 0, Math.max(stop ? 1 : 0.5, this.x(Math.min(b, tile.stretches.end[n])) - left), this.height);
        }
    }
    context.globalAlpha = 1;
  }

  // When something was recorded that is lost.
  gaps(context, x, top, bottom) {
    context.fillStyle = this.hatching;
    context.globalAlpha = 0.45;
    for (const [begin, end] of this.app.trace.gaps)
      context.fillRect(x(begin), top, Math.max(3, x(end) - x(begin)), bottom - top);
    context.globalAlpha = 1;
  }

  box(place, begin, end, color, width) {
    const { context } = this;
    const left = Math.max(-5, this.x(begin)), right = Math.min(this.width + 5, this.x(end));
    if (right < -4 || left > this.width + 4)
      return;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(left, place.y + 1.5, Math.max(2, right - left), place.height - 2);
  }

  overlays() {
    const { context, app } = this;
    this.gaps(context, (time) => this.x(time), 0, this.height);
    const { range, selected } = app.state;
    if (range) {
      context.fillStyle = this.colors.css('link');
      context.globalAlpha = 0.14;
      context.fillRect(this.x(range.from), 0, this.x(range.until) - this.x(range.from), this.height);
      context.globalAlpha = 1;
      context.fillRect(this.x(range.from) - 0.5, 0, 1, this.height);
      context.fillRect(this.x(range.until) - 0.5, 0, 1, this.height);
    }
    for (const at of app.findings.flatMap(({ at }) => at ?? []))
      this.line(at, this.colors.css('mark'), [2, 3]);
    if (app.moments.list[app.moments.at])
      this.line(app.moments.list[app.moments.at].begin, this.colors.css('link'), []);
    this.path();
    if (selected && app.detail)
      this.selected(selected, app.detail);
    if (app.focusedRow && this.places.has(app.focusedRow)) {
      context.fillStyle = this.colors.css('link');
      context.fillRect(0, this.places.get(app.focusedRow).y + 1, 2, TRACK_HEIGHT - 2);
    }
    if (app.pointer)
      this.line(app.pointer, this.colors.css('dim'), []);
  }

  line(time, color, dash) {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.globalAlpha = 0.6;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(Math.round(this.x(time)) + 0.5, 0);
    context.lineTo(Math.round(this.x(time)) + 0.5, this.height);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  selected({ kind, id }, detail) {
    const row = this.places.get(`${kind >= REGION && kind < RANGE ? GOROUTINE : kind}:${id}`);
    if (!row)
      return;
    const lane = kind >= REGION && kind < RANGE ? kind - REGION : -1;
    const place = lane < 0 ? row : { y: row.y + TRACK_HEIGHT + lane * LANE_HEIGHT - 1, height: LANE_HEIGHT };
    this.box(place, detail.begin, detail.end, this.colors.css('text'), 2);
    if (detail.waker)
      this.arrow(this.places.get(`${GOROUTINE}:${detail.waker.goroutine}`), place, detail.waker.time, `G${detail.waker.goroutine}`);
    for (const wake of kind === GOROUTINE ? detail.wakes : [])
      if (this.places.has(`${GOROUTINE}:${wake.goroutine}`))
        this.arrow(place, this.places.get(`${GOROUTINE}:${wake.goroutine}`), wake.time, '');
  }

  // From one row to another; from a place above or below, if that row is not seen.
  arrow(source, target, time, title) {
    const { context } = this;
    const x = this.x(time), to = target.y + target.height / 2;
    const away = target.y > 40 ? target.y - 24 : target.y + target.height + 24;
    const y = source ? source.y + source.height / 2 : away;
    if (x < -10 || x > this.width + 10)
      return;
    const toward = Math.sign(to - y) || 1;
    context.strokeStyle = context.fillStyle = this.colors.css('mark');
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, 2.5, 0, 7);
    context.moveTo(x, y);
    context.bezierCurveTo(x - 14, y + (to - y) / 3, x - 14, to - (to - y) / 3, x, to - 3 * toward);
    context.stroke();
    context.beginPath();
    context.moveTo(x, to);
    context.lineTo(x - 4, to - 7 * toward);
    context.lineTo(x + 3, to - 7 * toward);
    context.fill();
    if (!source)
      context.fillText(`from ${title}`, x + 6, y);
  }

  // What a wait is explained by is drawn, not the wait.
  path() {
    const { context } = this;
    let last = null;
    for (const part of this.app.path ?? []) {
      const place = this.places.get(`${GOROUTINE}:${part.goroutine}`);
      if (part.spans)
        continue;
      if (place)
        this.box(place, part.begin, part.end, this.colors.css('mark'), 2);
      if (place && last && last !== place && this.x(part.begin) > -5 && this.x(part.begin) < this.width + 5) {
        context.beginPath();
        context.moveTo(this.x(part.begin), last.y + last.height / 2);
        context.lineTo(this.x(part.begin), place.y + place.height / 2);
        context.stroke();
      }
      last = place;
    }
  }

  axis() {
    const { context, width, height } = this.size(this.axisCanvas);
    const step = roundUp((this.until - this.from) / Math.max(2, width / 125));
    context.clearRect(0, 0, width, height);
    context.fillStyle = this.colors.css('dim');
    this.context.fillStyle = this.colors.css('line');
    this.context.globalAlpha = 0.5;
    for (let time = Math.ceil(this.from / step) * step; time < this.until; time += step) {
      const x = Math.round(this.x(time));
      context.fillRect(x, height - 5, 1, 5);
      context.fillText(moment(time, step), x + 3, height / 2);
      this.context.fillRect(x, 0, 1, this.height);
    }
    this.context.globalAlpha = 1;
  }

  // ---- the overview ------------------------------------------------------------------------------

  strip() {
    const { context, ratio, width, height } = this.size(this.stripCanvas);
    const { begin, end } = this.app.bounds;
    const raster = this.stripRaster;
    raster.resize(context, Math.round(width * ratio), Math.round(height * ratio));
    raster.pixels.fill(this.colors.raised);
    const level = levelOf((end - begin) / raster.width), until = Math.max(end, begin + 1);
    const columns = this.crowdColumns(`${ALL}:0`, raster, level, begin, until);
    const scales = this.crowdArea(columns, raster, ratio, 8, height - 30, height - 18);
    const goal = this.metric(`${METRIC}:3`, raster, height - 15, height - 1, this.colors.states[LOCK], false, null, level, begin, until, ratio);
    const heap = this.metric(`${METRIC}:2`, raster, height - 15, height - 1, this.colors.heap, true, null, level, begin, until, ratio, goal);
    this.metric(`${METRIC}:3`, raster, height - 15, height - 1, this.colors.states[LOCK], false, null, level, begin, until, ratio, heap);
    context.putImageData(raster.image, 0, 0);
    const x = (time) => (time - begin) * width / (until - begin);
    context.fillStyle = this.colors.css('gc');
    for (const { id, name } of this.app.rows.ranges()) {
      const stop = /stop/i.test(name);
      for (const [tile, a, b] of this.app.tiles.parts(`${RANGE}:${id}`, level, begin, until))
        for (let n = tile.stretches.after(a); n < tile.stretches.length && tile.stretches.begin[n] < b; n++) {
          const left = x(Math.max(a, tile.stretches.begin[n]));
          context.globalAlpha = stop ? 0.7 : 0.12 * shareOf(tile.stretches, n);
          context.fillRect(left, stop ? height - 17 : 7, Math.max(1, x(Math.min(b, tile.stretches.end[n])) - left), stop ? 2 : height - 7);
        }
    }
    context.globalAlpha = 1;
    this.gaps(context, x, 7, height);
    context.fillStyle = this.colors.css('mark');
    for (const { at } of this.app.findings) {
      context.beginPath();
      context.moveTo(x(at) - 4, 0);
      context.lineTo(x(at) + 4, 0);
      context.lineTo(x(at), 7);
      context.fill();
    }
    context.fillStyle = this.colors.css('link');
    this.app.moments.list.forEach(({ begin, end }) => context.fillRect(x(begin), 0, Math.max(1.5, x(end) - x(begin)), 4));
    return { ...scales, heap };
  }
}
