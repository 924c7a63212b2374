// report.mjs FILE [NAME=VALUE ...]: open an HTML report of gotrace from disk in a real browser, and
// use it: sort a table, filter it, zoom a flame graph with the mouse and with keys, copy a command, move in
// the timeline, whose random windows are compared with what `gotrace print` prints.
// Prints what is there, a line each. Errors of the page, requests, and what does not work are
// printed on standard error, and the status is 1.
//
//   gotrace=FILE  the program, and trace=FILE the trace of the report: without them no comparison
//   name=TEXT     a name of the trace, which the timeline shows as text
//   packages=DIR  where npm installed playwright-core
//   browser=FILE  (/usr/bin/chromium)
//   scheme=light|dark
//   script=no     with scripts disabled: only that the tables can be read
//   picture=FILE  write a picture of the report, width=PIXELS and height=PIXELS; at=ID: of that section
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { complaints, file, HANG, HANG_IN_ALL, options, require_ } from './checks.mjs';
import { compare, readModel, readPrint, saved, settled } from './intervals.mjs';

// What the page has and looks like.
function look() {
  const seen = (element) => element.getBoundingClientRect().height > 0;
  const drawn = [...document.querySelectorAll('svg[role=img]')].filter(seen);
  const ids = [...document.querySelectorAll('section')].map((section) => section.id);
  return {
    ids,
    charts: drawn.length,
    unnamed: drawn.filter((chart) => !chart.getAttribute('aria-label')).length,
    dead: [...document.querySelectorAll('nav a')].filter((a) => !document.querySelector(a.hash)).length,
    tables: [...document.querySelectorAll('table')].filter((table) => table.tBodies[0].rows.length).length,
    headings: document.querySelectorAll('h1').length,
    background: getComputedStyle(document.body).backgroundColor,
    color: getComputedStyle(document.body).color,
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
}

const brightness = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, one) => sum + +one, 0);

async function useTable(page) {
  const table = page.locator('#goroutines table');
  const header = table.locator('th').nth(2);
  const values = () => table.locator('tbody tr:not([hidden]) td:nth-child(3)')
    .evaluateAll((cells) => cells.map((cell) => +cell.dataset.v));
  const rows = (await values()).length;
  await header.locator('button').click();
  const down = await values();
  require_(down.every((one, i) => i === 0 || down[i - 1] >= one), 'a table does not sort downwards');
  require_(await header.getAttribute('aria-sort') === 'descending', 'the order is not announced');
  await header.locator('button').press('Enter');
  const up = await values();
  require_(up.every((one, i) => i === 0 || up[i - 1] <= one), 'a table does not sort upwards');
  const name = await table.locator('tbody td').first().textContent();
  await page.locator('#goroutines input').fill(name);
  const left = (await values()).length;
  require_(left >= 1 && (rows === 1 || left < rows), `the filter leaves ${left} of ${rows} rows`);
  await page.locator('#goroutines input').fill('');
  return rows;
}

