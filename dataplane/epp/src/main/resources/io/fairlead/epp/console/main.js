// Brings what the picker tells to the parts of the page.

import { byId, el, say } from './dom.js';
import { time } from './format.js';
import { listen } from './stream.js';
import * as config from './config.js';
import * as decisions from './decisions.js';
import * as endpoints from './endpoints.js';
import * as pool from './pool.js';
import * as queues from './queues.js';
import * as receipt from './receipt.js';
import * as shadows from './shadows.js';

/** Of the last hour, as the picker keeps them. */
let points = [];
let most = 360;

/** Of the last minute, a second apart. */
const recent = [];
let lastState = null;

function hello(told) {
  points = told.points;
  most = Math.max(1, Math.round(3600 / told.every));
  recent.length = 0;
  byId('logout').hidden = !told.session;
  curves();
}

function point(told) {
  points.push(told);
  if (points.length > most) {
    points.shift();
  }
  curves();
}

function curves() {
  pool.draw(points);
  shadows.draw(points);
}

function state(told) {
  lastState = told.at;
  connected();
  pool.show(told.status, told.at, points, recent);
  endpoints.show(told.status);
  queues.show(told.status);
  decisions.show(told.decisions);
  shadows.show(told.shadows, points);
  config.show(told.status);
  byId('main').removeAttribute('aria-busy');
}

function connected() {
  document.body.classList.remove('lost');
  link('live', `Live, ${time(lastState)}`);
  if (byId('notices').firstChild) {
    byId('notices').replaceChildren();
  }
}

const LOST = {
  gone: 'The picker went away.',
  crowded: 'As many people look at this picker as may.',
  silent: 'Nothing has come from the picker for some seconds.',
};

function lost(why, pause) {
  document.body.classList.toggle('lost', why !== 'crowded' || lastState !== null);
  link('away', why === 'silent' ? 'No news' : 'Retrying');
  const shown = lastState === null ? '' : ` Below is what it told at ${time(lastState)}.`;
  const words = `${LOST[why]}${pause > 0 ? ' Retrying …' : ''}${shown}`;
  const notices = byId('notices');
  // Said once, not at every try.
  if (notices.textContent !== words) {
    notices.replaceChildren(el('p', { class: 'notice warn' }, words));
  }
}

function link(kind, words) {
  byId('link').className = `link ${kind}`;
  say(byId('link-words'), words);
}

receipt.start();
listen({ hello, point, state }, lost);
