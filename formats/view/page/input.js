// input.js - mouse, touch, keys and search.
import { askWindow } from './api.js';
import { copy, element, GOROUTINE, GROUP, make, METRIC, number, RANGE, TASK, TYPE, duration, titleOf } from './format.js';
import { isExpression } from './jobs.js';
import { laneAt } from './rows.js';
import { report } from './stored.js';

const NEAR = 4, MOST_HEIGHT = 8e6, FOUND = 50;

export class Input {
  constructor(app) {
    this.app = app;
    this.canvas = element('canvas');
    this.scroller = element('scroller');
    this.search = element('search').querySelector('input');
    this.found = element('found');
    this.pointers = new Map();
    this.height = 0;
    this.cursor = '';
    this.listenRows();
    this.listenBrush();
    this.listenSearch();
    this.listenTools();
    document.addEventListener('keydown', (event) => this.key(event));
  }

  // ---- scrolling ---------------------------------------------------------------------------------

  setHeight(height) {
    this.height = height;
    const shown = Math.min(MOST_HEIGHT, height);
    this.factor = Math.max(1, (height - this.canvas.clientHeight) / Math.max(1, shown - this.canvas.clientHeight));
    this.scroller.firstElementChild.style.height = `${shown}px`;
    this.scrollTo(this.app.scroll);
  }

  scrollTo(y) {
    this.app.scroll = Math.round(Math.max(0, Math.min(y, this.height - this.canvas.clientHeight)));
    this.scroller.scrollTop = this.app.scroll / (this.factor ?? 1);
    this.ownScroll = this.scroller.scrollTop;
    this.app.draw();
  }

  // ---- rows --------------------------------------------------------------------------------------

  timeAt(x) {
    const { from, until } = this.app.state;
    return from + (until - from) * x / this.canvas.clientWidth;
  }

  listenRows() {
    const rows = element('rows');
    rows.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.scroller.addEventListener('scroll', () => {
      if (Math.abs(this.scroller.scrollTop - this.ownScroll) < 1)
        return;
      this.app.scroll = Math.round(this.scroller.scrollTop * (this.factor ?? 1));
      this.app.draw();
    });
    for (const type of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel', 'pointerleave', 'dblclick'])
      this.canvas.addEventListener(type, (event) => this[type](event));
    element('labels').addEventListener('click', (event) => {
      const { row } = event.target.closest('.row') ?? {};
      if (row)
        this.activate(row);
    });
  }

  wheel(event) {
    const before = this.app.scroll;
    this.turn(event);
    // The page around it scrolls where its rows do not.
    if (!report || this.app.scroll !== before || event.ctrlKey || event.metaKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      event.preventDefault();
  }

  turn(event) {
    const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
    const { left } = this.canvas.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey)
      this.app.zoom(2 ** (event.deltaY * unit / 150), this.timeAt(Math.max(0, event.clientX - left)));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.app.pan((event.deltaX || event.deltaY) * unit / this.canvas.clientWidth);
    else
      this.scrollTo(this.app.scroll + event.deltaY * unit);
  }

  pointerdown(event) {
    element('rows').focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    const { from, until } = this.app.state;
    this.drag = { x: event.offsetX, y: event.offsetY, from, until, scroll: this.app.scroll, moved: false, range: event.shiftKey };
    this.startPinch();
  }

  startPinch() {
    if (this.pointers.size !== 2)
      return;
    const [a, b] = [...this.pointers.values()];
    const { from, until } = this.app.state;
    this.pinch = { distance: Math.max(10, Math.abs(a.x - b.x)), time: this.timeAt((a.x + b.x) / 2), span: until - from };
  }

  pointermove(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) {
      this.hover(event);
      return;
    }
    Object.assign(pointer, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 2 && this.pinch)
      this.movePinch();
    else if (this.drag)
      this.moveDrag(event);
  }

  movePinch() {
    const [a, b] = [...this.pointers.values()];
    const span = this.pinch.span * this.pinch.distance / Math.max(10, Math.abs(a.x - b.x));
    const from = this.pinch.time - span * (a.x + b.x) / 2 / this.canvas.clientWidth;
    this.drag = null;
    this.app.setWindow(from, from + span);
  }

