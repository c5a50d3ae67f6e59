// The config in force, and the one that was refused.

import { byId, el, say } from './dom.js';
import { plural, shortHash } from './format.js';

const body = byId('config-body');
let shown = '';
let page = null;
let asked = '';

export function show(status) {
  const refused = status.refused;
  const key = JSON.stringify([status.configHash, status.generation, refused]);
  if (key === shown) {
    return;
  }
  shown = key;
  page = null;
  say(byId('config-note'), refused ? 'a newer one is refused' : '');
  byId('config').classList.toggle('marked', Boolean(refused));
  body.replaceChildren(...[
    status.configHash
      ? el('p', null, 'In force: ', el('code', { title: status.configHash }, shortHash(status.configHash)), `, the ${ordinal(status.generation)} since the start.`)
      : el('p', { class: 'empty' }, 'No config is in force yet.'),
    refused ? refusal(refused, status.configHash) : null,
    status.configHash ? section('Document in force', (read) => [pre(read.inForce?.document ?? 'There is none any more.')]) : null,
    refused?.hash ? section('What the refused one changes', changes) : null,
  ].filter(Boolean));
}

function refusal(refused, inForce) {
  return el('div', { class: 'notice bad', role: 'alert' },
    el('strong', null, 'Refused'),
    refused.hash ? [' ', el('code', { title: refused.hash }, shortHash(refused.hash))] : null,
    inForce ? '. What was in force stays.' : '.',
    el('p', { class: 'message' }, refused.message));
}

/** Read from the picker when it is opened: documents may be long. */
function section(title, show) {
  const place = el('div', { class: 'document' });
  const details = el('details', null, el('summary', null, title), place);
  details.addEventListener('toggle', async () => {
    if (!details.open || place.firstChild) {
      return;
    }
    place.replaceChildren(el('p', { class: 'empty' }, 'Reading …'));
    try {
      place.replaceChildren(...show(await read()));
    } catch (failure) {
      place.replaceChildren();
      details.open = false;
      details.after(el('p', { class: 'notice bad', role: 'alert' }, `The document could not be read: ${failure.message}`));
    }
  });
  return details;
}

async function read() {
  if (!page || asked !== shown) {
    asked = shown;
    const answer = await fetch('../debug/config', { cache: 'no-store' });
    if (!answer.ok) {
      throw new Error(`the picker answered ${answer.status}`);
    }
    page = await answer.json();
  }
  return page;
}

function pre(text) {
  return el('pre', { tabindex: '0' }, text);
}

/** The lines that differ, each with two around it. */
function changes(read) {
  if (!read.refused?.document || !read.inForce?.document) {
    return [el('p', { class: 'empty' }, 'It could not be read as a document: there is nothing to compare.')];
  }
  const lines = difference(read.inForce.document.split('\n'), read.refused.document.split('\n'));
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - 2), i + 3).some((line) => line.sign !== ' '));
  const shownLines = lines.filter((_, i) => near[i]);
  const added = lines.filter((line) => line.sign === '+').length;
  const gone = lines.filter((line) => line.sign === '-').length;
  return [
    el('p', { class: 'note' }, `${plural(added, 'line')} more, ${plural(gone, 'line')} less`),
    el('pre', { tabindex: '0' }, shownLines.map((line) => el('span', { class: { '+': 'more', '-': 'less', ' ': 'same' }[line.sign] }, `${line.sign} ${line.text}\n`))),
  ];
}

/** What lies between the lines that both begin and end with; there the longest common lines, unless that is too much work. */
function difference(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) {
    head++;
  }
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) {
    tail++;
  }
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  return [
    ...a.slice(0, head).map((text) => ({ sign: ' ', text })),
    ...middle(left, right),
    ...a.slice(a.length - tail).map((text) => ({ sign: ' ', text })),
  ];
}

function middle(a, b) {
  if (a.length * b.length > 1_000_000) {
    return [...a.map((text) => ({ sign: '-', text })), ...b.map((text) => ({ sign: '+', text }))];
  }
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i++] });
      j++;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      lines.push({ sign: '-', text: a[i++] });
    } else {
      lines.push({ sign: '+', text: b[j++] });
    }
  }
  return lines;
}

function ordinal(number) {
  const tens = number % 100;
  const suffix = tens >= 11 && tens <= 13 ? 'th' : { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10] ?? 'th';
  return `${number}${suffix}`;
}
