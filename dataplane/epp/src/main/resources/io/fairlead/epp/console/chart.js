// Curves.

import { svg } from './dom.js';

const WIDTH = 600;

/** A curve without axes, from 0 to its largest value, for a figure; null leaves a gap. */
export function sparkline(values, least = 1) {
  const most = Math.max(least, ...values.filter((value) => value !== null));
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  return svg('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} 100`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('path', { class: 'curve', d: path(values.map((value, i) => [i * step, value === null ? null : 98 - (value / most) * 94])) }));
}

/** Shares over time: curves is [{name, kind, points: [[time, share or null]]}]. */
export function shares(label, curves, from, to) {
  const x = (at) => ((at - from) / Math.max(1, to - from)) * WIDTH;
  return svg('svg', { class: 'shares', viewBox: `0 0 ${WIDTH} 100`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    [0, 50, 100].map((y) => svg('line', { class: 'rule', x1: 0, x2: WIDTH, y1: y, y2: y })),
    curves.map((curve) => svg('path', {
      class: `curve ${curve.kind}`,
      d: path(curve.points.map(([at, share]) => [x(at), share === null ? null : 100 - share * 100])),
    })));
}

/** A point by itself is a dot: a line of no length with a round end. */
function path(points) {
  let text = '';
  let pen = false;
  for (const [x, y] of points) {
    if (y === null) {
      pen = false;
    } else {
      text += `${pen ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
      if (!pen) {
        text += 'h0';
      }
      pen = true;
    }
  }
  return text;
}
