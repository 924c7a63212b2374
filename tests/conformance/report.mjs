// report.mjs FILE [NAME=VALUE ...]: open an HTML report of gotrace from disk in a real browser, and
// use it: sort a table, filter it, zoom a flame graph with the mouse and with keys, copy a command.
// Prints what is there, a line each. Errors of the page, requests, and what does not work are
// printed on standard error, and the status is 1.
//
//   packages=DIR  where npm installed playwright-core
//   browser=FILE  (/usr/bin/chromium)
//   scheme=light|dark
//   script=no     with scripts disabled: only that the tables can be read
//   picture=FILE  write a picture of the report, width=PIXELS and height=PIXELS; at=ID: of that section
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , file, ...rest] = process.argv;
const options = Object.fromEntries(rest.map((text) => {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}));
const complaints = [];
const require_ = (condition, what) => {
  if (!condition)
    complaints.push(what);
};

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
  console.log(`goroutine rows: ${await useTable(page)}`);
  console.log(`flame graphs: ${await useFlames(page)}`);
  await useCopy(page);
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
  }, 60000);
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
