// One build as it runs, and what became of it: where it is, the picture of its partitions, what each
// pass found and took, its workers, its waves and its history.

import { apply, foundName, hasEnded, isWorked, latest, levelOf, materialsOf, nameOf, prepared, shownOf, since } from './build.js';
import { Blocks, blocksOf } from './blocks.js';
import { across, chart, fitted } from './chart.js';
import { Headline, nameIn } from './headline.js';
import { Lanes } from './lanes.js';
import { Levels } from './levels.js';
import { make } from './make.js';
import { ask, tell } from './service.js';
import { Owners } from './owners.js';
import { PassSlider } from './pass_slider.js';
import { logLines, phaseBar } from './phases.js';
import { stateKind, stateSign, stateWord } from './states.js';
import { Stream } from './stream.js';
import { strip } from './strip.js';
import { needs, planned } from './submit.js';
import { Triangle, legend } from './triangle.js';
import { METRICS, SHORT, at, colour, duration, limitOf, long, plural, sentence, size, waveName } from './words.js';

const PACE = 200; // milliseconds between two drawings: small materials make hundreds of passes a second
const HIGH = 150; // of a chart
const SPEAK = 6000; // milliseconds between two things said aloud

const NOTES = new Map([
  [Levels, 'A board for each level, with its number and how many structures of pawns it has; on it, the squares of the white king.'],
  [Blocks, 'A square for each placing of Black’s king, advisors and elephants, of two mirror images one; a group for each square of the king.'],
]);

let pairs = null; // the squares of the kings by partition, asked for once

export class Watch {
  constructor(view, id, go) {
    Object.assign(this, { view, id, go });
    this.chosen = null; // the material to look at; null follows the work
    this.skew = Infinity; // by how much our clock is ahead of theirs, at most
    this.back = () => !this.build && this.start();
    document.addEventListener('again', this.back);
    this.clock = setInterval(() => this.tick(), 1000);
    this.start();
  }

  close() {
    this.closed = true;
    this.stream?.close();
    clearInterval(this.clock);
    document.removeEventListener('again', this.back);
  }

  async start() {
    const slow = setTimeout(() => this.state('Reading the build …', ''), 200);
    try {
      const [build, partitions] = await Promise.all([ask(`/api/v1/builds/${encodeURIComponent(this.id)}`), pairs ?? ask('/api/v1/partitions')]);
      pairs = partitions.pairs ?? partitions;
      this.build = prepared(build);
    } catch (error) {
      this.build = null;
      return this.state({ 401: 'A token is needed', 403: 'Not with this token', 404: 'No such build' }[error.status] ?? 'No answer', error.status === 404 ? `There is no build ${this.id}, or it was deleted.` : sentence(error.message));
    } finally {
      clearTimeout(slow);
    }
    if (this.closed) return;
    this.lay();
    this.draw();
    this.stream = new Stream(`/api/v1/builds/${encodeURIComponent(this.id)}/events`, since(this.build), { take: (event) => this.take(event), gone: () => this.gone() });
  }

  state(title, text) {
    if (this.closed) return;
    this.view.replaceChildren(make('div', { class: 'state' }, make('h1', {}, title), make('p', {}, text), make('p', {}, make('a', { href: '/?builds', 'data-view': true }, 'All builds'))));
  }

  gone() {
    this.stream.close();
    this.build = null;
    this.state('The build was deleted', `${this.id} is not in the history any more. Its tables stay.`);
  }

  take(event) {
    if (event.data.state === 'deleted') return this.gone();
    this.skew = Math.min(this.skew, Date.now() - Date.parse(event.data.time));
    if (!apply(this.build, event)) return;
    this.speak(event);
    this.later();
  }

  /** What changed is drawn at once, but not again too soon, however much changes meanwhile. */
  later() {
    const wait = Math.max(0, PACE - (performance.now() - (this.drawnAt ?? -PACE)));
    this.waiting ??= setTimeout(() => { this.waiting = null; if (!this.closed && this.build) this.draw(); }, wait);
  }

