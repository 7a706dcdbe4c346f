// Answers in words, and numbers as people read them.

import { clockOf } from './position.js';

export const METRICS = { dtc: 'to conversion', dtm: 'to mate', dtz: 'to zeroing' };
export const COUNTS_TO = { dtc: 'to mate or to the capture that decides', dtm: 'to mate', dtz: 'to mate, a capture or a pawn move' };
/** What a length counts, and from which length on the 50-move rule draws. */
export const unit = (metric) => (metric === 'dtz' ? 'plies' : 'moves');
export const SHORT = { dtm: 'mate', dtz: 'zeroing' };
const LIMITS = { dtc: 50, dtm: null, dtz: 100 };
/** From which length on the 50-move rule of chess draws; null if lengths do not say: pawns can move
    before a conversion. */
export const limitOf = (material, metric) => (material.includes(':') || (metric === 'dtc' && material.includes('P')) ? null : LIMITS[metric]);
const MEN = 6; // at most, of what is built
/** The number of men of a material, whose name may begin with that of its game. */
export const menIn = (material) => material.split(':').at(-1).length - 1;
/** Whether a build of it is not refused: of Chinese chess the service has a list. */
export const isBuilt = (material) => material.includes(':') || menIn(material) <= MEN;
/** Where a material is built, counted in a metric. */
export const buildAt = (material, metric) => `/?builds&material=${encodeURIComponent(material)}&metric=${metric}`;

export const number = (value) => value.toLocaleString('en');
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
/** A wave by what its materials have in common. */
export const waveName = ({ men, pawns }) => (pawns ? `${men} men, ${plural(pawns, 'pawn')}` : `${men} men`);
export const moves = (n) => plural(n, 'move');
export const long = (n, metric) => (metric === 'dtz' ? plural(n, 'ply', 'plies') : moves(n));
export const share = (part, whole) => {
  if (!whole) return '–';
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.1) return '< 0.1 %';
  return part < whole ? `${Math.min(percent, 99.9).toFixed(1)} %` : '100 %';
};
export const size = (bytes) => {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < 3) [bytes, unit] = [bytes / 1024, unit + 1];
  return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
};
export const colour = (side) => side[0].toUpperCase() + side.slice(1);
const other = (colour) => (colour === 'white' ? 'black' : 'white');

/** What the 50-move rule makes of a result: it is a draw, or may be one. */
const SPOILT = Object.fromEntries(['cursed-win', 'blessed-loss'].map((each) => [each, 'drawn under the 50-move rule']));
const MAYBE = Object.fromEntries(['maybe-win', 'maybe-loss'].map((each) => [each, 'the 50-move rule may make it a draw']));
export const CLAIM = { ...SPOILT, ...MAYBE };
/** Whether the rule draws a position, or the game after a move. */
export const isSpoilt = ({ category }) => category in SPOILT;

/** Why a draw can be claimed. */
export const REASON = '50 moves without a capture or a pawn move';
/** Whether a draw can be claimed: Chinese chess has no rule that counts plies. */
export const canClaim = ({ material, fen, checkmate }) => !checkmate && !material.includes(':') && clockOf(fen) >= 100;

/** How many moves there are of a result, in words. */
export const counted = (options, result) => `${moves(options.length)}${result === null ? ', no table' : ''}`;

