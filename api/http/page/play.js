// Playing against the table: it answers every move with its best, and says what a move has lost.
//
// Where a draw can be claimed the table claims it unless it is winning; then the player may claim.

import { make } from './make.js';
import { ask } from './service.js';
import { REASON, canClaim, colour, isSpoilt, long, plural } from './words.js';

const $ = (id) => document.getElementById(id);
const ANSWER = 450; // milliseconds until the table moves, so that one sees it
const MEN_MAX = 5; // larger tables take too long to be sampled
const LENGTHS = { short: [0, 1 / 3], medium: [1 / 3, 2 / 3], long: [2 / 3, 1], any: [0, 1] };

export class Play {
  /** `best()` makes the table's move, `takeBack(plies)` takes moves back if there are any, `point(uci)` draws an
      arrow, `start(fen)` shows another position, `stop()` ends a line that plays itself, `changed()` is told when
      moves may have become impossible or possible. */
  constructor({ game, best, takeBack, point, start, stop, changed, metric }) {
    Object.assign(this, { game, best, takeBack, point, start, changed, metric, pause: stop });
    this.side = null; // 'white' or 'black' while a game is on
    this.first = 0; // where in the list of moves the game began
    this.said = [];
    this.hasClaimed = false; // the player, in the position shown
    for (const button of document.querySelectorAll('[data-side]')) button.onclick = () => this.begin(button.dataset.side);
    $('hint').onclick = () => this.hint();
    $('undo').onclick = () => this.undo();
    $('stop').onclick = () => this.end();
    $('claim').onclick = () => this.claim();
    $('random').onclick = () => this.random();
  }

  get isOn() {
    return this.side !== null;
  }

  /** Whether a claim has ended the game: no more moves are made. */
  get isClaimed() {
    return this.isOn && (this.hasClaimed || this.tableClaims);
  }

  /** Whether a draw can be claimed in the position shown. */
  get mayClaim() {
    return Boolean(this.found) && !isOver(this.found) && canClaim(this.found);
  }

  /** The table claims a draw if it is known not to be winning. */
  get tableClaims() {
    const winning = this.found?.to_move === this.side ? 'loss' : 'win';
    return this.mayClaim && this.found.result !== null && this.found.result !== winning;
  }

  begin(side) {
    this.pause();
    this.hasClaimed = false;
    this.side = side;
    this.first = this.game.at;
    this.said = [`You have ${colour(side)}; the table has the other side.`];
    this.show();
    if (this.found) this.answered(this.found);
  }

  end() {
    clearTimeout(this.timer);
    this.side = null;
    this.hasClaimed = false;
    this.show();
  }

  /** The player claims a draw. */
  claim() {
    clearTimeout(this.timer);
    this.hasClaimed = true;
    this.said = [];
    this.show();
  }

  /** Another position is being shown: what was known is of no use. */
  forget() {
    clearTimeout(this.timer);
    this.found = null;
    this.hasClaimed = false;
    this.first = Math.min(this.first, this.game.at);
  }