  // ---- the parts, made once ----

  lay() {
    const panel = (name, title, ...content) => make('section', { class: `panel ${name}`, 'aria-label': title }, ...content);
    this.headline = new Headline((answer) => this.changed(answer));
    this.triangle = new Triangle(pairs);
    this.levels = new Levels();
    this.pictured = make('h2', {});
    this.slider = new PassSlider((name) => this.passesOf(name), () => this.picture());
    this.inWords = make('p', { class: 'unseen' });
    this.asTable = make('details', { ontoggle: () => this.picture() }, make('summary', {}, 'As a table'));
    this.picturePanel = panel('picture', 'Partitions', this.pictured, this.inWords, this.drawn = make('div', { class: 'drawn' }, legend(), this.triangle.element), this.slider.element, (this.owners = new Owners(this.id, () => this.picture())).element, this.readout = make('div', {}, this.triangle.readout), this.asTable);
    this.results = panel('results', 'What was found');
    this.charting = make('div', { class: 'row' });
    this.charts = make('div', {});
    fitted(this.charts, () => this.later());
    this.histogram = panel('depths', 'Positions by depth', this.charting, this.charts);
    this.passes = panel('passes', 'Passes');
    this.phases = panel('phased', 'Phases');
    this.lanes = new Lanes();
    this.workers = panel('workers', 'Workers', make('h2', {}, 'Workers'), this.lanes.cluster, this.lanes.element);
    this.waves = panel('all', 'Materials');
    this.events = make('ol', {});
    this.history = panel('past', 'History', make('h2', {}, 'History'), this.events);
    this.lines = make('ol', {});
    this.log = panel('logged', 'Log', make('h2', {}, 'Last lines of the log'), this.lines);
    this.forecast = panel('forecast', 'What it will build');
    this.parts = make('div', { class: 'watch' },
      make('div', {}, this.results, this.picturePanel),
      make('div', {}, this.forecast, this.phases, this.histogram, this.passes),
      make('div', { class: 'rest' }, this.waves, this.workers, this.log, this.history));
    this.view.replaceChildren(...this.headline.elements, this.parts);
  }

  draw() {
    this.drawnAt = performance.now();
    this.head();
    this.picture();
    this.ahead();
    this.found();
    this.depths();
    this.crew();
    this.materials();
    this.past();
  }

  changed(answer) {
    if (answer === null) return this.go('/?builds');
    this.build = latest(answer, this.build);
    this.draw();
  }

  /** The figures change by themselves, but not while no answer says whether they still hold. */
  tick() {
    if (this.build && !document.body.classList.contains('stale')) this.head();
  }

  head() {
    const now = Date.now() - (Number.isFinite(this.skew) ? this.skew : 0);
    const material = this.current();
    this.headline.show(this.build, material, now);
    this.phases.hidden = !Object.values(material?.phases ?? {}).some(Boolean);
    if (!this.phases.hidden) this.phases.replaceChildren(make('h2', {}, `${this.label(material)}: phases`), phaseBar(material, now, hasEnded(this.build)));
  }

  // ---- the material that is looked at ----

  current() {
    const found = shownOf(this.build, this.chosen, this.followed);
    this.followed = found && nameOf(found);
    return found;
  }

  picture() {
    const material = this.current();
    const picture = material?.levels?.length ? this.levels : (material && blocksOf(material.material)) ?? this.triangle;
    this.pictures(picture);
    if (material?.levels?.length) return this.pictureLevels(material);
    const found = material && this.build.found.get(nameOf(material));
    const isOver = material && (hasEnded(this.build) || ['done', 'exists'].includes(material.state));
    const made = isOver ? material.passes.filter(({ event }) => event).length : 0;
    this.slider.show(made ? nameOf(material) : null, made);
    if (made && !found) this.slider.load();
    this.picturePanel.hidden = hasEnded(this.build) && !found && made < 2;
    this.parts.classList.toggle('bare', this.picturePanel.hidden);
    if (this.picturePanel.hidden) return;
    const pass = material?.state === 'solving' && !hasEnded(this.build) ? found?.passes.at(-1) : null;
    const chosen = this.slider.pass;
    picture.show(chosen?.sum ?? found?.sum ?? null, (chosen ?? pass)?.cells ?? null, material ? places(material, picture) : 0);
    this.owners.show(this.triangle, picture === this.triangle ? material : null);
    this.pictured.replaceChildren(material ? this.label(material) : 'Kings', make('span', {}, material ? this.doing(material) : 'nothing decided yet'));
    const words = material ? `${material.material}, ${this.doing(material)}` : 'Nothing is decided yet.';
    if (this.inWords.textContent !== words) this.inWords.textContent = words;
    if (this.asTable.open) this.asTable.replaceChildren(this.asTable.firstChild, picture.table());
  }

