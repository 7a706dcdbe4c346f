// What is found in one table: its longest positions, mutual zugzwangs, samples, and its file.

import { may } from './access.js';
import { merged } from './build.js';
import { agreed } from './confirm.js';
import { make } from './make.js';
import { answered, ask, save, tell } from './service.js';
import { strip } from './strip.js';
import { METRICS, colour, duration, limitOf, long, menIn, number, plural, size, unit } from './words.js';

export const STUDIED = 5; // men: larger tables take minutes to read
const MANY = 100;
const KINDS = {
  '=/1-0': 'White to move draws, Black to move loses',
  '0-1/=': 'White to move loses, Black to move draws',
  '0-1/1-0': 'The side to move loses',
};

const pathOf = ({ material }) => `/api/v1/tables/${material}`;
const boardAt = (fen, metric) => `/?fen=${fen.replaceAll(' ', '_')}${metric === 'dtc' ? '' : `&metric=${metric}`}`;
const panel = (title, ...children) => make('section', { class: 'panel' }, make('h2', {}, title), ...children);

/** A position as a link to the board. */
function item(fen, metric, text) {
  return make('li', {}, make('a', { href: boardAt(fen, metric), 'data-view': true }, make('b', {}, text), make('code', {}, fen.split(' ')[0])));
}

/** A button that asks once and then gives way to what was found. */
function onDemand(text, find) {
  const place = make('div', {});
  const button = make('button', { type: 'button', onclick: async () => {
    button.disabled = true;
    button.textContent = 'Reading the table …';
    try {
      place.replaceChildren(...(await find()));
    } catch (error) {
      button.disabled = false;
      button.textContent = text;
      place.replaceChildren(button, make('p', { class: 'wrong', role: 'alert' }, error.message));
    }
  } }, text);
  place.append(button);
  return place;
}

// ---- the longest ----

export function longestPanel(found, metric) {
  const first = found.longest.filter(({ ply }) => ply > 0).sort((a, b) => b.wdl - a.wdl || b.ply - a.ply);
  if (!first.length) return '';
  const items = first.map(({ epd, ply, wdl }) => {
    const mover = epd.split(' ')[1] === 'w' ? 'White' : 'Black';
    const limit = limitOf(found.material, metric);
    const n = metric === 'dtz' ? ply : Math.ceil(ply / 2);
    const rule = limit && n > limit ? ', drawn under the 50-move rule' : '';
    return item(`${epd} 0 1`, metric, `${mover} ${wdl > 0 ? 'wins' : 'loses'} in ${long(n, metric)}${rule}`);
  });
  const all = menIn(found.material) <= STUDIED ? onDemand('All of the longest', () => allLongest(found, metric)) : '';
  return panel('Longest', make('ul', { class: 'longest' }, items), all);
}

async function allLongest(found, metric) {
  const { longest } = await ask(`${pathOf(found)}/longest`, { metric, limit: MANY });
  return longest.filter((kind) => kind.moves > 0).map((kind) => {
    const more = kind.positions > kind.fens.length ? `, the first ${kind.fens.length} of them` : '';
    const title = `${colour(kind.to_move)} to move ${kind.result === 'win' ? 'wins' : 'loses'} in ${long(kind.moves, metric)}: ${plural(kind.positions, 'position')}${more}`;
    return make('div', { class: 'found' }, make('h3', {}, title), make('ul', { class: 'fens' }, kind.fens.map((fen) => link(fen, metric))));
  });
}

const link = (fen, metric, said = '') => make('li', {}, make('a', { href: boardAt(fen, metric), 'data-view': true }, make('code', {}, fen.split(' ').slice(0, 2).join(' '))), said);

// ---- mutual zugzwangs ----

export function zugzwangPanel(table) {
  return panel('Mutual zugzwangs', make('p', { class: 'note' }, 'Positions in which either side would rather not be to move.'), onDemand('Find them', () => zugzwangs(table)));
}

async function zugzwangs(table) {
  const { zugzwangs: kinds } = await ask(`${pathOf(table)}/zugzwangs`, { metric: table.metric, limit: MANY });
  return Object.entries(kinds).map(([kind, { positions, listed }]) => {
    const more = positions > listed.length ? `, the first ${listed.length} of them` : '';
    const title = `${KINDS[kind]}: ${plural(positions, 'position')}${more}`;
    const rows = listed.map((each) => link(each.fen, table.metric, lost(each)));
    return make('div', { class: 'found' }, make('h3', {}, title), make('ul', { class: 'fens' }, rows));
  });
}

function lost({ white, black }) {
  const losers = [['White', white], ['Black', black]].filter(([, value]) => value.result === 'loss');
  return ` ${losers.map(([name, value]) => `${name} loses in ${value.moves}`).join(', ')}`;
}

// ---- samples ----

