// panes.js - several traces: the page of each in a frame, with windows that move together, and what
// differs between two.
import { ask, askJson } from './api.js';
import { bytes, copy, duration, element, make, number, share } from './format.js';

const SETTLED = 100, POLL = 1000, NAMED = ['task', 'goroutine', 'sched'];
const VALUES = { per_second: (n) => `${number(n)}/s`, ns: duration, ns_per_second: (n) => `${duration(n)}/s`, number, share: (n) => share(n, 1), bytes };

class Panes {
  constructor({ files, compared }) {
    Object.assign(this, { compared, apps: [], offsets: [] }); // offsets of common times from those of each trace
    this.choose();
    this.frames = files.map((file, n) => Object.assign(make('iframe', { src: this.pathOf(n), title: file }), { adopt: (app) => this.adopt(app, n) }));
    this.stops = compared ? [...this.frames, element('differences')] : this.frames;
    element('facts').textContent = `${compared ? 'old and new' : `${files.length} traces`} \u00b7 F6: next pane`;
    element('panes').classList.toggle('beside', compared);
    element('panes').append(...this.frames);
    element('align').addEventListener('change', (event) => this.align(event.target.value));
    element('details').addEventListener('click', () => this.setDetails(!this.details));
    element('whole').addEventListener('click', () => this.apps.forEach((app) => app.setWindow(app.bounds.begin, app.bounds.end)));
    element('link').addEventListener('click', () => this.copyLink());
    document.addEventListener('keydown', (event) => this.key(event, this.stops.indexOf(document.activeElement)));
    window.addEventListener('popstate', () => this.restore());
    if (compared)
      this.showDifferences();
  }

  // The page in a frame calls this when it begins.
  adopt(app, n) {
    const page = this.frames[n].contentDocument;
    page.documentElement.classList.add('pane');
    page.addEventListener('keydown', (event) => this.key(event, n), true);
    this.apps[n] = app;
    app.pane = {
      grew: () => this.align(), saved: () => this.save(), use: (selected) => selected && this.setDetails(true), toggle: () => this.setDetails(!this.details),
      moved: () => this.others(n, (other, shift) => other.setWindow(app.state.from + shift, app.state.until + shift)),
      ranged: (range) => this.others(n, (other, shift) => {
        app.pane.use(range);
        other.setRange(range && other.input.rangeIn(range.from + shift, range.until + shift));
      }),
    };
    this.setDetails(this.details);
  }

  others(n, act) {
    if (this.moves || this.offsets[n] === undefined)
      return;
    this.moves = true;
    this.apps.forEach((other, m) => m !== n && this.offsets[m] !== undefined && act(other, this.offsets[n] - this.offsets[m]));
    this.moves = false;
  }

  // All panes show the times of all traces: by the wall clock, unless these are not of one time.
  align(chosen = this.chosen) {
    const read = this.apps.filter(({ trace }) => trace.events);
    const clocks = read.every(({ trace }) => trace.clock) ? read.map(({ trace }) => BigInt(trace.clock)) : [];
    const clock = (n) => Number(clocks[n] - clocks[0]), begin = (n) => -read[n].trace.begin;
    const span = (offset) => [Math.min(...read.map(({ trace }, n) => trace.begin + offset(n))), Math.max(...read.map(({ trace }, n) => trace.end + offset(n)))];
    const overlap = () => span(clock)[1] - span(clock)[0] < read.reduce((sum, { trace }) => sum + trace.end - trace.begin, 0);
    const offset = clocks.length && (chosen ? chosen === 'clock' : !this.compared && overlap()) ? clock : begin;
    const [from, until] = span(offset);
    element('align').value = offset === clock ? 'clock' : 'begin';
    element('align').options[0].disabled = !clocks.length;
    read.forEach((app, n) => {
      this.offsets[this.apps.indexOf(app)] = offset(n);
      app.setBounds({ begin: from - offset(n), end: until - offset(n) });
    });
    if (chosen !== this.chosen) {
      this.chosen = chosen;
      read[0]?.pane.moved();
      this.save();
    }
  }