  moveDrag({ offsetX, offsetY }) {
    const { drag, app } = this;
    if (!drag.moved && Math.hypot(offsetX - drag.x, offsetY - drag.y) < NEAR)
      return;
    drag.moved = true;
    element('hover').hidden = true;
    if (drag.range) {
      app.setRange(this.rangeOf(drag, offsetX, offsetY));
      return;
    }
    element('rows').classList.add('drags');
    const shift = (drag.x - offsetX) * (drag.until - drag.from) / this.canvas.clientWidth;
    this.scrollTo(drag.scroll + drag.y - offsetY);
    app.setWindow(drag.from + shift, drag.until + shift);
  }

  // The visible rows from one time to another; null: these are not of the trace.
  rangeIn(from, until) {
    const { begin, end } = this.app.trace, { tracks } = this.rangeOf({ x: 0, y: 0 }, 1, this.canvas.clientHeight);
    return from < end && until > begin ? { from: Math.max(begin, from), until: Math.min(end, until), tracks } : null;
  }

  // The time and the tracks of a dragged rectangle.
  rangeOf(drag, x, y) {
    const time = (at) => Math.max(this.app.trace.begin, Math.min(this.app.trace.end, this.timeAt(at)));
    const [top, bottom] = [Math.min(drag.y, y), Math.max(drag.y, y)].map((at) => at + this.app.scroll);
    const tracks = new Set();
    for (const [row] of this.app.rows.visible(top, bottom + 1))
      if (row.type === 'track' && row.kind !== METRIC && tracks.size < 200)
        tracks.add(`${row.kind}:${row.id}`);
    return { from: time(Math.min(drag.x, x)), until: time(Math.max(drag.x, x)), tracks: [...tracks] };
  }

  pointerup(event) {
    this.pointers.delete(event.pointerId);
    this.pinch = null;
    element('rows').classList.remove('drags');
    if (this.drag && !this.drag.moved && !this.drag.range)
      this.click(event);
    this.drag = null;
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    this.drag = this.pinch = null;
  }

  pointerleave() {
    this.app.pointer = null;
    element('hover').hidden = true;
    this.app.draw();
  }

  // What is at a place: {row, kind, id, at, begin, end, ...} of the stretch there, if there is one.
  hit(x, y) {
    const place = this.app.rows.rowAt(y + this.app.scroll);
    if (!place || place.row.type !== 'track' || place.row.crowd || place.row.kind === METRIC)
      return place ? { row: place.row } : null;
    const kind = laneAt(place.row, y + this.app.scroll - place.top);
    return { row: place.row, ...this.stretchAt(kind, place.row.id, x) };
  }

  stretchAt(kind, id, x) {
    const [low, time, high] = [x - NEAR, x, x + NEAR].map((at) => this.timeAt(at));
    let best = null, distance = Infinity;
    for (const [{ stretches }] of this.app.tiles.parts(`${kind}:${id}`, this.app.drawing.level, low, high)) {
      for (let n = stretches.after(low); n < stretches.length && stretches.begin[n] <= high; n++) {
        const away = Math.max(0, stretches.begin[n] - time, time - stretches.end[n]);
        if (away >= distance)
          continue;
        distance = away;
        const sums = stretches.sums[stretches.several[n]];
        best = {
          kind, id, begin: stretches.begin[n], end: stretches.end[n], state: stretches.state[n], reason: stretches.reason[n], other: stretches.other[n],
          at: sums ? sums.longestBegin : stretches.begin[n], count: sums?.count ?? 1, ns: sums?.ns,
        };
      }
    }
    return best;
  }

  hover({ offsetX, offsetY }) {
    this.app.pointer = this.timeAt(offsetX);
    this.app.draw();
    const hit = this.hit(offsetX, offsetY), box = element('hover');
    const text = hit?.kind !== undefined ? this.describe(hit)
      : hit?.row.crowd || hit?.row.kind === METRIC ? this.app.drawing.describeAt(hit.row, this.app.pointer) : '';
    box.hidden = !text;
    if (box.hidden)
      return;
    box.textContent = text;
    const { offsetLeft, clientWidth, clientHeight } = this.canvas;
    box.style.left = `${offsetLeft + Math.min(offsetX + 14, clientWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${offsetY + 18 + box.offsetHeight > clientHeight ? offsetY - box.offsetHeight - 8 : offsetY + 18}px`;
  }

