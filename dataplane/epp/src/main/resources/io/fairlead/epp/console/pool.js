// The pool at a glance: some figures, each with its last hour.

import { byId, el, say } from './dom.js';
import { count, percent, plural, rate, seconds } from './format.js';
import { sparkline } from './chart.js';

/** Counts differ by what happened between two points; a picker or an endpoint that began anew leaves a gap. */
function differences(points, of) {
  return points.slice(1).map((point, i) => {
    const value = of(points[i], point);
    return Number.isFinite(value) && value >= 0 ? value : null;
  });
}

const perSecond = (before, now) => (now.sent - before.sent) / ((now.at - before.at) / 1000);
const hits = (before, now) => (now.matchedBlocks - before.matchedBlocks) / (now.promptBlocks - before.promptBlocks);

const FIGURES = [
  {
    name: 'Endpoints',
    value: (now) => `${count(now.inUse)} of ${count(now.endpoints.length)}`,
    note: (now) => (now.endpoints.length === 0 ? now.status.endpoints?.reason ?? 'none' : now.out > 0 ? `${count(now.out)} out` : 'all in use'),
    bad: (now) => now.inUse < now.endpoints.length || now.endpoints.length === 0,
  },
  {
    name: 'Requests per second',
    value: (now) => rate(now.perSecond),
    note: (now) => `${count(now.point.sent)} sent`,
    curve: (points) => differences(points, perSecond),
  },
  {
    name: 'In flight',
    value: (now) => count(now.point.inFlight),
    note: (now) => `${count(now.awaiting)} await a first token`,
    curve: (points) => points.map((point) => point.inFlight),
  },
  {
    name: 'Waiting',
    value: (now) => count(now.point.waiting),
    note: (now) => (now.point.waiting > 0 ? `${seconds(now.status.queues.seconds)} of work` : 'nobody waits'),
    curve: (points) => points.map((point) => point.waiting),
    bad: (now) => now.point.waiting > 0,
  },
  {
    name: 'Saturation',
    value: (now) => percent(now.status.queues.saturation),
    note: (now) => (now.status.queues.full ? 'no endpoint has room' : 'there is room'),
    curve: (points) => points.map((point) => point.saturation ?? null),
    bad: (now) => now.status.queues.full,
  },
  {
    name: 'Prompts cached',
    value: (now) => percent(now.hits),
    note: () => 'of the last minute',
    curve: (points) => differences(points, hits),
  },
];

let shown = null;

function build() {
  shown = FIGURES.map((figure) => {
    const value = el('dd', { class: 'value' });
    const note = el('dd', { class: 'note' });
    const curve = el('dd', { class: 'curve-box' });
    return { figure, value, note, curve, root: el('div', { class: 'figure' }, el('dt', null, figure.name), value, note, curve) };
  });
  byId('figures').replaceChildren(...shown.map((one) => one.root));
}

/** Takes in a state, and the points before it. */
export function show(status, at, points, recent) {
  const endpoints = status.endpointList;
  const sum = (field) => endpoints.reduce((total, endpoint) => total + (endpoint[field] ?? 0), 0);
  const point = {
    at,
    sent: sum('sent'),
    inFlight: sum('inFlight'),
    waiting: status.queues.bands.reduce((total, band) => total + band.waiting, 0),
    promptBlocks: sum('promptBlocks'),
    matchedBlocks: sum('matchedBlocks'),
  };
  recent.push(point);
  while (recent.length > 2 && at - recent[1].at >= 60_000) {
    recent.shift();
  }
  // Before this page has seen enough of its own it goes by what the picker has kept.
  const before = [...points.filter((one) => one.at < recent[0].at), ...recent];
  const tenAgo = before.find((one) => at - one.at <= 10_500 && one !== point);
  const minuteAgo = before.find((one) => at - one.at <= 60_500 && one.promptBlocks <= point.promptBlocks) ?? point;
  const now = {
    status,
    endpoints,
    point,
    inUse: endpoints.filter((endpoint) => endpoint.health === 'in use').length,
    out: endpoints.filter((endpoint) => endpoint.health === 'out' || endpoint.health === 'on trial').length,
    awaiting: sum('awaitingFirstToken'),
    perSecond: tenAgo && point.sent >= tenAgo.sent ? perSecond(tenAgo, point) : null,
    hits: point.promptBlocks > minuteAgo.promptBlocks ? hits(minuteAgo, point) : null,
  };
  if (!shown) {
    build();
  }
  for (const { figure, value, note, root } of shown) {
    say(value, figure.value(now));
    say(note, figure.note(now));
    root.classList.toggle('bad', Boolean(figure.bad?.(now)));
  }
  top(status);
  return now;
}

/** Draws the curves anew: there is another point. */
export function draw(points) {
  if (!shown) {
    build();
  }
  for (const { figure, curve } of shown) {
    if (figure.curve) {
      curve.replaceChildren(sparkline(figure.curve(points), figure.name === 'Saturation' || figure.name === 'Prompts cached' ? 1 : 2));
    }
  }
}

function top(status) {
  say(byId('pool-name'), status.pool ?? '');
  document.title = status.pool ? `${status.pool} · Fairlead` : 'Fairlead';
  const readiness = byId('readiness');
  const full = status.ready && status.saturatedSince;
  say(readiness, status.ready ? (full ? 'serving, no room' : 'serving') : `not ready: ${status.notReady}`);
  readiness.className = `badge ${status.ready ? (full ? 'warn' : 'good') : 'bad'}`;
  const stale = byId('stale');
  stale.hidden = !status.fromCheckpoint;
  if (status.fromCheckpoint) {
    say(stale, `started without the API server, from what was saved at ${status.fromCheckpoint.savedAt}`);
  }
  byId('pool-name').title = plural(status.replicas, 'picker shares', 'pickers share') + ' this pool';
}
