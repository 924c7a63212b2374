// view.js - the page of `gotrace view`: its state, which the fragment of the URL holds, and the loop
// that draws it.
import { askJson, askWindow, Names, Tiles } from './api.js';
import { Drawing } from './draw.js';
import { bytes, duration, element, GOROUTINE, GROUP, METRIC, moment, nameOf, number, REGION, SAMPLES, TASK, titleOf, whole } from './format.js';
import { Input } from './input.js';
import { isExpression, Search, Statistics } from './jobs.js';
import { Panel } from './panel.js';
import { OPEN_AT_FIRST, Rows } from './rows.js';
import { report } from './stored.js';

const LEAST_WINDOW = 20, POLL = 500, SETTLED = 400;
// Whose URL has the state: in a report, after the name of the section.
const page = report ?? window, PREFIX = report ? '#timeline' : '#';
const SORTS = ['cost', 'begin', 'id', 'name'];

class App {
  constructor() {
    this.trace = { begin: 0, end: 1, files: [], states: [], ranges: {}, metrics: {}, problems: [], gaps: [], complete: false };
    this.bounds = this.trace; // the times that can be shown, in panes those of all traces
    this.pane = null;
    this.state = this.firstState();
    this.goroutines = new Map();
    this.labelled = [];
    this.pinLanes = new Map();
    this.findings = [];
    this.epoch = 0;
    this.frames = 0;
    this.scroll = 0;
    this.labels = new Map();
    this.tiles = new Tiles(() => this.draw(), (error) => this.report(error));
    this.names = new Names(() => this.draw());
    this.rows = new Rows(this);
    this.drawing = new Drawing(this, { canvas: element('canvas'), axisCanvas: element('axis'), stripCanvas: element('strip') });
    this.panel = new Panel(this);
    this.input = new Input(this);
    this.statistics = new Statistics(this);
    this.moments = new Search(this);
    page.addEventListener('popstate', () => this.restore(true));
    page.addEventListener('hashchange', () => this.restore(true));
    new ResizeObserver(() => { this.stripDirty = true; this.draw(); }).observe(element('canvas'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.drawing.setColors();
      this.stripDirty = true;
      this.draw();
    });
  }

  firstState() {
    return { from: 0, until: 1, whole: true, open: new Set(OPEN_AT_FIRST), sort: 'cost', pins: [], selected: null, range: null, path: null, only: false, find: '', tab: 'findings' };
  }

  // ---- the trace, while it is read and afterwards ------------------------------------------------

  async start() {
    await this.poll();
    this.restore(false);
    this.loadFindings();
  }

  async poll() {
    try {
      const trace = await askJson('trace');
      const grew = trace.end !== this.trace.end || trace.complete !== this.trace.complete;
      trace.end = Math.max(trace.end, trace.begin + 1);
      this.trace = trace;
      if (grew)
        this.grow();
      this.showTrace();
      this.panel.problems(trace);
    } catch (error) {
      this.report(error);
    }
    if (this.trace.complete)
      this.nameMany();
    else
      setTimeout(() => this.poll(), POLL);
  }

  grow() {
    this.epoch++;
    this.tiles.grow(this.trace.begin, this.trace.end);
    this.setBounds(this.trace);
    this.pane?.grew();
    this.layoutChanged();
  }

  setBounds(bounds) {
    this.bounds = bounds;
    this.stripDirty = true;
    if (this.state.whole)
      Object.assign(this.state, { from: bounds.begin, until: bounds.end });
    this.draw();
  }

  showTrace() {
    const { files, version, begin, end, events, complete, read, failed } = this.trace;
    const name = files.map((file) => file.split('/').pop()).join(', ');
    document.title = `${name} - gotrace view`;
    element('file').textContent = name;
    element('file').title = files.join('\n');
    element('facts').classList.toggle('failed', Boolean(failed));
    element('facts').textContent = failed ?? [version && `Go ${version}`, duration(end - begin), `${number(events)} events`].filter(Boolean).join(' \u00b7 ');
    element('progress').hidden = complete;
    element('progress').firstElementChild.value = read;
    element('progress').lastElementChild.textContent = `${Math.floor(100 * read)} %`;
    if (failed)
      this.say(failed);
  }

  async loadFindings() {
    try {
      const answer = await askJson('findings');
      if (answer.ready) {
        this.findings = answer.findings.filter(({ at }) => at !== null && at !== undefined);
        this.panel.findings(answer);
        this.stripDirty = true;
        this.draw();
        return;
      }
      if (answer.failed) {
        this.panel.findings({ verdict: `The diagnosis failed: ${answer.failed}`, findings: [] });
        return;
      }
    } catch (error) {
      this.report(error);
    }
    setTimeout(() => this.loadFindings(), 2 * POLL);
  }