  describe(hit) {
    const { app } = this;
    if (hit.count > 1)
      return `${number(hit.count)} intervals in ${duration(hit.end - hit.begin)}\n${hit.ns.map((ns, state) => [ns, state]).filter(([ns]) => ns > 0)
        .sort(([a], [b]) => b - a).slice(0, 4).map(([ns, state]) => `${app.stateName(state)} ${duration(ns)}`).join('\n')}`;
    const label = app.drawing.labelOf(hit.kind, hit.state, hit.reason, hit.kind === RANGE ? hit.id : hit.other) || app.stateName(hit.state);
    return `${label}${hit.kind === GOROUTINE && label !== app.stateName(hit.state) ? ` (${app.stateName(hit.state)})` : ''}\n${duration(hit.end - hit.begin)}`;
  }

  click({ offsetX, offsetY }) {
    const hit = this.hit(offsetX, offsetY);
    if (!hit) {
      this.app.select(null);
      return;
    }
    this.setCursor(hit.row.key);
    if (hit.kind !== undefined)
      this.app.select({ kind: hit.kind, id: hit.id, at: hit.at });
    else if (hit.row.type === 'section' || hit.row.crowd)
      this.activate(hit.row);
    else
      this.app.select(null);
  }

  dblclick() {
    if (this.app.detail)
      this.app.fit(this.app.detail.begin, this.app.detail.end);
  }

  // ---- the row with the keyboard's focus -----------------------------------------------------------

  setCursor(key) {
    this.cursor = key;
    const row = this.app.labels.get(key)?.row;
    this.app.focusedRow = row?.type === 'track' ? `${row.kind}:${row.id}` : null;
    if (row)
      this.app.say(this.app.labels.get(key).getAttribute('aria-label'), true);
    this.app.draw();
  }

  activate(row) {
    if (row.type === 'section' || row.folds)
      this.app.toggle(row.key);
    else if (row.type === 'track' && row.kind !== METRIC)
      this.selectAt(row);
    this.setCursor(row.key);
  }

  // The stretch in the middle of the window, or the next one.
  selectAt(row) {
    const middle = this.canvas.clientWidth / 2;
    const hit = this.stretchAt(row.kind, row.id, middle);
    if (hit)
      this.app.select({ kind: row.kind, id: row.id, at: hit.at });
  }

  moveCursor(step) {
    const { rows, scroll } = this.app;
    let current = null;
    for (const place of this.everyRow())
      if (place.row.key === this.cursor) {
        current = place;
        break;
      }
    const y = current ? step > 0 ? current.top + current.row.height : current.top - 1 : scroll;
    const next = rows.rowAt(Math.max(0, Math.min(rows.height - 1, y)));
    if (!next)
      return;
    if (next.top < scroll || next.top + next.row.height > scroll + this.canvas.clientHeight)
      this.scrollTo(step > 0 ? next.top + next.row.height - this.canvas.clientHeight : next.top);
    this.cursor = next.row.key;
    this.app.frame();
    this.setCursor(next.row.key);
  }

  // Those around the visible ones.
  *everyRow() {
    const { rows, scroll } = this.app;
    for (const [row, top] of rows.visible(scroll - 200, scroll + this.canvas.clientHeight + 200))
      yield { row, top };
  }

  // ---- keys ----------------------------------------------------------------------------------------

