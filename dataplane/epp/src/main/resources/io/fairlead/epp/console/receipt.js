// One request's receipt: what became of it, and for each choice a picture of what every endpoint would have cost.

import { badge, byId, el, say, svg, table } from './dom.js';
import { outcomeKind } from './decisions.js';
import { count, millis, percent, plural, rate, shortHash, time } from './format.js';

/** The version of a receipt that this page reads. */
const VERSION = 1;

const HASH = '#request=';
const ARRIVED = '&arrived=';

/** The terms of a cost that are known, each with its colour; others share what is left. */
const TERMS = [
  'prefills before it', 'its own prefill', 'wait for KV cache', 'wait for a seat', 'adapter load',
  'wait for an adapter slot', 'decoding', 'delay of those there', 'prefill that a cache would save', 'later than it asked for',
];
const COLOURS = 10;

const dialog = byId('receipt');
const body = byId('receipt-body');
let from = null;

/** How many were opened: what is read for one that is not the last any more is not shown. */
let opened = 0;

/** Opens what the address names, now and whenever it changes. */
export function start() {
  addEventListener('hashchange', follow);
  byId('receipt-close').addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    if (location.hash.startsWith(HASH)) {
      history.replaceState(null, '', location.pathname);
    }
    if (from?.isConnected) {
      from.focus();
    }
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) {
      dialog.close();
    }
  });
  byId('find').addEventListener('submit', (event) => {
    event.preventDefault();
    const id = byId('find-id').value.trim();
    if (id) {
      const hash = HASH + encodeURIComponent(id);
      if (location.hash === hash) {
        follow();
      } else {
        location.hash = hash;
      }
    }
  });
  follow();
}

function follow() {
  if (!location.hash.startsWith(HASH)) {
    if (dialog.open) {
      dialog.close();
    }
    return;
  }
  let id, arrived;
  try {
    [id, arrived] = location.hash.slice(HASH.length).split(ARRIVED).map((part) => decodeURIComponent(part));
  } catch {
    return;
  }
  open(id, arrived);
}

/** Opens the request of this id that arrived then; without a time the newest. */
async function open(id, arrived) {
  const number = ++opened;
  say(byId('receipt-title'), `Request ${id}`);
  body.replaceChildren(el('p', { class: 'empty' }, 'Reading …'));
  if (!dialog.open) {
    from = document.activeElement;
    dialog.showModal();
  }
  let page, failure;
  try {
    page = await find(id, arrived);
  } catch (thrown) {
    failure = thrown;
  }
  if (number !== opened) {
    return;
  }
  if (failure) {
    body.replaceChildren(el('p', { class: 'notice bad', role: 'alert' }, `The receipt could not be read: ${failure.message}`));
  } else if (page === null) {
    body.replaceChildren(el('p', { class: 'empty' }, `No receipt of ${arrived === undefined ? 'a request of this id' : 'this request'} is kept: it is older than the newest that are kept, was not among those that are sampled, or came to another picker.`));
  } else {
    show(page);
  }
}

/** Its receipt, by halves among those of its id; null where it is not kept. */
async function find(id, arrived) {
  let nth = 1;
  let page = await read(id, nth);
  let kept = page?.sameId ?? 1;
  let newest = 1, oldest = kept;
  while (page !== null && arrived !== undefined && page.arrived !== arrived) {
    if (Date.parse(page.arrived) < Date.parse(arrived)) {
      oldest = nth - 1;
    } else {
      newest = nth + 1;
    }
    nth = Math.floor((newest + oldest) / 2);
    page = newest > oldest ? null : await read(id, nth);
    // Those that came meanwhile are newer than any that is looked for.
    const came = page === null ? 0 : page.sameId - kept;
    kept += came;
    newest += came;
    oldest += came;
  }
  return page;
}

