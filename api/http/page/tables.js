// The tables there are, and one of them: its counts, its histogram, its longest wins.

import { chart, fitted } from './chart.js';
import { make } from './make.js';
import { ask } from './service.js';
import { STUDIED, file, longestPanel, passesPanel, restsOn, samplePanel, zugzwangPanel } from './study.js';
import { METRICS, buildAt, colour, isBuilt, limitOf, long, number, plural, sentence, share, size, unit } from './words.js';

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
  const titles = { 400: 'No such table', 401: 'A token is needed', 403: 'Not with this token', 404: 'No such table', 500: 'This table cannot be used' };
  const found = state(titles[error.status] ?? 'No answer', sentence(error.message));
  const [material, metric] = [parameters.get('table'), parameters.get('metric') ?? 'dtc'];
  if ([404, 500].includes(error.status) && isBuilt(material)) found.append(make('p', {}, buildIt(material, metric, error.status === 500)));
  return found;
}

const state = (title, text) => make('div', { class: 'state' }, make('h1', {}, title), make('p', {}, text));
const buildIt = (material, metric, again) => make('a', { class: 'button', href: `${buildAt(material, metric)}${again ? '&again' : ''}`, 'data-view': true }, `Build ${material}${again ? ' again' : ''}`);
const linkTo = (table, metric) => `/?table=${table}&metric=${metric}`;

// ---- the list ----

const ORDERS = {
  men: ['Men', (a, b) => a.men - b.men || a.material.localeCompare(b.material)],
  name: ['Name', (a, b) => a.material.localeCompare(b.material)],
  longest: ['Longest win', (a, b) => (b.longest_win ?? -1) - (a.longest_win ?? -1)],
  drawn: ['Share of draws', (a, b) => b.drawn / (b.positions || 1) - a.drawn / (a.positions || 1)],
  bytes: ['Size', (a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)],
};
const chosen = { text: '', men: '', order: 'men' }; // kept while the page is open

async function list() {
  const { tables } = await ask('/api/v1/tables');
  if (!tables.length) return empty();
  const bytes = tables.reduce((sum, table) => sum + (table.bytes ?? 0), 0);
  const head = make('div', { class: 'head' }, make('h1', {}, 'Tables'), make('p', {}, `${plural(tables.length, 'table')}, ${size(bytes)}. Each knows every position of its men.`));
  const place = make('div', {});
  const draw = () => place.replaceChildren(...listed(tables));
  draw();
  return [head, filters(tables, draw), place];
}

function filters(tables, draw) {
  const text = make('input', { type: 'search', id: 'tables-text', value: chosen.text, placeholder: 'such as KR or B', 'aria-label': 'Only tables with these men', oninput: (event) => { chosen.text = event.target.value; draw(); } });
  const select = (name, label, options) => {
    const found = make('select', { 'aria-label': label, onchange: (event) => { chosen[name] = event.target.value; draw(); } }, options.map(([value, shown]) => make('option', { value, selected: value === chosen[name] }, shown)));
    return make('label', {}, `${label} `, found);
  };
  const men = [...new Set(tables.map((table) => table.men))].sort();
  return make('form', { class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault() },
    make('label', {}, 'Find ', text),
    select('men', 'Men', [['', 'all'], ...men.map((n) => [String(n), String(n)])]),
    select('order', 'Sorted by', Object.entries(ORDERS).map(([value, [shown]]) => [value, shown.toLowerCase()])));
}

/** By the number of men under headings, or in one list in another order. */
function listed(tables) {
  const wanted = chosen.text.trim().toUpperCase();
  const some = tables.filter((table) => table.material.toUpperCase().includes(wanted) && (!chosen.men || table.men === Number(chosen.men)));
  if (!some.length) return [make('p', { class: 'note' }, 'No table has such a name.')];
  const cards = (of) => make('div', { class: 'cards' }, [...grouped(of, (table) => table.material).values()].map(card));
  if (chosen.order !== 'men') return [cards(some.sort(ORDERS[chosen.order][1]))];
  return [...grouped(some.sort(ORDERS.men[1]), (table) => table.men)].map(([n, of]) => make('section', { class: 'wave' }, make('h2', {}, `${n} men`), cards(of)));
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
  const rows = tables.map((table) => make('li', {}, make('span', {}, METRICS[table.metric]), make('b', {}, table.problem ? make('span', { title: table.problem }, '✗', make('span', { class: 'unseen' }, ' unusable')) : longestIn(table))));
  const drawn = sound ? `${share(sound.drawn, sound.positions)} drawn` : first.problem;
  return make('a', { class: `card${sound ? '' : ' broken'}`, href: linkTo(first.material, (sound ?? first).metric), 'data-view': true, 'aria-label': `${first.material}, longest win ${sound ? longestIn(sound) : 'unknown'}` },
    make('h3', {}, halves(first.material)), make('small', {}, 'longest win'), make('ul', {}, rows), make('p', {}, drawn));
}