  /** Shows the triangle of king pairs, the levels of the pawns, or the blocks of Chinese chess. */
  pictures(picture) {
    if (this.pictured.picture === picture) return;
    this.pictured.picture = picture;
    this.drawn.replaceChildren(legend(NOTES.get(picture.constructor)), picture.element);
    this.drawn.classList.toggle('of-levels', picture !== this.triangle);
    this.readout.replaceChildren(picture.readout);
  }

  pictureLevels(material) {
    const found = material.levels.map(({ level, state }) => {
      const of = this.build.found.get(foundName({ ...material, level }));
      return of && { sum: of.sum, last: state === 'solving' && !hasEnded(this.build) ? of.passes.at(-1)?.cells : null };
    });
    this.slider.show(null, 0);
    this.owners.element.hidden = true;
    this.picturePanel.hidden = hasEnded(this.build) && !found.some(Boolean);
    this.parts.classList.toggle('bare', this.picturePanel.hidden);
    if (this.picturePanel.hidden) return;
    this.levels.show(nameOf(material), material.levels, found, levelPlaces(material));
    this.pictured.replaceChildren(this.label(material), make('span', {}, this.doing(material)));
    const words = `${material.material}, ${this.doing(material)}`;
    if (this.inWords.textContent !== words) this.inWords.textContent = words;
    if (this.asTable.open) this.asTable.replaceChildren(this.asTable.firstChild, this.levels.table());
  }

  /** What each pass of a material found by partition. */
  async passesOf(name) {
    const [material, metric] = name.split('.');
    return (await ask(`/api/v1/builds/${encodeURIComponent(this.id)}/passes?material=${material}&metric=${metric}`)).passes;
  }

  /** Before it begins: what it would build as things are. */
  async ahead() {
    const { state, materials, metrics, compact, verify } = this.build;
    this.forecast.hidden = !['queued', 'planning'].includes(state) || materialsOf(this.build).length > 0;
    if (this.forecast.hidden || this.forecasting) return;
    this.forecasting = true;
    const plan = await tell('POST', '/api/v1/plan', { materials, metrics, compact, verify }).catch(() => null);
    this.forecast.hidden ||= plan === null;
    if (plan) this.forecast.replaceChildren(make('h2', {}, 'What it will build'), planned(plan), needs(plan));
  }

  doing(material) {
    if (material.levels?.length && material.state === 'solving' && !hasEnded(this.build)) return levelWords(material);
    const pass = material.passes.at(-1);
    if (material.state === 'solving' && !hasEnded(this.build)) return pass ? `${colour(pass.winner)} to win, pass ${pass.depth}` : 'begins';
    return stateWord(this.stateOf(material));
  }

  label(material) {
    return nameIn(this.build, material);
  }

  /** What was begun and not finished when the build ended will not wait for its turn. */
  stateOf(material) {
    return hasEnded(this.build) && material.state === 'waiting' && material.passes.length ? 'stopped' : material.state;
  }

