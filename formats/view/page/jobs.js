// jobs.js - what the program reads the trace again for: moments that an expression of `gotrace find`
// finds, and the statistics and the flame graph of a range.
import { askJson } from './api.js';
import { hash } from './draw.js';
import { command, counted, duration, GOROUTINE, make, moment, nameOf, number, RANGE, TASK, titleOf, whole } from './format.js';

const AGAIN = 250, ROW = 16, SHOWN = 200;
const PROFILES = { wall: 'all time', cpu: 'CPU samples', offcpu: 'not running', sync: 'channels and locks', syscall: 'system calls', net: 'network', sched: 'scheduler' };
const COLUMNS = ['goroutines', 'ended', 'cost', 'total', 'execution', 'scheduling', 'sync', 'blocking', 'syscalls'];
const RANGES = { gc: '1', stw: '2' };
const by = crypto.getRandomValues(new Uint32Array(1))[0];

// A word that begins a test, and an operator, unless it is a word alone.
export const isExpression = (text) => /^\(*\s*(not\s+)?(run|sched|wait|syscall|stw|gc|task|region|silence|log|goroutines|heap|function|stack|goroutine|during)\s*($|[<>=~(]|(and|or)\s)/.test(text);

// Asks until there is the result, as long as it is wanted; else it is null.
const askJob = async (question, options, isWanted, progress) => {
  for (;;) {
    const answer = await askJson(question, { ...options, by });
    if (!isWanted())
      return null;
    if (answer.ready)
      return answer;
    progress(answer.read);
    await new Promise((done) => { setTimeout(done, AGAIN); });
    if (!isWanted())
      return null;
  }
};

const reading = (read) => make('p', { class: 'empty' }, 'Reading the trace \u2026 ', make('progress', { max: 1, value: read, 'aria-label': 'Reading the trace' }));
const warning = (error) => make('p', { class: 'warning' }, error.message);

// ---- moments ---------------------------------------------------------------------------------------

export class Search {
  constructor(app) {
    this.app = app;
    this.clear();
  }

  clear() {
    Object.assign(this, { where: '', answer: null, list: [], at: -1, state: [] });
    this.app.stripDirty = true;
    this.app.draw();
  }

  async find(where, shows = true) {
    const { app } = this;
    this.clear();
    this.where = where;
    if (shows)
      app.panel.open('moments');
    if (!where)
      return;
    try {
      const answer = await askJob('search', { where, limit: SHOWN }, () => this.where === where, (read) => this.show([reading(read)]));
      if (!answer)
        return;
      this.answer = answer;
      this.list = answer.moments;
      this.list.forEach((one) => one.goroutine && app.nameGoroutine(one.goroutine, one));
      this.show([]);
    } catch (error) {
      if (this.where === where)
        this.show([warning(error)]);
    }
    app.stripDirty = true;
    app.draw();
  }

  show(state) {
    this.state = state;
    if (this.app.state.tab === 'moments')
      this.app.panel.show();
  }

  step(direction) {
    if (this.list.length)
      this.go((this.at + direction + this.list.length) % this.list.length);
  }

  // Goes to a moment, with some time around it.
  go(n) {
    const { app } = this, { what, goroutine, task, begin, end } = this.list[n];
    const span = Math.max(1000, Math.min(app.state.until - app.state.from, 30 * (end - begin)), 1.5 * (end - begin));
    this.at = n;
    app.setWindow((begin + end - span) / 2, (begin + end + span) / 2);
    if (task || goroutine || RANGES[what])
      app.select({ kind: task ? TASK : goroutine ? GOROUTINE : RANGE, id: task ?? goroutine ?? RANGES[what], at: begin }, true);
    app.panel.open('moments');
    document.getElementById(`moment-${n}`)?.scrollIntoView({ block: 'nearest' });
  }

  content() {
    const { app, where, answer } = this;
    if (!where)
      return [make('p', { class: 'empty' }, 'Type an expression of gotrace find, such as wait(sync) > 10ms, into the search and press Enter.')];
    const text = command('find', where, ...app.panel.files());
    const tools = ['Previous', 'Next'].map((title, n) => app.panel.tool(title, () => this.step(n ? 1 : -1), n ? 'n' : 'Shift + n'));
    return [make('div', { class: 'title' }, answer ? `${number(answer.total)} ${answer.total === 1 ? 'moment' : 'moments'}: ${where}` : where, ...(this.list.length ? tools : []), app.panel.tool('Copy command', () => app.panel.copyCommand(text), text)),
      ...this.state, this.list.length ? make('table', { 'aria-label': 'Moments' }, ...this.list.map((one, n) => this.row(one, n))) : null,
      answer && answer.total > this.list.length ? make('p', { class: 'dim' }, `The first ${number(this.list.length)} are listed.`) : null];
  }

  row({ what, begin, ns, goroutine, name, label, text, function: place, value }, n) {
    return make('tr', { id: `moment-${n}`, class: n === this.at ? 'current' : false }, make('td', { class: 'n' }, this.app.panel.go(moment(begin), () => this.go(n))), make('td', { class: 'n' }, duration(ns)),
      make('td', {}, what), make('td', { class: 'name' }, [goroutine && titleOf(GOROUTINE, goroutine, nameOf({ name, label })), value && number(value), text, place].filter(Boolean).join(' \u00b7 ')));
  }
}

// ---- statistics --------------------------------------------------------------------------------------

export class Statistics {
  constructor(app) {
    Object.assign(this, { app, profile: 'wall', key: '', boxes: [make('div'), make('div')] });
  }

  times() {
    const { range } = this.app.state;
    return range ? { from: whole(range.from), until: whole(Math.max(range.from + 1, range.until)) } : {};
  }

  content() {
    const { app } = this, { range } = app.state, { panel } = app;
    const times = range ? panel.times(range.from, range.until) : [];
    const choice = make('select', { 'aria-label': 'Profile', change: (event) => { this.profile = event.target.value; panel.show(); } },
      ...Object.entries(PROFILES).map(([name, title]) => make('option', { value: name, selected: name === this.profile }, `${name}: ${title}`)));
    const copies = (title, ...words) => panel.tool(title, () => panel.copyCommand(command(...words)), command(...words));
    const key = JSON.stringify([this.times(), this.profile]);
    if (key !== this.key) {
      this.key = key;
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.load(key), AGAIN);
    }
    return [make('div', { class: 'title' }, range ? `${moment(range.from)} to ${moment(range.until)}` : 'The whole trace', copies('Copy stat command', 'stat', ...times, ...panel.files())), this.boxes[0],
      make('div', { class: 'title' }, 'Flame graph of', choice, copies('Copy command', 'convert', '--to', 'folded', '--profile', this.profile, ...times, ...panel.files(), '-o', 'profile.folded')), this.boxes[1]];
  }

  async load(key) {
    const isWanted = () => this.key === key;
    for (const [n, question, options, draw] of [[0, 'stat', { limit: 30 }, (answer) => this.table(answer)], [1, 'flame', { profile: this.profile }, (answer) => new Flame(this.app, answer).parts]]) {
      try {
        const answer = await askJob(question, { ...this.times(), ...options }, isWanted, (read) => this.boxes[n].replaceChildren(reading(read)));
        if (!answer)
          return;
        this.boxes[n].replaceChildren(...draw(answer));
      } catch (error) {
        if (isWanted())
          this.boxes[n].replaceChildren(warning(error));
      }
    }
  }

  table({ duration: length, events, goroutine_count: count, latency, total, functions }) {
    return [make('p', {}, `${duration(length)}, ${counted(events, 'event')}, ${counted(count, 'goroutine')}; scheduling latency: ${counted(latency.count, 'wait')}, median ${duration(latency.median)}, 99 % ${duration(latency.p99)}, longest ${duration(latency.max)}`),
      make('table', { 'aria-label': 'Goroutines by start function' }, make('tr', {}, ...COLUMNS.map((title) => make('th', { class: 'n' }, title)), make('th', {}, 'start function')),
        ...functions.map((row) => make('tr', {}, ...COLUMNS.map((name, n) => make('td', { class: 'n' }, n < 2 ? number(row[name]) : duration(row[name]))), make('td', { class: 'name' }, row.name || '(unknown)')))),
      total > functions.length ? make('p', { class: 'dim' }, `${number(total - functions.length)} more`) : ''];
  }
}

// ---- flame graphs ------------------------------------------------------------------------------------

// The frames are listed after those that they call, so they are read from the end.
const treeOf = ({ flame, names }) => {
  const root = { name: 'all', ns: flame.total, level: 0, calls: [], state: true }, path = [root], all = [root];
  for (let at = flame.frames.length - 3; at >= 0; at -= 3) {
    const [level, name, ns] = flame.frames.slice(at, at + 3), parent = path[level];
    path.length = level + 1;
    path.push({ name: name < 0 ? `[${names[-1 - name]}]` : names[name] || '(unknown)', ns, level: level + 1, calls: [], parent, state: name < 0 });
    parent.calls.push(path[level + 1]);
    all.push(path[level + 1]);
  }
  all.forEach(({ calls }) => calls.sort((a, b) => b.ns - a.ns));
  return root;
};

class Flame {
  constructor(app, answer) {
    this.app = app;
    this.root = this.top = this.at = treeOf(answer);
    this.info = make('p', { class: 'dim' });
    this.canvas = make('canvas', { tabindex: 0, role: 'img', class: 'flame', keydown: (event) => this.key(event), click: () => this.zoom(this.at),
      pointermove: ({ offsetX, offsetY }) => this.choose(this.places.find(({ x, y, width }) => offsetX >= x && offsetX < x + width && offsetY >= y && offsetY < y + ROW)?.frame) });
    this.parts = answer.flame.frames.length ? [this.canvas, this.info] : [make('p', { class: 'empty' }, 'There are no samples of that kind.')];
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.choose(this.root);
  }

  place(frame, x, width) {
    if (width < 0.7)
      return;
    this.places.push({ frame, x, y: frame.level * ROW, width });
    for (const call of frame.calls) {
      this.place(call, x, width * call.ns / frame.ns);
      x += width * call.ns / frame.ns;
    }
  }

  draw() {
    const { app, canvas } = this, { colors } = app.drawing;
    if (!canvas.isConnected)
      return;
    this.places = [];
    for (let frame = this.top.parent; frame; frame = frame.parent)
      this.places.push({ frame, x: 0, y: frame.level * ROW, width: canvas.clientWidth });
    this.place(this.top, 0, canvas.clientWidth);
    canvas.style.height = `${Math.max(...this.places.map(({ y }) => y)) + ROW}px`;
    const { context } = app.drawing.size(canvas);
    for (const { frame, x, y, width } of this.places) {
      const end = frame.name.indexOf('.', frame.name.lastIndexOf('/') + 1);
      context.fillStyle = colors.css(frame.state ? 's11' : `f${hash(frame.name.slice(0, end < 0 ? undefined : end)) % 8}`);
      context.globalAlpha = frame.level < this.top.level ? 0.6 : 1;
      context.fillRect(x, y, Math.max(0.5, width - 0.5), ROW - 1);
      context.fillStyle = colors.css('text');
      if (width > 20)
        context.fillText(app.drawing.fit(context, frame.name, width - 4), x + 2, y + ROW / 2);
      if (frame === this.at) {
        context.strokeStyle = colors.css('text');
        context.strokeRect(x + 0.5, y + 0.5, width - 1.5, ROW - 2);
      }
    }
  }

  choose(frame) {
    if (!frame)
      return;
    this.at = frame;
    this.info.textContent = `${frame.name}: ${duration(frame.ns)}, ${(100 * frame.ns / this.root.ns).toFixed(2)} %`;
    this.canvas.setAttribute('aria-label', `Flame graph, ${this.info.textContent}`);
    this.draw();
  }

  zoom(frame) {
    this.top = frame;
    this.choose(frame);
  }

  key(event) {
    const around = this.at.parent?.calls ?? [];
    const act = { Enter: () => this.zoom(this.at), ' ': () => this.zoom(this.at), Escape: () => this.zoom(this.root), ArrowUp: () => this.choose(this.at.parent), ArrowDown: () => this.choose(this.at.calls[0]),
      ArrowLeft: () => this.choose(around[around.indexOf(this.at) - 1]), ArrowRight: () => this.choose(around[around.indexOf(this.at) + 1]) }[event.key];
    if (!act)
      return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}
