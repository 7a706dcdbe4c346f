// Setting a position up: men to put down, who is to move, the half-move clock, mirror and swap.

import { make } from './make.js';
import { drawn, nameOf } from './pieces.js';
import { CHESS, EMPTY_BOARD, XIANGQI, clockOf, mirrored, parse, swapped, write } from './position.js';
import { chooseWestern, isWestern } from './xiangqi.js';

const $ = (id) => document.getElementById(id);

export class SetUp {
  /** `fen()` is the position shown, `start(fen)` shows another. */
  constructor(board, fen, start) {
    Object.assign(this, { board, fen, start });
    this.tool = null; // the man to put down, 'move' or 'remove'; null when nothing is set up
    this._build();
  }

  get isOn() {
    return this.tool !== null;
  }

  turnOn(on) {
    this.tool = on ? 'move' : null;
    $('palette').hidden = !on;
    $('setup').setAttribute('aria-pressed', on);
    this.board.element.classList.toggle('setting', on);
    this.show();
  }

  show() {
    const { turn, game = CHESS } = parse(this.fen()) ?? {};
    if (game !== this.game) this._build(game);
    for (const button of document.querySelectorAll('[data-tool]')) button.setAttribute('aria-pressed', button.dataset.tool === this.tool);
    for (const button of document.querySelectorAll('[data-turn]')) button.setAttribute('aria-pressed', button.dataset.turn === turn);
  }

  /** Puts the man that was chosen on a square, or takes it off. */
  place(square) {
    if (this.tool === 'move') return;
    this.change((men) => {
      const same = men[square] === this.tool;
      if (/k/i.test(this.tool)) men.forEach((man, i) => { if (man === this.tool) men[i] = ''; });
      men[square] = this.tool === 'remove' || same ? '' : this.tool;
      return men;
    });
  }

  move(from, to) {
    this.change((men) => {
      if (to !== null) men[to] = men[from];
      men[from] = '';
      return men;
    });
    return true;
  }

  /** Shows the position with other men: a new beginning. */
  change(edit, turnTo = (turn) => turn) {
    const parsed = parse(this.fen()) ?? parse(EMPTY_BOARD);
    this.start(write(edit(parsed.men), turnTo(parsed.turn), clockOf(this.fen())));
    this.show();
  }

  setClock(clock) {
    const fields = this.fen().trim().replaceAll('_', ' ').split(/\s+/);
    const [board, turn = 'w', castling = '-', passed = '-', , number = '1'] = fields;
    this.start([board, turn, castling, passed, clock, number].join(' '));
  }

  _build(game = CHESS) {
    this.game = game;
    const men = [...game.men, ...game.men.toLowerCase()].map((man) => this._button(man, drawn(man, game), nameOf(man, game)));
    const other = game === CHESS ? XIANGQI : CHESS;
    const turn = ['white', 'black'].map((colour) => make('button', { type: 'button', class: 'turn', 'data-turn': colour[0], onclick: () => this.change((all) => all, () => colour[0]) }, `${colour[0].toUpperCase()}${colour.slice(1)} to move`));
    const button = (text, title, act) => make('button', { type: 'button', class: 'quiet', title, onclick: act }, text);
    $('palette').replaceChildren(
      make('div', { class: game === CHESS ? 'tools' : 'tools xiangqi', role: 'group', 'aria-label': 'Men to put on the board' }, men, this._button('remove', '⌫', 'take men off')),
      make('div', { class: 'choice', role: 'group', 'aria-label': 'Who is to move' }, turn),
      button('Mirror', 'Exchange left and right', () => this.change(mirrored)),
      button('Swap colours', 'The other side has these men', () => this.change(swapped, (now) => (now === 'w' ? 'b' : 'w'))),
      button('Clear', 'Only the kings', () => this.start(game.empty)),
      button(game === CHESS ? 'Chinese chess' : 'Chess', 'The board of the other game', () => { this.start(other.empty); this.show(); }),
      game === CHESS ? '' : button(isWestern() ? 'Chinese men' : 'Western men', 'Signs or letters on the men', () => { chooseWestern(!isWestern()); this._build(game); this.board.redraw(); this.show(); }),
    );
  }

  _button(name, face, label) {
    const select = () => { this.tool = this.tool === name ? 'move' : name; this.show(); };
    return make('button', { type: 'button', class: 'tool icon', 'data-tool': name, 'aria-label': label, title: label, onclick: select }, face);
  }
}
