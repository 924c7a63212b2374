// checks.mjs - what scripts that use a page in a browser have in common: their arguments, FILE
// [NAME=VALUE ...], and the list of what does not work, which they print at the end.
const [, , first, ...rest] = process.argv;

export const file = first;
export const options = Object.fromEntries(rest.map((text) => {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}));

// Against hangs only, in ms, of one step and of all: no test measures time.
export const HANG = 120000, HANG_IN_ALL = 1200000;

export const complaints = [];
export const require_ = (condition, what) => {
  if (!condition)
    complaints.push(what);
};
