// A position as the page needs it: which man is where, and the other fields of FEN as they are.

export const EMPTY_BOARD = '4k3/8/8/8/8/8/8/4K3 w - - 0 1';

/** "e4" for a number from a1 = 0 to h8 = 63. */
export const nameOfSquare = (square) => 'abcdefgh'[square & 7] + ((square >> 3) + 1);
export const squareOf = (name) => name.charCodeAt(0) - 97 + 8 * (name.charCodeAt(1) - 49);

/** The men by square and whose turn it is; null if it is no FEN at all. */
export function parse(fen) {
  const [board, turn = 'w', ...rest] = fen.trim().replaceAll('_', ' ').split(/\s+/);
  const ranks = board.split('/');
  if (ranks.length !== 8) return null;
  const men = Array(64).fill('');
  for (const [i, rank] of ranks.entries()) {
    let file = 0;
    for (const letter of rank) {
      if (/[1-8]/.test(letter)) file += Number(letter);
      else if (/[kqrbnp]/i.test(letter) && file < 8) men[8 * (7 - i) + file++] = letter;
      else return null;
    }
    if (file !== 8) return null;
  }
  return { men, turn: turn === 'b' ? 'b' : 'w', rest };
}

/** A position that was set up: nobody has castled and no clock has run. */
export function write(men, turn) {
  const ranks = [];
  for (let rank = 7; rank >= 0; rank--) {
    const letters = men.slice(8 * rank, 8 * rank + 8).map((man) => man || '.').join('');
    ranks.push(letters.replace(/\.+/g, (gap) => gap.length));
  }
  return `${ranks.join('/')} ${turn} - - 0 1`;
}