  // ---- names -------------------------------------------------------------------------------------

  // Those that cost most; those of them with labels can be found by these.
  async nameMany() {
    try {
      const { tracks } = await askJson('tracks', { kind: GOROUTINE, sort: 'cost', limit: 1000 });
      tracks.forEach((track) => this.nameGoroutine(track.id, track));
      this.labelled = tracks.filter(({ label }) => label);
    } catch (error) {
      this.report(error);
    }
    this.draw();
  }

  nameGoroutine(id, named) {
    if (this.goroutines.size < 200000)
      this.goroutines.set(String(id), nameOf(named));
  }

  goroutineName(id) {
    return this.goroutines.get(String(id)) ?? '';
  }

  stateName(state) {
    return this.trace.states[state] ?? '';
  }

  rangeName(id) {
    return this.trace.ranges[id] ?? '';
  }

  lanesOf(id) {
    return this.pinLanes.get(String(id)) ?? 0;
  }

  report(error) {
    this.say(error.message);
  }

  // For everybody, or for screen readers only.
  say(text, quiet = false) {
    const status = element('status');
    status.classList.toggle('quiet', quiet);
    status.textContent = text;
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { status.textContent = ''; }, 5000);
  }

  // ---- changes of the view -----------------------------------------------------------------------

  setWindow(from, until) {
    const { begin, end } = this.bounds;
    const span = Math.min(end - begin, Math.max(LEAST_WINDOW, until - from));
    const middle = (from + until) / 2;
    from = Math.max(begin, Math.min(end - span, until - from === span ? from : middle - span / 2));
    Object.assign(this.state, { from, until: from + span, whole: span === end - begin });
    this.changed();
    this.pane?.moved();
  }

  zoom(factor, at = (this.state.from + this.state.until) / 2) {
    const { from, until } = this.state;
    const span = Math.max(LEAST_WINDOW, (until - from) * factor);
    const left = at - span * (at - from) / (until - from);
    this.setWindow(left, left + span);
  }

  pan(part) {
    const span = this.state.until - this.state.from;
    this.setWindow(this.state.from + part * span, this.state.from + part * span + span);
  }

  // Shows a stretch of time with some time around it.
  fit(begin, end) {
    const margin = Math.max((end - begin) * 0.15, LEAST_WINDOW / 2);
    this.setWindow(begin - margin, end + margin);
  }

  fitSelection() {
    const { range } = this.state;
    if (range)
      this.fit(range.from, range.until);
    else if (this.detail)
      this.fit(this.detail.begin, this.detail.end);
    else
      this.setWindow(this.bounds.begin, this.bounds.end);
  }

  // So that a time is in the window.
  reveal(time, length = 0) {
    const { from, until } = this.state;
    const span = Math.max(until - from, length * 1.3);
    if (time < from || time + length > until)
      this.setWindow(time + length / 2 - span / 2, time + length / 2 + span / 2);
  }

  isOpen(key) {
    return this.state.open.has(key);
  }

  toggle(key, open = !this.isOpen(key)) {
    this.state.open[open ? 'add' : 'delete'](key);
    this.layoutChanged();
    this.changed();
  }

  // Shows a goroutine at the top, whatever its group.
  async pin(ids, scroll = true) {
    const added = ids.map(String).filter((id) => !this.state.pins.includes(id));
    this.state.pins = [...this.state.pins, ...added].slice(-24);
    if (scroll && this.state.pins.length)
      this.input.scrollTo(0);
    this.layoutChanged();
    this.changed();
    for (const id of added)
      await this.loadPin(id);
  }

  unpin(id) {
    this.state.pins = this.state.pins.filter((one) => one !== id);
    this.layoutChanged();
    this.changed();
  }

  async loadPin(id) {
    const { begin, end } = this.trace;
    try {
      const lanes = await askWindow([0, 1, 2, 3].map((lane) => `${REGION + lane}:${id}`), begin, end, Math.ceil((end - begin) / 100));
      this.pinLanes.set(id, lanes.filter((lane) => lane.length).length);
      const [track] = await askWindow([`${GOROUTINE}:${id}`], begin, end, Math.ceil((end - begin) / 100));
      if (!this.goroutineName(id) && track.length)
        this.nameGoroutine(id, await askJson('interval', { kind: GOROUTINE, id, at: whole(Math.max(begin, track.begin[0])) }));
    } catch (error) {
      this.report(error);
    }
    this.layoutChanged();
  }

  async select(selected, reveal = false) {
    this.state.selected = selected;
    this.pane?.use(selected);
    this.detail = null;
    if (selected && reveal && selected.kind === GOROUTINE && !this.drawing.places.has(`${GOROUTINE}:${selected.id}`))
      this.pin([selected.id]);
    this.state.tab = selected ? 'details' : this.state.tab;
    this.panel.show();
    this.changed();
    if (!selected)
      return;
    try {
      const detail = await this.loadDetail(selected);
      if (this.state.selected !== selected)
        return;
      this.detail = detail;
      if (reveal)
        this.reveal(detail.begin, detail.end - detail.begin);
      this.say(`${titleOf(selected.kind, selected.id, nameOf(detail))}: ${this.stateName(detail.state)} ${detail.reason ?? ''}, ${duration(detail.end - detail.begin)}`, true);
    } catch (error) {
      if (this.state.selected === selected)
        this.detail = { missing: error.message, wakes: [], begin: selected.at, end: selected.at };
    }
    this.panel.show();
    this.draw();
  }

  // What is known of an interval, with who ended a wait.
  async loadDetail({ kind, id, at }) {
    const detail = await askJson('interval', { kind, id, at: whole(at) });
    detail.wakes ??= [];
    if (kind !== GOROUTINE)
      return detail;
    this.nameGoroutine(id, detail);
    if (detail.cause)
      detail.waker = { ...detail.cause, time: detail.begin };
    else if (detail.state >= 4 && detail.end < this.trace.end) {
      const next = await askJson('interval', { kind, id, at: whole(detail.end) }).catch(() => null);
      if (next?.cause && next.begin === detail.end)
        detail.waker = { ...next.cause, time: detail.end };
    }
    return detail;
  }

  setRange(range) {
    this.state.range = range;
    if (range && this.state.tab !== 'stat')
      this.state.tab = 'range';
    this.panel.show();
    this.changed();
    this.pane?.ranged(range);
  }

  async showPath(wanted) {
    this.state.path = wanted;
    this.path = null;
    this.panel.show();
    this.changed();
    if (!wanted)
      return;
    try {
      const { goroutine, from, until } = wanted;
      const { parts } = await askJson('path', { goroutine, from: whole(from), until: whole(Math.max(from + 1, until)) });
      if (this.state.path !== wanted)
        return;
      this.path = parts;
      parts.forEach((part) => this.nameGoroutine(part.goroutine, part));
      const ids = new Set([goroutine, ...parts.filter(({ spans }) => !spans).map((part) => part.goroutine)]);
      await this.pin([...ids].slice(0, 12));
    } catch (error) {
      this.report(error);
    }
    this.panel.show();
    this.draw();
  }

  // Which goroutines and tasks are listed: all, or those in the window.
  setOnly(only) {
    this.state.only = element('only').checked = only;
    this.epoch++;
    this.layoutChanged();
    this.changed();
  }

  listed() {
    const { from, until, only } = this.state;
    return only ? { from: whole(from), until: whole(Math.max(from + 1, until)) } : {};
  }

  setSort(sort) {
    this.state.sort = SORTS.includes(sort) ? sort : 'cost';
    element('sort').value = this.state.sort;
    this.layoutChanged();
    this.changed();
  }

  // ---- the URL -----------------------------------------------------------------------------------

  fragment() {
    const { from, until, open, sort, pins, selected, range, path, only, find, tab } = this.state;
    const text = new URLSearchParams();
    if (!this.state.whole) {
      text.set('from', whole(from));
      text.set('until', whole(until));
    }
    if (selected)
      text.set('select', `${selected.kind}:${selected.id}:${whole(selected.at)}`);
    if (range)
      text.set('range', [whole(range.from), whole(range.until), range.tracks.join(',')].join('~'));
    if (path)
      text.set('path', [path.goroutine, whole(path.from), whole(path.until)].join(':'));
    if ([...open].sort().join() !== [...OPEN_AT_FIRST].sort().join())
      text.set('open', [...open].join(','));
    if (sort !== 'cost')
      text.set('sort', sort);
    if (pins.length)
      text.set('pin', pins.join(','));
    if (only)
      text.set('only', 'window');
    if (find)
      text.set('find', find);
    if (tab !== 'findings')
      text.set('tab', tab);
    return text.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  }

  // What changes in a short time becomes one step of the history.
  changed() {
    this.draw();
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.save(), SETTLED);
  }

  cancelSaving() {
    clearTimeout(this.saving);
    this.saving = 0;
  }

  save() {
    this.cancelSaving();
    const { from, until, only } = this.state;
    if (only && this.listedFor !== `${from} ${until}`) {
      this.listedFor = `${from} ${until}`;
      this.epoch++;
      this.layoutChanged();
    }
    const text = this.fragment();
    const hash = PREFIX + (report && text ? '&' : '') + text;
    const { location, history } = page;
    this.pane?.saved();
    if (hash !== (location.hash.startsWith(PREFIX) ? location.hash : PREFIX))
      history[this.pane ? 'replaceState' : 'pushState'](null, '', hash === '#' ? location.pathname + location.search : hash);
  }

  restore(again) {
    const { hash } = page.location;
    const text = new URLSearchParams(hash.startsWith(PREFIX) ? hash.slice(PREFIX.length) : '');
    if (again && report && !hash.startsWith(PREFIX))
      return;
    if (again && text.toString() === new URLSearchParams(this.fragment()).toString())
      return;
    this.cancelSaving();
    const time = (value) => value !== null && /^-?\d{1,19}$/.test(value) ? Number(value) : null;
    const list = (name) => (text.get(name) ?? '').split(',').filter(Boolean);
    const { begin, end } = this.bounds;
    const state = this.state = this.firstState();
    const from = time(text.get('from')), until = time(text.get('until'));
    Object.assign(state, from !== null && until !== null && from < until ? { from, until, whole: false } : { from: begin, until: end });
    if (text.has('open'))
      state.open = new Set(list('open'));
    state.sort = SORTS.includes(text.get('sort')) ? text.get('sort') : 'cost';
    state.pins = list('pin').filter((id) => /^\d{1,20}$/.test(id)).slice(0, 24);
    state.only = element('only').checked = text.has('only');
    state.find = text.get('find') ?? '';
    state.tab = this.panel.hasTab(text.get('tab')) ? text.get('tab') : 'findings';
    const [, rangeFrom, rangeUntil, tracks] = /^(\d+)~(\d+)~([\d:,]*)$/.exec(text.get('range') ?? '') ?? [];
    state.range = tracks === undefined ? null : { from: Number(rangeFrom), until: Number(rangeUntil), tracks: tracks.split(',').filter(Boolean) };
    this.restoreSelection(text);
    element('sort').value = state.sort;
    this.input.search.value = state.find;
    if (state.find !== this.moments.where)
      this.moments.find(!report && isExpression(state.find) ? state.find : '', false);
    this.setWindow(state.from, state.until);
    this.cancelSaving();
    this.layoutChanged();
    state.pins.forEach((id) => this.pinLanes.has(id) || this.loadPin(id));
  }

  restoreSelection(text) {
    const { tab } = this.state;
    this.detail = null;
    this.path = null;
    const [, kind, id, at] = /^(\d+):(\d+):(\d+)$/.exec(text.get('select') ?? '') ?? [];
    const [, goroutine, from, until] = /^(\d+):(\d+):(\d+)$/.exec(text.get('path') ?? '') ?? [];
    if (kind !== undefined)
      this.select({ kind: Number(kind), id, at: Number(at) });
    if (goroutine !== undefined)
      this.showPath({ goroutine, from: Number(from), until: Number(until) });
    this.state.tab = tab;
    this.panel.show();
  }

  // ---- drawing -----------------------------------------------------------------------------------

  layoutChanged() {
    this.layoutDirty = true;
    this.draw();
  }

  draw() {
    if (!this.drawn)
      this.drawn = requestAnimationFrame(() => {
        this.drawn = 0;
        this.frame();
      });
  }

  frame() {
    const started = performance.now();
    this.tiles.startFrame(++this.frames);
    if (this.layoutDirty) {
      this.layoutDirty = false;
      this.rows.layout();
      this.input.setHeight(this.rows.height);
    }
    const visible = this.drawing.rows();
    this.showLabels(visible);
    this.showWindow();
    const before = this.tiles.missing;
    if (this.stripDirty) {
      const scales = this.drawing.strip();
      this.stripDirty = this.tiles.missing > before;
      element('scales').replaceChildren(...['Goroutines', `active \u2264 ${number(scales.active)}`, `waiting \u2264 ${number(scales.waiting)}`,
        scales.heap ? `heap \u2264 ${bytes(scales.heap)}` : ''].map((text) => Object.assign(document.createElement('div'), { textContent: text })));
    }
    if (this.tiles.missing === 0)
      this.wantMargin();
    this.tiles.flush();
    this.names.flush();
    this.frameTime = performance.now() - started;
  }

  wantMargin() {
    const { from, until } = this.state;
    for (const track of this.drawing.places.keys())
      this.tiles.parts(track, this.drawing.level, from - (until - from) / 2, until + (until - from) / 2);
  }

  showWindow() {
    const { from, until } = this.state, { begin, end } = this.bounds;
    const brush = element('brush');
    brush.classList.toggle('whole', this.state.whole);
    brush.style.left = `${100 * (from - begin) / (end - begin)}%`;
    brush.style.width = `${Math.max(0.3, 100 * (until - from) / (end - begin))}%`;
    brush.setAttribute('aria-valuenow', Math.round(50 * (from + until - 2 * begin) / (end - begin)));
    brush.setAttribute('aria-valuetext', `${moment(from, (until - from) / 100)} to ${moment(until, (until - from) / 100)}`);
    element('window').textContent = `${duration(until - from)} shown`;
  }

  // The names of the visible rows; their elements are used again.
  showLabels(visible) {
    const before = this.labels;
    this.labels = new Map();
    for (const [row, top] of visible) {
      let label = before.get(row.key);
      before.delete(row.key);
      label ??= this.makeLabel(row);
      label.style.transform = `translateY(${top - this.scroll}px)`;
      this.fillLabel(label, row);
      this.labels.set(row.key, label);
    }
    before.forEach((label) => label.remove());
    const current = this.labels.get(this.input.cursor);
    element('rows')[current ? 'setAttribute' : 'removeAttribute']('aria-activedescendant', current?.id ?? '');
  }

  makeLabel(row) {
    const label = document.createElement('div');
    label.id = `row-${row.key}`;
    label.setAttribute('role', 'treeitem');
    for (const name of ['fold', 'name', 'note'])
      label.append(Object.assign(document.createElement('span'), { className: name }));
    element('labels').append(label);
    return label;
  }

  fillLabel(label, row) {
    const folds = row.type === 'section' || row.folds, open = folds && this.isOpen(row.key);
    const title = row.title ?? this.titleOf(row), note = this.noteOf(row);
    const inRange = this.state.range?.tracks.includes(`${row.kind}:${row.id}`);
    const shown = `${title}|${note}|${row.height}|${open}|${row.key === this.input.cursor}|${inRange}`;
    if (label.shown === shown)
      return;
    label.shown = shown;
    label.row = row;
    label.style.height = `${row.height}px`;
    label.className = `row ${row.type} depth${row.depth ?? 0}${row.crowd ? ' crowd' : ''}${folds ? ' folds' : ''}${row.key === this.input.cursor ? ' current' : ''}${inRange ? ' in-range' : ''}`;
    label.children[0].textContent = folds ? open ? '\u25be' : '\u25b8' : '';
    label.children[1].textContent = title;
    label.children[2].textContent = note;
    label.title = title;
    label.setAttribute('aria-level', (row.depth ?? 0) + 1);
    label.setAttribute('aria-label', [title, note].filter(Boolean).join(', '));
    label[folds ? 'setAttribute' : 'removeAttribute']('aria-expanded', open);
  }

  titleOf({ kind, id, track, depth }) {
    if (depth === 2)
      return titleOf(kind, id, nameOf({ name: '', label: track.label }));
    if (kind === SAMPLES)
      return 'CPU samples';
    if (kind >= METRIC && !track.name)
      return kind === GROUP ? 'start not known' : 'not known';
    return titleOf(kind, id, kind === GOROUTINE ? nameOf(track) || this.goroutineName(id) : track.name);
  }

  noteOf(row) {
    if (row.type === 'section')
      return number(row.count);
    const ns = row.track?.ns;
    if (!ns || row.kind === METRIC)
      return '';
    const cost = row.kind === GOROUTINE || row.crowd ? ns[0] + ns[1] + ns[2] + ns[4] : ns.reduce((sum, one) => sum + one, 0);
    const members = row.folds && this.isOpen(row.key) ? this.rows.list(row.kind === GROUP ? GOROUTINE : TASK, row.track.id, this.state.sort).total : 0;
    return [members ? number(members) : '', cost > 0 ? duration(cost) : ''].filter(Boolean).join(' \u00b7 ');
  }
}

export const app = new App();
// Tests read the model here.
window.gotraceView = app;
window.frameElement?.adopt?.(app);
await app.start();
