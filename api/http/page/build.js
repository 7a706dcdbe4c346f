// A build as the page knows it: what the service told of it, and every event since.

import { menIn } from './words.js';

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const LINES = 8; // of the log
export const hasEnded = (build) => ENDED.includes(build.state);
export const nameOf = ({ material, metric }) => `${material}.${metric}`;
export const materialsOf = (build) => build.waves.flatMap((wave) => wave.materials);
export const isWorked = ({ state }) => ['solving', 'painting', 'verifying'].includes(state);

/** The material to look at: the one that was chosen; else the one that was shown `before`, as long as
    it is solved, for of several that are solved at once each pass would show another. */
export function shownOf(build, chosen, before) {
  const all = materialsOf(build);
  const find = (name) => all.find((each) => nameOf(each) === name);
  const last = find(before);
  const stays = !hasEnded(build) && last?.state === 'solving' && last.passes.length;
  const asked = all.filter(({ material, passes }) => build.materials.includes(material) && passes.length);
  return find(chosen) ?? (stays ? last : find(build.latest)) ?? all.filter(isWorked).at(-1)
    ?? (hasEnded(build) ? asked.at(-1) : null) ?? all.filter(({ passes }) => passes.length).at(-1) ?? null;
}

/** Ready to take events: a build of the list has no waves and no history.  `found` is what passes
    found by partition, which only events tell. */
export function prepared(build, found = new Map()) {
  const ready = { waves: [], history: [], workers: [], nodes: [], latest: null, ...build, found };
  ready.log ??= logged(ready);
  for (const material of materialsOf(ready)) if (material.levels?.length) material.passes = merged(passesOf(material));
  return ready;
}

/** The last lines that the phases of its materials tell. */
function logged(build) {
  const lines = materialsOf(build).flatMap(({ material, metric, phases }) => Object.entries(phases ?? {}).filter(([, time]) => time).map(([state, time]) => ({ time, material, metric, state })));
  return lines.sort((a, b) => a.time.localeCompare(b.time)).slice(-LINES);
}

const passesOf = ({ levels }) => levels.flatMap((level) => level.passes);

/** Passes of several levels: those of one winner and depth together. */
export function merged(every) {
  const passes = new Map();
  for (const pass of every) {
    const key = `${pass.winner} ${pass.depth}`;
    const before = passes.get(key);
    passes.set(key, before ? { ...before, won: before.won + pass.won, lost: before.lost + pass.lost, seconds: before.seconds + pass.seconds, event: Math.min(before.event, pass.event) } : pass);
  }
  return [...passes.values()].sort((a, b) => b.winner.localeCompare(a.winner) || a.depth - b.depth);
}

/** The level of a material that is under way, or the last one. */
export const levelOf = ({ levels }) => levels.findLast(({ state }) => state !== 'waiting') ?? levels[0];

/** What an answer says of a build, unless events that came before the answer have said more. */
export function latest(answer, before) {
  const isOld = before && Number(before.last_event) > Number(answer.last_event);
  return isOld ? before : prepared(answer, before?.found);
}

/** After which event to begin, so that all passes of what is under way are told by partition. */
export function since(build) {
  const begun = materialsOf(build).filter(isWorked).flatMap(({ passes, levels }) => (levels?.length ? passes : passes.slice(0, 1)));
  const first = Math.min(...begun.map((pass) => pass.event || Infinity));
  return Number.isFinite(first) ? String(Math.min(first - 1, Number(build.last_event))) : build.last_event;
}

/** Change the build as an event says; whether it was one of its own that says anything new. */
export function apply(build, { id, event, data }) {
  if (data.build !== build.id || !(event in CHANGES)) return false;
  if (event === 'pass') gather(build, data);
  if (id !== null && Number(id) <= Number(build.last_event)) return event === 'pass';
  if (id !== null) build.last_event = id;
  CHANGES[event](build, data);
  return true;
}

/** What a pass found by partition; passes of a damaged log come a second time. */
function gather(build, { winner, depth, cells, slice, ...of }) {
  const name = foundName(of);
  const before = build.found.get(name)?.passes ?? [];
  const kept = before.filter((pass) => isKept(pass, { winner, depth, slice }));
  const now = { winner, depth, slice, cells: cells.won.map((won, i) => won + cells.lost[i]) };
  const passes = [...kept, now];
  const added = kept.length === before.length ? [{ cells: build.found.get(name)?.sum ?? now.cells.map(() => 0) }, now] : passes;
  const sum = now.cells.map((_, i) => added.reduce((total, pass) => total + pass.cells[i], 0));
  build.found.set(name, { passes, sum });
}