const longestIn = (table) => (table.longest_win ? long(table.longest_win, table.metric) : 'none');

function halves(material) {
  const [strong, weak] = material.split('v');
  return [strong, make('i', {}, 'v'), weak];
}

function empty() {
  return make('div', { class: 'state' },
    make('h1', {}, 'No tables yet'),
    make('p', {}, 'A table appears here when it is finished, also one that another program builds.'),
    make('p', {}, make('a', { class: 'button strong', href: buildAt('KQvKR', 'dtc'), 'data-view': true }, 'Build the first')),
    make('pre', {}, 'kingpair build KQvKR'));
}

// ---- one table ----

async function oneTable(name, metric) {
  const path = `/api/v1/tables/${encodeURIComponent(name)}`;
  const [found, details, passes, { tables }] = await Promise.all([
    ask(`${path}/statistics`, { metric }),
    ask(path, { metric }),
    ask(`${path}/passes`, { metric }),
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
    histogram(found, metric),
    longestPanel(found, metric),
    ...(details.men <= STUDIED ? [zugzwangPanel(details), samplePanel(details)] : []),
    passesPanel(passes),
    restsOn(details),
    file(details)];
}

function results(found, side) {
  const { 2: won, 1: cursed, 0: drawn, '-1': blessed, '-2': lost } = found.histogram[side].wdl;
  const all = won + drawn + lost + (cursed ?? 0) + (blessed ?? 0);
  const spoilt = [['draw', 'won too late', cursed], ['draw', 'lost too late', blessed]].filter(([, , n]) => n);
  const parts = [['win', 'won', won], ['draw', 'drawn', drawn], ...spoilt, ['loss', 'lost', lost]];
  const bar = make('div', { class: 'parts', 'aria-hidden': 'true' }, parts.map(([kind, , n]) => {
    const part = make('span', { class: kind });
    part.style.flexGrow = n / (all || 1);
    return part;
  }));
  const rows = parts.map(([kind, word, n]) => make('tr', {}, make('th', { scope: 'row' }, make('span', { class: `dot ${kind}` }), word), make('td', {}, number(n)), make('td', {}, share(n, all))));
  return make('section', { class: 'panel' }, make('h2', {}, `${colour(side)} to move`), bar, make('table', {}, make('tbody', {}, rows)), make('p', { class: 'note' }, `${number(all)} positions`));
}

function histogram(found, metric) {
  const { white, black } = found.histogram;
  const lengths = metric === 'dtz' ? byPlies : byMoves;
  const series = [
    { name: 'White wins', kind: 'white', values: lengths(white.win, black.loss) },
    { name: 'Black wins', kind: 'black', values: lengths(black.win, white.loss) },
  ].filter((each) => each.values.some(Boolean));
  if (!series.length) return make('section', { class: 'panel' }, make('h2', {}, 'Nobody can be made to lose'), make('p', {}, 'Every position is a draw but for those where mate is on the board.'));
  const place = make('div', {});
  let [log, across] = [true, 0];
  const draw = () => place.replaceChildren(...series.map((each) => chart(each, { log, across, limit: limitOf(found.material, metric), metric })));
  fitted(place, (now) => { across = now; draw(); });
  const toggle = make('button', { type: 'button', class: 'quiet', 'aria-pressed': 'true' }, 'logarithmic');
  toggle.onclick = () => {
    log = !log;
    toggle.setAttribute('aria-pressed', log);
    draw();
  };
  return make('section', { class: 'panel' }, make('div', { class: 'row' }, make('h2', {}, 'Positions by the length of the win'), toggle), place, make('p', { class: 'note' }, `Across: ${unit(metric)} ${METRICS[metric]}. Up: how many positions.`));
}

function byPlies(wins, losses) {
  return Array.from({ length: Math.max(wins.length, losses.length) }, (_, n) => (wins[n] ?? 0) + (losses[n] ?? 0));
}

/** Ply 2n - 1 of the winner to move and ply 2n of the loser are both n moves. */
function byMoves(wins, losses) {
  const last = Math.max(Math.ceil((wins.length - 1) / 2), (losses.length - 1) / 2, 0);
  return Array.from({ length: last + 1 }, (_, n) => (n ? wins[2 * n - 1] ?? 0 : 0) + (losses[2 * n] ?? 0));
}
