// The passes of a material as a strip: as wide as they took, as high as what they found.

import { make } from './make.js';
import { colour, duration, number, plural, size } from './words.js';

/** `passes` in their order, both winners after each other. */
export function strip(passes) {
  const weights = passes.map((pass) => Math.log1p(pass.won + pass.lost));
  const most = Math.max(1, ...weights);
  const seconds = passes.reduce((sum, pass) => sum + pass.seconds, 0);
  const bars = passes.map((pass, i) => {
    const bar = make('span', { class: `pass ${pass.winner}`, title: described(pass) });
    bar.style.flexGrow = seconds ? (1000 * pass.seconds) / seconds : 1;
    bar.style.height = `${12 + (88 * weights[i]) / most}%`;
    return bar;
  });
  const bytes = passes.reduce((sum, pass) => sum + pass.exchanged_bytes, 0);
  const text = `${plural(passes.length, 'pass', 'passes')} in ${duration(seconds)}${bytes ? `, ${size(bytes)} exchanged between workers` : ''}`;
  return make('div', {},
    make('div', { class: 'strip', role: 'img', 'aria-label': text }, bars),
    make('p', { class: 'note' }, `${text}. As wide as it took, as high as it found (logarithmic).`));
}

function described(pass) {
  const exchanged = pass.exchanged_bytes ? `, ${size(pass.exchanged_bytes)} exchanged` : '';
  return `${colour(pass.winner)}, pass ${pass.depth}: ${number(pass.won)} won, ${number(pass.lost)} lost; ${duration(pass.seconds)}${exchanged}`;
}
