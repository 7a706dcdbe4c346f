// A position as the page needs it: which man is where, and the other fields of FEN as they are.

export const EMPTY_BOARD = '4k3/8/8/8/8/8/8/4K3 w - - 0 1';
const EMPTY_XIANGQI = '4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1';

/** Chess has 8 files and 8 ranks, Chinese chess 9 files and 10 ranks. */
export const CHESS = { files: 8, ranks: 8, men: 'KQRBNP', empty: EMPTY_BOARD };
export const XIANGQI = { files: 9, ranks: 10, men: 'KABNRCP', empty: EMPTY_XIANGQI };
export const gameOf = (men) => (men.length === 90 ? XIANGQI : CHESS);

/** "e4" for a number that counts from a1, rank by rank. */
export const nameOfSquare = (square, { files }) => 'abcdefghi'[square % files] + (Math.floor(square / files) + 1);
export const squareOf = (name, { files }) => name.charCodeAt(0) - 97 + files * (parseInt(name.slice(1), 10) - 1);

/** Both squares of a move such as "e2e4" or "a10a9". */
export const squaresOf = (uci, game) => uci.match(/[a-i]\d+/g).slice(0, 2).map((name) => squareOf(name, game));

/** The men by square and whose turn it is; null if it is no FEN at all. */
export function parse(fen) {
  const [board, turn = 'w', ...rest] = fen.trim().replaceAll('_', ' ').split(/\s+/);
  const ranks = board.split('/');
  const game = [CHESS, XIANGQI].find((each) => each.ranks === ranks.length);
  if (!game) return null;
  const { files } = game;
  const men = Array(files * game.ranks).fill('');
  for (const [i, rank] of ranks.entries()) {
    let file = 0;
    for (const letter of rank) {
      if (/[1-9]/.test(letter)) file += Number(letter);
      else if (game.men.includes(letter.toUpperCase()) && file < files) men[files * (game.ranks - 1 - i) + file++] = letter;
      else return null;
    }
    if (file !== files) return null;
  }
  return { men, turn: turn === 'b' ? 'b' : 'w', rest, game };
}

/** A position that was set up: nobody may castle; `clock` counts plies without a capture. */
export function write(men, turn, clock = 0) {
  const ranks = [];
  const { files, ranks: count } = gameOf(men);
  for (let rank = count - 1; rank >= 0; rank--) {
    const letters = men.slice(files * rank, files * (rank + 1)).map((man) => man || '.').join('');
    ranks.push(letters.replace(/\.+/g, (gap) => gap.length));
  }
  return `${ranks.join('/')} ${turn} - - ${clock} 1`;
}

/** The half-move clock of a FEN. */
export const clockOf = (fen) => Number(fen.trim().split(/[\s_]+/)[4]) || 0;

/** The same position seen in a mirror: files are exchanged. */
export const mirrored = (men) => {
  const { files } = gameOf(men);
  return men.map((_, square) => men[square - 2 * (square % files) + files - 1]);
};

/** The same position with the colours exchanged. */
export const swapped = (men) => {
  const { files, ranks } = gameOf(men);
  return men.map((_, square) => otherColour(men[(square % files) + files * (ranks - 1 - Math.floor(square / files))]));
};
const otherColour = (man) => (man === man.toUpperCase() ? man.toLowerCase() : man.toUpperCase());
