// view.mjs FILE [NAME=VALUE ...]: open a trace with `gotrace view` in a real browser, and use the page:
// in random windows, what it draws of procs and goroutines is compared with the changes of state that
// `gotrace print` prints; keys, mouse, search, links, back and forward. Prints what was compared, a
// line each. Errors of the page, other requests and what does not work are printed on standard
// error, and the status is 1.
//
//   gotrace=FILE  the program
//   packages=DIR  where npm installed playwright-core
//   browser=FILE  (/usr/bin/chromium)
//   scheme=light|dark
//   windows=N     random windows (50), seed=N
//   name=TEXT     a name of the trace, which the page shows as text
//   shot=FILE     where a picture of the statistics is written
//   picture=FILE  only write a picture of the view of the fragment at=TEXT
//   other=FILE    another trace, of which a part is of the same time: only use both, below each other and with --diff
import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { complaints, file, HANG, HANG_IN_ALL, options, require_ } from './checks.mjs';
import { categoryOf, compare, readModel, readPrint, saved, settled } from './intervals.mjs';

const PINS = 10, SETTLES = 450;

// ---- windows --------------------------------------------------------------------------------------

async function compareWindows(page, print) {
  const goroutines = [...print.tracks.keys()].filter((track) => track.startsWith('0:'))
    .sort((a, b) => print.tracks.get(b).length - print.tracks.get(a).length).slice(0, PINS);
  const tracks = [...goroutines, ...[...print.tracks.keys()].filter((track) => track.startsWith('1:')).slice(0, 6)];
  const counts = { windows: 0, intervals: 0 };
  let seed = Number(options.seed ?? 1);
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  await go(page, `open=pinned,procs&pin=${goroutines.map((track) => track.slice(2)).join()}`);
  for (let n = Number(options.windows ?? 50); n > 0; n--) {
    const span = Math.max(200, Math.min(print.end, 10 ** (3 + random() * (Math.log10(Math.max(print.end, 2000)) - 3))));
    const from = random() * (print.end - span);
    await page.evaluate(([a, b]) => window.gotraceView.setWindow(a, b), [from, from + span]);
    await settled(page);
    const model = await page.evaluate(readModel, tracks);
    tracks.forEach((track, place) => compare(track, model, model.tracks[place], print.tracks.get(track), track.startsWith('0:') ? print.first.get(Number(track.slice(2))) : 0, counts, complaints));
    counts.windows++;
  }
  return { ...counts, goroutines };
}

// ---- using it ----------------------------------------------------------------------------------------

const state = (page) => page.evaluate(() => {
  const { from, until, selected, range, whole } = window.gotraceView.state;
  return { from, until, span: until - from, selected, range, whole, fragment: window.gotraceView.fragment() };
});

async function go(page, fragment) {
  await page.evaluate((hash) => { window.location.hash = hash; }, fragment);
  await page.waitForTimeout(50);
  await settled(page);
}

async function press(page, ...keys) {
  for (const key of keys)
    await page.keyboard.press(key);
  await page.waitForTimeout(30);
  await settled(page);
}

async function useKeys(page) {
  await go(page, '');
  await page.locator('#rows').focus();
  const before = await state(page);
  await press(page, 'w', 'w', 'w');
  const near = await state(page);
  require_(near.span < before.span / 2, 'W does not zoom');
  await press(page, 'd');
  require_((await state(page)).from > near.from, 'D does not go on');
  await press(page, 'ArrowLeft', 'ArrowLeft');
  require_((await state(page)).from < near.from, 'an arrow key does not go back');
  await press(page, 's');
  require_((await state(page)).span > near.span, 'S does not zoom out');
  await press(page, '0');
  require_((await state(page)).whole, '0 does not show the whole trace');
  const rows = () => page.locator('.row').count();
  await press(page, 'ArrowDown');
  const active = await page.locator('#rows').getAttribute('aria-activedescendant');
  require_(active && await page.locator(`[id="${active}"]`).count() === 1, `the current row is ${active}`);
  const count = await rows();
  await press(page, 'Enter');
  require_(await rows() !== count, 'Enter does not fold a section');
  await press(page, 'Enter', '?');
  require_(await page.locator('#keys').evaluate((dialog) => dialog.open), '? does not show the help');
  await page.keyboard.press('Escape');
  require_(!await page.locator('#keys').evaluate((dialog) => dialog.open), 'the help does not close');
}

