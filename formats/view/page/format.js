// format.js - times, numbers and commands as text.

export const STATES = 12;
export const RUN = 0, ASSIST = 1, RUNNABLE = 2, SYSCALL = 3, LOCK = 4;
export const GOROUTINE = 0, PROC = 1, THREAD = 2, TASK = 3, REGION = 4, RANGE = 8, METRIC = 9, GROUP = 10, TYPE = 11,
  ALL = 12, SAMPLES = 14;

const UNITS = [['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3], ['ns', 1]];
const unitOf = (ns) => UNITS.find(([, size]) => Math.abs(ns) >= size) ?? UNITS[3];

export const duration = (ns) => {
  const [unit, size] = unitOf(ns);
  return `${size === 1 ? Math.round(ns) : (ns / size).toFixed(3)}\u00a0${unit}`;
};

// A time since the start of the trace, as exactly as steps of that size need it.
export const moment = (ns, step = 1) => {
  const [unit, size] = unitOf(Math.max(Math.abs(ns), step));
  const digits = Math.max(0, Math.ceil(Math.log10(size / Math.max(step, 1)) - 1e-9));
  return `${(ns / size).toFixed(digits)}\u00a0${unit}`;
};

export const number = (n) => Number(n).toLocaleString('en-US', { maximumFractionDigits: n < 10 ? 1 : 0 });

export const counted = (n, what) => `${number(n)} ${what}${Number(n) === 1 ? '' : 's'}`;

export const bytes = (n) => {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(n, 1)) / 10)));
  return `${(n / 1024 ** power).toFixed(power ? 1 : 0)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
};

export const share = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : '';

// The next number of 1, 2, 5, 10, 20, ... that is not less.
export const roundUp = (n) => {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1e-9)));
  return [1, 2, 5, 10].find((step) => step * power >= n * (1 - 1e-9)) * power;
};

// Integers for the API and for commands; times have 64 bits.
const LATEST = 2n ** 63n - 1n;
export const whole = (ns) => {
  const exact = BigInt(Math.round(ns));
  return String(exact > LATEST ? LATEST : exact);
};

const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
export const command = (...words) => ['gotrace', ...words].map(String).map(quoted).join(' ');

export const titleOf = (kind, id, name) => {
  const letter = { [GOROUTINE]: 'G', [PROC]: 'P', [THREAD]: 'M', [TASK]: 'task ' }[kind >= REGION && kind < RANGE ? 0 : kind];
  return letter === undefined ? name || String(id) : name && kind !== PROC && kind !== THREAD ? `${letter}${id} ${name}` : `${letter}${id}`;
};

// The function where a goroutine starts, and its label.
export const nameOf = ({ name, label }) => label ? `${name} (${label})`.trim() : name;

export const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
};

export const element = (id) => document.getElementById(id);

// A new element; strings among the children become text, never HTML.
export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function')
      element.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