async function useFlames(page) {
  const kinds = await page.locator('details.profile').count();
  if (kinds === 0)
    return 0;
  const flame = page.locator('details.profile .flame').first();
  const widest = () => flame.locator('.frame').evaluateAll((frames) => frames
    .filter((frame) => frame.getBoundingClientRect().width >= frame.parentElement.clientWidth - 3).length);
  const frames = await flame.locator('.frame').count();
  require_(frames > 1, 'a flame graph is empty');
  const before = await widest();
  const level2 = flame.locator('.frame[aria-level="2"]');
  const widths = await level2.evaluateAll((all) => all.map((frame) => frame.getBoundingClientRect().width));
  const narrow = Math.min(...widths.filter((width) => width > 8)); // wide enough for the mouse
  await level2.nth(widths.indexOf(narrow)).click();
  const zoomed = await widest();
  require_(zoomed > before || narrow === Math.max(...widths), 'a flame graph does not zoom');
  require_(await flame.locator('.frame.above').count() > 0, 'what is above the frame is not shown');
  await flame.getByText('Reset zoom').click();
  require_(await widest() === before, 'the zoom is not reset');
  await flame.locator('.frame[tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  const level = await page.evaluate(() => document.activeElement.getAttribute('aria-level'));
  require_(level === '2', `the arrow key leads to level ${level}`);
  await page.keyboard.press('Enter');
  require_(await page.evaluate(() => document.activeElement.classList.contains('frame')),
    'the focus is lost when a key zooms');
  await page.keyboard.press('Escape');
  require_(await widest() === before, 'a key does not reset the zoom');
  for (let i = 1; i < kinds; i++)
    await page.locator('details.profile summary').nth(i).press('Enter');
  await page.waitForTimeout(200);
  const empty = await page.locator('.flame').evaluateAll((all) =>
    all.filter((one) => one.querySelectorAll('.frame').length < 2).length);
  require_(empty === 0, `${empty} flame graphs are empty`);
  return kinds;
}

// The diagnosis comes first, and its commands can be copied.
async function useDiagnosis(page) {
  const first = await page.locator('main > *').first().getAttribute('id');
  require_(first === 'diagnosis', `the report begins with ${first}`);
  const verdict = await page.locator('.verdict').first().textContent();
  const findings = await page.locator('.findings > li').count();
  require_(/^[a-z].* /.test(verdict) && (findings > 0 || await page.locator('.figures li').count() === 3),
    `the verdict is: ${verdict}`);
  const button = page.locator('code.command + button').first();
  if (await button.count() > 0) {
    await button.click();
    await page.waitForTimeout(100);
    const text = await page.evaluate(() => navigator.clipboard.readText());
    require_(text === await page.locator('code.command').first().textContent() && /^gotrace \S/.test(text),
      `the copied command of a finding is: ${text}`);
  }
  return findings;
}

async function useCopy(page) {
  const button = page.locator('code.window + button').first();
  if (await button.count() === 0)
    return;
  await button.click();
  await page.waitForTimeout(100);
  const text = await page.evaluate(() => navigator.clipboard.readText());
  require_(/^gotrace convert --to perfetto --from \S+ --until \S+ -o part\.pftrace \S/.test(text),
    `the copied command is: ${text}`);
}

// ---- the timeline ----------------------------------------------------------------------------------

const windowOf = (frame) => frame.evaluate(() => ({ from: window.gotraceView.state.from, until: window.gotraceView.state.until, detail: window.gotraceView.detail }));

// What is drawn in random windows, of all goroutines and procs that the report has.
async function compareWindows(frame) {
  const print = await readPrint(options.gotrace, options.trace);
  const listed = await frame.evaluate(async () => {
    const { app, lists } = { app: window.gotraceView, lists: [] };
    for (const [kind, sort] of [[0, 'cost'], [1, 'id']]) {
      const list = app.rows.list(kind, undefined, sort);
      await list.ask(0);
      lists.push(...[...list.all()].filter(Boolean).map(({ id }) => `${kind}:${id}`));
    }
    return lists;
  });
  const tracks = listed.filter((track) => print.tracks.has(track)).slice(0, 40);
  const counts = { intervals: 0 };
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let n = 0; n < 20; n++) {
    const span = Math.max(200, Math.min(print.end, 10 ** (3 + random() * (Math.log10(Math.max(print.end, 2000)) - 3))));
    const from = random() * (print.end - span);
    await frame.evaluate(([a, b]) => window.gotraceView.setWindow(a, b), [from, from + span]);
    await settled(frame);
    const model = await frame.evaluate(readModel, tracks);
    tracks.forEach((track, place) => compare(track, model, model.tracks[place], print.tracks.get(track),
      track.startsWith('0:') ? print.first.get(Number(track.slice(2))) : 0, counts, complaints));
  }
  require_(tracks.length > 1 && counts.intervals > 0, `${counts.intervals} intervals of ${tracks.length} tracks are drawn`);
  return tracks.length;
}

