// The men, drawn on a square of 48: outlines first, then the lines inside.
// White men are filled light and black men dark by the style sheet, both with one outline.

import { makeSvg } from './make.js';
import { discName, discOf } from './xiangqi.js';

const FOOT = '<rect x="10.5" y="36.5" width="27" height="6" rx="2.6"/>';

const OUTLINES = {
  k: '<path d="M22.4 4.3h3.2v3h3v3.1h-3v4h-3.2v-4h-3V7.3h3z"/>' +
     '<path d="M24 16.2c6.3-5.9 15.6-2.3 14.3 5.4-.9 5-4.3 7.4-5.7 14.9H15.4c-1.4-7.5-4.8-9.9-5.7-14.9-1.3-7.7 8-11.3 14.3-5.4z"/>' + FOOT,
  q: '<path d="M8.6 15.2 14 36.5h20l5.4-21.3-7.9 8.6-1.8-13.1L24 22.6l-5.7-11.9-1.8 13.1z"/>' +
     '<circle cx="8.6" cy="13.4" r="2.6"/><circle cx="18.2" cy="9" r="2.6"/>' +
     '<circle cx="29.8" cy="9" r="2.6"/><circle cx="39.4" cy="13.4" r="2.6"/>' + FOOT,
  r: '<path d="M16.3 18.5h15.4l1.8 18h-19z"/>' +
     '<path d="M12.5 8.2h5.3v3.4h3.5V8.2h5.4v3.4h3.5V8.2h5.3v8.3a2.4 2.4 0 0 1-2.4 2.4H14.9a2.4 2.4 0 0 1-2.4-2.4z"/>' + FOOT,
  b: '<path d="M19 30.5h10c.4 2.6 1.6 4.3 3.3 6H15.7c1.7-1.7 2.9-3.4 3.3-6z"/>' +
     '<path d="M24 9c5.4 4.3 8.6 8.7 8.6 13 0 4-2.4 6.6-5 7.6h-7.2c-2.6-1-5-3.6-5-7.6 0-4.3 3.2-8.7 8.6-13z"/>' +
     '<rect x="16.3" y="28.6" width="15.4" height="3.7" rx="1.8"/><circle cx="24" cy="7.2" r="2.7"/>' + FOOT,
  n: '<path d="M15.2 36.5c-.9-6.8 3.7-9.9 7.3-13.4-2.9 0-5 .9-6.7 2.7-1.5 1.6-4.3 1.7-5.5-.4-.9-1.6-.2-3.3.9-4.9 2.8-3.9 3.2-7.2 6.2-10.3l-.5-5.4 5.2 3.6c9.2.5 14.5 7.4 14.7 18.1.1 3.8-.6 7-1.5 10z"/>' + FOOT,
  p: '<path d="M21 21h6c.6 6.7 3.3 11.3 6.3 15.5H14.7C17.7 32.3 20.4 27.7 21 21z"/>' +
     '<rect x="17.2" y="19.8" width="13.6" height="3.6" rx="1.8"/><circle cx="24" cy="14.2" r="6.2"/>' + FOOT,
};

const INSIDE = {
  k: '<path d="M24 16.5v9.5M15.3 31.8c5.6-1.5 11.8-1.5 17.4 0"/>',
  q: '<path d="M13 31.5c7-1.7 15-1.7 22 0"/>',
  r: '<path d="M15.5 23h17M15 32.3h18"/>',
  b: '<path d="M24 15.5v8M20.4 19.3h7.2"/>',
  n: '<circle class="dot" cx="20.3" cy="14.6" r="1.5"/><circle class="dot" cx="13.2" cy="22.6" r=".9"/><path d="M26.8 10.6c5.2 2.6 7.6 8.4 7.3 16.4"/>',
  p: '',
};

const NAMES = { k: 'king', q: 'queen', r: 'rook', b: 'bishop', n: 'knight', p: 'pawn' };

const colourOf = (man) => (man === man.toUpperCase() ? 'white' : 'black');
export const nameOf = (man, game) => (isXiangqi(game) ? discName(man) : `${colourOf(man)} ${NAMES[man.toLowerCase()]}`);
const isXiangqi = (game) => game?.files === 9;

/** A man as an SVG element, by its letter in FEN. */
export function drawn(man, game) {
  if (isXiangqi(game)) return discOf(man);
  const kind = man.toLowerCase();
  const svg = makeSvg('svg', { viewBox: '0 0 48 48', class: `man ${colourOf(man)}`, 'aria-hidden': 'true' });
  svg.innerHTML = `<g class="out">${OUTLINES[kind]}</g><g class="in">${INSIDE[kind]}</g>`;
  return svg;
}
