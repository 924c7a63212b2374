// report.js - the report: its tables, commands and flame graphs.
import { copy, duration, make } from '../view/page/format.js';

// ---- tables: sort by a column, filter rows -----------------------------------------------------

const keyOf = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
};

const sortBy = (table, header, column) => {
  const body = table.tBodies[0];
  const number = header.classList.contains('n') || body.rows[0]?.cells[column].dataset.v !== undefined;
  const down = header.ariaSort ? header.ariaSort !== 'descending' : number;
  const keyed = [...body.rows].map((row) => [keyOf(row, column), row]);
  keyed.sort(([a], [b]) => (number ? a - b : a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
  for (const other of table.tHead.rows[0].cells)
    other.removeAttribute('aria-sort');
  header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  body.append(...keyed.map(([, row]) => row));
};

for (const table of document.querySelectorAll('table.sorts')) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = make('button', { type: 'button' }, header.textContent);
    button.addEventListener('click', () => sortBy(table, header, column));
    header.replaceChildren(button);
  });
}

for (const table of document.querySelectorAll('table.filters')) {
  const rows = [...table.tBodies[0].rows];
  const input = make('input', { type: 'search', placeholder: 'part of a name' });
  const count = make('span', { role: 'status' });
  const filter = () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${shown} of ${rows.length} rows` : '';
  };
  input.addEventListener('input', filter);
  table.parentElement.before(make('div', { class: 'filter' }, make('label', {}, 'Show rows with ', input), count));
}

// ---- commands to copy --------------------------------------------------------------------------

const addCopy = (code, command) => {
  const button = make('button', { type: 'button', class: 'tool', title: command }, 'Copy command');
  button.addEventListener('click', async () => {
    await copy(command);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy command'; }, 1500);
  });
  code.after(' ', button);
};

for (const code of document.querySelectorAll('code.command'))
  addCopy(code, code.textContent);
for (const code of document.querySelectorAll('code.window'))
  addCopy(code, `gotrace convert --to perfetto ${code.textContent} -o part.pftrace ` +
    (code.dataset.file ?? document.body.dataset.file));

// ---- flame graphs ------------------------------------------------------------------------------

const data = JSON.parse(document.getElementById('flames').textContent);
const rowHeight = 18;

// The frames are listed after those that they call, so that they are read from the end.
const treeOf = (profile) => {
  const root = { name: 'all', ns: profile.total, calls: [], level: 0, color: 'fs' };
  const path = [root];
  for (let at = profile.frames.length - 3; at >= 0; at -= 3) {
    const [level, name, ns] = profile.frames.slice(at, at + 3);
    const parent = path[level];
    const text = name < 0 ? `[${data.names[-1 - name]}]` : data.names[name];
    const frame = { name: text, ns, calls: [], level: level + 1, parent, color: colorOf(text, name < 0) };
    path.length = level + 1;
    path.push(frame);
    parent.calls.push(frame);
  }
  return root;
};

// Functions of a package have the same color.
const colorOf = (name, isState) => {
  if (isState)
    return 'fs';
  const end = name.indexOf('.', name.lastIndexOf('/') + 1);
  let hash = 0;
  for (const c of end < 0 ? name : name.slice(0, end))
    hash = (hash * 31 + c.codePointAt(0)) % 65521;
  return `f${hash % 8}`;
};

const drawFlame = (box, profile) => {
  const root = treeOf(profile);
  const tree = make('div', { class: 'tree', role: 'tree', 'aria-label': `Flame graph of the profile ${profile.kind}` });
  const info = make('div', { class: 'info', role: 'status' });
  const search = make('input', { type: 'search', placeholder: 'part of a function name' });
  const reset = make('button', { type: 'button', class: 'tool' }, 'Reset zoom');
  let zoomed = root, focused = root;

  const describe = (frame) => {
    const share = (of) => `${(100 * frame.ns / of.ns).toFixed(2)} %`;
    return `${frame.name}: ${duration(frame.ns)}, ${share(root)} of all` +
      (zoomed !== root ? `, ${share(zoomed)} of ${zoomed.name}` : '');
  };

  const place = (frame, left, width) => {
    if (width * tree.clientWidth < 1)
      return 0;
    const element = make('div', {
      class: `frame ${frame.color}`, role: 'treeitem', tabindex: frame === focused ? '0' : '-1',
      'aria-level': frame.level + 1, 'aria-label': describe(frame), title: describe(frame),
    }, frame.name);
    element.style.left = `${left * 100}%`;
    element.style.width = `${width * 100}%`;
    element.style.top = `${frame.level * rowHeight}px`;
    element.classList.toggle('above', frame.level < zoomed.level);
    element.classList.toggle('found', search.value !== '' &&
      frame.name.toLowerCase().includes(search.value.toLowerCase()));
    element.frame = frame;
    frame.element = element;
    tree.append(element);
    return frame.level + 1;
  };

  const placeAll = (top) => {
    let rows = 0;
    const rest = [[top, 0, 1]];
    while (rest.length) {
      const [frame, left, width] = rest.pop();
      const reached = place(frame, left, width);
      rows = Math.max(rows, reached);
      let at = left;
      for (const call of reached ? frame.calls : []) {
        const share = width * call.ns / frame.ns;
        rest.push([call, at, share]);
        at += share;
      }
    }
    return rows;
  };

  const draw = () => {
    const hadFocus = tree.contains(document.activeElement);
    tree.replaceChildren();
    for (let frame = zoomed.parent; frame; frame = frame.parent)
      place(frame, 0, 1);
    tree.style.height = `${placeAll(zoomed) * rowHeight}px`;
    reset.disabled = zoomed === root;
    if (hadFocus)
      focus(focused);
  };

  const focus = (frame) => {
    if (!frame?.element?.isConnected)
      return;
    focused.element?.setAttribute('tabindex', '-1');
    focused = frame;
    frame.element.setAttribute('tabindex', '0');
    frame.element.focus();
  };

  const zoom = (frame) => {
    zoomed = focused = frame;
    draw();
    info.textContent = describe(frame);
  };

  const sibling = (frame, step) => {
    const all = frame.parent?.calls ?? [];
    return all[all.indexOf(frame) + step];
  };

  const keys = {
    Enter: (frame) => zoom(frame), ' ': (frame) => zoom(frame), Escape: () => zoom(root),
    ArrowUp: (frame) => focus(frame.parent), ArrowDown: (frame) => focus(frame.calls[0]),
    ArrowLeft: (frame) => focus(sibling(frame, -1)), ArrowRight: (frame) => focus(sibling(frame, 1)),
  };

  for (const [type, act] of [['mouseover', (frame) => { info.textContent = describe(frame); }],
    ['focusin', (frame) => { info.textContent = describe(frame); }], ['click', zoom]])
    tree.addEventListener(type, (event) => event.target.frame && act(event.target.frame));
  tree.addEventListener('keydown', (event) => {
    if (keys[event.key] && event.target.frame) {
      event.preventDefault();
      keys[event.key](event.target.frame);
    }
  });
  reset.addEventListener('click', () => zoom(root));
  search.addEventListener('input', draw);
  const sorted = (frame) => {
    frame.calls.sort((a, b) => b.ns - a.ns);
    frame.calls.forEach(sorted);
  };
  sorted(root);
  const note = profile.omitted === 0 ? '' :
    `${profile.omitted} frames of at most ${duration(profile.least)} are omitted.`;
  box.append(make('div', { class: 'filter' }, make('label', {}, 'Mark ', search), reset,
    make('span', {}, 'Click or Enter zooms, arrow keys move, Escape resets.')), tree, info, note);
  draw();
  let width = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth !== width)
      draw();
    width = box.clientWidth;
  }).observe(box);
};

for (const box of document.querySelectorAll('.flame')) {
  const profile = data.profiles.find((one) => one.kind === box.dataset.kind);
  const details = box.closest('details');
  const open = () => {
    if (details.open && !box.firstChild)
      drawFlame(box, profile);
  };
  details.addEventListener('toggle', open);
  open();
}

// ---- the timeline --------------------------------------------------------------------------------

// It is a page of its own, in a frame; its state is in the URL of the report, after "#timeline".
const template = document.getElementById('timeline-page');
if (template) {
  const frame = make('iframe', { title: 'Timeline', srcdoc: template.innerHTML });
  const reveal = () => location.hash.startsWith('#timeline&') && document.getElementById('timeline').scrollIntoView();
  template.replaceWith(frame);
  window.addEventListener('hashchange', reveal);
  reveal();
}