async function useMouse(page) {
  await go(page, '');
  const box = await page.locator('#canvas').boundingBox();
  const x = box.x + box.width / 4, y = box.y + 60;
  const timeAt = ({ from, until }) => from + (until - from) * (x - box.x) / box.width;
  await page.mouse.move(x, y);
  const whole = await state(page);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await settled(page);
  const near = await state(page);
  require_(near.span < whole.span && Math.abs(timeAt(near) - timeAt(whole)) <= whole.span / 500, 'Ctrl and the wheel do not zoom at the pointer');
  await page.mouse.wheel(0, 50);
  await settled(page);
  const scrolled = await page.evaluate(() => [window.gotraceView.scroll, window.gotraceView.rows.height > document.getElementById('canvas').clientHeight + 50]);
  require_(!scrolled[1] || scrolled[0] === 50, `the wheel scrolls to ${scrolled[0]}`);
  await page.mouse.down();
  await page.mouse.move(x - 100, y, { steps: 3 });
  await page.mouse.up();
  await settled(page);
  const dragged = await state(page);
  require_(Math.abs(dragged.from - near.from - 100 * near.span / box.width) <= near.span / 200, 'dragging does not pan');
  await page.keyboard.down('Shift');
  await page.mouse.down();
  await page.mouse.move(x + 100, y + 30, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await settled(page);
  const { range } = await state(page);
  require_(range && Math.abs(range.until - range.from - 200 * dragged.span / box.width) <= dragged.span / 200, 'Shift and dragging do not select a range');
  await press(page, 'Escape', '0');
  const strip = await page.locator('#strip').boundingBox();
  await page.mouse.move(strip.x + strip.width / 2, strip.y + 20);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width * 0.75, strip.y + 20, { steps: 3 });
  await page.mouse.up();
  await settled(page);
  const brushed = await state(page);
  require_(Math.abs(brushed.span / whole.span - 0.25) < 0.02 && Math.abs(brushed.from / whole.span - 0.5) < 0.02, 'the overview does not select a window');
}

// Selects a goroutine's interval with the mouse, and compares it; then the keys that work with it.
async function useSelection(page, print, track) {
  const id = track.slice(2), list = print.tracks.get(track);
  const [begin, end, category] = list.reduce((longest, one) => one[1] - one[0] > longest[1] - longest[0] && one[0] > print.first.get(Number(id)) ? one : longest, [0, 0, 0]);
  if (end <= begin)
    return;
  await go(page, `open=pinned,procs&pin=${id}`);
  await page.evaluate(([a, b]) => window.gotraceView.fit(a, b), [begin, end]);
  await settled(page);
  const box = await page.locator('#canvas').boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 32);
  await page.waitForFunction(() => window.gotraceView.detail, null, { timeout: HANG });
  const detail = await page.evaluate(() => window.gotraceView.detail);
  require_(!detail.missing && detail.begin >= begin && detail.end <= end && categoryOf(detail.state) === category,
    `a click at G${id} from ${begin} to ${end} (${category}) selects ${JSON.stringify(detail).slice(0, 200)}`);
  require_(await page.locator('#content .title').count() === 1, 'the panel shows no selection');
  await press(page, 'r');
  await page.waitForFunction(() => document.querySelector('tr[data-ns]'), null, { timeout: HANG });
  const sums = await page.locator('tr[data-ns]').evaluateAll((all) => all.map((row) => [+row.dataset.state, +row.dataset.ns]));
  require_(sums.length === 1 && categoryOf(sums[0][0]) === category && Math.abs(sums[0][1] - (detail.end - detail.begin)) < 1, `the range of one interval is ${JSON.stringify(sums)}`);
  await press(page, 'Escape');
  require_(!(await state(page)).range, 'Escape does not give up the range');
  await saved(page);
  await press(page, '.');
  if (detail.begin < list.at(-1)[0])
    await page.waitForFunction((after) => window.gotraceView.detail?.begin >= after || window.gotraceView.detail?.missing, detail.end, { timeout: HANG }).catch(() => complaints.push('the key for the next interval does not work'));
  await page.locator('#rows').focus();
  await press(page, 'p');
  await page.waitForFunction(() => window.gotraceView.path, null, { timeout: HANG }).catch(() => complaints.push('there is no critical path'));
  const parts = await page.evaluate(() => window.gotraceView.path ?? []);
  const explained = parts.filter(({ spans }) => !spans).reduce((sum, part) => sum + part.end - part.begin, 0);
  const length = await page.evaluate(() => window.gotraceView.state.path.until - window.gotraceView.state.path.from);
  require_(explained === length, `the critical path explains ${explained} ns of ${length}`);
  await press(page, 'Escape', 'Escape', 'Escape');
  require_((await state(page)).selected === null, 'Escape does not give up the selection');
}

