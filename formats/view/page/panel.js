// panel.js - the panel below: the selected interval, a range, the findings, the problems of the trace.
import { askJson, askStack, askWindow } from './api.js';
import { command, copy, duration, element, GOROUTINE, GROUP, make, moment, nameOf, number, PROC, RANGE, REGION, share, STATES, TASK, THREAD, titleOf, TYPE, whole } from './format.js';
import { report } from './stored.js';

const TABS = { details: 'Selection', range: 'Range', stat: 'Statistics', moments: 'Moments', findings: 'Findings', problems: 'Problems' };
const FRAMES = 12;
// The option that selects what such a track is of.
const OPTIONS = { [GOROUTINE]: '--goroutine', [PROC]: '--proc', [THREAD]: '--thread', [TASK]: '--task' };

export class Panel {
  constructor(app) {
    this.app = app;
    this.answer = null;
    this.problemList = [];
    this.problemCount = 0;
    element('tabs').replaceChildren(...Object.entries(TABS).map(([id, title]) => make('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': 'content', click: () => this.open(id) }, title)));
    element('tabs').addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const shown = [...element('tabs').children].filter((tab) => !tab.hidden);
      const next = step && shown[(shown.indexOf(document.activeElement) + step + shown.length) % shown.length];
      next?.focus();
      next?.click();
    });
  }

  hasTab(id) {
    return Object.hasOwn(TABS, id ?? '');
  }

  open(tab) {
    this.app.state.tab = tab;
    this.show();
    this.app.changed();
  }

  show() {
    const tab = TABS[this.app.state.tab] ? this.app.state.tab : 'findings';
    element('tab-stat').hidden = element('tab-moments').hidden = Boolean(report);
    element('tab-problems').hidden = this.problemList.length === 0;
    element('tab-problems').textContent = `Problems (${this.problemCount})`;
    for (const id of Object.keys(TABS)) {
      element(`tab-${id}`).setAttribute('aria-selected', id === tab);
      element(`tab-${id}`).tabIndex = id === tab ? 0 : -1;
    }
    element('content').setAttribute('aria-labelledby', `tab-${tab}`);
    element('content').replaceChildren(...this[`${tab}Content`]().filter(Boolean));
  }

  go(text, act) {
    return make('button', { type: 'button', class: 'go', click: act }, text);
  }

  tool(text, act, title) {
    return make('button', { type: 'button', click: act, title }, text);
  }

  // ---- the selection -----------------------------------------------------------------------------

  detailsContent() {
    const { selected } = this.app.state, { detail } = this.app;
    if (!selected)
      return [make('p', { class: 'empty' }, 'Click on something in the timeline, or choose a row with \u2191 \u2193 and press Enter.')];
    if (!detail)
      return [make('p', { class: 'empty' }, 'Loading \u2026')];
    if (detail.missing)
      return [make('p', { class: 'empty' }, `${titleOf(selected.kind, selected.id, '')}: ${detail.missing}`)];
    const begin = this.stack(selected.kind === GOROUTINE ? 'Where it began' : 'Stack', detail.stack);
    const end = detail.end_stack ? this.stack('Where it ended', detail.end_stack) : [];
    const path = this.pathContent(), wakes = this.wakeList(detail);
    const [second, third] = path.length ? [path, [...begin, ...end, ...wakes]] : end.length ? [[...begin, ...wakes], end] : [begin, wakes];
    return [make('div', { class: 'columns' }, make('div', {}, ...this.facts(selected, detail)), make('div', {}, ...second), make('div', {}, ...third))];
  }

  facts(selected, detail) {
    const { app } = this;
    const { kind, id } = selected;
    const isRegion = kind >= REGION && kind < RANGE;
    const state = kind === GOROUTINE || kind === PROC || kind === THREAD;
    const rows = [['Time', `${moment(detail.begin)} to ${moment(detail.end)}`], ['Duration', duration(detail.end - detail.begin)],
      ['Reason', detail.reason && (isRegion || kind === TASK ? '' : detail.reason)], ['Region', isRegion ? detail.reason : ''],
      ['Proc', detail.proc !== null && detail.proc !== undefined && kind !== PROC ? this.go(`P${detail.proc}`, () => app.select({ kind: PROC, id: detail.proc, at: detail.begin }, true)) : ''],
      ['Goroutine', detail.goroutine && kind !== GOROUTINE ? this.go(titleOf(GOROUTINE, detail.goroutine, app.goroutineName(detail.goroutine)), () => this.showGoroutine()) : ''],
      ['Made runnable by', detail.waker ? this.go(titleOf(GOROUTINE, detail.waker.goroutine, nameOf(detail.waker)), () => app.select({ kind: GOROUTINE, id: detail.waker.goroutine, at: Math.max(app.trace.begin, detail.waker.time - 1) }, true)) : '']];
    return [make('div', { class: 'title' }, state ? make('i', { class: `swatch s${detail.state}` }) : null,
      `${kind === RANGE ? app.rangeName(id) : titleOf(kind, id, nameOf(detail) || app.goroutineName(id))}${state ? `: ${app.stateName(detail.state)}` : ''}`),
    make('dl', {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])),
    make('div', { class: 'tools' }, this.goroutineOf(selected, detail) ? this.tool('Show goroutine', () => this.showGoroutine(), 'Pin it at the top (g)') : null,
      this.goroutineOf(selected, detail) ? this.tool('Critical path', () => this.pathOfSelection(), 'What it waited for, in this time or in the selected range (p)') : null,
      kind === TASK ? this.tool('Show its regions', () => this.showRegions(id, detail), 'Pin the goroutines that have regions of it') : null,
      this.tool('Copy link', () => app.input.copyLink()), this.tool('Copy command', () => this.copyCommand(this.commandOfSelection()), this.commandOfSelection()))];
  }

  goroutineOf(selected, detail) {
    const isOwn = selected.kind === GOROUTINE || (selected.kind >= REGION && selected.kind < RANGE);
    return isOwn ? selected.id : detail?.goroutine;
  }

  showGoroutine() {
    const { selected } = this.app.state;
    const id = selected && this.goroutineOf(selected, this.app.detail);
    if (id)
      this.app.pin([id]);
  }

  // Pins the goroutines with regions of a task, of the first 200 that have regions in its time.
  async showRegions(task, { begin, end }) {
    const window = { from: whole(begin), until: whole(end + 1) };
    try {
      const { tracks } = await askJson('tracks', { kind: REGION, ...window, limit: 200 });
      const lanes = tracks.flatMap(({ id }) => [0, 1, 2, 3].map((lane) => [`${REGION + lane}:${id}`, id]));
      const found = new Set();
      for (let n = 0; n < lanes.length; n += 200) {
        const part = lanes.slice(n, n + 200);
        const answers = await askWindow(part.map(([track]) => track), begin, end + 1, Math.ceil((end - begin) / 10000));
        answers.forEach((stretches, at) => stretches.other.some((other) => String(other) === String(task)) && found.add(part[at][1]));
      }
      if (found.size)
        this.app.pin([...found].slice(0, 24));
      else
        this.app.say('No goroutine has a region of it.');
    } catch (error) {
      this.app.report(error);
    }
  }

  pathOfSelection() {
    const { selected, range } = this.app.state, { detail } = this.app;
    const goroutine = selected && detail && this.goroutineOf(selected, detail);
    if (goroutine)
      this.app.showPath({ goroutine, from: range?.from ?? detail.begin, until: range?.until ?? detail.end });
  }

  stack(title, id) {
    const list = make('ol', { class: 'stack code' }, make('li', { class: 'empty' }, id ? 'Loading \u2026' : 'no stack'));
    if (id)
      askStack(id).then((frames) => {
        const place = (frame, file) => frame.file ? `${file}:${frame.line}` : ''; // without debug information there is none
        const lines = frames.slice(0, FRAMES).map((frame) => make('li', { title: place(frame, frame.file) || null }, frame.function, ' ',
          make('span', { class: 'place' }, place(frame, frame.file.split('/').pop()))));
        list.replaceChildren(...lines, ...(frames.length > FRAMES ? [make('li', { class: 'empty' }, `${frames.length - FRAMES} more`)] : []));
      }, (error) => list.replaceChildren(make('li', {}, error.message)));
    return [make('h2', {}, title), list];
  }

  wakeList({ wakes, wake_count: count }) {
    if (!wakes.length)
      return [];
    return [make('h2', {}, `It made runnable (${number(count ?? wakes.length)})`), make('ol', { class: 'stack' }, ...wakes.map((wake) => make('li', {},
      this.go(titleOf(GOROUTINE, wake.goroutine, nameOf(wake)), () => this.app.select({ kind: GOROUTINE, id: wake.goroutine, at: wake.time }, true)), ` at ${moment(wake.time)}`)))];
  }

  pathContent() {
    const { path } = this.app.state;
    if (!path)
      return [];
    const parts = this.app.path;
    return [make('h2', {}, `Critical path of G${path.goroutine}, ${duration(path.until - path.from)}`), !parts ? make('p', { class: 'empty' }, 'Loading \u2026')
      : make('table', {}, ...parts.slice(0, 200).map((part) => make('tr', { class: part.spans ? 'dim' : false }, make('td', { class: 'n' }, duration(part.end - part.begin)),
        make('td', { class: `depth${Math.min(8, part.depth)}` }, make('i', { class: `swatch s${part.state ?? 11}` }), ` ${part.state === null ? 'not known' : this.app.stateName(part.state)}`),
        make('td', { class: 'name', title: nameOf(part) }, this.go(`G${part.goroutine}`, () => this.app.select({ kind: GOROUTINE, id: part.goroutine, at: part.begin }, true)), part.reason ? ` ${part.reason}` : '')))),
    make('div', { class: 'tools' }, this.tool('Copy command', () => this.copyCommand(this.commandOfPath())), this.tool('Close path', () => this.app.showPath(null)))];
  }

  // ---- commands ------------------------------------------------------------------------------------

  files() {
    return this.app.trace.files;
  }

  times(from, until) {
    return ['--from', `${whole(from)}ns`, '--until', `${whole(until)}ns`];
  }

  commandOfView() {
    const { from, until, range, selected } = this.app.state;
    return selected && this.app.detail && !this.app.detail.missing ? this.commandOfSelection()
      : range ? this.commandOfRange() : command('stat', ...(this.app.state.whole ? [] : this.times(from, until)), ...this.files());
  }

  commandOfSelection() {
    const { selected } = this.app.state, { detail } = this.app;
    const kind = selected.kind >= REGION && selected.kind < RANGE ? GOROUTINE : selected.kind;
    const option = OPTIONS[kind] ? [OPTIONS[kind], selected.id] : [];
    return command('print', ...this.times(detail.begin, Math.max(detail.begin, detail.end) + 1), ...option, ...this.files());
  }

  commandOfPath() {
    const { goroutine, from, until } = this.app.state.path;
    return command('why', '--goroutine', goroutine, ...this.times(from, until), ...this.files());
  }

  commandOfRange() {
    const { range } = this.app.state;
    const idsOf = (kind) => range.tracks.filter((track) => track.startsWith(`${kind}:`)).map((track) => track.split(':')[1]);
    const goroutines = idsOf(GOROUTINE), procs = idsOf(PROC);
    const option = goroutines.length === range.tracks.length && goroutines.length ? ['--goroutine', goroutines.join(',')]
      : procs.length === range.tracks.length && procs.length ? ['--proc', procs.join(',')] : [];
    return command('stat', ...this.times(range.from, range.until), ...option, ...this.files());
  }

  async copyCommand(text) {
    await copy(text);
    this.app.say(`Copied: ${text}`);
  }

  // ---- a range -------------------------------------------------------------------------------------

  rangeContent() {
    const { range } = this.app.state;
    if (!range)
      return [make('p', { class: 'empty' }, 'Shift + drag over rows, or press r, for the sums of what they do in a range of time.')];
    const box = make('div', {}, make('p', { class: 'empty' }, 'Loading \u2026'));
    clearTimeout(this.summing);
    this.summing = setTimeout(() => this.sumRange(range, box), this.sums?.range === range ? 0 : 120);
    if (this.sums?.range === range)
      box.replaceChildren(...this.sumContent());
    return [make('div', { class: 'title' }, `${moment(range.from)} to ${moment(range.until)}, ${duration(range.until - range.from)}, ${range.tracks.length} ${range.tracks.length === 1 ? 'track' : 'tracks'}`,
      this.tool('Fit', () => this.app.fit(range.from, range.until)), this.tool('Copy command', () => this.copyCommand(this.commandOfRange()), this.commandOfRange())), box];
  }

  // The sums are exact but for intervals at both ends that are shorter than a thousandth.
  async sumRange(range, box) {
    const from = Math.floor(range.from), until = Math.max(from + 1, Math.ceil(range.until));
    if (!range.tracks.length) {
      box.replaceChildren(make('p', { class: 'empty' }, 'There are no tracks in it.'));
      return;
    }
    try {
      const tracks = (await askWindow(range.tracks, from, until, Math.floor((until - from) / 4096))).map((stretches, n) => {
        const ns = new Array(STATES).fill(0);
        stretches.addTo(ns, range.from, range.until);
        return { track: range.tracks[n], ns, sum: ns.reduce((sum, one) => sum + one, 0) };
      });
      const ns = new Array(STATES).fill(0);
      tracks.forEach((track) => track.ns.forEach((one, state) => { ns[state] += one; }));
      this.sums = { range, tracks, ns };
      if (this.app.state.range === range)
        box.replaceChildren(...this.sumContent());
    } catch (error) {
      box.replaceChildren(make('p', { class: 'warning' }, error.message));
    }
  }

  sumContent() {
    const { range, tracks, ns } = this.sums;
    const all = ns.reduce((sum, one) => sum + one, 0);
    const states = ns.map((one, state) => [one, state]).filter(([one]) => one > 0).sort(([a], [b]) => b - a);
    const activeOf = (track) => track.ns[0] + track.ns[1] + track.ns[2] + track.ns[4];
    const first = [...tracks].sort((a, b) => activeOf(b) - activeOf(a) || b.sum - a.sum).slice(0, 30);
    return [make('div', { class: 'columns two' }, make('table', { 'aria-label': 'Time in each state' }, make('tr', {}, ...['State', 'Time', 'Share', ''].map((title, n) => make('th', { class: n ? 'n' : false }, title))),
      ...states.map(([one, state]) => make('tr', { 'data-state': state, 'data-ns': one }, make('td', {}, make('i', { class: `swatch s${state}` }), ` ${this.app.stateName(state)}`), make('td', { class: 'n' }, duration(one)),
        make('td', { class: 'n' }, share(one, all)), make('td', {}, make('meter', { value: one / all, 'aria-hidden': 'true' }))))),
    make('table', { 'aria-label': 'Active time of tracks' }, make('tr', {}, make('th', {}, 'Track'), make('th', { class: 'n' }, 'Active'), make('th', { class: 'n' }, 'All')),
      ...first.map((track) => make('tr', {}, make('td', { class: 'name' }, this.trackTitle(track.track)), make('td', { class: 'n' }, duration(activeOf(track))), make('td', { class: 'n' }, duration(track.sum))))))];
  }

  trackTitle(track) {
    const [kind, id] = track.split(':');
    const listed = Number(kind) === GROUP ? this.app.rows.groups() : Number(kind) === TYPE ? this.app.rows.types() : Number(kind) === RANGE ? this.app.rows.ranges() : [];
    return titleOf(Number(kind), id, listed.find((one) => String(one.id) === id)?.name ?? this.app.goroutineName(id));
  }

  statContent() {
    return this.app.statistics.content();
  }

  momentsContent() {
    return this.app.moments.content();
  }

  // ---- findings and problems -----------------------------------------------------------------------

  findings(answer) {
    this.answer = answer;
    if (this.app.state.tab === 'findings')
      this.show();
  }

  findingsContent() {
    if (!this.answer)
      return [make('p', { class: 'empty' }, this.app.trace.failed ?? (this.app.trace.complete ? 'The trace is being diagnosed \u2026' : 'Findings are shown when the trace is read.'))];
    const { verdict, findings, figures } = this.answer;
    return [make('p', { class: 'verdict' }, verdict), findings.length ? make('ol', { class: 'findings' }, ...findings.map((finding) => make('li', {},
      make('div', { class: 'finding' }, finding.at === null || finding.at === undefined ? make('b', {}, finding.title) : this.go(finding.title, () => this.goTo(finding)),
        make('span', { class: 'dim' }, ` ${finding.cost}`)),
      make('div', {}, finding.text),
      finding.command ? make('div', {}, make('code', {}, finding.command), ' ', this.tool('Copy', () => this.copyCommand(finding.command))) : null))) : make('ul', {}, ...(figures ?? []).map((figure) => make('li', {}, figure)))];
  }

  // The longest case of a finding.
  goTo({ at, until, goroutine }) {
    if (goroutine) {
      this.app.pin([goroutine]);
      this.app.select({ kind: GOROUTINE, id: goroutine, at });
    }
    if (until > at)
      this.app.fit(at, until);
    else
      this.app.setWindow(at - (this.app.trace.end - this.app.trace.begin) / 100, at + (this.app.trace.end - this.app.trace.begin) / 100);
  }

  problems({ problems, problem_count: count }) {
    const changed = problems.length !== this.problemList.length;
    this.problemList = problems;
    this.problemCount = count ?? problems.length;
    if (changed)
      this.show();
  }

  problemsContent() {
    const { gaps } = this.app.trace, lost = gaps.reduce((sum, [begin, end]) => sum + end - begin, 0);
    const where = gaps.length ? ` Where the timeline is hatched, events are missing or misplaced: at ${number(gaps.length)} ${gaps.length === 1 ? 'place' : 'places'}, ${duration(lost)} in all.` : '';
    return [make('p', {}, `What could be read of the trace is shown.${where}`), ...gaps.slice(0, 20).map(([begin, end]) => this.go(moment(begin), () => this.app.fit(begin, Math.max(end, begin + 1000)))), ...this.problemList.map((problem) => make('p', { class: 'warning code' }, problem))];
  }
}