  /** The position shown is known: the table moves if it is its turn. */
  answered(found) {
    this.found = found;
    this.show();
    if (!this.isOn || this.isClaimed || !found.options.length || found.to_move === this.side) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (this.isOn && this.found === found) this.best(); }, ANSWER);
  }

  /** What a move of the player is worth beside the best one: a note for the list of moves. */
  judge(option) {
    if (!this.isOn || this.found?.to_move !== this.side) return '';
    const [best] = this.found.options;
    const lost = loss(best, option, this.found.metric);
    this.said = [lost ? `${option.san}: ${lost}. Best was ${best.san}.` : `${option.san} is best.`];
    return lost;
  }

  hint() {
    if (!this.found || this.isClaimed || !knows(this.found) || this.found.to_move !== this.side) return;
    const [option] = this.found.options;
    this.said = [`${option.san} is best.`];
    this.point(option.uci);
    this.show();
  }

  /** Back to the player's own move before. */
  undo() {
    clearTimeout(this.timer);
    this.hasClaimed = false;
    this.said = ['Taken back.'];
    if (!this.takeBack(this.found && this.found.to_move !== this.side ? 1 : 2) && this.found) this.answered(this.found);
  }

  /** A position that the side to move wins, of a table that is here. */
  async random() {
    try {
      const { tables } = await ask('/api/v1/tables');
      const metric = this.metric();
      const usable = tables.filter((table) => table.metric === metric && table.men <= MEN_MAX && table.longest_win > 1);
      if (!usable.length) throw new Error('There is no table to draw a position from.');
      const table = usable[Math.floor(Math.random() * usable.length)];
      const [low, high] = LENGTHS[$('length').value].map((part) => Math.round(part * table.longest_win));
      const seed = Math.floor(Math.random() * 2 ** 31);
      const { positions } = await ask(`/api/v1/tables/${table.material}/sample`, { metric, result: 'win', least: Math.max(1, low), most: Math.max(1, high), limit: 1, seed });
      if (!positions.length) return this.random();
      const [{ fen, to_move: mover }] = positions;
      this.start(fen);
      this.begin(mover);
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.said = [error.message];
      $('coach').hidden = false;
      $('coach-does').hidden = true;
      $('coach-says').replaceChildren(...this.said);
    }
  }

  show() {
    this.changed();
    document.body.classList.toggle('playing', this.isOn);
    $('coach').hidden = $('coach-does').hidden = !this.isOn;
    for (const button of document.querySelectorAll('[data-side]')) button.setAttribute('aria-pressed', button.dataset.side === this.side);
    if (!this.isOn) return;
    const mine = this.found?.to_move === this.side;
    $('hint').disabled = !mine || this.isClaimed || !knows(this.found);
    $('claim').hidden = !this.mayClaim || this.isClaimed;
    $('coach-says').replaceChildren(make('span', {}, this.said.join(' ')), make('b', {}, ` ${this.turn(mine)}`));
  }

  turn(mine) {
    if (!this.found) return '';
    const mistakes = this.game.mistakesFrom(this.first);
    const over = mistakes ? `Over, with ${mistakes === 1 ? 'one move' : `${mistakes} moves`} that lost something.` : 'Over, and every move was best.';
    if (isOver(this.found)) return over;
    if (this.isClaimed) return `${this.hasClaimed ? 'You have claimed' : 'The table claims'} a draw: ${REASON}. ${over}`;
    if (!knows(this.found)) return `There is no table of ${this.found.material} to play against.`;
    const count = mistakes ? ` ${plural(mistakes, 'mistake')} so far.` : '';
    const offer = this.mayClaim ? ` You can claim a draw: ${REASON}.` : '';
    return `${mine ? 'Your move.' : 'The table is to move.'}${offer}${count}`;
  }
}

/** Whether nothing can be played any more. */
const isOver = ({ checkmate, stalemate, insufficient_material: bare }) => checkmate || stalemate || bare;

/** Whether it is known which move is best. */
const knows = ({ options }) => options.length > 0 && options[0].result !== null;

/** What was lost by a move beside the best one, in words; nothing if it is as good. */
export function loss(best, option, metric) {
  if (option.result === null || best.result === null) return '';
  if (best.result === option.result) {
    if (best.result === 'win' && isSpoilt(option) && !isSpoilt(best)) return 'drawn under the 50-move rule';
    if (best.result === 'draw' || best.moves === option.moves || option.moves === null || best.moves === null) return '';
    return best.result === 'win' ? `${best.moves} → ${long(option.moves, metric)}` : `lost in ${option.moves} instead of ${long(best.moves, metric)}`;
  }
  if (best.result === 'win') return option.result === 'draw' ? 'gave away the win' : 'turned a win into a loss';
  return 'gave away the draw';
}