// The link of a finding shows it; keys move the window; the URL has the state, also after "back".
async function moveTimeline(page, frame) {
  const link = page.locator('a[href^="#timeline&"]').first();
  if (await link.count() > 0) {
    const wanted = new URLSearchParams((await link.getAttribute('href')).slice(1));
    await link.click();
    await settled(frame);
    if (wanted.has('select'))
      await frame.waitForFunction(() => window.gotraceView.detail, null, { timeout: HANG }).catch(() => {});
    const { from, until, detail } = await windowOf(frame);
    const [, id, at] = (wanted.get('select') ?? '').split(':');
    require_(from <= +wanted.get('from') && until >= Math.min(+wanted.get('until'), until) && until > +wanted.get('from'), `the link of a finding shows ${from} to ${until}`);
    require_(!id || (detail?.begin === +at && detail.end > detail.begin && !detail.missing), `the link of a finding selects ${JSON.stringify(detail)}`);
  }
  await saved(frame);
  const before = await windowOf(frame);
  await frame.locator('#rows').focus();
  await page.keyboard.press('w');
  await settled(frame);
  await saved(frame);
  const zoomed = await windowOf(frame), url = page.url();
  require_(zoomed.until - zoomed.from < before.until - before.from, 'a key does not zoom the timeline');
  require_(/#timeline&from=\d+&until=\d+/.test(url), `after a key the URL is ${url}`);
  await page.goBack();
  await frame.waitForFunction((from) => Math.abs(window.gotraceView.state.from - from) < 2, before.from, { timeout: HANG }).catch(() => {});
  const back = await windowOf(frame);
  require_(Math.abs(back.from - before.from) < 2 && Math.abs(back.until - before.until) < 2, `back shows ${back.from} to ${back.until}`);
  await page.goto(url);
  await page.reload();
  const again = page.frames()[1];
  await settled(again);
  const restored = await windowOf(again);
  require_(Math.abs(restored.from - zoomed.from) < 2 && Math.abs(restored.until - zoomed.until) < 2, `the link shows ${restored.from} to ${restored.until}`);
}

async function useTimeline(page) {
  const frame = page.frames()[1];
  await settled(frame);
  const { drawn, names } = await frame.evaluate(() => {
    const { data } = document.getElementById('strip').getContext('2d').getImageData(0, 0, 900, 80);
    return { drawn: new Set(new Uint32Array(data.buffer)).size, names: document.getElementById('labels').textContent };
  });
  require_(drawn > 2, `the overview of the timeline has ${drawn} colors`);
  require_(/Program.*Procs.*Goroutines/.test(names), `the rows of the timeline are ${names}`);
  require_(!options.name || names.includes(options.name), `the timeline does not show ${options.name}: ${names}`);
  const tracks = options.trace ? await compareWindows(frame) : 0;
  await moveTimeline(page, frame);
  return tracks;
}

async function check(page, dark) {
  const seen = await page.evaluate(look);
  require_(seen.headings === 1, 'there is not one heading of the first level');
  require_(seen.unnamed === 0, 'a chart has no name for screen readers');
  require_(seen.dead === 0, 'a link leads nowhere');
  require_(!seen.wide, 'the page is wider than the window');
  require_((brightness(seen.background) < brightness(seen.color)) === dark,
    `the colors are ${seen.color} on ${seen.background}`);
  console.log(`sections: ${seen.ids.join(' ')}`);
  console.log(`charts: ${seen.charts}`);
  console.log(`tables: ${seen.tables}`);
  if (options.script === 'no')
    return;
  console.log(`findings: ${await useDiagnosis(page)}`);
  console.log(`goroutine rows: ${await useTable(page)}`);
  console.log(`flame graphs: ${await useFlames(page)}`);
  await useCopy(page);
  console.log(`tracks of the timeline: ${await useTimeline(page)}`);
}

async function main() {
  const { chromium } = createRequire(path.join(path.resolve(options.packages), 'package.json'))('playwright-core');
  const browser = await chromium.launch({
    executablePath: options.browser || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  const deadline = setTimeout(() => {
    console.error('it takes too long');
    process.exit(1);
  }, HANG_IN_ALL);
  try {
    const dark = options.scheme === 'dark';
    const context = await browser.newContext({
      colorScheme: dark ? 'dark' : 'light', javaScriptEnabled: options.script !== 'no',
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: +(options.width ?? 1200), height: +(options.height ?? 900) },
    });
    const page = await context.newPage();
    const url = pathToFileURL(path.resolve(file)).href;
    page.on('pageerror', (error) => complaints.push(`error of the page: ${error.message}`));
    page.on('console', (message) => complaints.push(`console: ${message.text()}`));
    page.on('dialog', (dialog) => complaints.push(`a script of the trace runs: ${dialog.message()}`));
    page.on('request', (request) => {
      if (request.url() !== url)
        complaints.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    if (!options.picture)
      await check(page, dark);
    else if (options.at)
      await page.locator(`#${options.at}`).screenshot({ path: options.picture });
    else
      await page.screenshot({ path: options.picture, fullPage: options.height === 'all' });
  } finally {
    clearTimeout(deadline);
    await browser.close();
  }
}

await main().catch((error) => complaints.push(error.message));
for (const complaint of complaints)
  console.error(complaint);
process.exit(complaints.length ? 1 : 0);