/** Whether a pass stays when another one is made: it goes if the same slice and winner had it as late. */
const isKept = (pass, { winner, depth, slice }) => pass.winner !== winner || String(pass.slice) !== String(slice) || pass.depth < depth;

/** Where it is kept what the passes of a material, or of a level of it, found. */
export const foundName = ({ level, ...of }) => (level === undefined ? nameOf(of) : `${nameOf(of)}.level${level}`);

const CHANGES = {
  build(build, { state, reason, ahead, time }) {
    Object.assign(build, { state, reason, ahead });
    build.history.push({ time, what: state, reason });
    if (state === 'running') build.started ??= time;
    build.ended = hasEnded(build) ? time : null;
    if (build.ended) leave(build);
    if (state === 'succeeded') build.progress = { ...build.progress, fraction: 1, left: null, eta: null };
  },
  hitch(build, { time, what, reason }) {
    build.history.push({ time, what, reason });
  },
  planned(build, { waves, exists, metric, levels = {} }) {
    for (const material of exists) {
      const found = materialOf(build, { material, metric }, 'exists');
      // Of a build that goes on: its table was finished before it stopped.
      if (found.state !== 'done') found.state = 'exists';
    }
    for (const material of waves.flat()) {
      const found = materialOf(build, { material, metric }, 'waiting');
      const of = levels[material] ?? [];
      if (found.levels?.length !== of.length) found.levels = of.map((structures, level) => ({ level, structures, state: 'waiting', decided: 0, passes: [] }));
    }
  },
  material(build, { build: _, time, material, metric, level, counts, ...changed }) {
    const found = materialOf(build, { material, metric });
    log(build, { time, material, metric, level, state: changed.state });
    begins(found, level, changed.state, time);
    if (level !== undefined) {
      Object.assign(found.levels[level], changed);
      found.state = 'solving';
      return;
    }
    Object.assign(found, changed);
    if (build.latest === nameOf(found) && found.state !== 'solving') build.latest = null;
    if (found.state === 'done' && build.found.has(nameOf(found))) build.found.get(nameOf(found)).passes = [];
  },
  pass(build, { build: _, material, metric, level, decided, positions, cells: __, ...pass }) {
    const found = materialOf(build, { material, metric });
    const of = level === undefined ? found : found.levels[level];
    of.passes = of.passes.filter((each) => isKept(each, pass));
    of.passes.push(pass);
    of.state = 'solving';
    if (of !== found) found.passes = merged(passesOf(found));
    found.positions = positions;
    found.state = 'solving';
    build.progress.decided += pass.won + pass.lost;
    build.latest = nameOf(found);
  },
  export(build, { material, metric, syzygy }) {
    materialOf(build, { material, metric }).syzygy = syzygy;
  },
  workers(build, { workers, nodes }) {
    build.workers = workers;
    build.nodes = nodes;
  },
  eta(build, { fraction, left, eta, why_longer }) {
    build.progress = { ...build.progress, fraction, left, eta, why_longer };
  },
};

/** When each phase of a material began; a material with levels is written once they are solved. */
function begins(material, level, state, time) {
  const phase = level !== undefined ? 'solving' : state === 'solving' && material.levels?.length ? 'painting' : state;
  material.phases = { [phase]: time, ...Object.fromEntries(Object.entries(material.phases ?? {}).filter(([, began]) => began)) };
}

/** The last lines of what happened to materials. */
function log(build, line) {
  build.log = [...(build.log ?? []), line].slice(-LINES);
}

/** What was under way is so no more. */
function leave(build) {
  build.workers = [];
  build.nodes = [];
  for (const each of materialsOf(build).filter(isWorked)) each.state = build.state === 'failed' ? 'failed' : 'waiting';
  for (const each of materialsOf(build).filter(({ syzygy }) => syzygy === 'being written')) each.syzygy = 'missing';
}

/** The numbers of men and of pawns, which say when a material is built. */
const waveOf = (material) => [menIn(material), material.split('P').length - 1];

/** The build's own record of a material, made if there is none yet. */
function materialOf(build, { material, metric }, state = 'waiting') {
  const [men, pawns] = waveOf(material);
  let wave = build.waves.find((each) => each.men === men && each.pawns === pawns);
  if (!wave) {
    wave = { men, pawns, materials: [] };
    build.waves = [...build.waves, wave].sort((a, b) => a.men - b.men || a.pawns - b.pawns);
  }
  let found = wave.materials.find((each) => each.material === material && each.metric === metric);
  if (!found) {
    found = { material, metric, state, bytes: null, seconds: null, positions: null, longest: null, passes: [], levels: [] };
    wave.materials.push(found);
  }
  return found;
}
