// Which view is shown, by the address; and whether the service is there.

import { beginAccess } from './access.js';
import { Builds } from './builds.js';
import { begin, leave } from './explore.js';
import { look } from './service.js';
import { showTables } from './tables.js';
import { changeTheme } from './theme.js';
import { Watch } from './watch.js';
import { at } from './words.js';

const $ = (id) => document.getElementById(id);
const VIEWS = ['board', 'tables', 'builds'];
let shown = null; // a view that follows the service, to be closed when another takes its place

function viewOf(parameters) {
  if (parameters.has('builds') || parameters.has('build')) return 'builds';
  return parameters.has('tables') || parameters.has('table') ? 'tables' : 'board';
}

function route() {
  const parameters = new URLSearchParams(location.search);
  const name = viewOf(parameters);
  shown?.close();
  shown = null;
  $('condition').hidden = true;
  for (const each of VIEWS) {
    $(`view-${each}`).hidden = each !== name;
    if (each === name) $(`nav-${each}`).setAttribute('aria-current', 'page');
    else $(`nav-${each}`).removeAttribute('aria-current');
  }
  const title = { board: null, tables: parameters.get('table') ?? 'Tables', builds: 'Builds' }[name];
  document.title = title ? `${title} · kingpair` : 'kingpair';
  if (name === 'board') begin(parameters);
  else leave();
  if (name === 'tables') showTables($('view-tables'), parameters);
  if (name === 'builds') shown = building($('view-builds'), parameters);
}

function building(view, parameters) {
  return parameters.has('build') ? new Watch(view, parameters.get('build'), go) : new Builds(view, parameters, go);
}

/** Change the address, not the page. */
function go(address) {
  history.pushState(null, '', address);
  route();
  scrollTo(0, 0);
  $('main').focus({ preventScroll: true });
}

function follow(event) {
  const link = event.target.closest('a[data-view]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.href);
}

function connection({ detail: there }) {
  if (!$('offline').hidden && there) $('said').textContent = 'The service answers again.';
  if (!there) $('offline-since').textContent = at(Date.now());
  $('offline').hidden = there;
  document.body.classList.toggle('stale', !there);
}

/** Why the service answers but builds wait or fail: a full disk, a lost process, Ray that is starting. */
function condition({ detail: { state, reason } }) {
  $('condition').textContent = reason;
  $('condition').hidden = state === 'ready';
}

$('theme').onclick = changeTheme;
$('offline-now').onclick = look;
beginAccess();
document.addEventListener('click', follow);
document.addEventListener('service', connection);
document.addEventListener('condition', condition);
addEventListener('popstate', route);
route();
