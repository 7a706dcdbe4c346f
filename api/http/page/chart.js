// A histogram by moves, drawn by hand: a bar for each number of moves.

import { make, makeSvg } from './make.js';
import { long, number } from './words.js';

const [LEFT, FOOT, TOP] = [52, 24, 10];
const WIDEST = 30; // a bar, where there are few

/** Call `draw(across)` now and whenever `place` has another width: in pixels of its letters, which
    so stay readable wherever it is shown. */
export function fitted(place, draw) {
  let before = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === before || !place.clientWidth) return;
    before = place.clientWidth;
    draw(across(place));
  }).observe(place);
}

export function across(place) {
  const letters = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  return Math.max(280, place.clientWidth / letters);
}

/** `series` has a name, a kind for its colour and values by moves; `log` scales them; `below` is
    said after the name; `across` and `high` are the size that it is drawn for. */
export function chart({ name, kind, values }, { log, across, high = 210, limit = null, metric = 'dtc', below = ` in at most ${long(values.length - 1, metric)}` }) {
  const most = Math.max(...values);
  const scaled = (value) => (log ? Math.log1p(value) / Math.log1p(most) : value / most);
  const step = Math.min(WIDEST, (across - LEFT) / values.length);
  const height = (value) => (high - TOP) * scaled(value);
  const bars = values.map((value, n) => bar(LEFT + n * step, high, step, value ? Math.max(1.5, height(value)) : 0, kind, `${long(n, metric)}: ${number(value)}`));
  const lines = ticks(most, log).map((value) => gridLine(across, high - height(value), value));
  const isLimited = limit !== null && values.length > limit + 1;
  if (isLimited) lines.push(limitLine(LEFT + (limit + 1) * step, high));
  const every = [1, 2, 5, 10, 20, 50, 100, 200].find((gap) => gap * step > 34) ?? 500;
  const labels = values.map((_, n) => n).filter((n) => n % every === 0)
    .map((n) => makeSvg('text', { x: LEFT + (n + 0.5) * step, y: high + 17, 'text-anchor': 'middle' }, String(n)));
  const title = `${name}${below}; most often in ${long(values.indexOf(most), metric)}`;
  const svg = makeSvg('svg', { viewBox: `0 0 ${across} ${high + FOOT}`, class: 'chart', role: 'img', 'aria-label': title }, lines, bars, labels);
  return make('figure', {}, make('figcaption', {}, make('span', { class: `dot ${kind}` }), make('b', {}, name), below, isLimited ? '; right of the dashed line drawn under the 50-move rule' : ''), svg);
}

function bar(x, high, step, height, kind, title) {
  const gap = step > 4 ? 1 : 0;
  const hover = makeSvg('rect', { class: 'hover', x, y: 0, width: step, height: high });
  const filled = makeSvg('rect', { class: `bar ${kind}`, x: x + gap / 2, y: high - height, width: Math.max(0.8, step - gap), height, rx: step > 8 ? 1.5 : 0 });
  return makeSvg('g', {}, makeSvg('title', {}, title), hover, filled);
}

/** Where the 50-move rule begins to spoil wins. */
function limitLine(x, high) {
  return makeSvg('g', { class: 'limit' }, makeSvg('line', { x1: x, x2: x, y1: 0, y2: high }));
}

function gridLine(across, y, value) {
  const short = value >= 1e6 ? `${value / 1e6} M` : value >= 1e3 ? `${value / 1e3} k` : String(value);
  return makeSvg('g', { class: 'grid' }, makeSvg('line', { x1: LEFT, x2: across, y1: y, y2: y }), makeSvg('text', { x: LEFT - 8, y: y + 4, 'text-anchor': 'end' }, short));
}

/** Round values up to the largest: powers of ten if logarithmic, else a few even steps. */
function ticks(most, log) {
  if (log) {
    const powers = Array.from({ length: 12 }, (_, i) => 10 ** i).filter((value) => value <= most);
    return powers.length > 6 ? powers.filter((_, i) => i % 2 === 0) : powers;
  }
  const raw = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  const gap = [1, 2, 5, 10].map((n) => n * power).find((value) => value >= raw) ?? 10 * power;
  return Array.from({ length: Math.floor(most / gap) }, (_, i) => (i + 1) * gap);
}
