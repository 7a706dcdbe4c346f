// A game on the page: the positions that were reached, where one stands, and its text as PGN.

import { parse } from './position.js';

export class Game {
  constructor(fen) {
    this.start(fen);
  }

  start(fen) {
    this.steps = [{ fen }];
    this.at = 0;
  }

  get here() {
    return this.steps[this.at];
  }

  get isAtEnd() {
    return this.at === this.steps.length - 1;
  }

  has(at) {
    return at >= 0 && at < this.steps.length && at !== this.at;
  }

  /** Makes a move, and forgets what was played instead of it. */
  play({ fen, uci, san, note = '' }) {
    const next = this.steps[this.at + 1];
    if (next?.uci !== uci) this.put([{ fen, uci, san, note }]);
    else if (note) next.note = note;
    this.at += 1;
  }

  /** How many moves from one place up to the position shown were mistakes. */
  mistakesFrom(place) {
    return this.steps.slice(place + 1, this.at + 1).filter(({ note }) => note).length;
  }

  /** What follows the position shown. */
  put(steps) {
    this.steps.splice(this.at + 1, Infinity, ...steps);
  }

  /** The place of a position in the game, the nearest one; -1 if it is not in it. */
  find(fen) {
    const places = this.steps.map((step, i) => i).filter((i) => this.steps[i].fen === fen);
    return places.sort((a, b) => Math.abs(a - this.at) - Math.abs(b - this.at))[0] ?? -1;
  }

  /** For each move its number, if one stands before it, and where it is in the game. */
  numbered() {
    const { turn, rest } = parse(this.steps[0].fen) ?? { turn: 'w', rest: [] };
    const first = Number(rest[3]) || 1;
    let ply = turn === 'b' ? 1 : 0;
    return this.steps.slice(1).map((step, i) => {
      const number = first + Math.floor(ply / 2);
      const before = ply % 2 === 0 ? `${number}.` : i === 0 ? `${number}…` : '';
      ply += 1;
      return { ...step, before, at: i + 1 };
    });
  }

  /** The whole game; `result` is that of its last position if it is known. */
  pgn(result = '*') {
    const head = [['Event', 'kingpair'], ['Result', result], ['SetUp', '1'], ['FEN', this.steps[0].fen]];
    const words = this.numbered().flatMap(({ before, san }) => (before ? [before.replace('…', '...'), san] : [san]));
    return `${head.map(([name, value]) => `[${name} "${value}"]`).join('\n')}\n\n${wrapped([...words, result])}\n`;
  }
}

/** Lines of at most eighty letters, as PGN wants them. */
function wrapped(words) {
  const lines = [''];
  for (const word of words) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > 79) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.join('\n');
}