/** One of those that have the id, 1 for the newest; null where there are not so many. */
async function read(id, nth) {
  const answer = await fetch(`../debug/decisions/${encodeURIComponent(id)}${nth === 1 ? '' : `?nth=${nth}`}`, { cache: 'no-store' });
  if (answer.status === 404) {
    return null;
  }
  if (!answer.ok) {
    throw new Error(`the picker answered ${answer.status}`);
  }
  return answer.json();
}

function show(page) {
  if (page.version !== VERSION) {
    body.replaceChildren(el('p', { class: 'notice bad', role: 'alert' }, `The receipt is of version ${page.version}, and this page reads version ${VERSION}: load it again.`));
    return;
  }
  body.replaceChildren(
    ...(page.sameId > 1 ? [el('p', { class: 'note' }, `${count(page.sameId)} requests of this id are kept. This is number ${count(page.nth)}, and the newest is number 1.`)] : []),
    facts(page),
    ...(page.tookMillis > 0 ? [course(page)] : []),
    ...page.decisions.map((decision, i) => attempt(decision, i, page.decisions.length)),
    ...(page.notSentAgain ? [el('p', { class: 'note' }, `It was not sent again: ${page.notSentAgain}.`)] : []),
    ...(page.decisions.length === 0 ? [el('p', { class: 'empty' }, 'It was sent to nobody.')] : []),
    ...(page.refusals ?? []).map(refusal));
}

function facts(page) {
  const pairs = [
    ['Outcome', badge(page.outcome, outcomeKind(page.outcome)).make()],
    ['Model', page.targetModel && page.targetModel !== page.model ? `${page.model}, served as ${page.targetModel}` : page.model],
    ['Endpoint', page.endpoint || '–'],
    ['Came', time(page.arrived)],
    ['Prompt', page.promptTokens === undefined ? '–' : `${count(page.promptTokens)} tokens`],
    ['Found cached', page.usage?.cachedTokens >= 0 ? `${count(page.usage.cachedTokens)} tokens` : '–'],
    ['Put out', page.usage?.completionTokens >= 0 ? `${count(page.usage.completionTokens)} tokens` : '–'],
    ['Criticality', page.criticality ?? '–'],
    ['Priority', page.priority ?? '–'],
    ['Flow', page.flow || '–'],
  ];
  return el('dl', { class: 'facts' }, pairs.map(([name, value]) => el('div', null, el('dt', null, name), el('dd', null, value instanceof Node ? value : String(value)))));
}

/** From its arrival to its end, and when its first token was expected. */
function course(page) {
  const sent = Math.min(page.beforeSentMillis ?? 0, page.tookMillis);
  const first = page.streamed ? page.firstTokenMillis ?? page.tookMillis : page.tookMillis;
  const parts = [
    ['until it was sent', 0, sent, 'before'],
    [page.streamed ? 'until its first token' : 'until its answer', sent, first, 'prefill'],
    ['until its end', first, page.tookMillis, 'answer'],
  ].filter(([, begin, end]) => end > begin);
  const expected = page.streamed && page.attempts === 1 && page.expectedFirstTokenMillis !== undefined ? sent + page.expectedFirstTokenMillis : null;
  const whole = Math.max(page.tookMillis, expected ?? 0);
  const at = (value) => `${((value / whole) * 100).toFixed(2)}%`;
  const words = parts.map(([name, begin, end]) => `${millis(end - begin)} ${name}`).join(', ');
  return el('figure', { class: 'course' },
    el('figcaption', null, 'How it went'),
    svg('svg', { class: 'bars', role: 'img', 'aria-label': words },
      parts.map(([, begin, end, kind]) => svg('rect', { class: kind, x: at(begin), width: at(end - begin), y: 4, height: 14 })),
      expected === null ? null : svg('rect', { class: 'expected', x: at(expected), width: 2, y: 0, height: 22 })),
    el('p', { class: 'note' }, words, '.', expected === null ? null : ` Expected: ${millis(page.expectedFirstTokenMillis)} until its first token${error(page)}.`));
}

