// The board view: a position, its moves, what was played, and setting it up.

import { Board } from './board.js';
import { make } from './make.js';
import { drawn, nameOf } from './pieces.js';
import { EMPTY_BOARD, parse, squareOf, write } from './position.js';
import { Unreachable, ask } from './service.js';
import { spoken, verdict, worth } from './words.js';

const $ = (id) => document.getElementById(id);
const FIRST = '8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1';
const GROUPS = [
  ['win', 'Winning', '✓'],
  ['draw', 'Drawing', '='],
  ['loss', 'Losing', '✗'],
  [null, 'Not known', '?'],
];
const HEADLINES = { 400: 'Not a position', 401: 'A token is needed', 403: 'Not with this token', 429: 'Too many questions' };
const PACE = 650; // milliseconds between the moves of a line that plays itself

const game = { steps: [{ fen: FIRST }], at: 0 };
let metric = 'dtc';
let found = null; // the answer about the position shown
let tool = null; // in set-up: the man to put down, 'move' or 'remove'
let asking = null;
let playing = null;
let board;

const here = () => game.steps[game.at];

export function begin(parameters) {
  board ??= build();
  const fen = parameters.get('fen');
  metric = parameters.get('metric') === 'dtm' ? 'dtm' : 'dtc';
  if (fen && fen !== here().fen) start(fen.replaceAll('_', ' '));
  else show();
}

/** Another view takes the place of the board. */
export function leave() {
  if (board) stop();
}

function start(fen) {
  game.steps = [{ fen }];
  game.at = 0;
  show();
}

function build() {
  const made = new Board($('board'), { chosen, touched, mayLift });
  $('first').onclick = () => goTo(0);
  $('back').onclick = () => goTo(game.at - 1);
  $('forward').onclick = () => goTo(game.at + 1);
  $('last').onclick = () => goTo(game.steps.length - 1);
  $('flip').onclick = () => board.flip();
  $('setup').onclick = () => setUp(tool === null);
  $('best').onclick = best;
  $('line').onclick = follow;
  $('share').onclick = share;
  $('fen-form').onsubmit = (event) => { event.preventDefault(); start($('fen').value.trim()); };
  $('fen').onchange = () => start($('fen').value.trim());
  for (const button of document.querySelectorAll('[data-metric]')) {
    button.onclick = () => { metric = button.dataset.metric; show(); };
  }
  document.addEventListener('keydown', key);
  document.addEventListener('again', () => !$('view-board').hidden && show());
  buildPalette();
  return made;
}

// ---- showing ----

async function show() {
  const { fen, uci } = here();
  const parsed = parse(fen);
  if (document.activeElement !== $('fen')) $('fen').value = fen;
  address(fen);
  for (const button of document.querySelectorAll('[data-metric]')) {
    button.setAttribute('aria-pressed', button.dataset.metric === metric);
  }
  board.select(null);
  board.point(null);
  if (parsed) board.show(parsed.men);
  board.mark({ last: uci ? [squareOf(uci), squareOf(uci.slice(2))] : [] });
  showPlayed();
  await probe(fen);
}

function address(fen) {
  const query = new URLSearchParams({ fen: fen.replaceAll(' ', '_'), ...(metric === 'dtm' ? { metric } : {}) });
  // Slashes may stand in a query, and read better so.
  history.replaceState(null, '', `/?${query.toString().replaceAll('%2F', '/')}`);
}

async function probe(fen) {
  asking?.abort();
  asking = new AbortController();
  const slow = setTimeout(() => $('verdict').classList.add('waiting'), 150);
  try {
    const answer = await ask('/api/v1/probe', { fen, metric }, asking.signal);
    found = answer;
    showAnswer(answer);
  } catch (error) {
    if (error.name === 'AbortError') return;
    found = null;
    showFailure(error);
  } finally {
    clearTimeout(slow);
    $('verdict').classList.remove('waiting');
  }
  enable();
}