async function useSearch(page, text) {
  await go(page, '');
  await page.locator('#rows').focus();
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await page.waitForFunction(() => document.querySelector('#found [role=option]'), null, { timeout: HANG }).catch(() => {});
  const found = await page.locator('#found [role=option]').count();
  require_(found > 0, `a search for ${text} finds nothing`);
  await page.keyboard.press('Enter');
  await settled(page);
  await saved(page);
  return found;
}

// What gotrace prints of its rows of a kind, as JSON.
function rowsOf(kind, ...words) {
  const { stdout } = spawnSync(options.gotrace, [...words, file], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((row) => row.kind === kind);
}

// An expression finds what find finds; next and previous go there; the link finds it again.
async function useExpression(page) {
  const where = 'wait or sched > 10us', expected = rowsOf('moment', 'find', '--json', where);
  await useSearch(page, where);
  const ready = (text) => page.waitForFunction(() => window.gotraceView.moments.answer, null, { timeout: HANG }).catch(() => complaints.push(`${text}: there is no answer`));
  const shown = () => page.evaluate(() => ({ total: window.gotraceView.moments.answer?.total, rows: document.querySelectorAll('#content tr').length, at: window.gotraceView.moments.at,
    selected: window.gotraceView.state.selected, text: document.querySelector('#content').textContent }));
  await ready(where);
  let found = await shown();
  require_(found.total === expected.length && found.rows === Math.min(200, expected.length), `${found.total} moments in ${found.rows} rows instead of ${expected.length}: ${found.text}`);
  await page.locator('#rows').focus();
  await press(page, 'n', 'n', 'Shift+N');
  found = await shown();
  require_(expected.length < 2 || (found.at === 0 && found.selected?.id === String(expected[0].goroutine) && found.selected.at === expected[0].begin), `next and previous lead to ${JSON.stringify(found)}`);
  await saved(page);
  await page.goto('about:blank');
  await page.goBack();
  await ready('the link');
  require_((await shown()).total === expected.length, 'the link does not have the search');
  await go(page, '');
  return expected.length;
}

// The statistics and the flame graph of a range are those of stat and of the profile.
async function useStatistics(page) {
  const { end } = await page.evaluate(() => window.gotraceView.trace);
  const from = Math.floor(end / 5), until = Math.floor(end / 2), times = ['--from', `${from}ns`, '--until', `${until}ns`];
  const expected = rowsOf('function', 'stat', '--json', '--only', 'goroutines', ...times);
  await go(page, `range=${from}~${until}~&tab=stat`);
  await page.waitForFunction(() => document.querySelector('canvas.flame')?.clientHeight > 30, null, { timeout: HANG }).catch(() => complaints.push('there are no statistics'));
  const found = await page.evaluate(() => ({ rows: [...document.querySelectorAll('#content tr')].slice(1).map((row) => row.lastChild.textContent), flame: document.querySelector('.flame')?.clientHeight ?? 0,
    commands: [...document.querySelectorAll('#content button')].map((button) => button.title) }));
  require_(JSON.stringify(found.rows) === JSON.stringify(expected.slice(0, 30).map(({ name }) => name || '(unknown)')), `statistics of ${found.rows} instead of ${expected.map(({ name }) => name)}`);
  require_(found.flame > 30, `the flame graph has a height of ${found.flame}`);
  require_(found.commands[0] === `gotrace stat --from ${from}ns --until ${until}ns ${file}`, `the command is ${found.commands[0]}`);
  await page.locator('canvas.flame').focus();
  await press(page, 'ArrowDown', 'Enter', 'ArrowDown');
  const label = await page.locator('canvas.flame').getAttribute('aria-label');
  require_(/^Flame graph, (?!all).*%$/.test(label), `the keys in the flame graph lead to ${label}`);
  if (options.shot)
    await page.screenshot({ path: options.shot });
  await go(page, '');
}

// Back and forward, and the link in another page.
async function useHistory(page, context) {
  await go(page, '');
  const { end } = await page.evaluate(() => window.gotraceView.trace);
  const step = async (a, b) => {
    await page.evaluate(([from, until]) => window.gotraceView.setWindow(from, until), [a, b]);
    await saved(page);
    return (await state(page)).fragment;
  };
  const first = await step(Math.floor(end / 4), Math.floor(end / 2)), second = await step(Math.floor(end / 3), Math.floor(end / 2.5));
  require_(first !== second && page.url().endsWith(second), 'the link does not have the window');
  await page.goBack();
  await page.waitForFunction((fragment) => window.gotraceView.fragment() === fragment, first, { timeout: HANG }).catch(() => {});
  require_((await state(page)).fragment === first, `back leads to ${(await state(page)).fragment}, not ${first}`);
  await page.goForward();
  await page.waitForFunction((fragment) => window.gotraceView.fragment() === fragment, second, { timeout: HANG }).catch(() => {});
  require_((await state(page)).fragment === second, `forward leads to ${(await state(page)).fragment}, not ${second}`);
  const other = await context.newPage();
  watch(other, new URL(page.url()).origin);
  await other.goto(page.url());
  await settled(other);
  require_((await state(other)).fragment === second, 'the link does not open the same view');
  await other.close();
}

const brightness = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, one) => sum + +one, 0);

