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
  const bytes = passes.reduce((sum, pass) => sum + (pass.exchanged_bytes ?? 0), 0);
  const text = `${plural(passes.length, 'pass', 'passes')} in ${duration(seconds)}${bytes ? `, ${size(bytes)} exchanged between workers` : ''}${disk(passes, seconds)}`;
  return make('div', {},
    make('div', { class: 'strip', role: 'img', 'aria-label': text }, bars),
    make('p', { class: 'note' }, `${text}. A pass is as wide as the time that it took, and as high as the number of positions that it found (logarithmic).`));
}

/** Sets that are not in memory: their bytes, and the part of the time that the disk took. */
function disk(passes, seconds) {
  const sum = (name) => passes.reduce((found, pass) => found + (pass[name] ?? 0), 0);
  const [read, written] = [sum('read_bytes'), sum('written_bytes')];
  if (!read && !written) return '';
  const share = seconds ? Math.min(100, Math.round((100 * sum('disk_seconds')) / seconds)) : 0;
  return `, sets on disk: ${size(read)} read, ${size(written)} written, ${share} % of the time`;
}

function described(pass) {
  const exchanged = pass.exchanged_bytes ? `, ${size(pass.exchanged_bytes)} exchanged` : '';
  return `${colour(pass.winner)}, pass ${pass.depth}: ${number(pass.won)} won, ${number(pass.lost)} lost; ${duration(pass.seconds)}${exchanged}${disk([pass], pass.seconds)}`;
}
