// The states of builds and of materials: a sign, a word, and what kind of thing it is.

import { make } from './make.js';

const STATES = {
  queued: ['◷', 'Queued', 'wait'],
  planning: ['◷', 'Planning', 'wait'],
  running: ['▶', 'Running', 'work'],
  paused: ['❙❙', 'Paused', 'wait'],
  cancelling: ['◷', 'Stopping', 'wait'],
  cancelled: ['⊘', 'Cancelled', 'off'],
  succeeded: ['✓', 'Finished', 'good'],
  failed: ['✗', 'Failed', 'bad'],
  interrupted: ['!', 'Interrupted', 'warn'],
  deleted: ['⊘', 'Deleted', 'off'],
  exists: ['✓', 'there already', 'old'],
  waiting: ['○', 'waits', 'wait'],
  solving: ['▶', 'being solved', 'work'],
  painting: ['▶', 'being written', 'work'],
  verifying: ['▶', 'being proved', 'work'],
  stopped: ['◌', 'not finished', 'off'],
  done: ['✓', 'done', 'good'],
};

export const stateWord = (state) => STATES[state]?.[1] ?? state;
export const stateKind = (state) => STATES[state]?.[2] ?? 'wait';
export const stateSign = (state) => make('span', { class: 'sign', 'aria-hidden': 'true' }, STATES[state]?.[0] ?? '·');

/** A state as a small label: never by colour alone. */
export const chip = (state) => make('span', { class: `chip ${stateKind(state)}` }, stateSign(state), stateWord(state));
