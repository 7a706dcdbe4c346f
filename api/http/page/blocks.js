// The blocks of Chinese chess: the placings of Black's king, advisors and elephants, of two mirror
// images one.  A group has the placings with the king on one square.
//
// Colours and marks are those of the triangle: how much is decided, and what the last pass found.

import { make, makeSvg } from './make.js';
import { CELL, HEAD, Triangle } from './triangle.js';
import { number, share } from './words.js';

const COLUMNS = 36;
const PALACE = [66, 67, 68, 75, 76, 77, 84, 85, 86]; // file + 9 * rank, as the service counts
const ADVISORS = [66, 68, 76, 84, 86];
const ELEPHANTS = [47, 51, 63, 67, 71, 83, 87];
const NAMES = { K: 'king', A: 'advisor', B: 'elephant' };

const squareName = (square) => 'abcdefghi'[square % 9] + (Math.floor(square / 9) + 1);
const mirrored = (men) => men.map((square) => square + 8 - 2 * (square % 9)).sort((a, b) => a - b);
const image = (placing) => placing.map(mirrored);

/** Which of two placings comes first: below 0 the first one. */
function compare(one, other) {
  for (let man = 0; man < one.length; man++) {
    for (let i = 0; i < one[man].length; i++) if (one[man][i] !== other[man][i]) return one[man][i] - other[man][i];
  }
  return 0;
}

const combinations = (squares, count) => (count === 0 ? [[]] : squares.flatMap((first, i) => combinations(squares.slice(i + 1), count - 1).map((rest) => [first, ...rest])));

/** The placings [king, advisors, elephants] in the order in which the service counts them. */
export function placings(advisors, elephants) {
  const all = PALACE.flatMap((king) => combinations(ADVISORS, advisors).flatMap((a) => combinations(ELEPHANTS, elephants).map((e) => [[king], a, e])));
  return all.filter((placing) => new Set(placing.flat()).size === placing.flat().length && compare(placing, image(placing)) <= 0);
}

export class Blocks extends Triangle {
  constructor(advisors, elephants) {
    super(placings(advisors, elephants));
    this.element.setAttribute('aria-label', 'Blocks by the placing of Black’s king, advisors and elephants; arrow keys go from one to the next');
  }

  draw() {
    const names = [];
    let [bottom, column, king] = [0, 0, null];
    this.cells = this.pairs.map((placing, block) => {
      if (placing[0][0] !== king) {
        king = placing[0][0];
        if (block) bottom += CELL + 6;
        bottom += HEAD;
        column = 0;
        names.push(makeSvg('text', { x: 0, y: bottom - 4 }, `K${squareName(king)}`));
      } else if (++column === COLUMNS) {
        column = 0;
        bottom += CELL;
      }
      return makeSvg('rect', { x: column * CELL + 0.4, y: bottom + 0.4, width: CELL - 0.8, height: CELL - 0.8, rx: 1, class: 'cell s0', 'data-pair': block });
    });
    this.place(names, COLUMNS * CELL, bottom + CELL);
  }

  /** A block that is its own mirror image has each position once. */
  places(block) {
    const placing = this.pairs[block];
    return compare(placing, image(placing)) === 0 ? this.whole / 2 : this.whole;
  }

  words(block) {
    const men = this.pairs[block].flatMap((squares, i) => squares.map((square) => `${Object.values(NAMES)[i]} ${squareName(square)}`));
    const decided = this.decided ? `${number(this.decided[block])} decided, ${share(this.decided[block], this.places(block))} of all places` : 'nothing decided yet';
    const found = this.found ? `, ${number(this.found[block])} in the last pass` : '';
    return `Black’s ${men.join(', ')}: ${decided}${found}`;
  }

  /** A row for each square of Black's king. */
  table() {
    const kings = [...new Set(this.pairs.map(([[king]]) => king))];
    const rows = kings.map((king) => {
      const mine = this.pairs.flatMap(([[each]], block) => (each === king ? [block] : []));
      const sum = (of) => mine.reduce((total, block) => total + (of?.[block] ?? 0), 0);
      const whole = mine.reduce((total, block) => total + this.places(block), 0);
      const cells = [mine.length, number(sum(this.decided)), share(sum(this.decided), whole), number(sum(this.found))];
      return make('tr', {}, make('th', { scope: 'row' }, squareName(king)), cells.map((text) => make('td', {}, String(text))));
    });
    const head = ['Black king', 'Blocks', 'Decided', 'of all places', 'In the last pass'].map((text) => make('th', { scope: 'col' }, text));
    return make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, rows));
  }
}

const drawn = new Map();

/** The picture of a material of Chinese chess; null for chess. */
export function blocksOf(material) {
  const [game, men] = material.split(':');
  if (men === undefined || game !== 'xiangqi') return null;
  const weaker = men.split('v')[1];
  const [advisors, elephants] = ['A', 'B'].map((letter) => weaker.split(letter).length - 1);
  const key = `${advisors}${elephants}`;
  if (!drawn.has(key)) drawn.set(key, new Blocks(advisors, elephants));
  return drawn.get(key);
}
