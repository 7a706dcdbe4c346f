// The levels of a material with pawns as small boards.  A level has all placings of the pawns with
// equally many steps to go; each square of its board is a square of the white king, wherever the
// black one stands.  The lowest level comes first: it is solved first.
//
// Colours and marks are those of the triangle: how much is decided, and what the last pass found.

import { make, makeSvg } from './make.js';
import { CELL, GAP, HEAD, PITCH, markOf, stepOf } from './triangle.js';
import { number, plural, share } from './words.js';

const DOWN = PITCH + 6; // from row to row: the names need some air
const SQUARES = Array.from({ length: 64 }, (_, square) => square);
const nameOfSquare = (square) => 'abcdefgh'[square & 7] + ((square >> 3) + 1);
const columnsOf = (levels) => (levels <= 6 ? 3 : levels <= 16 ? 4 : 5);

/** In how many ways the black king can stand for each square of the white one. */
const PAIRS = SQUARES.map((white) => SQUARES.filter((black) => Math.max(Math.abs((white & 7) - (black & 7)), Math.abs((white >> 3) - (black >> 3))) > 1).length);
const ALL_PAIRS = PAIRS.reduce((a, b) => a + b);

export class Levels {
  constructor() {
    this.element = make('div', { class: 'triangle levels', tabindex: '0', role: 'application', 'aria-roledescription': 'picture', 'aria-label': 'Levels of the pawns by the square of the white king; arrow keys go from one to the next' });
    this.readout = make('p', { class: 'readout' });
    this.voice = make('span', { class: 'unseen', 'aria-live': 'polite' });
    this.drawn = '';
    this.at = null;
    this.element.addEventListener('pointermove', (event) => this.point(event.target.dataset?.at));
    this.element.addEventListener('pointerleave', () => this.point(undefined));
    this.element.addEventListener('focusout', () => this.point(undefined));
    this.element.addEventListener('keydown', (event) => this.key(event));
  }

  draw(levels) {
    const columns = (this.columns = columnsOf(levels.length));
    const rows = Math.ceil(levels.length / columns);
    const place = (level) => [(level % columns) * PITCH, Math.floor(level / columns) * DOWN + HEAD];
    this.cells = levels.flatMap((_, level) => SQUARES.map((square) => {
      const [x, y] = place(level);
      return makeSvg('rect', { x: x + (square & 7) * CELL + 0.4, y: y + (7 - (square >> 3)) * CELL + 0.4, width: CELL - 0.8, height: CELL - 0.8, rx: 1, class: 'cell s0', 'data-at': level * 64 + square });
    }));
    this.marks = this.cells.map(() => makeSvg('rect', { class: 'mark', rx: 0.8 }));
    this.grounds = levels.map((_, level) => { const [x, y] = place(level); return makeSvg('rect', { class: 'ground', x: x - 1, y: y - 1, width: 8 * CELL + 2, height: 8 * CELL + 2, rx: 2 }); });
    const names = levels.map(({ structures }, level) => { const [x, y] = place(level); return makeSvg('text', { x, y: y - 4 }, `${level + 1} · ${number(structures)}`); });
    this.cursor = makeSvg('rect', { class: 'cursor', width: CELL + 1, height: CELL + 1, rx: 1.6, visibility: 'hidden' });
    const svg = makeSvg('svg', { viewBox: `-2 -1 ${columns * PITCH - GAP + 4} ${rows * DOWN - GAP + HEAD}`, 'aria-hidden': 'true' }, this.grounds, names, this.cells, this.marks, this.cursor);
    this.element.replaceChildren(svg, this.voice);
  }

  /** `found` has for each level what was decided by square, and what its last pass found (or null);
      `positions` are the places of all men of the material. */
  show(material, levels, found, positions) {
    const key = `${material} ${levels.length}`;
    if (this.drawn !== key) this.draw(levels);
    Object.assign(this, { drawn: key, levels, found });
    const structures = levels.reduce((sum, level) => sum + level.structures, 0);
    this.whole = levels.map((level) => PAIRS.map((pairs) => (positions * level.structures * pairs) / (structures * ALL_PAIRS)));
    levels.forEach(({ state }, level) => {
      this.grounds[level].setAttribute('class', `ground ${state === 'solving' || state === 'painting' ? 'now' : ''}`);
      for (const square of SQUARES) this.cell(level, square);
    });
    this.tell();
  }

  cell(level, square) {
    const [cell, mark, whole] = [this.cells[level * 64 + square], this.marks[level * 64 + square], this.whole[level][square]];
    const decided = this.found[level]?.sum?.[square] ?? 0;
    const name = `cell s${whole ? stepOf(Math.min(1, decided / whole)) : 0}`;
    if (cell.getAttribute('class') !== name) cell.setAttribute('class', name);
    const size = markOf(this.found[level]?.last?.[square] ?? 0, whole);
    const side = size && 1.2 + size;
    if (mark.getAttribute('width') === String(side)) return;
    for (const axis of ['x', 'y']) mark.setAttribute(axis, Number(cell.getAttribute(axis)) + (CELL - 0.8 - side) / 2);
    mark.setAttribute('width', side);
    mark.setAttribute('height', side);
  }

  // ---- one square of a level ----

  point(at) {
    this.at = at === undefined ? null : Number(at);
    this.cursor?.setAttribute('visibility', this.at === null ? 'hidden' : 'visible');
    if (this.at !== null) for (const axis of ['x', 'y']) this.cursor.setAttribute(axis, this.cells[this.at].getAttribute(axis) - 0.9);
    this.tell();
  }

  tell() {
    this.readout.textContent = this.at === null ? '' : this.words(this.at);
  }

  words(at) {
    const [level, square] = [Math.floor(at / 64), at % 64];
    const sum = this.found[level]?.sum?.[square];
    const decided = sum === undefined ? 'nothing decided yet' : `${number(sum)} decided, ${share(Math.min(sum, this.whole[level][square]), this.whole[level][square])} of all places`;
    return `Level ${level + 1}, ${plural(this.levels[level].structures, 'structure')}, white king on ${nameOfSquare(square)}: ${decided}`;
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || !this.cells || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.point(this.at === null ? 0 : this.next(this.at, step));
    this.voice.textContent = this.words(this.at);
  }

  /** The square beside one, on the next board at the edge, the same one where there is none. */
  next(at, [dx, dy]) {
    const [level, square] = [Math.floor(at / 64), at % 64];
    const x = (level % this.columns) * 8 + (square & 7) + dx;
    const y = Math.floor(level / this.columns) * 8 + 7 - (square >> 3) + dy;
    const to = Math.floor(y / 8) * this.columns + Math.floor(x / 8);
    const isThere = x >= 0 && y >= 0 && x < 8 * this.columns && to < this.levels.length;
    return isThere ? to * 64 + (7 - (y % 8)) * 8 + (x % 8) : at;
  }

  // ---- the same in words ----

  /** A row for each level. */
  table() {
    const rows = this.levels.map(({ structures, state }, level) => make('tr', {}, make('th', { scope: 'row' }, level + 1), make('td', {}, number(structures)), make('td', {}, state), make('td', {}, number((this.found[level]?.sum ?? []).reduce((a, b) => a + b, 0)))));
    const head = make('tr', {}, ['Level', 'Structures', 'State', 'Decided'].map((text) => make('th', { scope: 'col' }, text)));
    return make('table', {}, make('thead', {}, head), make('tbody', {}, rows));
  }
}