  depths() {
    const material = this.current();
    const passes = material?.passes ?? [];
    const key = `${material && nameOf(material)} ${passes.length} ${material?.state} ${this.charts.clientWidth}`;
    this.histogram.hidden = !material || (!passes.length && !isWorked(material));
    this.passes.hidden = !passes.length;
    if (this.charted === key || this.histogram.hidden) return;
    this.charted = key;
    const series = ['white', 'black'].map((kind) => ({ kind, name: `${colour(kind)} wins`, values: byDepth(passes, kind) })).filter(({ values }) => values.some(Boolean));
    const below = ({ kind, values }) => (isOver(material, kind) ? ` in at most ${long(values.length - 1, material.metric)}` : `, ${plural(values.length, 'pass', 'passes')} so far`);
    const more = material.state === 'done' || material.state === 'exists' ? make('a', { href: `/?table=${material.material}&metric=${material.metric}`, 'data-view': true }, 'its table') : null;
    this.charting.replaceChildren(make('h2', {}, `${this.label(material)}: positions by depth`), more ?? '');
    if (!passes.length) return this.charts.replaceChildren(make('p', { class: 'note' }, 'No pass is committed yet: what captures lead to is looked up in the smaller tables first.'));
    this.charts.replaceChildren(...series.map((each) => chart(each, { log: true, across: across(this.charts), high: HIGH, below: below(each), limit: limitOf(material.material, material.metric), metric: material.metric })));
    this.passes.replaceChildren(make('h2', {}, 'Passes'), strip(passes));
  }

  // ---- workers, waves, history ----

  crew() {
    this.workers.hidden = !this.build.workers.length;
    if (this.crewed === this.build.workers) return;
    this.crewed = this.build.workers;
    this.lanes.show(this.build.workers, this.build.nodes);
  }

  materials() {
    const all = materialsOf(this.build);
    this.waves.hidden = !all.length;
    const key = all.map((each) => `${nameOf(each)} ${this.stateOf(each)}`).join() + this.chosen;
    if (this.wavesDrawn === key) return;
    this.wavesDrawn = key;
    const done = all.filter(({ state }) => state === 'done' || state === 'exists').length;
    const follow = this.chosen && !hasEnded(this.build) ? make('button', { type: 'button', class: 'quiet small', onclick: () => this.choose(null) }, 'Follow the work') : null;
    const rows = this.build.waves.map((wave) => make('div', { class: 'wave-row' }, make('h3', {}, waveName(wave)), make('ul', { class: 'mats' }, wave.materials.map((each) => make('li', {}, this.material(each))))));
    const focused = this.waves.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    this.waves.replaceChildren(make('div', { class: 'row' }, make('h2', {}, `${done} of ${plural(all.length, 'table')} done`), follow), ...rows, make('p', { class: 'note' }, 'Moves are those of the longest win found.'));
    if (focused) [...this.waves.querySelectorAll('[data-name]')].find(({ dataset }) => dataset.name === focused)?.focus();
  }

  material(each) {
    const [longest, state] = [longestOf(each), this.stateOf(each)];
    const inside = [stateSign(state), each.material, SHORT[each.metric] ? make('small', {}, SHORT[each.metric]) : null, longest ? make('small', {}, long(longest, each.metric)) : null, make('span', { class: 'unseen' }, `, ${stateWord(state)}`)];
    const title = [stateWord(state), longest && `longest win ${long(longest, each.metric)}`, each.bytes && size(each.bytes), each.seconds && duration(each.seconds)].filter(Boolean).join(', ');
    if (!each.passes.length && each.state === 'exists') return make('a', { class: `mat ${stateKind(each.state)}`, href: `/?table=${each.material}&metric=${each.metric}`, 'data-view': true, title }, inside);
    return make('button', { type: 'button', class: `mat ${stateKind(state)}`, 'data-name': nameOf(each), 'aria-pressed': this.chosen === nameOf(each), disabled: !each.passes.length && state !== 'done' && state !== 'failed', title, onclick: () => this.choose(this.chosen === nameOf(each) ? null : nameOf(each)) }, inside);
  }

  choose(name) {
    this.chosen = name;
    this.draw();
  }