// Colors, names for screen readers, and that what the trace has is text.
async function look(page, dark) {
  await go(page, '');
  const seen = await page.evaluate(() => {
    const canvas = document.getElementById('canvas'), { width, height } = canvas;
    const pixels = new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer));
    return {
      background: getComputedStyle(document.body).backgroundColor, color: getComputedStyle(document.body).color, colors: pixels.size,
      unnamed: [...document.querySelectorAll('canvas, input, select, button, [role=treeitem], [role=slider]')]
        .filter((one) => one.role !== 'presentation' && !(one.getAttribute('aria-label') || one.textContent || one.labels?.length)).length,
      wide: document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight,
      elements: document.querySelectorAll('img, iframe, b > script, [onerror], [style*=url]').length, text: document.body.textContent,
    };
  });
  require_((brightness(seen.background) < brightness(seen.color)) === dark, `the colors are ${seen.color} on ${seen.background}`);
  require_(seen.colors >= 4, `the rows have ${seen.colors} colors`);
  require_(seen.unnamed === 0, `${seen.unnamed} elements have no name for screen readers`);
  require_(!seen.wide, 'the page is larger than the window');
  require_(seen.elements === 0, 'a name of the trace is HTML');
  require_(!options.name || seen.text.includes(options.name), `${options.name} is not shown`);
}

