// The board view: a position, its moves, what was played; alone, or against the table.

import { Board } from './board.js';
import { Game } from './game.js';
import { make } from './make.js';
import { Play } from './play.js';
import { CHESS, clockOf, parse, squaresOf } from './position.js';
import { Unreachable, ask } from './service.js';
import { SetUp } from './setup.js';
import { copy, download, linkTo } from './share.js';
import { beginWelcome } from './welcome.js';
import { CLAIM, COUNTS_TO, METRICS, buildAt, canClaim, counted, isBuilt, plural, spoken, unit, verdict, worth } from './words.js';

const $ = (id) => document.getElementById(id);
const FIRST = '8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1';
const GROUPS = [
  ['win', 'Winning', '✓'],
  ['draw', 'Drawing', '='],
  ['loss', 'Losing', '✗'],
  [null, 'Not known', '?'],
];
const HEADLINES = { 400: 'Not a position', 401: 'A token is needed', 403: 'Not with this token', 429: 'Too many questions' };
const RESULTS = { white: '1-0', black: '0-1' };
const PACE = 650; // milliseconds between the moves of a line that plays itself

const game = new Game(FIRST);
let metric = 'dtc';
let found = null; // the answer about the position shown; null until it has come
let asking = null;
let playing = null; // the timer of a line that plays itself
let reading = false; // the moves of a link are being made
let board;
let setup;
let play;

export function begin(parameters) {
  board ??= build();
  stop();
  const fen = (parameters.get('fen') ?? game.here.fen).replaceAll('_', ' ');
  metric = parameters.get('metric') in METRICS ? parameters.get('metric') : 'dtc';
  beginWelcome(!parameters.has('fen'));
  const at = game.find(fen);
  if (parameters.has('moves')) return replay(fen, parameters.get('moves').split('_'));
  if (at < 0) game.start(fen);
  else game.at = at; // the browser's back and forward walk the moves
  return show('replace');
}

/** Another view takes the place of the board. */
export function leave() {
  if (board) stop();
}

function start(fen) {
  game.start(fen);
  show('push');
}

function build() {
  const made = new Board($('board'), { chosen, touched, mayLift });
  setup = new SetUp(made, () => game.here.fen, start);
  play = new Play({ game, best, start, stop, takeBack, changed: enable, metric: () => metric, point: (uci) => made.point(uci) });
  $('first').onclick = () => goTo(0);
  $('back').onclick = () => goTo(game.at - 1);
  $('forward').onclick = () => goTo(game.at + 1);
  $('last').onclick = () => goTo(game.steps.length - 1);
  $('flip').onclick = () => made.flip();
  $('setup').onclick = () => setUp(!setup.isOn);
  $('best').onclick = best;
  $('line').onclick = follow;
  $('share').onclick = () => copy($('share'), linkTo(game, metric));
  $('copy-fen').onclick = () => copy($('copy-fen'), game.here.fen);
  $('copy-pgn').onclick = () => copy($('copy-pgn'), game.pgn(result()));
  $('save-pgn').onclick = () => download('kingpair.pgn', game.pgn(result()));
  $('fen-form').onsubmit = (event) => { event.preventDefault(); start($('fen').value.trim()); };
  $('fen').onchange = () => start($('fen').value.trim());
  $('clock').onchange = () => setup.setClock(Math.max(0, Math.min(150, Math.round($('clock').valueAsNumber || 0))));
  for (const button of document.querySelectorAll('[data-metric]')) {
    button.onclick = () => { metric = button.dataset.metric; show('push'); };
  }
  document.addEventListener('keydown', key);
  document.addEventListener('again', () => !$('view-board').hidden && show('replace'));
  return made;
}

// ---- showing ----

/** Shows the position of the game; `how` says what becomes of the address: push or replace. */
async function show(how) {
  const { fen, uci } = game.here;
  const parsed = parse(fen);
  // What was known is of another position: until the answer comes, no press finds a move to make.
  found = null;
  play.forget();
  $('moves').setAttribute('aria-busy', 'true');
  enable();
  if (document.activeElement !== $('fen')) $('fen').value = fen;
  if (document.activeElement !== $('clock')) $('clock').value = clockOf(fen);
  address(fen, how);
  for (const button of document.querySelectorAll('[data-metric]')) {
    button.setAttribute('aria-pressed', button.dataset.metric === metric);
  }
  board.select(null);
  board.point(null);
  if (parsed) board.show(parsed.men);
  // Chinese chess has no rule that counts plies.
  const counts = board.game === CHESS;
  if (!counts && metric === 'dtz') metric = 'dtc';
  for (const each of [$('clock').closest('label'), document.querySelector('[data-metric="dtz"]')]) each.hidden = !counts;
  board.mark({ last: uci ? squaresOf(uci, board.game) : [] });
  showPlayed();
  await probe(fen);
}