export function samplePanel(table) {
  const place = make('div', { role: 'status' });
  const choice = (name, label, options) => make('label', {}, `${label} `, make('select', { name }, options.map(([value, text]) => make('option', { value }, text))));
  const bound = (name, label) => make('label', {}, `${label} `, make('input', { type: 'number', name, min: '0', max: '1000', class: 'few' }));
  const form = make('form', { class: 'filters', onsubmit: (event) => { event.preventDefault(); draw(table, new FormData(form), place); } },
    choice('result', 'Side to move', [['', 'wins, draws or loses'], ['win', 'wins'], ['draw', 'draws'], ['loss', 'loses']]),
    choice('to_move', 'To move', [['', 'either side'], ['white', 'White'], ['black', 'Black']]),
    bound('least', 'in at least'), bound('most', 'at most'), make('span', {}, unit(table.metric)),
    make('button', { type: 'submit' }, 'Draw ten'));
  return panel('Random positions', form, place);
}

async function draw(table, form, place) {
  const chosen = Object.fromEntries([...form].filter(([, value]) => value !== ''));
  const seed = Math.floor(Math.random() * 2 ** 31);
  try {
    const found = await ask(`${pathOf(table)}/sample`, { metric: table.metric, limit: 10, seed, ...chosen });
    const rows = found.positions.map((each) => link(each.fen, table.metric, ` ${each.result}${each.moves === null ? '' : ` in ${each.moves}`}`));
    place.replaceChildren(make('p', { class: 'note' }, `${plural(found.matching, 'position')} to draw from; seed ${seed}.`), make('ul', { class: 'fens' }, rows));
  } catch (error) {
    place.replaceChildren(make('p', { class: 'wrong' }, error.message));
  }
}

// ---- the passes ----

/** How the table was found: its passes, with pawns those of one depth together, and by level. */
export function passesPanel({ passes }) {
  if (!passes?.length) return '';
  return panel('Passes', strip(merged(passes)), passes[0].level === undefined ? '' : levelTable(passes));
}

function levelTable(passes) {
  const levels = new Map();
  for (const { level, won, lost, seconds } of passes) {
    const row = levels.get(level) ?? { count: 0, found: 0, seconds: 0 };
    levels.set(level, { count: row.count + 1, found: row.found + won + lost, seconds: row.seconds + seconds });
  }
  const cells = (texts) => texts.map((text) => make('td', {}, text));
  const rows = [...levels].map(([level, { count, found, seconds: took }]) => make('tr', {}, make('th', { scope: 'row' }, level + 1), cells([number(count), number(found), duration(took)])));
  const head = make('tr', {}, ['Level', 'Passes', 'Decided', 'Took'].map((text) => make('th', { scope: 'col' }, text)));
  return make('details', {}, make('summary', {}, `${plural(levels.size, 'level')} of the pawns`), make('table', { class: 'by-level' }, make('thead', {}, head), make('tbody', {}, rows)));
}

// ---- the file ----

export function restsOn({ smaller, used_by: larger, metric }) {
  const names = Object.keys(smaller).map((name) => name.split('.')[0]);
  const links = (list) => list.flatMap((name, i) => [i ? ', ' : '', make('a', { href: `/?table=${name}&metric=${metric}`, 'data-view': true }, name)]);
  const rests = names.length ? ['It rests on ', ...links(names), '.'] : ['It rests on no other table.'];
  return panel('Other tables', make('p', {}, ...rests), make('p', {}, ...(larger.length ? ['On it rest ', ...links(larger), '.'] : ['No table here rests on it.'])));
}

export function file(table) {
  const { material, metric } = table;
  const wrong = make('p', { class: 'wrong', role: 'alert' });
  const say = (error) => { wrong.textContent = error.message; };
  const href = `${pathOf(table)}/file?metric=${metric}`;
  const download = make('a', { class: 'button', href, download: true, onclick: (event) => save(event).catch(say) }, `Download ${size(table.bytes)}`);
  const remove = make('button', { type: 'button', class: 'quiet', onclick: () => removed(table).catch(say) }, 'Delete this table');
  const sum = onDemand('Show its SHA-256', async () => [make('p', {}, 'For ', make('code', {}, 'sha256sum -c'), ':'), make('pre', { class: 'sum' }, await answered(`${pathOf(table)}/sha256?metric=${metric}`).then((response) => response.text()))]);
  const proved = table.proved ? `proved ${when(table.proved.at)} by commit ${table.proved.commit}` : 'no proof of it is on record';
  return panel('The file',
    make('p', {}, `${material} ${METRICS[metric]}, ${number(table.rows)} rows, written ${when(table.modified)}, ${proved}. An Arrow file, read by pyarrow, polars, DuckDB or R. Digest of its values: `, make('code', {}, table.digest)),
    make('p', { class: 'row' }, download, may('admin') ? remove : null), sum, wrong);
}

const when = (time) => new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

async function removed({ material, metric }) {
  const sure = await agreed(`Delete the table ${material}, ${METRICS[metric]}? It would have to be built again.`, 'Delete');
  if (!sure) return;
  await tell('DELETE', `/api/v1/tables/${material}?metric=${metric}`);
  history.pushState(null, '', '/?tables');
  dispatchEvent(new PopStateEvent('popstate'));
}
