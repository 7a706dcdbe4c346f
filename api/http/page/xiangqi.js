// Chinese chess on the page: the lines of the board, and its men as discs with a Chinese sign or a
// Western letter, as the reader likes.

import { makeSvg } from './make.js';

const SIGNS = { K: '帥', A: '仕', B: '相', N: '傌', R: '俥', C: '炮', P: '兵', k: '將', a: '士', b: '象', n: '馬', r: '車', c: '砲', p: '卒' };
const LETTERS = { k: 'K', a: 'A', b: 'E', n: 'H', r: 'R', c: 'C', p: 'P' };
const NAMES = { k: 'king', a: 'advisor', b: 'elephant', n: 'horse', r: 'rook', c: 'cannon', p: 'pawn' };
const KEPT = 'kingpair.men';

const isRed = (man) => man === man.toUpperCase();
export const discName = (man) => `${isRed(man) ? 'red' : 'black'} ${NAMES[man.toLowerCase()]}`;

const drawn = (sign) => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 24;
  const context = canvas.getContext('2d');
  context.font = '20px sans-serif';
  context.fillText(sign, 0, 20);
  return canvas.toDataURL();
};

let signs = null;
/** Whether a font of this machine has Chinese signs; where none has, all signs look the same. */
const hasSigns = () => (signs ??= drawn('帥') !== drawn('兵'));

/** Whether men have Western letters; if nothing was chosen, where there are no Chinese signs. */
export const isWestern = () => (localStorage.getItem(KEPT) ?? (hasSigns() ? 'chinese' : 'western')) === 'western';
export const chooseWestern = (western) => localStorage.setItem(KEPT, western ? 'western' : 'chinese');

/** A man as an SVG element, by its letter in FEN. */
export function discOf(man) {
  const svg = makeSvg('svg', { viewBox: '0 0 48 48', class: `disc ${isRed(man) ? 'red' : 'black'}`, 'aria-hidden': 'true' });
  const sign = isWestern() ? LETTERS[man.toLowerCase()] : SIGNS[man];
  svg.innerHTML = `<circle cx="24" cy="24" r="21"/><circle class="ring" cx="24" cy="24" r="18"/><text x="24" y="25">${sign}</text>`;
  return svg;
}

/** The lines of the board: nine files that the river cuts, ten ranks, two palaces. */
export function lines() {
  const svg = makeSvg('svg', { viewBox: '0 0 9 10', class: 'lines', 'aria-hidden': 'true' });
  const line = (x1, y1, x2, y2) => `<line x1="${x1 + 0.5}" y1="${y1 + 0.5}" x2="${x2 + 0.5}" y2="${y2 + 0.5}"/>`;
  const ranks = [...Array(10).keys()].map((y) => line(0, y, 8, y));
  const files = [...Array(9).keys()].map((x) => (x % 8 ? line(x, 0, x, 4) + line(x, 5, x, 9) : line(x, 0, x, 9)));
  const palaces = [0, 7].map((y) => line(3, y, 5, y + 2) + line(5, y, 3, y + 2));
  const river = hasSigns() ? '<text x="2.5" y="5.05">楚河</text><text x="6.5" y="5.05">漢界</text>' : '';
  svg.innerHTML = [...ranks, ...files, ...palaces, river].join('');
  return svg;
}