function address(fen, how) {
  const query = new URLSearchParams({ fen: fen.replaceAll(' ', '_'), ...(metric === 'dtc' ? {} : { metric }) });
  // Slashes may stand in a query, and read better so.
  const text = `/?${query.toString().replaceAll('%2F', '/')}`;
  if (how === 'push' && text !== location.pathname + location.search) history.pushState(null, '', text);
  else history.replaceState(null, '', text);
}

async function probe(fen) {
  asking?.abort();
  asking = new AbortController();
  const slow = setTimeout(() => $('verdict').classList.add('waiting'), 150);
  try {
    const answer = await ask('/api/v1/probe', { fen, metric }, asking.signal);
    found = answer;
    showAnswer(answer);
    play.answered(answer);
  } catch (error) {
    if (error.name === 'AbortError') return;
    found = null;
    showFailure(error);
  } finally {
    clearTimeout(slow);
  }
  $('verdict').classList.remove('waiting');
  $('moves').removeAttribute('aria-busy');
  enable();
}

function showAnswer(answer) {
  const { kind, headline, below } = verdict(answer);
  const king = answer.to_move === 'white' ? 'K' : 'k';
  $('verdict').className = `verdict ${kind}`;
  $('verdict').replaceChildren(make('h1', {}, headline), make('p', {}, below), answer.missing ? buildIt(answer) : '');
  const groups = GROUPS.map((group) => shownGroup(group, answer)).filter(Boolean);
  $('moves').replaceChildren(...groups, legend(answer));
  $('moves').classList.toggle('wide', board.game !== CHESS); // ranks have two digits
  const check = answer.check ? board.men.indexOf(king) : null;
  board.mark({ ...board.marks, check });
}

/** What is not known can be built, unless it has too many men. */
function buildIt({ material, metric: counted }) {
  return isBuilt(material) ? make('p', {}, make('a', { href: buildAt(material, counted), 'data-view': true }, `Build ${material}`)) : '';
}

function shownGroup([result, title, sign], answer) {
  const options = answer.options.filter((option) => option.result === result);
  if (!options.length) return null;
  const heading = make('h2', {}, make('span', { class: 'sign', 'aria-hidden': 'true' }, sign), title, make('span', { class: 'count' }, counted(options, result)));
  const list = make('ul', {}, options.map((option) => make('li', {}, moveButton(option))));
  return make('section', { class: `group ${result ?? 'unknown'}`, 'aria-label': `${title} moves` }, heading, list);
}

/** What the numbers and signs beside the moves mean. */
function legend(answer) {
  const numbers = answer.options.some((option) => option.moves !== null);
  const captures = answer.options.find((option) => option.converts_to);
  const claims = answer.options.some((option) => CLAIM[option.category]);
  const words = [
    numbers ? `Numbers are ${unit(answer.metric)} ${COUNTS_TO[answer.metric]}.` : '',
    captures ? `→ ${captures.converts_to}: a capture, into that ending.` : '',
    claims ? '½: a draw, or possibly one, under the 50-move rule.' : '',
  ];
  return make('p', { class: 'note' }, words.filter(Boolean).join(' '));
}

