// Which view is shown, by the address; light or dark; and whether the service is there.

import { beginAccess } from './access.js';
import { begin, leave } from './explore.js';
import { look } from './service.js';
import { showTables } from './tables.js';
import { at } from './words.js';

const $ = (id) => document.getElementById(id);
const VIEWS = ['board', 'tables'];

function viewOf(parameters) {
  return parameters.has('tables') || parameters.has('table') ? 'tables' : 'board';
}

function route() {
  const parameters = new URLSearchParams(location.search);
  const name = viewOf(parameters);
  for (const each of VIEWS) {
    $(`view-${each}`).hidden = each !== name;
    if (each === name) $(`nav-${each}`).setAttribute('aria-current', 'page');
    else $(`nav-${each}`).removeAttribute('aria-current');
  }
  const title = { board: null, tables: parameters.get('table') ?? 'Tables' }[name];
  document.title = title ? `${title} · kingpair` : 'kingpair';
  if (name === 'board') begin(parameters);
  else leave();
  if (name === 'tables') showTables($('view-tables'), parameters);
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

function changeTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset.theme ?? (dark ? 'dark' : 'light');
  const next = now === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  localStorage.setItem('theme', next);
}

function connection({ detail: there }) {
  if (!$('offline').hidden && there) $('said').textContent = 'The service answers again.';
  if (!there) $('offline-since').textContent = at(Date.now());
  $('offline').hidden = there;
  document.body.classList.toggle('stale', !there);
}

const kept = localStorage.getItem('theme');
if (kept) document.documentElement.dataset.theme = kept;
$('theme').onclick = changeTheme;
$('offline-now').onclick = look;
beginAccess();
document.addEventListener('click', follow);
document.addEventListener('service', connection);
addEventListener('popstate', route);
route();
