// The phases of a material: how long it was solved, written and proved, and the last lines of what
// happened to materials.

import { make } from './make.js';
import { stateWord } from './states.js';
import { METRICS, at, duration, size } from './words.js';

const NAMES = { solving: 'Solve', painting: 'Write', verifying: 'Prove' };
const NEXT = { solving: 'painting', painting: 'verifying', verifying: 'done' };

/** Seconds of each phase of a material: of one under way until `now`, of one to come null. */
export function phasesOf({ phases = {} }, now) {
  return Object.keys(NAMES).map((phase) => {
    const began = phases[phase] && Date.parse(phases[phase]);
    if (!began) return { phase, name: NAMES[phase], seconds: null, isNow: false };
    const later = [NEXT[phase], NEXT[NEXT[phase]], 'done'].map((each) => phases[each]).find(Boolean);
    return { phase, name: NAMES[phase], seconds: Math.max(0, ((later ? Date.parse(later) : now) - began) / 1000), isNow: !later };
  });
}

export function phaseBar(material, now, isOver) {
  const phases = phasesOf(material, now);
  const item = ({ phase, name, seconds, isNow }) => {
    const state = seconds === null ? 'to come' : isNow && !isOver ? `${duration(seconds)} so far` : isNow ? 'not finished' : duration(seconds);
    return make('li', { class: `phase ${phase}${isNow && !isOver ? ' now' : ''}` }, make('b', {}, name), make('span', {}, state));
  };
  const bytes = material.passes.reduce((sum, pass) => sum + (pass.exchanged_bytes ?? 0), 0);
  const several = (material.shares?.length ?? 0) > 1;
  const said = bytes || several ? `Its workers sent each other ${size(bytes)}.` : 'One worker has all its partitions, so nothing is sent.';
  return make('div', {}, make('ol', { class: 'phases' }, phases.map(item)), make('p', { class: 'note' }, said));
}

/** A line for each thing that happened to a material. */
export function logLines(log) {
  return log.map(({ time, material, metric, level, state }) => make('li', {}, make('time', { datetime: time }, at(time)),
    make('b', {}, `${material}${metric === 'dtc' ? '' : ` ${METRICS[metric]}`}`), make('span', {}, `${level === undefined ? '' : `level ${level + 1} `}${stateWord(state)}`)));
}
