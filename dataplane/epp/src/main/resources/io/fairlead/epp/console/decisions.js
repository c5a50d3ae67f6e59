// The newest decisions. The list stands still while somebody points at it: what moves can't be clicked.

import { badge, byId, el, node, say, table } from './dom.js';
import { empty } from './endpoints.js';
import { count, millis, time } from './format.js';

const OUTCOMES = { completed: 'good', open: 'quiet', 'left to the proxy': 'quiet', 'answered by an earlier attempt': 'warn', disconnected: 'warn', refused: 'warn', invalid: 'warn' };

/** How an outcome is coloured. */
export function outcomeKind(outcome) {
  return OUTCOMES[outcome] ?? 'bad';
}

/** Where a request's receipt is shown: others may have the same id. */
export function receiptLink(decision) {
  return `#request=${encodeURIComponent(decision.id)}&arrived=${encodeURIComponent(decision.arrived)}`;
}

const view = table('The newest requests; the link of each opens its receipt', [
  { title: 'Request', of: (d) => node(d.id, () => el('a', { href: receiptLink(d), class: 'id' }, d.id)), kind: 'name' },
  { title: 'Came', of: (d) => time(d.arrived), number: true, kind: 'came' },
  { title: 'Model', of: (d) => d.model, kind: 'name model' },
  { title: 'Endpoint', of: (d) => d.endpoint || '–', kind: 'name endpoint' },
  { title: 'Outcome', of: (d) => badge(d.attempts > 1 ? `${d.outcome}, ${d.attempts} attempts` : d.outcome, outcomeKind(d.outcome)), kind: 'outcome' },
  { title: 'Waited', of: (d) => (d.waited ? millis(d.beforeSentMillis) : '–'), number: true, kind: 'waited' },
  { title: 'First token', of: (d) => millis(d.firstTokenMillis), number: true, kind: 'first' },
  { title: 'Took', of: (d) => millis(d.tookMillis), number: true, kind: 'took' },
  { title: 'Prompt', of: (d) => count(d.promptTokens), number: true, hint: 'Tokens of the prompt', kind: 'prompt' },
  { title: 'Cached', of: (d) => count(d.usage?.cachedTokens >= 0 ? d.usage.cachedTokens : undefined), number: true, hint: 'Of those, found cached by the server', kind: 'cached' },
], { key: (d) => `${d.arrived} ${d.id}`, kind: 'decisions' });

/** A finger leaves no pointer behind it that could go away again. */
const pointer = matchMedia('(hover: hover)');

let held = false;
let newest = [];

const card = byId('decisions');
const pause = byId('pause');

/** Paused by the button, or by a pointer or the keyboard in the list. */
function standsStill() {
  const body = byId('decisions-body');
  return held || (pointer.matches && body.matches(':hover')) || body.contains(document.activeElement);
}

pause.addEventListener('click', () => {
  held = !held;
  pause.setAttribute('aria-pressed', String(held));
  say(pause, held ? 'Go on' : 'Pause');
  render();
});
for (const event of ['mouseleave', 'focusout']) {
  card.addEventListener(event, () => queueMicrotask(render));
}

export function show(decisions) {
  newest = decisions.requests;
  render();
}

function render() {
  const still = standsStill();
  card.classList.toggle('still', still);
  if (newest.length === 0) {
    say(byId('decisions-note'), '');
    empty(byId('decisions-body'), 'No request yet. Each shows up here as soon as it is decided, unless requests.receipts keeps none.');
    return;
  }
  if (still && view.root.isConnected) {
    say(byId('decisions-note'), held ? 'paused' : 'holds still while you look');
    return;
  }
  say(byId('decisions-note'), `the newest ${count(newest.length)}`);
  view.update(newest);
  if (!view.root.isConnected) {
    byId('decisions-body').replaceChildren(view.root);
  }
}
