// All builds: a new one is asked for, those under way go on, the others are history.

import { actions } from './actions.js';
import { apply, hasEnded, latest } from './build.js';
import { make } from './make.js';
import { Problem, ask } from './service.js';
import { chip } from './states.js';
import { Stream } from './stream.js';
import { Submit } from './submit.js';
import { METRICS, about, at, duration, plural } from './words.js';

const FILTERS = [
  ['all', 'All', []],
  ['now', 'Under way', ['queued', 'planning', 'running', 'paused', 'cancelling']],
  ['done', 'Finished', ['succeeded']],
  ['stopped', 'Stopped', ['cancelled', 'failed', 'interrupted']],
];
const AT_ONCE = 25;
const PAUSE = 250;

/** The view; `go(address)` leads to another. */
export class Builds {
  constructor(view, parameters, go) {
    this.go = go;
    this.filter = FILTERS.find(([name]) => name === parameters.get('builds')) ?? FILTERS[0];
    this.material = '';
    this.builds = new Map();
    this.rows = new Map();
    this.next = null;
    const submit = new Submit(parameters.get('material') ?? '', parameters.getAll('metric'), parameters.has('again'), (build) => go(`/?build=${build.id}`));
    this.list = make('ul', { class: 'jobs' });
    this.more = make('button', { type: 'button', hidden: true, onclick: () => this.load(this.next) }, 'Older builds');
    view.replaceChildren(make('div', { class: 'head' }, make('h1', {}, 'Builds')), submit.element,
      make('section', { class: 'history', 'aria-label': 'Builds so far' }, this.head(), this.list, this.more));
    this.back = () => { this.load(); submit.later(0); };
    document.addEventListener('again', this.back);
    this.start();
  }

  close() {
    this.stream?.close();
    document.removeEventListener('again', this.back);
    this.closed = true;
  }

  head() {
    const choose = (filter) => { this.filter = filter; this.press(); this.load(); };
    this.choices = FILTERS.map((filter) => make('button', { type: 'button', 'data-filter': filter[0], onclick: () => choose(filter) }, filter[1]));
    const search = make('input', { type: 'search', 'aria-label': 'Only builds of this material', placeholder: 'material', spellcheck: 'false', autocomplete: 'off', maxlength: '40', oninput: (event) => this.search(event.target.value.trim()) });
    this.press();
    return make('div', { class: 'row' }, make('h2', {}, 'So far'), make('div', { class: 'choice', role: 'group', 'aria-label': 'Which builds' }, this.choices), search);
  }

  press() {
    for (const button of this.choices) button.setAttribute('aria-pressed', button.dataset.filter === this.filter[0]);
  }

  search(text) {
    this.material = text;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.load(), PAUSE);
  }

  // ---- what there is ----

  /** The list, and then every event after it. */
  async start() {
    this.note('Reading the builds …');
    await this.load();
    if (this.closed) return;
    const last = Math.max(-1, ...[...this.builds.values()].map((build) => Number(build.last_event ?? -1)));
    this.stream = new Stream('/api/v1/events', last < 0 ? null : String(last), { take: (event) => this.take(event) });
  }

  async load(cursor = null) {
    const query = new URLSearchParams({ limit: AT_ONCE });
    for (const state of this.filter[2]) query.append('state', state);
    if (this.material) query.set('material', this.material);
    if (cursor) query.set('cursor', cursor);
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const { builds, next } = await ask(`/api/v1/builds?${query}`, {}, this.asking.signal);
      const before = this.builds;
      this.builds = new Map(cursor ? before : []);
      for (const build of builds) this.builds.set(build.id, latest(build, before.get(build.id)));
      this.next = next;
      this.show();
    } catch (error) {
      if (error.name !== 'AbortError') this.failed(error);
    }
  }

  take(event) {
    const build = this.builds.get(event.data.build);
    const moves = !build || event.data.state === 'deleted' || this.filter[0] !== 'all';
    if (event.event === 'build' && moves) return this.load();
    // A row says nothing of passes and workers: what builds make hundreds of is let by.
    if (build && ['build', 'eta'].includes(event.event) && apply(build, event)) this.row(build);
  }

  // ---- drawing ----

  show() {
    this.more.hidden = this.next === null;
    if (!this.builds.size) return this.none();
    this.rows.clear();
    this.list.replaceChildren();
    for (const build of this.builds.values()) this.list.append(this.row(build));
  }

  none() {
    this.rows.clear();
    const narrowed = this.material || this.filter[0] !== 'all';
    this.note(narrowed ? 'No such builds.' : 'No builds yet. The first one begins above: name a material and press Build.');
  }

  note(text) {
    this.list.replaceChildren(make('li', { class: 'none' }, text));
  }

  failed(error) {
    if (error instanceof Problem) this.note(error.message);
    else if (!this.builds.size) this.note('No answer. The list comes as soon as the service is back.');
  }

  /** The row of a build; of what is there already, only what changed is drawn again. */
  row(build) {
    const old = this.rows.get(build.id);
    const row = old ?? { state: null, item: make('li', { class: 'job' }), how: make('div', { class: 'how' }) };
    this.rows.set(build.id, row);
    if (row.state !== build.state) {
      row.state = build.state;
      row.item.className = `job ${build.state}`;
      row.item.replaceChildren(
        make('a', { class: 'what', href: `/?build=${build.id}`, 'data-view': true }, make('b', {}, build.materials.join(', ')), make('span', {}, `${build.id} · ${build.metrics.map((metric) => METRICS[metric]).join(' and ')}`)),
        chip(build.state), row.how,
        make('div', { class: 'do' }, actions(build, (answer) => this.changed(build, answer), (error) => this.failedTo(build, error))));
    }
    row.how.replaceChildren(...how(build));
    return row.item;
  }

  changed(build, answer) {
    if (answer === null) {
      this.builds.delete(build.id);
      return this.show();
    }
    this.builds.set(build.id, latest(answer, this.builds.get(build.id)));
    this.row(this.builds.get(build.id));
  }

  failedTo(build, error) {
    this.rows.get(build.id).how.replaceChildren(make('p', { class: 'bad', role: 'alert' }, error.message));
  }
}

/** How it goes, or how it went. */
function how(build) {
  const { fraction = 0, left = null } = build.progress ?? {};
  if (build.state === 'queued') return [make('p', {}, build.ahead ? `${plural(build.ahead, 'build')} before it` : 'next', left === null ? '' : `, done in ${about(left)}`)];
  if (hasEnded(build)) return [make('p', {}, result(build)), make('p', { class: 'when' }, at(build.ended))];
  const bar = make('span', {});
  bar.style.width = `${100 * fraction}%`;
  const percent = Math.floor(100 * fraction);
  return [make('div', { class: 'meter', role: 'progressbar', 'aria-label': `Progress of ${build.id}`, 'aria-valuenow': percent }, bar),
    make('p', {}, `${percent} %${left === null ? '' : `, ${about(left)} left`}`)];
}

function result(build) {
  const took = build.started && build.ended ? duration((Date.parse(build.ended) - Date.parse(build.started)) / 1000) : '';
  return build.state === 'succeeded' ? took && `in ${took}` : build.reason || took;
}
