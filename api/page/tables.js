// The tables there are, and one of them: its counts, its histogram, its longest wins.

import { may } from './access.js';
import { chart, fitted } from './chart.js';
import { agreed } from './confirm.js';
import { make } from './make.js';
import { ask, save, tell } from './service.js';
import { METRICS, colour, moves, number, plural, share, size } from './words.js';

let shown = 0; // which question the view is waiting for

export async function showTables(view, parameters) {
  const mine = ++shown;
  const name = parameters.get('table');
  const slow = setTimeout(() => view.replaceChildren(state('Reading the tables …', '')), 200);
  let content;
  try {
    content = name ? await oneTable(name, parameters.get('metric') ?? 'dtc') : await list();
  } catch (error) {
    content = failed(error, view, parameters);
  }
  clearTimeout(slow);
  if (mine === shown) view.replaceChildren(...[content].flat());
}

function failed(error, view, parameters) {
  const mine = shown;
  document.addEventListener('again', () => mine === shown && !view.hidden && showTables(view, parameters), { once: true });
  const titles = { 401: 'A token is needed', 403: 'Not with this token', 404: 'No such table', 500: 'This table cannot be used' };
  const found = state(titles[error.status] ?? 'No answer', error.message);
  if (error.status === 404 || error.status === 500) found.append(make('p', {}, buildIt(parameters.get('table'), error.status === 500)));
  return found;
}

const state = (title, text) => make('div', { class: 'state' }, make('h1', {}, title), make('p', {}, text));
const buildIt = (material, again) => make('a', { class: 'button', href: `/?builds&material=${encodeURIComponent(material)}${again ? '&again' : ''}`, 'data-view': true }, `Build ${material}${again ? ' again' : ''}`);
const linkTo = (table, metric) => `/?table=${table}&metric=${metric}`;

// ---- the list ----

async function list() {
  const { tables } = await ask('/api/v1/tables');
  if (!tables.length) return empty();
  const men = grouped(tables, (table) => table.men);
  const bytes = tables.reduce((sum, table) => sum + (table.bytes ?? 0), 0);
  const head = make('div', { class: 'head' }, make('h1', {}, 'Tables'), make('p', {}, `${plural(tables.length, 'table')}, ${size(bytes)}. Each knows every position of its men.`));
  return [head, ...[...men].map(([n, some]) => make('section', { class: 'wave' }, make('h2', {}, `${n} men`), make('div', { class: 'cards' }, [...grouped(some, (table) => table.material).values()].map(card))))];
}

function grouped(tables, key) {
  const found = new Map();
  for (const table of tables) found.set(key(table), [...(found.get(key(table)) ?? []), table]);
  return found;
}

/** The tables of a material together. */
function card(tables) {
  const [first] = tables;
  const sound = tables.find((table) => !table.problem);
  const rows = tables.map((table) => make('li', {}, make('span', {}, METRICS[table.metric]), make('b', {}, table.problem ? make('span', { title: table.problem }, '✗', make('span', { class: 'unseen' }, ' unusable')) : table.longest_win ?? '–')));
  const drawn = sound ? `${share(sound.drawn, sound.positions)} drawn` : first.problem;
  return make('a', { class: `card${sound ? '' : ' broken'}`, href: linkTo(first.material, (sound ?? first).metric), 'data-view': true, 'aria-label': `${first.material}, longest win ${sound?.longest_win ?? 'none'}` },
    make('h3', {}, halves(first.material)), make('ul', {}, rows), make('p', {}, drawn));
}

function halves(material) {
  const [strong, weak] = material.split('v');
  return [strong, make('i', {}, 'v'), weak];
}

function empty() {
  return make('div', { class: 'state' },
    make('h1', {}, 'No tables yet'),
    make('p', {}, 'They appear here as they are finished, whoever builds them.'),
    make('p', {}, make('a', { class: 'button strong', href: '/?builds&material=KQvKR', 'data-view': true }, 'Build the first')),
    make('pre', {}, 'kingpair build KQvKR'));
}

// ---- one table ----

async function oneTable(name, metric) {
  const [found, { tables }] = await Promise.all([
    ask(`/api/v1/tables/${encodeURIComponent(name)}/statistics`, { metric }),
    ask('/api/v1/tables'),
  ]);
  const others = tables.filter((table) => table.material === found.material && !table.problem);
  const switches = others.map((table) => make('a', { href: linkTo(table.material, table.metric), 'data-view': true, 'aria-current': table.metric === metric && 'true' }, METRICS[table.metric]));
  const head = make('div', { class: 'head' },
    make('a', { href: '/?tables', 'data-view': true, class: 'up' }, '← Tables'),
    make('h1', { class: 'material' }, halves(found.material)),
    make('div', { class: 'choice', role: 'group', 'aria-label': 'What is counted' }, switches));
  return [head,
    make('div', { class: 'two' }, ['white', 'black'].map((side) => results(found, side))),
    histogram(found),
    longest(found, metric),
    file(found, metric)];
}