function watch(page, origin) {
  page.on('pageerror', (error) => complaints.push(`error of the page: ${error.message}`));
  // Nothing is there at that time: an answer.
  page.on('console', (message) => /status of 404/.test(message.text()) || complaints.push(`console: ${message.text()}`));
  page.on('dialog', (dialog) => complaints.push(`a script of the trace runs: ${dialog.message()}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin && !request.url().startsWith('data:'))
      complaints.push(`request: ${request.url()}`);
  });
}

async function check(page, context, dark) {
  const print = await readPrint(options.gotrace, file);
  const { windows, intervals, goroutines } = await compareWindows(page, print);
  console.log(`windows: ${windows}`);
  console.log(`intervals: ${intervals > 0 ? intervals : 'none'}`);
  await useKeys(page);
  await useMouse(page);
  if (goroutines.length) {
    await useSelection(page, print, goroutines[0]);
    console.log(`found: ${await useSearch(page, options.name ?? goroutines[0].slice(2))}`);
  }
  console.log(`moments: ${await useExpression(page)}`);
  await useStatistics(page);
  await useHistory(page, context);
  await look(page, dark);
}

// ---- two traces ---------------------------------------------------------------------------------------

const panesOf = (page) => page.frames().filter((frame) => frame.parentFrame() === page.mainFrame());

async function settledPanes(page, count) {
  await page.waitForFunction((wanted) => window.gotracePanes?.apps.filter(({ trace }) => trace.complete).length === wanted, count, { timeout: HANG });
  for (const pane of panesOf(page))
    await settled(pane);
  for (const pane of panesOf(page))
    await saved(pane);
  await page.waitForTimeout(SETTLES + 200); // then the URL of the panes has it
}

// The windows of the panes, as times of the wall clock, or since the begin.
const windowsOf = async (page, clock) => (await Promise.all(panesOf(page).map((pane) => pane.evaluate((absolute) => {
  const { state, trace } = window.gotraceView, zero = absolute ? BigInt(trace.clock) : BigInt(-trace.begin);
  return [state.from, state.until, state.range?.from, state.range?.until].map((time) => time === undefined ? 'none' : String(zero + BigInt(Math.round(time))));
}, clock)))).map(([from, until, ...range]) => ({ window: `${from} ${until}`, range: range.join(' ') }));

const near = (a, b) => a.split(' ').every((time, n) => Math.abs(Number(BigInt(time) - BigInt(b.split(' ')[n]))) <= 1);

async function checkPanes(page, clock, what) {
  const [one, two] = await windowsOf(page, clock);
  require_(near(one.window, two.window), `${what}: the panes show ${one.window} and ${two.window}`);
  return { ...one, other: two };
}

// Panes move together, by mouse and keys, also after a choice of the other alignment; back, and the link.
async function usePanes(page, context) {
  await settledPanes(page, 2);
  const [first, second] = panesOf(page);
  const whole = await checkPanes(page, true, 'by the wall clock');
  await first.locator('#rows').focus();
  await page.keyboard.press('w');
  await page.keyboard.press('d');
  await settledPanes(page, 2);
  const moved = await checkPanes(page, true, 'after W and D');
  require_(moved.window !== whole.window, 'W and D do not move the panes');
  await page.keyboard.press('F6');
  await page.keyboard.press('s');
  await settledPanes(page, 2);
  const left = await checkPanes(page, true, 'after F6 and S');
  require_(left.window !== moved.window && await second.evaluate(() => document.hasFocus()), 'F6 does not lead to the next pane');
  const times = await second.evaluate(() => {
    const { trace } = window.gotraceView, from = trace.begin, until = trace.begin + (trace.end - trace.begin) / 8;
    window.gotraceView.setRange({ from, until, tracks: ['1:0'] });
    return until - from;
  });
  await settledPanes(page, 2);
  const ranged = await checkPanes(page, true, 'with a range');
  require_(times > 0 && near(ranged.range, ranged.other.range), `the ranges are ${ranged.range} and ${ranged.other.range}`);
  require_(await second.locator('#panel').isVisible(), 'a range does not show the details');
  await page.keyboard.press('i');
  require_(!await first.locator('#panel').isVisible() && !await second.locator('#panel').isVisible(), 'I does not hide the details');
  await page.locator('#align').selectOption('begin');
  await settledPanes(page, 2);
  const begins = await checkPanes(page, false, 'by begin');
  const other = await context.newPage();
  watch(other, new URL(page.url()).origin);
  await other.goto(page.url());
  await settledPanes(other, 2);
  require_((await checkPanes(other, false, 'the link')).window === begins.window && await other.locator('#align').inputValue() === 'begin', 'the link does not open the same view');
  await other.close();
  await page.goBack();
  await settledPanes(page, 2);
  require_((await checkPanes(page, true, 'back')).window === ranged.window, 'back does not lead to the view before');
  await page.locator('#whole').click();
  await settledPanes(page, 2);
  require_((await checkPanes(page, true, 'whole')).window === whole.window, 'the button does not show the whole traces');
  await lookAtPanes(page);
}

async function lookAtPanes(page) {
  const sizes = await Promise.all(panesOf(page).map((pane) => pane.evaluate(() => [document.getElementById('canvas').clientHeight,
    document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight])));
  require_(sizes.every(([height, ...over]) => height >= 150 && over.every((one) => one <= 0)), `the rows of the panes are ${JSON.stringify(sizes)}`);
  require_(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight), 'the page is larger than the window');
}

// The table has the rows of diff, and a click on a task finds it.
async function useDifferences(page) {
  await settledPanes(page, 2);
  const print = spawn(options.gotrace, ['diff', '--json', '--all', '--top', '1000', file, options.other], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [verdict, ...rows] = (await print.stdout.toArray()).join('').trim().split('\n').map((line) => JSON.parse(line));
  await page.waitForFunction(() => document.querySelector('#differences table'), null, { timeout: HANG });
  require_((await page.locator('#differences').textContent()).startsWith(`${verdict.significant} of ${verdict.rows} `), `the table has not ${verdict.significant} of ${verdict.rows} rows`);
  await page.locator('#differences input').check();
  const shown = await page.locator('#differences tr').evaluateAll((all) => all.slice(1).map((row) => [...row.cells].map((cell) => cell.textContent)));
  require_(shown.length === rows.length && rows.every(({ of, figure, significant }, n) => shown[n][0].startsWith(of) && shown[n][1] === figure && (shown[n][6] === 'yes') === significant),
    `the rows are ${JSON.stringify(shown).slice(0, 300)}`);
  const task = page.locator('#differences button.go', { hasText: /^task / }).first();
  if (await task.count()) {
    await task.click();
    await settledPanes(page, 2);
    const name = (await task.textContent()).slice('task '.length);
    require_((await Promise.all(panesOf(page).map((pane) => pane.locator('.row.current').textContent()))).some((row) => row.includes(name)), `a click does not find ${name}`);
  }
  await checkPanes(page, false, 'beside each other');
  await lookAtPanes(page);
}

// ---- the server and the browser -------------------------------------------------------------------------

async function serve(...more) {
  const server = spawn(options.gotrace, ['view', ...more, file, ...options.other ? [options.other] : []], { stdio: ['ignore', 'pipe', 'pipe'] });
  let messages = '';
  server.stderr.on('data', (text) => { messages += text; });
  server.on('exit', (status, signal) => server.killed || complaints.push(`the server has ended, status ${status ?? signal}: ${messages}`));
  const { value } = await readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  require_(/^http:\/\/127\.0\.0\.1:\d+\/\?token=\w+$/.test(value), `the address is ${value}`);
  return { server, url: value ?? '' };
}

// Opens a page of its own server.
async function open(browser, act, ...more) {
  const { server, url } = await serve(...more);
  try {
    const context = await browser.newContext({ colorScheme: options.scheme === 'dark' ? 'dark' : 'light', viewport: options.picture ? { width: 1180, height: 610 } : { width: 1280, height: 720 } });
    const page = await context.newPage();
    watch(page, new URL(url).origin);
    await page.goto(options.at ? `${url}#${options.at}` : url);
    await act(page, context);
    await context.close();
  } finally {
    server.kill();
  }
}

async function useOne(page, context) {
  await settled(page);
  if (options.picture) {
    await page.waitForTimeout(1500);
    await page.screenshot({ path: options.picture });
  } else {
    await check(page, context, options.scheme === 'dark');
  }
}

async function main() {
  const { chromium } = createRequire(path.join(path.resolve(options.packages), 'package.json'))('playwright-core');
  const browser = await chromium.launch({
    executablePath: options.browser || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const deadline = setTimeout(() => complaints.push('it takes too long') && browser.close(), HANG_IN_ALL);
  try {
    await open(browser, options.other ? usePanes : useOne);
    if (options.other)
      await open(browser, useDifferences, '--diff');
  } finally {
    clearTimeout(deadline);
    await browser.close();
  }
}

await main().catch((error) => complaints.push(error.message));
for (const complaint of complaints.slice(0, 30))
  console.error(complaint);
process.exit(complaints.length ? 1 : 0);