function error(page) {
  const error = page.firstTokenErrorMillis;
  return error === undefined ? '' : `, it came ${millis(Math.abs(error))} ${error < 0 ? 'sooner' : 'later'}`;
}

function attempt(decision, index, of) {
  const run = decision.profiles.find((profile) => profile.name === decision.profile) ?? decision.profiles[0];
  const known = new Map(decision.candidates.map((candidate) => [candidate.endpoint, candidate]));
  const costs = byCost(run.scored);
  const scored = [...run.scored].sort((a, b) => (b.endpoint === decision.endpoint) - (a.endpoint === decision.endpoint)
    || (costs ? a.cost - b.cost : (b.score ?? 0) - (a.score ?? 0)));
  return el('section', { class: 'attempt' },
    el('h3', null, of > 1 ? `Attempt ${index + 1}: sent to ${decision.endpoint}` : `Sent to ${decision.endpoint}`),
    el('p', { class: 'note' },
      `${time(decision.at)}, by profile ${decision.profile} of config `, el('code', { title: decision.configHash }, shortHash(decision.configHash)),
      decision.prefill ? `; its prompt is computed by ${decision.prefill}` : '',
      run.preference ? `; preferred: ${run.preference}` : '', '.',
      decision.failed ? ` It failed after ${millis(decision.failed.afterMillis)}: it ${decision.failed.why}.` : ''),
    picture(scored, decision.endpoint),
    known.size > 0 ? candidates(scored, known, decision) : null,
    losers(run, decision));
}

/** Whether a cost alone decided: beside other scorers it is one of several scores. */
function byCost(scored) {
  return scored.length > 0 && scored.every((one) => one.terms !== undefined && one.scores.length === 1);
}

/** Each endpoint a bar, the winner first: of the terms of its cost where that decided, else of its weighted scores. */
function picture(scored, winner) {
  const costs = byCost(scored);
  const bars = scored.map((one) => ({
    endpoint: one.endpoint,
    parts: costs
      ? one.terms.map((term) => ({ name: term.name, size: term.millis * term.weight, colour: colour(term.name) })).filter((part) => part.size > 0)
      : one.scores.map((score, i) => ({ name: score.plugin, size: Math.max(0, (score.score ?? 0) * score.weight), colour: i % COLOURS })),
    total: costs ? one.cost : one.score,
  }));
  if (bars.length === 0) {
    return el('p', { class: 'empty' }, 'Nobody was scored.');
  }
  const words = (value) => (costs ? millis(value) : rate2(value));
  const most = Math.max(1e-9, ...bars.map((bar) => bar.parts.reduce((sum, part) => sum + part.size, 0)));
  const legend = new Map(bars.flatMap((bar) => bar.parts.map((part) => [part.name, part.colour])));
  const least = bars.find((bar) => bar.endpoint === winner)?.total;
  return el('figure', { class: 'costs' },
    el('figcaption', null, costs ? 'What it would have cost, in weighted milliseconds: less is better' : 'Weighted scores: more is better'),
    el('ul', { class: 'legend' }, [...legend].map(([name, index]) => el('li', null, el('span', { class: `swatch term-${index}`, 'aria-hidden': 'true' }), name))),
    el('ol', { class: 'bars-list' }, bars.map((bar) => {
      let x = 0;
      const rects = bar.parts.map((part) => {
        const rect = svg('rect', { class: `term-${part.colour}`, x: `${((x / most) * 100).toFixed(2)}%`, width: `${((part.size / most) * 100).toFixed(2)}%`, y: 0, height: 18 },
          svg('title', null, `${part.name}: ${words(part.size)}`));
        x += part.size;
        return rect;
      });
      const more = bar.endpoint !== winner && costs && least !== undefined ? bar.total - least : null;
      return el('li', { class: bar.endpoint === winner ? 'winner' : null },
        el('span', { class: 'bar-name' }, bar.endpoint, bar.endpoint === winner ? el('span', { class: 'badge good' }, 'got it') : null),
        svg('svg', { class: 'bars', role: 'img', 'aria-label': bar.parts.map((part) => `${part.name} ${words(part.size)}`).join(', ') || 'nothing' }, rects),
        el('span', { class: 'bar-total' }, words(bar.total), more === null ? null : el('span', { class: 'more' }, ` ${more < 0 ? '−' : '+'}${millis(Math.abs(more))}`)));
    })));
}

