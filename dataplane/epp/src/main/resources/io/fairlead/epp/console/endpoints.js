// Every endpoint with its load, health and cache.

import { badge, byId, named, say, share, table } from './dom.js';
import { count, millis, percent, plural, seconds, time } from './format.js';

const KINDS = { 'in use': 'good', 'out': 'bad', 'on trial': 'warn', 'leaving': 'quiet' };

/** More rows than anybody reads would keep the browser busy. */
const MOST = 200;

/** What is wrong with it; empty where nothing is. */
function why(endpoint) {
  if (endpoint.reason && endpoint.health !== 'in use') {
    return `${endpoint.reason} since ${time(endpoint.since)}`;
  }
  return endpoint.failureRisk > 0.01 ? `fails ${percent(endpoint.failureRisk)} of its requests` : '';
}

const view = table('Endpoints, the busiest first', [
  { title: 'Endpoint', of: (e) => named(e.name, why(e)), kind: 'name' },
  { title: 'Health', of: (e) => badge(e.health, KINDS[e.health] ?? 'quiet') },
  { title: 'In flight', of: (e) => count(e.inFlight), number: true },
  { title: 'Queue', of: (e) => count(e.waiting), number: true, hint: 'In the model server\'s own queue when last scraped' },
  { title: 'KV cache', of: (e) => share(e.kvUsage, percent(e.kvUsage), e.kvUsage > 0.9 ? 'hot' : '') },
  { title: 'Cached', of: (e) => (e.promptBlocks > 0 ? share(e.matchedBlocks / e.promptBlocks, percent(e.matchedBlocks / e.promptBlocks), 'cool') : '–'), hint: 'Share of prompt blocks believed cached there when sent' },
  { title: 'First token', of: (e) => millis(e.firstTokenMillis?.p50), number: true, hint: 'Half came sooner, of the last minute' },
  { title: 'p99', label: 'First, p99', of: (e) => millis(e.firstTokenMillis?.p99), number: true, hint: '99 of 100 first tokens came sooner, of the last minute' },
  { title: 'Sent', of: (e) => count(e.sent), number: true },
  { title: 'Scraped', of: (e) => (e.scrapeAgeSeconds === null ? 'never' : `${seconds(e.scrapeAgeSeconds)} ago`), number: true },
], {
  key: (e) => e.name,
  kind: 'endpoints',
  rowClass: (e) => (e.health === 'in use' ? '' : 'marked'),
});

const REASONS = {
  NoMatchingPods: 'No pod matches the pool\'s selector.',
  NoReadyPods: 'Pods match the pool\'s selector, and none of them is ready.',
  PortNotServed: 'No matching pod serves the pool\'s target ports.',
  NoEndpointAnswers: 'No endpoint answers.',
};

export function show(status) {
  const list = status.endpointList;
  const body = byId('endpoints-body');
  if (list.length === 0) {
    say(byId('endpoints-note'), '');
    empty(body, REASONS[status.endpoints?.reason] ?? 'The pool has no endpoints: requests are refused until one is there.');
    return;
  }
  // Only those that don't all fit are sorted by what changes: else rows would jump.
  const shown = list.length <= MOST
    ? [...list].sort((a, b) => a.name.localeCompare(b.name))
    : [...list].sort((a, b) => rank(b) - rank(a)).slice(0, MOST);
  view.update(shown);
  if (view.root.parentNode !== body) {
    body.replaceChildren(view.root);
  }
  say(byId('endpoints-note'), list.length > MOST ? `the ${count(MOST)} most notable of ${count(list.length)}` : plural(list.length, 'endpoint'));
}

function rank(endpoint) {
  return (endpoint.health === 'in use' ? 0 : 1e6) + endpoint.inFlight;
}

/** What stands where there is nothing to show. */
export function empty(body, text) {
  const paragraph = document.createElement('p');
  paragraph.className = 'empty';
  paragraph.textContent = text;
  if (body.textContent !== text) {
    body.replaceChildren(paragraph);
  }
}
