// A build as the page knows it: what the service told of it, and every event since.

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
export const hasEnded = (build) => ENDED.includes(build.state);
export const nameOf = ({ material, metric }) => `${material}.${metric}`;
export const materialsOf = (build) => build.waves.flatMap((wave) => wave.materials);
export const isWorked = ({ state }) => ['solving', 'painting', 'verifying'].includes(state);

/** Ready to take events: a build of the list has no waves and no history.  `found` is what passes
    found by partition, which only events tell. */
export function prepared(build, found = new Map()) {
  return { waves: [], history: [], workers: [], latest: null, ...build, found };
}

/** What an answer says of a build, unless events that came before the answer have said more. */
export function latest(answer, before) {
  const isOld = before && Number(before.last_event) > Number(answer.last_event);
  return isOld ? before : prepared(answer, before?.found);
}

/** After which event to begin, so that all passes of what is under way are told by partition. */
export function since(build) {
  const begun = materialsOf(build).filter(isWorked).flatMap(({ passes }) => passes.slice(0, 1));
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
function gather(build, { winner, depth, cells, ...of }) {
  const before = build.found.get(nameOf(of))?.passes ?? [];
  const kept = before.filter((pass) => pass.winner !== winner || pass.depth < depth);
  const now = { winner, depth, cells: cells.won.map((won, i) => won + cells.lost[i]) };
  const passes = [...kept, now];
  const added = kept.length === before.length ? [{ cells: build.found.get(nameOf(of))?.sum ?? now.cells.map(() => 0) }, now] : passes;
  const sum = now.cells.map((_, i) => added.reduce((total, pass) => total + pass.cells[i], 0));
  build.found.set(nameOf(of), { passes, sum });
}

const CHANGES = {
  build(build, { state, reason, ahead, time }) {
    Object.assign(build, { state, reason, ahead });
    build.history.push({ time, what: state, reason });
    if (state === 'running') build.started ??= time;
    build.ended = hasEnded(build) ? time : null;
    if (build.ended) leave(build);
    if (state === 'succeeded') build.progress = { ...build.progress, fraction: 1, eta: null };
  },
  hitch(build, { time, what, reason }) {
    build.history.push({ time, what, reason });
  },
  planned(build, { waves, exists, metric }) {
    for (const material of exists) {
      const found = materialOf(build, { material, metric }, 'exists');
      // Of a build that goes on: its table was finished before it stopped.
      if (found.state !== 'done') found.state = 'exists';
    }
    for (const material of waves.flat()) materialOf(build, { material, metric }, 'waiting');
  },
  material(build, { build: _, time, material, metric, counts, ...changed }) {
    const found = materialOf(build, { material, metric });
    Object.assign(found, changed);
    if (build.latest === nameOf(found) && found.state !== 'solving') build.latest = null;
    if (found.state === 'done' && build.found.has(nameOf(found))) build.found.get(nameOf(found)).passes = [];
  },
  pass(build, { build: _, material, metric, decided, positions, cells: __, ...pass }) {
    const found = materialOf(build, { material, metric });
    found.passes = found.passes.filter(({ winner, depth }) => winner !== pass.winner || depth < pass.depth);
    found.passes.push(pass);
    found.positions = positions;
    found.state = 'solving';
    build.progress.decided += pass.won + pass.lost;
    build.latest = nameOf(found);
  },
  workers(build, { workers }) {
    build.workers = workers;
  },
  eta(build, { fraction, eta }) {
    build.progress = { ...build.progress, fraction, eta };
  },
};

/** What was under way is so no more. */
function leave(build) {
  build.workers = [];
  for (const each of materialsOf(build).filter(isWorked)) each.state = build.state === 'failed' ? 'failed' : 'waiting';
}

/** The build's own record of a material, made if there is none yet. */
function materialOf(build, { material, metric }, state = 'waiting') {
  const men = material.length - 1;
  let wave = build.waves.find((each) => each.men === men);
  if (!wave) {
    wave = { men, materials: [] };
    build.waves = [...build.waves, wave].sort((a, b) => a.men - b.men);
  }
  let found = wave.materials.find((each) => each.material === material && each.metric === metric);
  if (!found) {
    found = { material, metric, state, bytes: null, seconds: null, positions: null, longest: null, passes: [] };
    wave.materials.push(found);
  }
  return found;
}