  /** Once it has succeeded: the tables that were asked for. */
  found() {
    const { build } = this;
    this.results.hidden = build.state !== 'succeeded';
    if (this.results.hidden || this.foundFor === build.ended) return;
    this.foundFor = build.ended;
    const asked = materialsOf(build).filter(({ material, state }) => build.materials.includes(material) && (state === 'done' || state === 'exists'));
    const result = (each) => make('li', {}, make('a', { href: `/?table=${each.material}&metric=${each.metric}`, 'data-view': true },
      make('b', {}, each.material), make('span', {}, longestWords(each)), make('span', { class: 'note' }, [METRICS[each.metric], each.bytes && size(each.bytes)].filter(Boolean).join(' · '))));
    this.results.replaceChildren(make('h2', {}, 'Solved'), make('ul', { class: 'longest' }, asked.map(result)));
  }

  past() {
    this.log.hidden = !this.build.log.length;
    if (this.logged !== this.build.log) this.lines.replaceChildren(...logLines(this.build.log));
    this.logged = this.build.log;
    if (this.told === this.build.history.length) return;
    this.told = this.build.history.length;
    this.events.replaceChildren(...this.build.history.map(({ time, what, reason }) => make('li', {}, make('time', { datetime: time }, at(time)), make('b', {}, stateWord(what)), reason ? make('span', {}, reason) : null)));
  }

  // ---- said aloud ----

  /** States and finished materials, never passes; at most one thing in a while, the last. */
  speak({ event, data }) {
    if (event === 'build') this.say(`${this.build.materials.join(', ')}: ${stateWord(data.state)}. ${data.reason ?? ''}`);
    else if (event === 'material' && data.state === 'done') this.say(`${data.material} is solved.`);
  }

  say(text) {
    this.saying = text;
    this.speaking ??= setTimeout(() => {
      this.speaking = null;
      document.getElementById('said').textContent = this.saying;
    }, this.spoken ? SPEAK : 0);
    this.spoken = true;
  }
}

/** In how many ways the other men can stand on the squares that two kings leave, with either side
    to move; `positions` counts 64 squares for each man. */
function places({ material, positions }, picture) {
  if (picture instanceof Blocks) return positions / picture.pairs.length;
  const others = Array.from({ length: material.length - 3 }, (_, i) => (62 - i) / 64);
  return others.reduce((product, free) => product * free, positions / 462);
}

/** The same for all levels of a material with pawns, where the pieces stand on other squares. */
function levelPlaces({ material, positions }) {
  const pawns = material.split('P').length - 1;
  const pieces = Array.from({ length: material.length - 3 - pawns }, (_, i) => (62 - pawns - i) / 64);
  return pieces.reduce((product, free) => product * free, (positions ?? 0) * (1 - pawns / 32));
}

/** Which level is under way, and its pass. */
function levelWords(material) {
  const { level, structures, state, passes } = levelOf(material);
  const pass = passes.at(-1);
  const begun = state === 'solving' && pass ? `pass ${pass.depth}, ${colour(pass.winner)} to win` : { painting: 'its columns are written', done: 'solved' }[state] ?? 'begins';
  return `level ${level + 1} of ${material.levels.length}, ${plural(structures, 'structure')}, ${begun}`;
}

/** Whether all is known that one side can win. */
function isOver({ state, passes, levels }, winner) {
  if (levels?.length) return ['verifying', 'done'].includes(state);
  return ['painting', 'verifying', 'done'].includes(state) || passes.at(-1).winner !== winner;
}

/** What was found at each depth. */
function byDepth(passes, winner) {
  const mine = passes.filter((pass) => pass.winner === winner);
  const last = mine.findLastIndex(({ won, lost }) => won || lost);
  return mine.slice(0, last + 1).map(({ won, lost }) => won + lost);
}

const longestOf = ({ longest }) => Math.max(0, ...Object.values(longest ?? {}));

function longestWords({ longest, metric }) {
  const said = Object.entries(longest ?? {}).filter(([, n]) => n).map(([side, n]) => `${colour(side)} wins in at most ${long(n, metric)}`);
  return said.join('; ') || 'its table was there already';
}