function moveButton(option) {
  const leave = () => board.point(null);
  const over = () => board.point(option.uci);
  return make(
    'button',
    { type: 'button', class: 'move', 'aria-label': spoken(option, found.metric), onclick: () => playMove(option), onpointerenter: over, onpointerleave: leave, onfocus: over, onblur: leave },
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
  $('best').disabled = !options.length || options[0].result === null || play.isClaimed;
  $('line').disabled = playing === null && (!found || !['win', 'loss'].includes(found.result) || !options.length || canClaim(found));
  $('first').disabled = $('back').disabled = game.at === 0;
  $('last').disabled = $('forward').disabled = game.isAtEnd;
}

function showPlayed() {
  const items = game.numbered().map(({ before, san, note, at }) => make('span', {},
    before ? make('span', { class: 'no' }, before) : null,
    make('button', { type: 'button', class: 'ply', 'aria-current': at === game.at && 'step', onclick: () => goTo(at) }, san),
    note ? make('span', { class: 'mistake' }, note) : null));
  $('score').replaceChildren(...items);
  $('played').hidden = game.steps.length === 1;
  const current = $('score').querySelector('[aria-current]');
  if (current) $('score').scrollTop = current.offsetTop - $('score').clientHeight / 2;
}

/** The result of the game for PGN: it is known if its last position is shown. */
function result() {
  if (!found || !game.isAtEnd) return '*';
  if (found.checkmate) return RESULTS[found.to_move === 'white' ? 'black' : 'white'];
  return found.stalemate || found.insufficient_material || canClaim(found) ? '1/2-1/2' : '*';
}

// ---- playing ----

/** Shows another position of the game; false if there is none. */
function goTo(at) {
  stop();
  if (reading || !game.has(at)) return false;
  game.at = at;
  show('push');
  return true;
}

/** Takes moves of the game back, and forgets them; false if there are none. */
function takeBack(plies) {
  if (!goTo(Math.max(0, game.at - plies))) return false;
  game.put([]);
  showPlayed();
  enable();
  return true;
}

function playMove(option) {
  if (!found?.options.includes(option) || play.isClaimed) return; // of a position not shown any more, or of a game that is over
  stop();
  game.play({ fen: option.fen, uci: option.uci, san: option.san, note: play.judge(option) });
  say(spoken(option, found.metric));
  show('push');
}

function best() {
  if (!$('best').disabled) playMove(found.options[0]);
}

async function follow() {
  if (playing) return stop();
  const from = game.here;
  try {
    const { line } = await ask('/api/v1/line', { fen: from.fen, metric, until_claim: true });
    if (game.here !== from) return;
    game.put(line);
    $('line').textContent = 'Pause';
    playing = setInterval(step, PACE);
    step();
  } catch (error) {
    showFailure(error);
  }
}

function step() {
  if (game.isAtEnd) return stop();
  game.at += 1;
  show('replace');
  if (game.isAtEnd) stop();
}

function stop() {
  clearInterval(playing);
  playing = null;
  $('line').textContent = 'Follow to mate';
}

/** Plays the moves of a link, one after another, as far as they can be made; each takes an answer. */
async function replay(fen, moves) {
  game.start(fen);
  found = null;
  reading = true;
  enable();
  $('verdict').className = 'verdict';
  $('verdict').replaceChildren(make('h1', {}, 'Reading the game …'), make('p', {}, `${plural(moves.length, 'move')} of the link`));
  try {
    for (const uci of moves) {
      const parsed = parse(game.here.fen);
      if (parsed) board.show(parsed.men);
      const { options } = await ask('/api/v1/probe', { fen: game.here.fen, metric });
      const option = options.find((each) => each.uci === uci);
      if (!option) break;
      game.play(option);
    }
  } catch (error) {
    if (error.name === 'AbortError') return;
  } finally {
    reading = false;
  }
  if (!$('view-board').hidden) show('replace');
}

// ---- the board is touched ----

const targetsOf = (square) => (play.isClaimed ? [] : found?.options ?? []).filter((option) => squaresOf(option.uci, board.game)[0] === square);

function mayLift(square) {
  return board.men[square] !== '' && (setup.isOn || targetsOf(square).length > 0);
}

function touched(square, lifting) {
  if (setup.isOn) return lifting ? undefined : setup.place(square);
  if (board.selected !== null && !lifting && board.selected !== square) {
    const from = board.selected;
    board.select(null);
    if (chosen(from, square)) return;
  }
  const again = board.selected === square && !lifting;
  board.select(!again && targetsOf(square).length ? square : null);
  const options = board.selected === null ? [] : targetsOf(square);
  board.mark({ ...board.marks, targets: options.map((option) => squaresOf(option.uci, board.game)[1]) });
}

/** The move from one square to another; a pawn becomes a queen unless another man is worth more. */
function optionOf(from, to) {
  const [first, ...others] = targetsOf(from).filter((each) => squaresOf(each.uci, board.game)[1] === to);
  return others.find(({ uci, result, moves }) => uci.endsWith('q') && result === first.result && moves === first.moves) ?? first;
}

/** A man was taken from one square to another; whether that was a move. */
function chosen(from, to) {
  if (setup.isOn) return setup.move(from, to);
  const option = optionOf(from, to);
  board.select(null);
  board.mark({ ...board.marks, targets: [] });
  if (option) playMove(option);
  return Boolean(option);
}

function setUp(on) {
  stop();
  setup.turnOn(on);
}

// ---- keys ----

function key(event) {
  if ($('view-board').hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.matches('input, textarea, select');
  const pressing = event.target.matches('button:not(.sq), a, summary');
  if (writing || (event.key === ' ' && pressing)) return;
  const keys = {
    ' ': play.isOn ? () => play.hint() : best,
    ArrowLeft: () => goTo(game.at - 1),
    ArrowRight: () => goTo(game.at + 1),
    Home: () => goTo(0),
    End: () => goTo(game.steps.length - 1),
    f: () => board.flip(),
    s: () => setUp(!setup.isOn),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

function say(text) {
  $('said').textContent = text;
}