  setDetails(open) {
    this.details = open;
    element('details').setAttribute('aria-pressed', open);
    this.frames.forEach((frame) => frame.contentDocument?.documentElement.classList.toggle('details', open));
    this.save();
  }

  key(event, at) {
    if (event.key !== 'F6')
      return;
    event.preventDefault();
    const stop = this.stops[(at + (event.shiftKey ? -1 : 1) + this.stops.length) % this.stops.length];
    (stop.contentDocument?.getElementById('rows') ?? stop).focus();
  }

  // ---- the URL: how the traces are aligned, and the fragment of each ----------------------------------

  choose() {
    this.text = new URLSearchParams(location.hash.slice(1));
    this.chosen = this.text.get('align') ?? undefined;
    this.details = this.text.has('details');
  }

  // An empty fragment would scroll to the frame.
  pathOf(n) {
    return `${n + 1}/#${this.text.get(n + 1) ?? 'whole'}`;
  }

  save(wait = SETTLED) {
    clearTimeout(this.saving);
    if (wait) {
      this.saving = setTimeout(() => this.save(0), wait);
      return;
    }
    const text = new URLSearchParams({ ...this.chosen && { align: this.chosen }, ...this.details && { details: '' } });
    this.apps.forEach((app, n) => app.fragment() && text.set(n + 1, app.fragment()));
    if (this.apps.every(({ trace }) => trace.complete) && String(text) !== location.hash.slice(1))
      history.pushState(null, '', `#${text}`);
  }

  restore() {
    this.choose();
    this.setDetails(this.details);
    this.align();
    this.frames.forEach((frame, n) => frame.contentWindow.location.replace(this.pathOf(n)));
  }

  async copyLink() {
    this.save(0);
    await copy(location.href);
    element('status').textContent = 'The link is copied.';
    setTimeout(() => { element('status').textContent = ''; }, 5000);
  }

  // ---- differences -------------------------------------------------------------------------------

  async showDifferences() {
    const [verdict, ...rows] = (await (await ask('diff')).text()).trim().split('\n').map((line) => JSON.parse(line));
    if (verdict.ready === false) {
      element('differences').replaceChildren(make('p', { class: verdict.failed ? 'warning' : 'empty' }, verdict.failed ?? 'The traces are being compared \u2026'));
      if (!verdict.failed)
        setTimeout(() => this.showDifferences(), POLL);
      return;
    }
    const all = make('input', { type: 'checkbox', change: () => fill() }), table = make('table');
    const fill = () => table.replaceChildren(make('tr', {}, ...['What', 'Figure', 'Old', 'New', 'Change', 'q', 'Significant'].map((title, n) => make('th', { class: n > 1 && n < 6 && 'n' }, title))),
      ...rows.filter(({ significant }) => significant || all.checked).map((row) => this.row(row)));
    element('differences').replaceChildren(make('div', { class: 'title' }, `${number(verdict.significant)} of ${number(verdict.rows)} figures differ significantly`, make('label', {}, all, ' Show all'),
      make('label', { class: 'empty' }, 'Two traces are a hint only: what differs from run to run is not known.')), table);
    fill();
  }

  row({ of, name, figure, unit, old, new: now, change, q, significant, stack }) {
    const cell = (text) => make('td', { class: 'n' }, text), value = (n) => cell(n === null ? '-' : VALUES[unit](n));
    const changed = !old ? 'new' : !now ? 'gone' : change >= 9 ? `\u00d7${number(now / old)}` : `${change > 0 ? '+' : ''}${Math.round(100 * change)} %`;
    const what = [of, name, stack?.[0] && `in ${stack[0].func}`].filter(Boolean).join(' ');
    return make('tr', { class: !significant && 'dim', title: stack?.map(({ func, file, line }) => `${func} ${file}:${line}`).join('\n') },
      make('td', { class: 'name' }, name && NAMED.includes(of) ? make('button', { type: 'button', class: 'go', title: 'Search both traces for it', click: () => this.apps.forEach(({ input }) => input.show(name)) }, what) : what),
      make('td', {}, figure), value(old), value(now), cell(changed), cell(q === null ? '-' : q.toFixed(4)), make('td', {}, significant ? 'yes' : 'no'));
  }
}

window.gotracePanes = new Panes(await askJson('traces'));