function showAnswer(answer) {
  const { kind, headline, below } = verdict(answer);
  const king = answer.to_move === 'white' ? 'K' : 'k';
  $('verdict').className = `verdict ${kind}`;
  $('verdict').replaceChildren(make('h1', {}, headline), make('p', {}, below), kind === 'unknown' ? buildIt(answer) : '');
  $('moves').replaceChildren(...GROUPS.map((group) => shownGroup(group, answer)).filter(Boolean));
  const check = answer.check ? board.men.indexOf(king) : null;
  board.mark({ ...board.marks, check });
}

/** What is not known can be built. */
function buildIt({ material }) {
  return make('p', {}, make('a', { href: `/?builds&material=${material}`, 'data-view': true }, `Build ${material}`));
}

function shownGroup([result, title, sign], answer) {
  const options = answer.options.filter((option) => option.result === result);
  if (!options.length) return null;
  const heading = make('h2', {}, make('span', { class: 'sign', 'aria-hidden': 'true' }, sign), title, make('span', { class: 'count' }, options.length));
  const list = make('ul', {}, options.map((option) => make('li', {}, moveButton(option))));
  return make('section', { class: `group ${result ?? 'unknown'}`, 'aria-label': `${title} moves` }, heading, list);
}

function moveButton(option) {
  const leave = () => board.point(null);
  const over = () => board.point(option.uci);
  return make(
    'button',
    { type: 'button', class: 'move', 'aria-label': spoken(option), onclick: () => playMove(option), onpointerenter: over, onpointerleave: leave, onfocus: over, onblur: leave },
    make('b', {}, option.san),
    make('span', {}, worth(option)),
  );
}

function showFailure(error) {
  const headline = error instanceof Unreachable ? 'No answer' : HEADLINES[error.status] ?? 'A table cannot be read';
  $('verdict').className = 'verdict problem';
  $('verdict').replaceChildren(make('h1', {}, headline), make('p', {}, error.message));
  $('moves').replaceChildren();
}

function enable() {
  const options = found?.options ?? [];
  $('best').disabled = !options.length || options[0].result === null;
  $('line').disabled = !found || !['win', 'loss'].includes(found.result) || !options.length;
  $('first').disabled = $('back').disabled = game.at === 0;
  $('last').disabled = $('forward').disabled = game.at === game.steps.length - 1;
}

function showPlayed() {
  const items = [];
  const first = parse(game.steps[0].fen);
  let ply = first?.turn === 'b' ? 1 : 0;
  game.steps.slice(1).forEach((step, i) => {
    if (ply % 2 === 0 || i === 0) items.push(make('span', { class: 'no' }, `${Math.floor(ply / 2) + 1}${ply % 2 ? '…' : '.'}`));
    const current = i + 1 === game.at;
    items.push(make('button', { type: 'button', class: 'ply', 'aria-current': current && 'step', onclick: () => goTo(i + 1) }, step.san));
    ply += 1;
  });
  $('score').replaceChildren(...items);
  $('score').hidden = !items.length;
  const current = $('score').querySelector('[aria-current]');
  if (current) $('score').scrollTop = current.offsetTop - $('score').clientHeight / 2;
}

// ---- playing ----

function goTo(at) {
  stop();
  if (at < 0 || at >= game.steps.length || at === game.at) return;
  game.at = at;
  show();
}

function playMove(option) {
  stop();
  const next = game.steps[game.at + 1];
  if (next?.uci !== option.uci) {
    game.steps.splice(game.at + 1, Infinity, { fen: option.fen, uci: option.uci, san: option.san });
  }
  game.at += 1;
  say(spoken(option));
  show();
}

function best() {
  if (!$('best').disabled) playMove(found.options[0]);
}

async function follow() {
  if (playing) return stop();
  try {
    const { line } = await ask('/api/v1/line', { fen: here().fen, metric });
    game.steps.splice(game.at + 1, Infinity, ...line);
    $('line').textContent = 'Pause';
    playing = setInterval(step, PACE);
    step();
  } catch (error) {
    showFailure(error);
  }
}

function step() {
  if (game.at + 1 >= game.steps.length) return stop();
  game.at += 1;
  show();
  if (game.at + 1 >= game.steps.length) stop();
}

function stop() {
  clearInterval(playing);
  playing = null;
  $('line').textContent = 'Follow to mate';
}

// ---- the board is touched ----

