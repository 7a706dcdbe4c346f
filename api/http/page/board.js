// The board: a button for each square with the men above them, of chess or of Chinese chess. It knows
// no rules: it shows what it is given, and says which squares were chosen, by pointer or by keys.

import { make, makeSvg } from './make.js';
import { drawn, nameOf } from './pieces.js';
import { CHESS, gameOf, nameOfSquare, squaresOf } from './position.js';
import { lines } from './xiangqi.js';

const DRAG = 5; // pixels until a press is a drag
const STEPS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

export class Board {
  /** `chosen(from, to)` for a drag or two clicks, `to` null off the board; `touched(square)` for
      each click; `mayLift(square)` for whether a man may be taken up. */
  constructor(element, { chosen, touched, mayLift }) {
    Object.assign(this, { element, chosen, touched, mayLift });
    this.game = CHESS;
    this.men = Array(64).fill('');
    this.flipped = false;
    this.selected = null;
    this.focus = 4;
    this.placed = new Map(); // square -> element of the man on it
    this._build();
  }

  _build() {
    this.element.className = 'board';
    this.squares = make('div', { class: 'squares', role: 'grid', 'aria-label': 'Chess board; arrow keys move, Enter chooses' });
    this.layer = make('div', { class: 'layer' });
    this.arrow = makeSvg('svg', { class: 'arrow', 'aria-hidden': 'true' });
    this.element.replaceChildren(this.squares, this.layer, this.arrow);
    this.element.addEventListener('pointerdown', (event) => this._press(event));
    // A press must not take the keys from the page: there, arrows step through the moves.
    this.element.addEventListener('mousedown', (event) => event.preventDefault());
    this.element.addEventListener('keydown', (event) => this._key(event));
    this.element.addEventListener('focusin', (event) => this._rove(Number(event.target.dataset.square)));
    this.element.addEventListener('click', (event) => {
      // By keys or by a screen reader; those of a pointer were seen when it was pressed.
      const { square } = event.target.dataset;
      if (event.detail === 0 && square !== undefined) this.touched(Number(square), false);
    });
    this._lay();
  }

  /** The buttons, in the order in which they are read. */
  _lay() {
    this.buttons = [];
    const { files, ranks } = this.game;
    const [xs, ys] = [files, ranks].map((count) => [...Array(count).keys()]);
    this.element.style.setProperty('--files', files);
    this.element.style.setProperty('--ranks', ranks);
    this.element.classList.toggle('xiangqi', this.game !== CHESS);
    this.arrow.setAttribute('viewBox', `0 0 ${files} ${ranks}`);
    this.squares.replaceChildren(...ys.map((y) => make('div', { role: 'row' }, xs.map((x) => this._square(this._at(x, y), x, y)))));
    this.element.querySelector('.lines')?.remove();
    if (this.game !== CHESS) this.squares.before(lines());
    this._label();
  }

  _square(square, x, y) {
    const { files, ranks } = this.game;
    const colour = (square % files + Math.floor(square / files)) % 2 ? 'light' : 'dark';
    const [file, ...rank] = nameOfSquare(square, this.game);
    this.buttons[square] = make('button', { type: 'button', class: `sq ${colour}`, tabindex: square === this.focus ? 0 : -1, 'data-square': square, 'data-rank': x === 0 && rank.join(''), 'data-file': y === ranks - 1 && file });
    return make('div', { role: 'gridcell' }, this.buttons[square]);
  }

  _at(x, y) {
    const { files, ranks } = this.game;
    return this.flipped ? files * y + files - 1 - x : files * (ranks - 1 - y) + x;
  }

  _xy(square) {
    const { files, ranks } = this.game;
    const file = square % files, rank = Math.floor(square / files);
    return this.flipped ? [files - 1 - file, rank] : [file, ranks - 1 - rank];
  }

  flip(flipped = !this.flipped) {
    this.flipped = flipped;
    this._lay();
    for (const [square, man] of this.placed) this._put(man, square);
    this.point(null);
    this.mark(this.marks || {});
  }

  /** Show these men; one that left a square and came to another moves there. */
  show(men) {
    if (gameOf(men) !== this.game) this._become(gameOf(men), men.length);
    const left = [...this.placed.keys()].filter((s) => this.men[s] !== men[s]);
    const gone = new Map(left.map((square) => [square, this.placed.get(square)]));
    for (const square of left) this.placed.delete(square);
    for (let square = 0; square < men.length; square++) {
      if (!men[square] || this.placed.has(square)) continue;
      const from = [...gone.keys()].find((s) => gone.get(s).dataset.man === men[square]);
      const man = from === undefined ? this._new(men[square]) : gone.get(from);
      if (from !== undefined) gone.delete(from);
      this.placed.set(square, man);
      this._put(man, square);
    }
    for (const man of gone.values()) man.remove();
    this.men = [...men];
    this._label();
  }