  key(event) {
    const typing = event.target.matches?.('input:not([type=checkbox]), select, textarea');
    if (element('keys').open || typing || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const onTabs = event.target.closest?.('[role=tablist], #handle, #brush');
    if (onTabs && event.key.startsWith('Arrow'))
      return;
    const onButton = event.target.closest?.('button, a, #content');
    if (onButton && /^(Enter| |ArrowUp|ArrowDown)$/.test(event.key))
      return;
    const act = this.keys()[event.shiftKey && /^(Arrow|N$)/.test(event.key) ? `Shift${event.key}` : event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act)
      return;
    event.preventDefault();
    act();
  }

  keys() {
    const { app } = this;
    const step = 0.15, fold = (open) => {
      const row = app.labels.get(this.cursor)?.row;
      if (row && (row.type === 'section' || row.folds))
        app.toggle(row.key, open);
    };
    return {
      w: () => app.zoom(0.7, app.pointer ?? undefined), s: () => app.zoom(1 / 0.7, app.pointer ?? undefined), '+': () => app.zoom(0.7), '-': () => app.zoom(1 / 0.7),
      a: () => app.pan(-step), d: () => app.pan(step), ArrowLeft: () => app.pan(-step), ArrowRight: () => app.pan(step),
      ArrowUp: () => this.moveCursor(-1), ArrowDown: () => this.moveCursor(1),
      PageUp: () => this.scrollTo(app.scroll - this.canvas.clientHeight), PageDown: () => this.scrollTo(app.scroll + this.canvas.clientHeight),
      Home: () => app.setWindow(app.bounds.begin, app.bounds.begin + app.state.until - app.state.from),
      End: () => app.setWindow(app.bounds.end - (app.state.until - app.state.from), app.bounds.end),
      Enter: () => app.labels.get(this.cursor) && this.activate(app.labels.get(this.cursor).row), ' ': () => fold(),
      0: () => app.setWindow(app.bounds.begin, app.bounds.end), f: () => app.fitSelection(),
      '.': () => this.step(1), ',': () => this.step(-1),
      r: () => this.startRange(), ShiftArrowLeft: () => this.growRange(-1), ShiftArrowRight: () => this.growRange(1),
      o: () => app.setOnly(!app.state.only), g: () => app.panel.showGoroutine(), p: () => app.panel.pathOfSelection(), i: () => app.pane?.toggle(), c: () => this.copyLink(),
      n: () => app.moments.step(1), ShiftN: () => app.moments.step(-1),
      '/': () => this.search.focus(), '?': () => this.help(), Escape: () => this.escape(),
    };
  }

  // The next or previous interval of the selected track.
  step(direction) {
    const { selected } = this.app.state, { detail } = this.app;
    if (selected && detail && !detail.missing)
      this.app.select({ ...selected, at: direction > 0 ? Math.min(detail.end, this.app.trace.end - 1) : Math.max(this.app.trace.begin, detail.begin - 1) }, true);
  }

  // The selected interval, or the middle third of the window, on the current row or the visible ones.
  startRange() {
    const { from, until, selected } = this.app.state, { detail } = this.app;
    const row = this.app.labels.get(this.cursor)?.row;
    const tracks = selected ? [`${selected.kind}:${selected.id}`] : row?.type === 'track' ? [`${row.kind}:${row.id}`]
      : this.rangeOf({ x: 0, y: 0 }, 1, this.canvas.clientHeight).tracks;
    const third = (until - from) / 3;
    this.app.setRange(detail && !detail.missing ? { from: detail.begin, until: detail.end, tracks } : { from: from + third, until: until - third, tracks });
  }

  growRange(direction) {
    const { range, from, until } = this.app.state;
    if (!range) {
      this.startRange();
      return;
    }
    const end = Math.max(range.from + 1, Math.min(this.app.trace.end, range.until + direction * (until - from) / 20));
    this.app.setRange({ ...range, until: end });
  }

  escape() {
    const { app } = this;
    if (app.state.range)
      app.setRange(null);
    else if (app.state.path)
      app.showPath(null);
    else if (app.moments.where)
      this.giveUpSearch();
    else if (app.state.selected)
      app.select(null);
    else if (app.state.pins.length) {
      app.state.pins = [];
      app.layoutChanged();
      app.changed();
    }
  }

  giveUpSearch() {
    this.app.state.find = this.search.value = '';
    this.app.moments.find('', false);
    this.app.panel.show();
    this.app.changed();
  }

  async copyLink() {
    this.app.save();
    await copy((report ?? window).location.href);
    this.app.say('The link is copied.');
  }

  listenTools() {
    element('whole').addEventListener('click', () => this.app.setWindow(this.app.bounds.begin, this.app.bounds.end));
    element('link').addEventListener('click', () => this.copyLink());
    element('command').addEventListener('click', () => this.app.panel.copyCommand(this.app.panel.commandOfView()));
    element('help').addEventListener('click', () => this.help());
    element('only').addEventListener('change', (event) => this.app.setOnly(event.target.checked));
    element('sort').addEventListener('change', (event) => this.app.setSort(event.target.value));
    const handle = element('handle');
    const setHeight = (height) => document.documentElement.style.setProperty('--panel', `${Math.max(30, Math.min(innerHeight - 250, height))}px`);
    handle.addEventListener('pointerdown', (event) => handle.setPointerCapture(event.pointerId));
    handle.addEventListener('pointermove', (event) => event.buttons && setHeight(innerHeight - event.clientY - 3));
    handle.addEventListener('keydown', (event) => {
      if (/^Arrow(Up|Down)$/.test(event.key))
        setHeight(element('panel').offsetHeight + (event.key === 'ArrowUp' ? 20 : -20));
    });
  }

  // ---- the overview --------------------------------------------------------------------------------

  listenBrush() {
    const plot = element('brush').parentElement, { app } = this;
    const timeAt = (event) => app.bounds.begin + (app.bounds.end - app.bounds.begin) * (event.clientX - plot.getBoundingClientRect().left) / plot.clientWidth;
    let drag = null;
    plot.addEventListener('pointerdown', (event) => {
      const { from, until } = app.state, time = timeAt(event);
      plot.setPointerCapture(event.pointerId);
      const edge = event.target.classList.contains('left') ? 'left' : event.target.classList.contains('right') ? 'right' : '';
      drag = { time, from, until, edge: edge || (event.target.id === 'brush' && !app.state.whole ? 'move' : 'new'), x: event.clientX };
    });
    plot.addEventListener('pointermove', (event) => {
      if (!drag || Math.abs(event.clientX - drag.x) < NEAR)
        return;
      const time = timeAt(event), shift = time - drag.time;
      if (drag.edge === 'move')
        app.setWindow(drag.from + shift, drag.until + shift);
      else if (drag.edge === 'new')
        app.setWindow(Math.min(time, drag.time), Math.max(time, drag.time));
      else
        app.setWindow(...[drag.edge === 'left' ? time : drag.from, drag.edge === 'right' ? time : drag.until].sort((a, b) => a - b));
    });
    plot.addEventListener('pointerup', (event) => {
      const { from, until } = app.state;
      if (drag && drag.edge === 'new' && Math.abs(event.clientX - drag.x) < NEAR && !app.state.whole)
        app.setWindow(drag.time - (until - from) / 2, drag.time + (until - from) / 2);
      drag = null;
    });
    plot.addEventListener('wheel', (event) => {
      event.preventDefault();
      app.zoom(2 ** (event.deltaY / 150), timeAt(event));
    }, { passive: false });
    element('brush').addEventListener('keydown', (event) => {
      if (/^Arrow(Left|Right)$/.test(event.key))
        app.pan(event.key === 'ArrowLeft' ? -0.2 : 0.2);
    });
  }

  // ---- search --------------------------------------------------------------------------------------

  listenSearch() {
    this.search.addEventListener('input', () => this.find());
    this.search.addEventListener('focus', () => this.search.value && this.find());
    this.search.addEventListener('blur', () => setTimeout(() => this.showFound(null), 150));
    this.search.addEventListener('keydown', (event) => this.searchKey(event));
    element('search').addEventListener('submit', (event) => event.preventDefault());
  }

  searchKey(event) {
    if (event.key === 'Escape') {
      this.showFound(null);
      element('rows').focus();
    } else if (event.key === 'Enter') {
      if (this.results?.[this.active])
        this.choose(this.results[this.active]);
      else
        this.app.moments.step(event.shiftKey ? -1 : 1);
    } else if (/^Arrow(Up|Down)$/.test(event.key) && this.results?.length) {
      this.active = (this.active + (event.key === 'ArrowDown' ? 1 : -1) + this.results.length) % this.results.length;
      this.markActive();
    } else {
      return;
    }
    event.preventDefault();
  }

  async find() {
    const text = this.search.value.trim().toLowerCase(), { app } = this;
    app.state.find = this.search.value.trim();
    app.changed();
    if (!text) {
      this.showFound(null);
      return;
    }
    const named = ({ name }) => name.toLowerCase().includes(text);
    const labelled = app.labelled.filter(({ label }) => label.toLowerCase().includes(text)).map(({ id, begin, end }) => ({ kind: GOROUTINE, id, what: 'goroutine', begin, end }));
    const results = [...labelled, ...app.rows.groups().filter(named).map((track) => ({ kind: GROUP, track, what: 'function' })),
      ...app.rows.types().filter(named).map((track) => ({ kind: TYPE, track, what: 'task type' }))].slice(0, FOUND);
    const [, id] = /^(?:g|task\s*)?(\d{1,19})$/.exec(text) ?? [];
    if (id !== undefined)
      results.unshift(...await this.findId(id, text));
    if (!report && isExpression(this.search.value.trim()))
      results.unshift({ where: this.search.value.trim(), what: 'moments' });
    if (this.search.value.trim().toLowerCase() === text)
      this.showFound(results);
  }

  async findId(id, text) {
    const { begin, end } = this.app.trace;
    const kinds = text.startsWith('g') ? [GOROUTINE] : text.startsWith('t') ? [TASK] : [GOROUTINE, TASK];
    try {
      const answers = await askWindow(kinds.map((kind) => `${kind}:${id}`), begin, end + 1, Math.ceil((end - begin) / 1000));
      return kinds.flatMap((kind, n) => answers[n].length ? [{ kind, id, what: kind === TASK ? 'task' : 'goroutine', begin: answers[n].begin[0], end: answers[n].end.at(-1) }] : []);
    } catch {
      return [];
    }
  }

  showFound(results) {
    this.results = results;
    this.active = 0;
    this.found.hidden = !results;
    this.search.setAttribute('aria-expanded', Boolean(results));
    this.found.replaceChildren(...(results ?? []).map((result, n) => make('div', { role: 'option', id: `found-${n}`, pointerdown: (event) => {
      event.preventDefault();
      this.choose(result);
    } }, make('span', {}, result.where || titleOf(result.kind, result.id, result.track?.name ?? this.app.goroutineName(result.id)) || 'not known'), make('span', {}, result.what))));
    if (results?.length === 0)
      this.found.append(make('p', {}, 'No goroutine, start function or task type matches, and it is no expression.'));
    this.markActive();
  }

  markActive() {
    [...this.found.children].forEach((option, n) => option.setAttribute('aria-selected', n === this.active));
    this.found.children[this.active]?.scrollIntoView({ block: 'nearest' });
    this.search.setAttribute('aria-activedescendant', this.results?.length ? `found-${this.active}` : '');
  }

  async show(text) {
    this.search.value = text;
    await this.find();
    this.choose(this.results?.[0]);
  }

  choose(result) {
    if (!result)
      return;
    this.showFound(null);
    if (result.where) {
      this.app.moments.find(result.where);
      return;
    }
    element('rows').focus();
    if (result.kind === GOROUTINE)
      this.app.pin([result.id]);
    if (result.kind === GOROUTINE || result.kind === TASK) {
      this.app.reveal(result.begin, Math.min(result.end - result.begin, this.app.trace.end - this.app.trace.begin));
      this.app.select({ kind: result.kind, id: result.id, at: result.begin });
      return;
    }
    this.app.toggle(result.kind === GROUP ? 'goroutines' : 'tasks', true);
    this.app.toggle(`${result.kind}:${result.track.id}`, true);
    this.app.frame();
    const place = this.app.rows.find(result.kind, result.track.id);
    if (place) {
      this.scrollTo(place.top);
      this.app.frame();
      this.setCursor(place.row.key);
    }
  }

  // ---- help ----------------------------------------------------------------------------------------

  help() {
    const dialog = element('keys'), key = (names, text) => [make('dt', {}, ...names.split(' ').flatMap((name, n) => [n ? ' ' : '', make('kbd', {}, name)])), make('dd', {}, text)];
    dialog.replaceChildren(make('h2', {}, 'Keys and mouse'), make('dl', {},
      ...key('W S', 'zoom in and out; also Ctrl + wheel, or pinch, at the pointer'),
      ...key('A D', 'earlier and later; also \u2190 \u2192, Shift + wheel, a horizontal wheel, or drag'),
      ...key('\u2191 \u2193', 'choose a row; the wheel scrolls the rows'), ...key('Enter Space', 'fold or unfold the row; Enter selects what it does in the middle'),
      ...key(', .', 'previous and next interval of the selected track'), ...key('f', 'fit the selection into the window; a double click does, too'),
      ...key('0', 'the whole trace'), ...key('o', 'list only goroutines and tasks that are in the window'), ...key('Home End', 'begin and end of the trace'), ...key('/', 'search goroutines by id or label, functions and tasks by name, or moments: wait(sync) > 10ms'), ...key('n', 'next moment that was found; Shift + n: the one before'),
      ...key('r', 'select a range: sums of what the rows do; also Shift + drag. Shift + \u2190 \u2192 changes it'),
      ...key('p', 'critical path of the selection'), ...key('g', 'show the goroutine of the selection at the top'), ...key('c', 'copy a link to this view'),
      ...key('Escape', 'give up the range, the path, the selection, the pinned rows'), ...(this.app.pane ? [...key('i', 'details and findings'), ...key('F6', 'the next pane; Shift + F6: the one before')] : []), ...key('?', 'this help')),
    make('h2', {}, 'Colors'), make('div', { class: 'legend' }, ...this.app.trace.states.map((name, state) => make('span', {}, make('i', { class: `swatch s${state}` }), name))),
    make('form', { method: 'dialog' }, make('button', {}, 'Close')));
    dialog.showModal();
  }
}