const targetsOf = (square) => (found?.options ?? []).filter((option) => squareOf(option.uci) === square);

function mayLift(square) {
  return board.men[square] !== '' && (tool !== null || targetsOf(square).length > 0);
}

function touched(square, lifting) {
  if (tool !== null) return lifting ? undefined : place(square);
  if (board.selected !== null && !lifting && board.selected !== square) {
    const from = board.selected;
    board.select(null);
    if (chosen(from, square)) return;
  }
  const again = board.selected === square && !lifting;
  board.select(!again && targetsOf(square).length ? square : null);
  const options = board.selected === null ? [] : targetsOf(square);
  board.mark({ ...board.marks, targets: options.map((option) => squareOf(option.uci.slice(2))) });
}

/** A man was taken from one square to another; whether that was a move. */
function chosen(from, to) {
  if (tool !== null) return change((men) => { if (to !== null) men[to] = men[from]; men[from] = ''; });
  const option = targetsOf(from).find((each) => squareOf(each.uci.slice(2)) === to);
  board.select(null);
  board.mark({ ...board.marks, targets: [] });
  if (option) playMove(option);
  return Boolean(option);
}

// ---- setting up ----

function buildPalette() {
  const men = [...'KQRBN', ...'kqrbn'].map((man) => toolButton(man, drawn(man), nameOf(man)));
  const turn = ['white', 'black'].map((colour) => make('button', { type: 'button', class: 'turn', 'data-turn': colour[0], onclick: () => change(() => {}, colour[0]) }, `${colour[0].toUpperCase()}${colour.slice(1)} to move`));
  $('palette').replaceChildren(
    make('div', { class: 'tools', role: 'group', 'aria-label': 'Men to put on the board' }, men, toolButton('remove', '⌫', 'take men off')),
    make('div', { class: 'choice', role: 'group', 'aria-label': 'Who is to move' }, turn),
    make('button', { type: 'button', class: 'quiet', onclick: () => start(EMPTY_BOARD) }, 'Clear'),
  );
}

function toolButton(name, face, label) {
  const select = () => { tool = tool === name ? 'move' : name; showTools(); };
  return make('button', { type: 'button', class: 'tool icon', 'data-tool': name, 'aria-label': label, title: label, onclick: select }, face);
}

function setUp(on) {
  stop();
  tool = on ? 'move' : null;
  $('palette').hidden = !on;
  $('setup').setAttribute('aria-pressed', on);
  board.element.classList.toggle('setting', on);
  showTools();
}

function showTools() {
  const turn = parse(here().fen)?.turn;
  for (const button of document.querySelectorAll('[data-tool]')) button.setAttribute('aria-pressed', button.dataset.tool === tool);
  for (const button of document.querySelectorAll('[data-turn]')) button.setAttribute('aria-pressed', button.dataset.turn === turn);
}

function place(square) {
  if (tool === 'move') return;
  change((men) => {
    const same = men[square] === tool;
    if (/k/i.test(tool)) men.forEach((man, i) => { if (man === tool) men[i] = ''; });
    men[square] = tool === 'remove' || same ? '' : tool;
  });
}

/** The position with its men changed: a new beginning, whoever is to move. */
function change(edit, turn = undefined) {
  const parsed = parse(here().fen) ?? parse(EMPTY_BOARD);
  edit(parsed.men);
  start(write(parsed.men, turn ?? parsed.turn));
  showTools();
  return true;
}

// ---- keys, sharing ----

function key(event) {
  if ($('view-board').hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.matches('input, textarea, select');
  const pressing = event.target.matches('button:not(.sq), a');
  if (writing || (event.key === ' ' && pressing)) return;
  const keys = {
    ' ': best,
    ArrowLeft: () => goTo(game.at - 1),
    ArrowRight: () => goTo(game.at + 1),
    Home: () => goTo(0),
    End: () => goTo(game.steps.length - 1),
    f: () => board.flip(),
    s: () => setUp(tool === null),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

async function share() {
  const done = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  $('share').textContent = done ? 'Copied' : 'In the address bar';
  setTimeout(() => { $('share').textContent = 'Share'; }, 1600);
}

function say(text) {
  $('said').textContent = text;
}
