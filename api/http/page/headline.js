// The head of a build: what it is, what can be done to it, why it is as it is, and the figures that
// one looks for first.

import { actions } from './actions.js';
import { hasEnded, levelOf, materialsOf } from './build.js';
import { make } from './make.js';
import { chip, stateKind, stateWord } from './states.js';
import { METRICS, about, at, colour, duration, number, plural, rough, sentence, size, span } from './words.js';

export class Headline {
  /** `changed(answer)` when something was done to the build. */
  constructor(changed) {
    this.changed = changed;
    this.heading = make('div', { class: 'head' });
    this.reason = make('p', { class: 'reason' });
    this.facts = make('dl', { class: 'facts' });
    this.filled = make('span', {});
    this.bar = make('div', { class: 'meter progress', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100 }, this.filled);
    this.elements = [this.heading, this.reason, this.facts, this.bar];
  }

  show(build, material, now) {
    const key = `${build.state} ${build.reason} ${build.ahead}`;
    if (this.drawn !== key) this.head(build);
    this.drawn = key;
    this.figures(build, material, now);
    this.progress(build);
  }

  head(build) {
    const focused = this.heading.contains(document.activeElement);
    this.heading.replaceChildren(
      make('a', { href: '/?builds', 'data-view': true, class: 'up' }, '← Builds'),
      make('h1', {}, build.materials.join(', ')), chip(build.state),
      make('p', {}, `${build.id} · ${build.metrics.map((metric) => METRICS[metric]).join(' and ')}`),
      make('div', { class: 'do' }, actions(build, this.changed, (error) => this.why('failed', error.message))));
    if (focused) (this.heading.querySelector('button') ?? this.heading.querySelector('a')).focus();
    this.why(build.state, reasonFor(build));
  }

  why(kind, text) {
    this.reason.className = `reason ${stateKind(kind)}`;
    this.reason.textContent = text;
    this.reason.hidden = !text;
  }

  figures(build, material, now) {
    const figures = [...figuresOf(build, material, now)];
    this.facts.hidden = figures.length < 2;
    this.facts.replaceChildren(...figures.map(([name, value, below]) => make('div', {}, make('dt', {}, name), make('dd', {}, make('b', {}, value), make('span', {}, below)))));
  }

  progress(build) {
    const fraction = build.progress?.fraction ?? 0;
    const idle = hasEnded(build) || build.state === 'queued';
    const percent = `${Math.floor(100 * fraction)} %`;
    this.bar.hidden = idle;
    this.bar.setAttribute('aria-valuenow', Math.floor(100 * fraction));
    this.filled.style.width = `${100 * fraction}%`;
    document.title = `${idle ? stateWord(build.state) : percent} · ${build.materials[0]} · kingpair`;
  }
}

function reasonFor({ state, reason, ahead }) {
  if (state === 'queued') {
    const why = reason && !reason.startsWith('asked for') ? `: ${reason}` : '';
    return ahead ? `Waits for ${plural(ahead, 'build')} before it${why}.` : `Waits for its turn, which is next${why}.`;
  }
  if (state === 'planning') return 'Looks for what is there already, and what has to be built.';
  if (state === 'cancelling') return 'Stops as soon as the pass under way is committed or given up. What is finished stays.';
  if (state === 'cancelled') return `${sentence(reason || 'cancelled')}. Tables that were finished stay; Retry goes on where it stopped.`;
  if (state === 'running' || state === 'succeeded') return '';
  return reason ? `${sentence(reason)}.` : '';
}

/** Name, figure and what it is, one after the other. */
function* figuresOf(build, material, now) {
  const { decided = 0, left = null, eta = null, why_longer: why = null } = build.progress ?? {};
  const pass = (material?.levels?.length ? levelOf(material) : material)?.passes.at(-1);
  const running = build.state === 'running';
  yield ['Decided', rough(decided), 'positions'];
  const phase = material && phaseOf(build, material);
  if (running && material) yield shownPhase(nameIn(build, material), phase, pass);
  yield* filesOf(materialsOf(build));
  if (build.started) yield ['Time', elapsed(build, now), build.ended ? `ended ${at(build.ended)}` : `since ${at(build.started)}`];
  if (running) yield left === null ? ['Left', 'not known yet', 'it is being planned'] : ['Left', about(left), `${span(eta)}; ${why ? `longer than was said: ${why}` : THEN[phase] ?? 'for all its tables'}`];
  if (build.state !== 'succeeded') return;
  const written = materialsOf(build).filter(({ state }) => state === 'done');
  yield ['Tables', `${number(written.length)} written`, size(written.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0))];
}

/** How far the Syzygy files are, if the build writes any. */
function* filesOf(materials) {
  const files = materials.filter(({ syzygy }) => syzygy);
  const under = files.find(({ syzygy }) => syzygy === 'being written');
  if (files.length) yield ['Syzygy files', `${files.filter(({ syzygy }) => syzygy === 'written').length} of ${files.length}`, under ? `now those of ${under.material}` : 'tables'];
}

/** A material, with its metric where the build has several. */
export const nameIn = ({ metrics }, { material, metric }) => (metrics.length > 1 ? `${material} ${METRICS[metric]}` : material);

const THEN = { solving: 'it is solved, then written and proved', painting: 'it is written, then proved', verifying: 'every value is proved' };

const BY_WORK = { paint: 'painting', publish: 'painting', verify: 'verifying' };

/** The phase that a material is in: its workers know before the journal does. */
function phaseOf({ workers }, { material, metric, state }) {
  const worker = workers.find((each) => each.domain === material && each.metric === metric && each.doing in BY_WORK);
  return worker ? BY_WORK[worker.doing] : state;
}

function shownPhase(material, state, pass) {
  if (state === 'painting') return ['Now', 'Writing', `the table of ${material}`];
  if (state === 'verifying') return ['Now', 'Proving', `every value of ${material}`];
  if (state === 'solving' && pass) return ['Pass', String(pass.depth), `${colour(pass.winner)} to win ${material}`];
  return ['Now', state === 'solving' ? 'Beginning' : 'Finished', material];
}

function elapsed({ started, ended }, now) {
  const until = ended ? Date.parse(ended) : now;
  return duration(Math.max(0, (until - Date.parse(started)) / 1000));
}
