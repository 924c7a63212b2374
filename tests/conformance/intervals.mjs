// intervals.mjs - what `gotrace print` says that goroutines and procs do, and what the page of `gotrace view`
// has in its model.
import { spawn } from 'node:child_process';
import readline from 'node:readline';
import { HANG } from './checks.mjs';

const CATEGORIES = { running: 0, syscall: 1, runnable: 2, waiting: 3 };

// ---- what print says -------------------------------------------------------------------------------

// Of each goroutine and proc, its intervals: [begin, end, category]. The first state of a goroutine
// may be older than the event that shows it.
export async function readPrint(gotrace, file) {
  const tracks = new Map(), open = new Map(), first = new Map();
  const print = spawn(gotrace, ['print', '--format', 'jsonl', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  let end = 0;
  const close = (id, time) => {
    const { begin, category, proc } = open.get(id) ?? {};
    for (const track of category === undefined || time <= begin ? [] : [`0:${id}`, ...(category === 0 && proc !== undefined ? [`1:${proc}`] : [])]) {
      const list = tracks.get(track) ?? [];
      tracks.set(track, list);
      if (list.at(-1)?.[2] === category && list.at(-1)[1] === begin)
        list.at(-1)[1] = time;
      else
        list.push([begin, time, category]);
    }
    open.delete(id);
  };
  for await (const line of readline.createInterface({ input: print.stdout })) {
    const event = JSON.parse(line);
    end = Math.max(end, event.time);
    if (event.kind === 'syscall' && open.get(event.g)?.category === CATEGORIES.running) {
      /* Up to Go 1.21: one that did not block has no end, and lasts 1 ns. */
      const { proc } = open.get(event.g);
      close(event.g, event.time);
      open.set(event.g, { begin: event.time, category: CATEGORIES.syscall, proc });
      close(event.g, event.time + 1);
      open.set(event.g, { begin: event.time + 1, category: CATEGORIES.running, proc });
    }
    if (event.kind !== 'transition' || event.resource !== 'goroutine')
      continue;
    const kept = event.from === event.to && open.get(event.subject);
    const proc = kept ? kept.proc : event.proc;
    if (!first.has(event.subject) || event.initial)
      first.set(event.subject, event.time);
    close(event.subject, event.time);
    open.set(event.subject, { begin: event.time, category: CATEGORIES[event.to], proc });
  }
  for (const id of [...open.keys()])
    close(id, end);
  for (const list of tracks.values())
    list.sort((a, b) => a[0] - b[0]);
  return { tracks, first, end };
}

// ---- the page's model --------------------------------------------------------------------------------

export const settled = (page) => page.waitForFunction(() => {
  const app = window.gotraceView;
  return app?.trace.complete && !app.drawn && app.tiles.missing === 0 && app.tiles.asked.size === 0 && !app.layoutDirty;
}, null, { timeout: HANG });

// The URL has what is shown.
export const saved = (page) => page.waitForFunction(() => !window.gotraceView.saving, null, { timeout: HANG });

// What is drawn of these tracks: [begin, end, state, ns or null], parts of a tile clipped to it.
export function readModel(tracks) {
  const app = window.gotraceView;
  const { from, until } = app.state, { level } = app.drawing;
  let pixel = 0;
  const parts = tracks.map((track) => app.tiles.parts(track, level, from, until).flatMap(([tile, a, b]) => {
    const list = [];
    pixel = Math.max(pixel, tile.stretches.sums.length ? tile.pixel : 0);
    for (let n = 0; n < tile.stretches.length; n++) {
      const { begin, end, state, several, sums } = tile.stretches;
      if (begin[n] < Math.min(b, until) && end[n] > Math.max(a, from))
        list.push([begin[n], end[n], state[n], several[n] < 0 ? null : sums[several[n]].ns, Math.max(a, from), Math.min(b, until)]);
    }
    return list;
  }));
  return { from, until, pixel, tracks: parts };
}

export const categoryOf = (state) => [0, 0, 2, 1][state] ?? 3;
const overlap = (begin, end, from, until) => Math.max(0, Math.min(end, until) - Math.max(begin, from));

export function compare(track, { from, until, pixel }, stretches, wanted, since, counts, complaints) {
  const got = [0, 0, 0, 0], want = [0, 0, 0, 0];
  const low = Math.max(from, since);
  for (const [begin, end, state, ns, a, b] of stretches) {
    const part = overlap(begin, end, Math.max(a, low), b);
    if (ns) {
      ns.forEach((one, kind) => { got[categoryOf(kind)] += end > begin ? one * part / (end - begin) : 0; });
      continue;
    }
    got[categoryOf(state)] += part;
    counts.intervals++;
    if (end > begin && (track.startsWith('0:') || categoryOf(state) === CATEGORIES.running) && !wanted.some(([b0, e0, category]) => category === categoryOf(state) && (b0 <= begin || b0 <= since) && e0 >= end))
      complaints.push(`${track} is drawn in state ${state} from ${begin} to ${end}, which print does not print`);
  }
  for (const [begin, end, category] of wanted)
    want[category] += overlap(begin, end, low, until);
  for (let category = 0; category < (track.startsWith('1:') ? 1 : 4); category++)
    if (Math.abs(got[category] - want[category]) > 4 * pixel + 1)
      complaints.push(`${track} from ${from} to ${until}: ${got[category]} ns in state ${category}, print: ${want[category]}, a pixel is ${pixel} ns`);
}
