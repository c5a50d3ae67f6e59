// Makes elements. Text goes in as text, never as markup: names come from clients and from config.

const SVG = 'http://www.w3.org/2000/svg';

/** An element; attributes that are null, undefined or false are left out, children are nodes or text. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same, of a picture. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) {
      node.setAttribute(name, '');
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** The element of this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Sets a text only when it changes, so that a selection in it survives. */
export function say(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/**
 * A table that is updated in place: a row stays the same element as long as its key is there, so that focus, selection
 * and what a screen reader is at survive. The roles are written out, since narrow screens lay tables out as cards.
 *
 * columns: [{title, of: item => text or node, number, kind, hint, label: of a card}]; rowClass: item => class.
 */
export function table(caption, columns, { key, rowClass = () => '', kind = '' }) {
  const body = el('tbody', { role: 'rowgroup' });
  const root = el('table', { role: 'table', class: kind },
    el('caption', { class: 'out-of-sight' }, caption),
    el('thead', { role: 'rowgroup' },
      el('tr', { role: 'row' },
        columns.map((column) => el('th', { role: 'columnheader', scope: 'col', class: column.number ? 'number' : null, title: column.hint }, column.title)))),
    body);
  const rows = new Map();

  function row(item) {
    const cells = columns.map((column, index) => el(index === 0 ? 'th' : 'td',
      {
        role: index === 0 ? 'rowheader' : 'cell',
        scope: index === 0 ? 'row' : null,
        class: [column.number ? 'number' : '', column.kind ?? ''].join(' ').trim() || null,
        'data-label': column.label ?? column.title,
      }));
    return { root: el('tr', { role: 'row' }, cells), cells, shown: [] };
  }

  function update(items) {
    const there = new Set();
    let place = body.firstChild;
    for (const item of items) {
      const id = key(item);
      if (there.has(id)) {
        continue;
      }
      there.add(id);
      let known = rows.get(id);
      if (!known) {
        known = row(item);
        rows.set(id, known);
      }
      known.root.className = rowClass(item);
      columns.forEach((column, index) => put(known, index, column.of(item)));
      if (known.root === place) {
        place = place.nextSibling;
      } else {
        body.insertBefore(known.root, place);
      }
    }
    for (const [id, known] of rows) {
      if (!there.has(id)) {
        known.root.remove();
        rows.delete(id);
      }
    }
  }

  return { root, update };
}

/** What is not text is made anew only when what it shows has changed. */
function put(row, index, value) {
  const cell = row.cells[index];
  if (value !== null && typeof value === 'object') {
    if (row.shown[index] !== value.shows) {
      row.shown[index] = value.shows;
      cell.replaceChildren(value.make());
    }
  } else {
    say(cell, String(value));
  }
}

/** A node for a cell: shows is a text that is another one whenever the node would be. */
export function node(shows, make) {
  return { shows, make };
}

/** A share as a bar with its number. */
export function share(value, words, kind = '') {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return '–';
  }
  return node(`${kind} ${words} ${Math.round(value * 200)}`, () => el('span', { class: 'share' },
    svg('svg', { class: `meter ${kind}`, 'aria-hidden': 'true' },
      svg('rect', { class: 'rest', width: '100%', height: '100%', rx: '2' }),
      svg('rect', { class: 'part', width: `${Math.min(100, Math.max(0, value * 100)).toFixed(1)}%`, height: '100%', rx: '2' })),
    el('span', null, words)));
}

/** A name, and below it what is wrong with whom it is of, if anything is. */
export function named(name, wrong) {
  return wrong ? node(`${name}\n${wrong}`, () => el('span', null, name, el('span', { class: 'why' }, wrong))) : node(name, () => el('span', null, name));
}

/** A word in a pill. */
export function badge(words, kind) {
  return node(`${kind} ${words}`, () => el('span', { class: `badge ${kind}` }, words));
}
