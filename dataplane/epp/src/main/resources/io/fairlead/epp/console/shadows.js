// How shadows would have done, and how often they agreed over the last hour.

import { byId, el, node, say, table } from './dom.js';
import { empty } from './endpoints.js';
import { count, millis, percent, plural, rate, time } from './format.js';
import { shares } from './chart.js';

/** Agreement of one point is that of the minute before it, for few requests say little. */
const WINDOW = 6;

const kind = (index) => `line-${index % 8}`;
const both = (own, real) => node(`${own} ${real}`, () => el('span', { class: 'both' }, el('span', null, own), el('span', { class: 'real' }, real)));

const view = table('Shadows beside the scheduling in force', [
  { title: 'Shadow', of: (s) => node(`${s.index} ${s.name} ${s.off ?? ''}`, () => el('span', null, el('span', { class: `swatch ${kind(s.index)}`, 'aria-hidden': 'true' }), s.name, s.off ? el('span', { class: 'why' }, `off: ${s.off}`) : null)), kind: 'name' },
  { title: 'Requests', of: (s) => count(s.requests), number: true },
  { title: 'Agreed', of: (s) => percent(s.requests ? s.agreed / s.requests : undefined), number: true },
  { title: 'Cached', of: (s) => both(percent(s.shadow.hitRatio), percent(s.real.hitRatio)), number: true, hint: 'Share of prompt tokens cached where it chose, and below where the real scheduling did' },
  { title: 'First token', of: (s) => both(millis(s.shadow.firstTokenMillis), millis(s.real.firstTokenMillis)), number: true, hint: 'As expected of its choices, and below of the real ones' },
  { title: 'Spread', of: (s) => both(rate(s.shadow.loadSpread), rate(s.real.loadSpread)), number: true, hint: 'Most requests in flight at one endpoint over the mean, and below of the real choices' },
  { title: 'Left out', of: (s) => count(s.leftOut), number: true },
], { key: (s) => s.name, kind: 'shadows', rowClass: (s) => (s.off ? 'marked' : '') });

const picture = el('figure', { class: 'over-time' });
let names = [];

export function show(page, points) {
  const body = byId('shadows-body');
  const list = page.shadows.map((shadow, index) => ({ ...shadow, index }));
  if (list.length === 0) {
    names = [];
    say(byId('shadows-note'), '');
    empty(body, 'No scheduling is tried beside the one in force. spec.shadows of the EndpointPicker lists some; nothing goes where they say.');
    return;
  }
  view.update(list);
  if (view.root.parentNode !== body) {
    body.replaceChildren(picture, view.root);
  }
  say(byId('shadows-note'), `${plural(list.length, 'shadow')}, own numbers above, real ones below`);
  const before = names;
  names = list.map((shadow) => shadow.name);
  if (before.join() !== names.join()) {
    draw(points);
  }
}

/** Draws the curves anew: there is another point. */
export function draw(points) {
  if (names.length === 0 || points.length === 0) {
    return;
  }
  const from = points[0].at;
  const to = points.at(-1).at;
  const curves = names.map((name, index) => ({ name, kind: kind(index), points: agreement(points, name) }));
  const last = curves.map((curve) => `${curve.name} ${percent(curve.points.findLast(([, share]) => share !== null)?.[1])}`);
  picture.replaceChildren(
    el('figcaption', null, 'Agreement with the scheduling in force'),
    el('div', { class: 'plot' },
      el('span', { class: 'y top', 'aria-hidden': 'true' }, '100 %'),
      el('span', { class: 'y bottom', 'aria-hidden': 'true' }, '0 %'),
      shares(`Agreement over time, at last: ${last.join(', ')}`, curves, from, to)),
    el('div', { class: 'x', 'aria-hidden': 'true' }, el('span', null, time(from)), el('span', null, time(to))));
}

function agreement(points, name) {
  return points.map((point, i) => {
    const now = point.shadows[name];
    let before = null;
    for (let j = Math.max(0, i - WINDOW); j < i && !before; j++) {
      const earlier = points[j].shadows[name];
      // It counts anew when its scheduling is another one.
      before = earlier && now && earlier[1] < now[1] && earlier[0] <= now[0] ? earlier : null;
    }
    return [point.at, before ? (now[0] - before[0]) / (now[1] - before[1]) : null];
  });
}