function results(found, side) {
  const { 2: won, 0: drawn, '-2': lost } = found.histogram[side].wdl;
  const all = won + drawn + lost;
  const parts = [['win', 'won', won], ['draw', 'drawn', drawn], ['loss', 'lost', lost]];
  const bar = make('div', { class: 'parts', 'aria-hidden': 'true' }, parts.map(([kind, , n]) => {
    const part = make('span', { class: kind });
    part.style.flexGrow = n / (all || 1);
    return part;
  }));
  const rows = parts.map(([kind, word, n]) => make('tr', {}, make('th', { scope: 'row' }, make('span', { class: `dot ${kind}` }), word), make('td', {}, number(n)), make('td', {}, share(n, all))));
  return make('section', { class: 'panel' }, make('h2', {}, `${colour(side)} to move`), bar, make('table', {}, make('tbody', {}, rows)), make('p', { class: 'note' }, `${number(all)} positions`));
}

function histogram(found) {
  const { white, black } = found.histogram;
  const series = [
    { name: 'White wins', kind: 'white', values: byMoves(white.win, black.loss) },
    { name: 'Black wins', kind: 'black', values: byMoves(black.win, white.loss) },
  ].filter((each) => each.values.some(Boolean));
  if (!series.length) return make('section', { class: 'panel' }, make('h2', {}, 'Nobody can be made to lose'), make('p', {}, 'Every position is a draw but for those where mate is on the board.'));
  const place = make('div', {});
  let [log, across] = [true, 0];
  const draw = () => place.replaceChildren(...series.map((each) => chart(each, { log, across })));
  fitted(place, (now) => { across = now; draw(); });
  const toggle = make('button', { type: 'button', class: 'quiet', 'aria-pressed': 'true' }, 'logarithmic');
  toggle.onclick = () => {
    log = !log;
    toggle.setAttribute('aria-pressed', log);
    draw();
  };
  return make('section', { class: 'panel' }, make('div', { class: 'row' }, make('h2', {}, 'Positions by the length of the win'), toggle), place);
}

/** Ply 2n - 1 of the winner to move and ply 2n of the loser are both n moves. */
function byMoves(wins, losses) {
  const last = Math.max(Math.ceil((wins.length - 1) / 2), (losses.length - 1) / 2, 0);
  return Array.from({ length: last + 1 }, (_, n) => (n ? wins[2 * n - 1] ?? 0 : 0) + (losses[2 * n] ?? 0));
}

function longest(found, metric) {
  const shownFirst = found.longest.filter(({ ply }) => ply > 0).sort((a, b) => b.wdl - a.wdl || b.ply - a.ply);
  const items = shownFirst.map(({ epd, ply, wdl }) => {
    const mover = epd.split(' ')[1] === 'w' ? 'White' : 'Black';
    const text = `${mover} ${wdl > 0 ? 'wins' : 'loses'} in ${moves(Math.ceil(ply / 2))}`;
    const href = `/?fen=${epd.replaceAll(' ', '_')}_0_1${metric === 'dtm' ? '&metric=dtm' : ''}`;
    return make('li', {}, make('a', { href, 'data-view': true }, make('b', {}, text), make('code', {}, epd.split(' ')[0])));
  });
  return items.length ? make('section', { class: 'panel' }, make('h2', {}, 'Longest'), make('ul', { class: 'longest' }, items)) : '';
}

function file(found, metric) {
  const href = `/api/v1/tables/${found.material}/file?metric=${metric}`;
  const wrong = make('p', { class: 'wrong', role: 'alert' });
  const link = make('a', { class: 'button', href, download: true, onclick: (event) => save(event).catch((error) => { wrong.textContent = error.message; }) }, `Download ${size(found.bytes)}`);
  const remove = make('button', { type: 'button', class: 'quiet', onclick: () => removed(found, metric).catch((error) => { wrong.textContent = error.message; }) }, 'Delete this table');
  return make('section', { class: 'panel' }, make('h2', {}, 'The file'),
    make('p', {}, 'An Arrow file, read by pyarrow, polars, DuckDB or R. Its digest: ', make('code', {}, found.digest)),
    make('p', { class: 'row' }, link, may('admin') ? remove : null), wrong);
}

async function removed(found, metric) {
  const sure = await agreed(`Delete the table ${found.material}, ${METRICS[metric]}? It would have to be built again.`, 'Delete');
  if (!sure) return;
  await tell('DELETE', `/api/v1/tables/${found.material}?metric=${metric}`);
  history.pushState(null, '', '/?tables');
  dispatchEvent(new PopStateEvent('popstate'));
}
