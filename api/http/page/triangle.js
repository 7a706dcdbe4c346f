// The 462 pairs of kings as ten small boards.  By symmetry the white king is always on one of the
// ten squares of the triangle a1-d1-d4: each has a board, placed as that square is on a real one,
// and each square of it is a partition, by where the black king stands.  With the white king on
// the diagonal, half a board is enough: the other half mirrors it.
//
// The colour of a square says how much of the partition is decided, in steps of one hue from pale
// to strong, finer where little is; the mark inside it says how much the last pass found there, by
// its size alone.

import { make, makeSvg } from './make.js';
import { number, share } from './words.js';

export const STEPS = 16; // of colour, above none; a stronger one begins at the square of its part of them
export const [CELL, GAP, HEAD] = [10, 17, 15];
export const PITCH = 8 * CELL + GAP;
const SIDE = 4 * PITCH - GAP;
const MARKS = 6; // sizes of the mark

const file = (name) => name.charCodeAt(0) - 97;
const rank = (name) => name.charCodeAt(1) - 49;
const CROWN = 'M-3.4 3.2h6.8l.9-5.2-2.3 1.9L0-3.6-2-.1-4.3-2z';

/** Which step of colour a share has. */
export const stepOf = (part) => (part > 0 ? Math.max(1, Math.floor(STEPS * Math.sqrt(part))) : 0);

/** How large a mark is for `found` of so many: by its logarithm. */
export const markOf = (found, most) => (found > 0 ? Math.max(1, Math.min(MARKS, Math.ceil((MARKS * Math.log1p(found)) / Math.log1p(most)))) : 0);

export class Triangle {
  /** `pairs` are the squares of both kings by partition. */
  constructor(pairs) {
    this.pairs = pairs;
    this.decided = this.found = null;
    this.whole = 0;
    this.at = null;
    this.element = make('div', { class: 'triangle', tabindex: '0', role: 'application', 'aria-roledescription': 'picture', 'aria-label': 'Partitions by the squares of the kings; arrow keys go from one to the next' });
    this.readout = make('p', { class: 'readout' });
    this.voice = make('span', { class: 'unseen', 'aria-live': 'polite' }); // says what keys chose, not what changes
    this.draw();
    this.element.addEventListener('pointermove', (event) => this.point(event.target.dataset?.pair));
    this.element.addEventListener('pointerleave', () => this.point(undefined));
    this.element.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('focusout', () => this.point(undefined));
  }

  draw() {
    const boards = new Map();
    this.cells = this.pairs.map(([white, black], pair) => {
      const x = file(white) * PITCH + file(black) * CELL;
      const y = (3 - rank(white)) * PITCH + HEAD + (7 - rank(black)) * CELL;
      boards.set(white, [file(white) * PITCH, (3 - rank(white)) * PITCH + HEAD]);
      return makeSvg('rect', { x: x + 0.4, y: y + 0.4, width: CELL - 0.8, height: CELL - 0.8, rx: 1, class: 'cell s0', 'data-pair': pair });
    });
    const names = [...boards].map(([white, [x, y]]) => makeSvg('text', { x, y: y - 4 }, `K${white}`));
    const grounds = [...boards].map(([white, at]) => ground(white, ...at));
    const kings = [...boards].map(([white, [x, y]]) => makeSvg('path', { class: 'king', d: CROWN, transform: `translate(${x + (file(white) + 0.5) * CELL} ${y + (7.5 - rank(white)) * CELL})` }));
    this.place([...grounds, ...names], SIDE, SIDE + HEAD, kings);
  }

  /** Puts the cells into the picture, with their marks and the cursor. */
  place(below, width, height, above = []) {
    this.marks = this.cells.map(() => makeSvg('rect', { class: 'mark', rx: 0.8 }));
    this.cursor = makeSvg('rect', { class: 'cursor', width: CELL + 1, height: CELL + 1, rx: 1.6, visibility: 'hidden' });
    this.svg = makeSvg('svg', { viewBox: `-1 -1 ${width + 2} ${height + 2}`, 'aria-hidden': 'true' }, below, this.cells, this.marks, above, this.cursor);
    this.element.replaceChildren(this.svg, this.voice);
    this.steps = new Int8Array(this.cells.length);
    this.sizes = new Int8Array(this.cells.length);
  }

  /** `decided` and `found` by partition (null: nothing); `whole` are the places of a partition. */
  show(decided, found, whole) {
    Object.assign(this, { decided, found, whole });
    for (let pair = 0; pair < this.cells.length; pair++) {
      this.colour(pair, whole ? stepOf(Math.min(1, (decided?.[pair] ?? 0) / this.places(pair))) : 0);
      this.mark(pair, markOf(found?.[pair] ?? 0, whole));
    }
    this.tell();
  }

  /** With both kings on the diagonal a position and its mirror image are the same. */
  places(pair) {
    return this.pairs[pair].every((square) => file(square) === rank(square)) ? this.whole / 2 : this.whole;
  }

