// Who waits, by band.

import { byId, say, share, table } from './dom.js';
import { empty } from './endpoints.js';
import { count, plural, seconds } from './format.js';

let most = 1;

const view = table('Queues by priority, the most important first', [
  { title: 'Priority', of: (band) => String(band.priority) },
  { title: 'Waiting', of: (band) => share(band.waiting / most, count(band.waiting), band.waiting > 0 ? 'hot' : '') },
  { title: 'Tokens', of: (band) => count(band.tokens), number: true, hint: 'That they are expected to be, of prompts and answers' },
  { title: 'Work', of: (band) => seconds(band.serverSeconds), number: true, hint: 'Time that one server would work on them' },
  { title: 'Sent', of: (band) => count(band.ended.dispatched), number: true, hint: 'Had to wait and were sent, so far' },
  { title: 'Refused', of: (band) => count(refused(band)), number: true, hint: 'No place, too long, made room, or refused otherwise, so far' },
], { key: (band) => String(band.priority), kind: 'queues', rowClass: (band) => (band.waiting > 0 ? 'marked' : '') });

function refused(band) {
  return band.ended.queue_full + band.ended.timed_out + band.ended.evicted + band.ended.refused;
}

export function show(status) {
  const { bands, queueing } = status.queues;
  const body = byId('queues-body');
  const waiting = bands.reduce((sum, band) => sum + band.waiting, 0);
  if (bands.length === 0) {
    empty(body, queueing ? 'No request has come yet.' : 'No queues: every request goes at once (feature gate flowControl is off).');
  } else {
    most = Math.max(10, ...bands.map((band) => band.waiting));
    view.update(bands);
    if (view.root.parentNode !== body) {
      body.replaceChildren(view.root);
    }
  }
  say(byId('queues-note'), bands.length === 0 ? '' : waiting === 0 ? 'nobody waits' : `${plural(waiting, 'request')} in line`);
}