/** What a position is: `kind` for its colours, a headline, and a line below it. */
export function verdict(found) {
  const [mover, rival] = [colour(found.to_move), colour(other(found.to_move))];
  const where = `${found.material}, ${mover} to move`;
  if (found.checkmate) return { kind: found.to_move === 'white' ? 'black' : 'white', headline: `${rival} has won`, below: `${mover} is checkmated` };
  if (found.stalemate) return { kind: 'draw', headline: 'Draw', below: `${mover} is stalemated` };
  if (found.insufficient_material) return { kind: 'draw', headline: 'Draw', below: 'Nobody has the men to mate' };
  if (canClaim(found)) return { kind: 'draw', headline: 'A draw can be claimed here', below: `${where}; ${REASON}` };
  if (found.result === null) return { kind: 'unknown', headline: 'Not known', below: found.missing ? sentence(found.missing) : where };
  if (found.result === 'draw') return { kind: 'draw', headline: 'Draw', below: `${where}; with best play nobody wins` };
  const winner = found.result === 'win' ? found.to_move : other(found.to_move);
  const is = { kind: isSpoilt(found) ? 'draw' : winner, headline: `${colour(winner)} wins` };
  const doubt = MAYBE[found.category] ? `; ${CLAIM[found.category]}` : '';
  if (found.moves) is.headline += ` in ${long(found.moves, found.metric)}`;
  if (isSpoilt(found)) is.headline += `; ${CLAIM[found.category]}`;
  if (found.moves === null) return { ...is, below: `${where}; in how many ${unit(found.metric)} is not known${doubt}` };
  if (found.moves === 0) return { ...is, below: `${where} and must capture: every capture loses${doubt}` };
  return { ...is, below: `${where}; ${COUNTS_TO[found.metric]}${doubt}` };
}

export const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** A move's worth in a word or two; the result itself where no table counts. */
export function worth(option) {
  if (option.mate) return 'mate';
  const into = option.converts_to ? ` → ${option.converts_to}` : '';
  if (option.result === null) return into.trim();
  if (option.result === 'draw') return `draw${into}`;
  const half = CLAIM[option.category] ? ' ½' : '';
  const length = into && !option.moves ? '' : option.moves ?? option.result;
  return `${length}${half}${into}`.trim();
}

export function spoken(option, metric) {
  const into = option.converts_to ? `, into ${option.converts_to}` : '';
  if (option.mate) return `${option.san}, mate`;
  if (option.result === null) return `${option.san}, not known${into}`;
  if (option.result === 'draw') return `${option.san}, draws${into}`;
  const length = option.moves === null ? '' : ` in ${long(option.moves, metric)}`;
  const rule = CLAIM[option.category] ? `, ${CLAIM[option.category]}` : '';
  return `${option.san}, ${option.result === 'win' ? 'wins' : 'loses'}${length}${into}${rule}`;
}

/** Seconds as people say them. */
export function duration(seconds) {
  if (seconds > 0 && seconds < .05) return 'under 0.1 s';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const units = [['min', 60, 's', 1], ['h', 3600, 'min', 60], ['d', 86400, 'h', 3600]];
  const [big, large, small, little] = units.findLast(([, length]) => seconds >= length);
  const rounded = Math.round(seconds / little) * little;
  const rest = Math.round((rounded % large) / little);
  return `${Math.floor(rounded / large)} ${big}${rest ? ` ${rest} ${small}` : ''}`;
}

/** Seconds that are not known well. */
export const about = (seconds) => (seconds < 1 ? 'under 1 s' : `about ${duration(seconds < 10 ? Math.ceil(seconds) : seconds).replace('.0', '')}`);

/** From so long to so long, rounded outwards, so that it stays true. */
export function span([low, high]) {
  if (high <= 1) return 'under 1 s';
  const [name, unit] = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]].find(([, length]) => high >= 1.7 * length) ?? ['s', 1];
  const [from, to] = [outwards(low / unit, Math.floor), outwards(high / unit, Math.ceil)];
  return from > 0 && from < to ? `${from} to ${to} ${name}` : `up to ${to} ${name}`;
}

const outwards = (value, round) => (value < 10 ? round(10 * value) / 10 : round(value));

/** Many, in few letters: 12.3 M. */
export function rough(value) {
  const [unit, letter] = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']].find(([least]) => value >= least) ?? [1, ''];
  return `${unit === 1 ? Math.round(value) : (value / unit).toPrecision(3)}${letter}`;
}

/** A time as the reader's clock shows it, with the day if that is another. */
export function at(time) {
  const [then, today] = [new Date(time), new Date()];
  const clock = then.toLocaleTimeString('en-GB');
  if (then.toDateString() === today.toDateString()) return clock;
  return `${then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })}, ${clock.slice(0, 5)}`;
}