  /** Another game has another board. */
  _become(game, squares) {
    this.layer.replaceChildren();
    this.placed.clear();
    Object.assign(this, { game, men: Array(squares).fill(''), focus: 4, selected: null });
    this._lay();
  }

  /** Draws the men again, once others are chosen. */
  redraw() {
    const { men } = this;
    this._become(this.game, men.length);
    this.show(men);
    this.mark(this.marks || {});
  }

  _new(man) {
    const element = make('div', { class: 'piece', 'data-man': man }, drawn(man, this.game));
    this.layer.append(element);
    return element;
  }

  _put(man, square) {
    const [x, y] = this._xy(square);
    man.style.transform = `translate(${100 * x}%, ${100 * y}%)`;
  }

  _label() {
    this.buttons.forEach((button, square) => {
      const man = this.men[square];
      button.setAttribute('aria-label', `${nameOfSquare(square, this.game)}${man ? `, ${nameOf(man, this.game)}` : ''}`);
    });
  }

  /** `last` and `check` squares, and `targets` of the man that is taken up. */
  mark(marks) {
    this.marks = marks;
    const { last = [], check = null, targets = [] } = marks;
    this.buttons.forEach((button, square) => {
      button.classList.toggle('last', last.includes(square));
      button.classList.toggle('check', square === check);
      button.classList.toggle('selected', square === this.selected);
      button.classList.toggle('target', targets.includes(square));
      button.classList.toggle('taken', targets.includes(square) && this.men[square] !== '');
    });
  }

  select(square) {
    this.selected = square;
  }

  /** An arrow for a move such as "e2e4"; null takes it away. */
  point(uci) {
    if (!uci) return this.arrow.replaceChildren();
    const [[x1, y1], [x2, y2]] = squaresOf(uci, this.game).map((square) => this._xy(square).map((v) => v + 0.5));
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const tip = (along, aside) => `${x2 - along * dx - aside * dy},${y2 - along * dy + aside * dx}`;
    this.arrow.innerHTML =
      `<line x1="${x1}" y1="${y1}" x2="${x2 - 0.36 * dx}" y2="${y2 - 0.36 * dy}"/>` +
      `<polygon points="${tip(0.06, 0)} ${tip(0.46, 0.23)} ${tip(0.46, -0.23)}"/>`;
  }

  squareAt(x, y) {
    const box = this.squares.getBoundingClientRect();
    const { files, ranks } = this.game;
    const column = Math.floor((files * (x - box.left)) / box.width);
    const row = Math.floor((ranks * (y - box.top)) / box.height);
    return column < 0 || column >= files || row < 0 || row >= ranks ? null : this._at(column, row);
  }

  _press(event) {
    const square = this.squareAt(event.clientX, event.clientY);
    if (square === null || event.button !== 0) return;
    event.preventDefault();
    this._rove(square);
    const man = this.mayLift(square) ? this.placed.get(square) : null;
    this._follow(event, square, man);
  }

  /** From press to release: a drag if it goes far enough, else a click. */
  _follow(start, square, man) {
    let dragging = false;
    const move = (event) => {
      const far = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > DRAG;
      if (!man || (!dragging && !far)) return;
      if (!dragging) this.touched(square, true);
      dragging = true;
      const box = this.squares.getBoundingClientRect();
      const size = box.width / this.game.files;
      const [x, y] = [event.clientX - box.left - size / 2, event.clientY - box.top - size / 2];
      man.classList.add('lifted');
      man.style.transform = `translate(${x}px, ${y}px)`;
    };
    const end = (event) => {
      for (const [name, listener] of listeners) window.removeEventListener(name, listener);
      if (!dragging) return event.type === 'pointerup' && this.touched(square, false);
      man.classList.remove('lifted');
      this._put(man, square);
      const to = event.type === 'pointerup' ? this.squareAt(event.clientX, event.clientY) : square;
      if (to !== square) this.chosen(square, to);
    };
    const listeners = [['pointermove', move], ['pointerup', end], ['pointercancel', end]];
    for (const [name, listener] of listeners) window.addEventListener(name, listener);
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.key in STEPS)) return;
    const { files, ranks } = this.game;
    const [right, up] = STEPS[event.key].map((step) => (this.flipped ? -step : step));
    const file = this.focus % files + right, rank = Math.floor(this.focus / files) + up;
    const to = files * rank + file;
    if (file >= 0 && file < files && rank >= 0 && rank < ranks) {
      this._rove(to);
      this.buttons[to].focus({ preventScroll: true });
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Where the keys begin. */
  _rove(square) {
    this.buttons[this.focus].tabIndex = -1;
    this.focus = square;
    this.buttons[square].tabIndex = 0;
  }
}
