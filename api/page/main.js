// Which view is shown, by the address; light or dark; and whether the service is there.

import { begin } from './explore.js';
import { showTables } from './tables.js';

const $ = (id) => document.getElementById(id);

function route() {
  const parameters = new URLSearchParams(location.search);
  const tables = parameters.has('tables') || parameters.has('table');
  $('view-board').hidden = tables;
  $('view-tables').hidden = !tables;
  $('nav-board').toggleAttribute('aria-current', !tables);
  $('nav-tables').toggleAttribute('aria-current', tables);
  document.title = tables ? `${parameters.get('table') ?? 'Tables'} · kingpair` : 'kingpair';
  if (tables) showTables($('view-tables'), parameters);
  else begin(parameters);
}

/** Links between views change the address, not the page. */
function follow(event) {
  const link = event.target.closest('a[data-view]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  route();
  scrollTo(0, 0);
  $('main').focus({ preventScroll: true });
}

function changeTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset.theme ?? (dark ? 'dark' : 'light');
  const next = now === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  localStorage.setItem('theme', next);
}

const kept = localStorage.getItem('theme');
if (kept) document.documentElement.dataset.theme = kept;
$('theme').onclick = changeTheme;
document.addEventListener('click', follow);
document.addEventListener('service', (event) => { $('offline').hidden = event.detail; });
addEventListener('popstate', route);
route();
