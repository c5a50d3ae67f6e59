// How numbers and times are written.

const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const ONE = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const NONE = '–';

function known(value) {
  return value !== null && value !== undefined && Number.isFinite(value);
}

export function count(value) {
  return known(value) ? COUNT.format(value) : NONE;
}

/** With one decimal while it is small. */
export function rate(value) {
  return known(value) ? (value < 10 ? ONE : COUNT).format(value) : NONE;
}

export function percent(share) {
  return known(share) ? `${COUNT.format(share * 100)} %` : NONE;
}

export function millis(value) {
  if (!known(value)) {
    return NONE;
  }
  if (Math.abs(value) >= 10_000) {
    return `${ONE.format(value / 1000)} s`;
  }
  return `${(value !== 0 && Math.abs(value) < 10 ? ONE : COUNT).format(value)} ms`;
}

export function seconds(value) {
  return known(value) ? millis(value * 1000) : NONE;
}

/** Of the day, as the browser's zone has it. */
export function time(moment) {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? NONE : date.toLocaleTimeString('en-GB');
}

/** Enough of a config's hash to tell it from others. */
export function shortHash(hash) {
  return hash ? hash.slice(0, 12) : 'none';
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
