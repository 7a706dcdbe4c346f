// The first minute: what kingpair is, and one button that solves an ending and shows its longest win.

import { may } from './access.js';
import { hasEnded } from './build.js';
import { make } from './make.js';
import { Problem, ask, tell } from './service.js';

const $ = (id) => document.getElementById(id);
const MATERIAL = 'KQvKR';
const LOOK = 400; // milliseconds between looks at a build

/** Shown on the first page, which is the board without a position in the address. */
export function beginWelcome(isFirst) {
  $('welcome').hidden = !isFirst;
  if (!isFirst) return;
  $('solve').disabled = !may('build');
  $('solve').onclick = () => solve().catch((error) => { say(error.message); $('solve').disabled = false; });
}

async function solve() {
  $('solve').disabled = true;
  if (!(await longest())) await build();
  const fen = await longest();
  if (fen) location.assign(`/?fen=${fen.replaceAll(' ', '_')}`);
}

/** A position of the longest win; nothing while there is no table. */
async function longest() {
  try {
    const found = await ask(`/api/v1/tables/${MATERIAL}/statistics`, {});
    const win = found.longest.filter(({ wdl }) => wdl > 0).sort((a, b) => b.ply - a.ply)[0];
    return `${win.epd} 0 1`;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

async function build() {
  say(`Solving ${MATERIAL} …`);
  let found = await tell('POST', '/api/v1/builds', { materials: [MATERIAL] });
  while (!hasEnded(found)) {
    await new Promise((resolve) => { setTimeout(resolve, LOOK); });
    found = await ask(`/api/v1/builds/${found.id}`, {});
    say(`Solving ${MATERIAL}: ${Math.round(100 * found.progress.fraction)} % …`);
  }
  if (found.state !== 'succeeded') throw new Error(found.reason);
}

function say(text) {
  $('welcome-says').replaceChildren(make('span', {}, text));
}