  colour(pair, step) {
    if (this.steps[pair] === step) return;
    this.steps[pair] = step;
    this.cells[pair].setAttribute('class', `cell s${step}`);
  }

  mark(pair, size) {
    if (this.sizes[pair] === size) return;
    this.sizes[pair] = size;
    const [cell, mark] = [this.cells[pair], this.marks[pair]];
    const side = size && 1.2 + size;
    const inset = (CELL - 0.8 - side) / 2;
    mark.setAttribute('x', Number(cell.getAttribute('x')) + inset);
    mark.setAttribute('y', Number(cell.getAttribute('y')) + inset);
    mark.setAttribute('width', side);
    mark.setAttribute('height', side);
  }

  // ---- one partition ----

  point(pair) {
    this.at = pair === undefined ? null : Number(pair);
    this.cursor.setAttribute('visibility', this.at === null ? 'hidden' : 'visible');
    if (this.at !== null) {
      const cell = this.cells[this.at];
      for (const axis of ['x', 'y']) this.cursor.setAttribute(axis, cell.getAttribute(axis) - 0.9);
    }
    this.tell();
  }

  tell() {
    this.readout.textContent = this.at === null ? '' : this.words(this.at);
  }

  words(pair) {
    const [white, black] = this.pairs[pair];
    const decided = this.decided ? `${number(this.decided[pair])} decided, ${share(this.decided[pair], this.places(pair))} of all places` : 'nothing decided yet';
    const found = this.found ? `, ${number(this.found[pair])} in the last pass` : '';
    return `Kings ${white} and ${black}: ${decided}${found}`;
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.point(this.at === null ? 0 : this.next(this.at, step));
    this.voice.textContent = this.words(this.at);
  }

  /** The nearest square in a direction, the same one at the edge. */
  next(pair, [dx, dy]) {
    const centre = (i) => ['x', 'y'].map((axis) => Number(this.cells[i].getAttribute(axis)));
    const [x, y] = centre(pair);
    let [best, least] = [pair, Infinity];
    for (let i = 0; i < this.cells.length; i++) {
      const [ex, ey] = centre(i);
      const along = (ex - x) * dx + (ey - y) * dy;
      const aside = Math.abs((ex - x) * dy) + Math.abs((ey - y) * dx);
      if (along > 1 && along + 4 * aside < least) [best, least] = [i, along + 4 * aside];
    }
    return best;
  }

  // ---- the same in words ----

  /** A row for each square of the white king. */
  table() {
    const whites = [...new Set(this.pairs.map(([white]) => white))];
    const rows = whites.map((white) => {
      const mine = this.pairs.flatMap(([each], pair) => (each === white ? [pair] : []));
      const sum = (of) => mine.reduce((total, pair) => total + (of?.[pair] ?? 0), 0);
      const whole = mine.reduce((total, pair) => total + this.places(pair), 0);
      const cells = [mine.length, number(sum(this.decided)), share(sum(this.decided), whole), number(sum(this.found))];
      return make('tr', {}, make('th', { scope: 'row' }, white), cells.map((text) => make('td', {}, String(text))));
    });
    const head = ['White king', 'Black king’s squares', 'Decided', 'of all places', 'In the last pass'].map((text) => make('th', { scope: 'col' }, text));
    return make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, rows));
  }
}

/** The board under the squares: all of it, or the half below the diagonal. */
function ground(white, x, y) {
  const side = 8 * CELL;
  const half = file(white) === rank(white);
  if (!half) return makeSvg('rect', { class: 'ground', x, y, width: side, height: side, rx: 1.5 });
  const stairs = `h${CELL}v${-CELL}`.repeat(7);
  return makeSvg('path', { class: 'ground', d: `M${x} ${y + side}v${-CELL}${stairs}h${CELL}V${y + side}z` });
}

/** What the colours and marks mean. */
export function legend(boards = 'A board for each square of the white king; on it, the squares of the black king.') {
  const steps = Array.from({ length: STEPS + 1 }, (_, step) => makeSvg('rect', { x: step * 10, y: 0, width: 10.2, height: 12, class: `cell s${step}` }));
  const ramp = makeSvg('svg', { viewBox: `0 0 ${10 * STEPS + 10} 12`, class: 'ramp', 'aria-hidden': 'true' }, steps);
  const sizes = [1, 3, 6].map((size, i) => makeSvg('rect', { class: 'mark', x: 16 * i + 7 - (1.2 + size) / 2, y: 6 - (1.2 + size) / 2, width: 1.2 + size, height: 1.2 + size, rx: 0.8 }));
  return make('div', { class: 'legend' },
    make('p', {}, make('b', {}, 'Share of positions decided'), ramp, make('span', { class: 'ends' }, ['0 %', '6 %', '25 %', '56 %', '100 %'].map((text) => make('span', {}, text)))),
    make('p', {}, make('b', {}, 'Positions found in this pass'), make('span', { class: 'sizes' }, 'few ', makeSvg('svg', { viewBox: '0 0 48 12', 'aria-hidden': 'true' }, sizes), ' many')),
    make('p', { class: 'note' }, boards));
}