function rate2(value) {
  return value === undefined ? 'not named' : value.toFixed(3);
}

function colour(name) {
  const known = TERMS.indexOf(name);
  return known >= 0 ? known : [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % COLOURS;
}

/** What was known of the candidates when one was chosen. */
function candidates(scored, known, decision) {
  const order = [...scored.map((one) => one.endpoint), ...known.keys()];
  const list = [...new Set(order)].filter((name) => known.has(name)).map((name) => known.get(name));
  const view = table('What was known of the candidates', [
    { title: 'Endpoint', of: (c) => c.endpoint, kind: 'name' },
    { title: 'In flight', of: (c) => count(c.inFlight), number: true },
    { title: 'Queue', of: (c) => count(c.waiting), number: true },
    { title: 'KV cache', of: (c) => percent(c.kvUsage), number: true },
    { title: 'Cached tokens', of: (c) => count(c.cachedTokens), number: true },
    { title: 'Scraped', of: (c) => (c.scrapeAgeMillis === undefined ? '–' : `${millis(c.scrapeAgeMillis)} before`), number: true },
    { title: 'Health', of: (c) => `${c.health}${since(c)}` },
  ], { key: (c) => c.endpoint, kind: 'candidates', rowClass: (c) => (c.endpoint === decision.endpoint ? 'winner' : '') });
  view.update(list);
  return el('div', null, el('h4', null, 'What was known'), view.root);
}

/** Why nobody got it then, endpoint by endpoint. */
function refusal(one) {
  return el('section', { class: 'refusal' },
    el('h3', null, one.endpoints.length === 0 ? 'There were no endpoints' : 'Nobody got it'),
    el('p', { class: 'note' }, `${time(one.at)}, under config `, el('code', { title: one.configHash }, shortHash(one.configHash)), '.'),
    one.endpoints.length === 0 ? null
      : el('ul', { class: 'plain' }, one.endpoints.map((endpoint) => el('li', null, el('strong', null, endpoint.endpoint), `: ${whyNot(endpoint)}${lacks(endpoint)}`))));
}

/** What one that is full has too little of, and how full it was for the request. */
function lacks(one) {
  const full = one.saturation !== undefined && one.fullFrom !== undefined
    ? ` (at ${percent(one.saturation)}; this request goes below ${percent(one.fullFrom)})` : '';
  return `${one.limit ? `, by ${one.limit}` : ''}${full}`;
}

/** Why one was not asked; and how it was, where that is something else. */
function whyNot(one) {
  if (!one.healthSince) {
    return one.why;
  }
  return one.why === `is ${one.health}` ? `${one.why}${since(one)}` : `${one.why}; ${one.health}${since(one)}`;
}

function since(one) {
  return one.healthSince ? ` since ${time(one.healthSince)}${one.healthReason ? `: ${one.healthReason}` : ''}` : '';
}

function losers(run, decision) {
  const lines = [
    ...run.rejected.map((one) => [one.endpoint, `rejected by ${one.by}`]),
    ...decision.excluded.map((one) => [one.endpoint, whyNot(one)]),
  ];
  if (decision.moreCandidates > 0) {
    lines.push([plural(decision.moreCandidates, 'other'), 'did no better than these']);
  }
  return lines.length === 0 ? null : el('div', null,
    el('h4', null, 'Not asked, or rejected'),
    el('ul', { class: 'plain' }, lines.map(([endpoint, why]) => el('li', null, el('strong', null, endpoint), `: ${why}`))));
}
