// Asking for a build: as the materials are typed, what that would build, how long it takes, and
// whether it fits.

import { may } from './access.js';
import { meter } from './lanes.js';
import { make } from './make.js';
import { Problem, tell } from './service.js';
import { METRICS, SHORT, plural, size, span, waveName } from './words.js';

const PAUSE = 250; // milliseconds without a key until the plan is asked for
const EXAMPLES = ['KQvKR', 'KRBvKR', 'KBBvKN'];

/** The form, with the plan below; `metrics` are chosen at first; `again` also builds what is there;
    `submitted(build)` once there is a build. */
export class Submit {
  constructor(materials, metrics, again, submitted) {
    Object.assign(this, { again, submitted, metrics: metrics.some((each) => each in METRICS) ? metrics : ['dtc'] });
    this.materials = make('input', { id: 'materials', name: 'materials', value: materials, placeholder: 'KRBvKR', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: '400', 'aria-describedby': 'plan-said', oninput: () => this.later() });
    this.build = make('button', { type: 'submit', class: 'strong', disabled: true }, 'Build');
    this.said = make('p', { id: 'plan-said', class: 'said', role: 'status' });
    this.plan = make('div', { class: 'plan' });
    this.element = make('form', { class: 'panel submit', 'aria-label': 'New build', onsubmit: (event) => this.submit(event) },
      make('h2', {}, 'New build'),
      make('div', { class: 'line' }, make('label', { for: 'materials' }, 'Materials'), this.materials, this.build),
      make('div', { class: 'with' }, this.examples(), this.chooseMen(), this.chooseMetrics(), this.options()),
      this.said, this.plan);
    this.later(0);
  }

  examples() {
    const choose = (material) => { this.materials.value = material; this.materials.focus(); this.later(0); };
    const buttons = EXAMPLES.map((material) => make('button', { type: 'button', class: 'quiet small', onclick: () => choose(material) }, material));
    return make('div', { class: 'examples', role: 'group', 'aria-label': 'Examples' }, make('span', { 'aria-hidden': 'true' }, 'such as'), buttons);
  }

  /** All materials of up to so many men, beside those that are named. */
  chooseMen() {
    const choice = (value, text) => make('option', { value }, text);
    const men = make('select', { name: 'men', onchange: () => this.later(0) }, choice('', 'none'), [3, 4, 5, 6].map((n) => choice(String(n), `${n} men`)));
    const pawnless = make('input', { type: 'checkbox', name: 'pawnless', onchange: () => this.later(0) });
    return make('fieldset', { class: 'checks' }, make('legend', {}, 'All of up to'), make('label', {}, make('span', { class: 'unseen' }, 'All materials of up to'), men), make('label', {}, pawnless, 'without pawns'));
  }

  chooseMetrics() {
    const box = (metric) => make('label', {}, make('input', { type: 'checkbox', name: 'metric', value: metric, checked: this.metrics.includes(metric), onchange: () => this.later(0) }), METRICS[metric]);
    return make('fieldset', { class: 'checks' }, make('legend', {}, 'Count moves'), Object.keys(METRICS).map(box));
  }

  options() {
    const box = (name, text, checked = false) => make('label', {}, make('input', { type: 'checkbox', name, checked, onchange: () => this.later(0) }), text);
    const priority = make('label', {}, 'priority', make('input', { type: 'number', name: 'priority', value: '0', min: '-100', max: '100', step: '1' }));
    return make('details', { class: 'more', open: this.again }, make('summary', {}, 'Options'),
      make('div', { class: 'checks' }, box('verify', 'prove every value afterwards', true), box('compact', 'smaller files, slower to write'), box('force', 'build again what is there', this.again), priority));
  }

  /** The body of the request; null where nothing is asked for. */
  request() {
    const materials = this.materials.value.split(/[\s,;]+/).filter(Boolean);
    const form = new FormData(this.element);
    const metrics = form.getAll('metric');
    const men = form.get('men') ? { men: Number(form.get('men')), pawnless: form.has('pawnless') } : null;
    if ((!materials.length && !men) || !metrics.length) return null;
    const [verify, compact, force] = ['verify', 'compact', 'force'].map((name) => form.has(name));
    const named = materials.length ? { materials } : {};
    return { ...named, ...men, metrics, priority: Number(form.get('priority') || 0), compact, verify, force };
  }

  // ---- the plan ----

  later(pause = PAUSE) {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.plan.classList.add('waiting');
    this.build.disabled = true;
    this.timer = setTimeout(() => this.ask(), pause);
  }

  async ask() {
    const request = this.request();
    if (request === null) return this.empty();
    this.asking = new AbortController();
    try {
      this.show(await tell('POST', '/api/v1/plan', request, { signal: this.asking.signal }));
    } catch (error) {
      if (error.name !== 'AbortError') this.refuse(error);
    }
  }

  empty() {
    const none = this.materials.value.trim() || new FormData(this.element).get('men') ? 'Choose what is counted.' : 'Name the men of both sides, stronger side first: KRBvKR is king, rook and bishop against king and rook. What it rests on is built too.';
    this.say('hint', none);
    this.plan.replaceChildren();
  }

  refuse(error) {
    this.say(error instanceof Problem ? 'bad' : 'hint', error.message);
    this.plan.replaceChildren();
  }

  /** Anyone may see the plan; a build needs the right to build. */
  forbid() {
    this.build.disabled = true;
    this.said.className = 'said warn';
    this.said.append(' Your token does not allow to build: that takes one of scope build.');
  }

  say(kind, ...content) {
    this.said.className = `said ${kind}`;
    this.said.replaceChildren(...content);
    this.plan.classList.remove('waiting');
  }

  show(plan) {
    const { to_build: missing, exists, seconds } = plan.totals;
    const there = exists ? `; ${plural(exists, 'table')} ${exists === 1 ? 'is' : 'are'} there already` : '';
    const waves = new Set(plan.materials.filter((each) => !each.exists).map((each) => each.wave)).size;
    const inWaves = waves > 1 ? ` in ${waves} waves` : '';
    if (!missing) this.say('good', 'Nothing to build: ', exists === 1 ? 'the table is there already.' : `all ${exists} tables are there already.`);
    else if (!plan.fits) this.say('bad', make('b', {}, 'It does not fit: '), plan.reasons.join('; '), '.');
    else this.say('good', make('b', {}, `${plural(missing, 'table')}${inWaves}, ${span(seconds)}`), `${there}.`);
    this.build.disabled = !plan.fits || !missing;
    this.plan.replaceChildren(...(missing ? [needs(plan), planned(plan), numbers(plan)] : [planned(plan)]));
    if (!may('build')) this.forbid();
  }

  // ---- submitting ----

  async submit(event) {
    event.preventDefault();
    const request = this.request();
    if (request === null || this.build.disabled) return;
    this.build.disabled = true;
    try {
      this.submitted(await tell('POST', '/api/v1/builds', request, { headers: { 'Idempotency-Key': this.key(request) } }));
    } catch (error) {
      this.refuse(error);
      this.build.disabled = false;
    }
  }

  /** One key for one request: pressed twice, or again when no answer came, it is the same build. */
  key(request) {
    const text = JSON.stringify(request);
    if (this.keyed?.text !== text) {
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      this.keyed = { text, key: [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('') };
    }
    return this.keyed.key;
  }
}

/** The same as numbers, for each table that is missing. */
function numbers({ materials }) {
  const row = (each) => make('tr', {}, make('th', { scope: 'row' }, each.material, each.metric === 'dtc' ? '' : ` ${METRICS[each.metric]}`), [each.sets_on_disk ? `${size(each.memory_bytes)}, sets on disk` : size(each.memory_bytes), size(each.table_bytes), span(each.seconds)].map((text) => make('td', {}, text)));
  const head = ['Table', 'Memory', 'File', 'Time'].map((text) => make('th', { scope: 'col' }, text));
  return make('details', { class: 'more' }, make('summary', {}, 'Each in numbers'),
    make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, materials.filter(({ exists }) => !exists).map(row))));
}

/** Memory and disk against what is free, as far as that is known: a store need not tell. */
export function needs({ totals, room }) {
  const need = (name, bytes, free) => {
    const text = free === null ? size(bytes) : `${size(bytes)} of ${size(free)} free`;
    return make('div', { class: 'need' }, make('b', {}, name), free === null ? null : meter(bytes, free, name, text), make('span', {}, text));
  };
  return make('div', { class: 'needs' },
    need('Memory', totals.memory_bytes, room.memory_bytes),
    need('Disk', totals.disk_bytes, room.disk_bytes));
}

/** Wave by wave, with what is there already. */
export function planned({ materials }) {
  const waves = new Map();
  for (const each of materials) waves.set(waveName(each), [...(waves.get(waveName(each)) ?? []), each]);
  const item = (each) => make('li', { class: each.exists ? 'old' : 'wait', title: each.exists ? 'there already' : `${size(each.table_bytes)}, ${span(each.seconds)}` },
    make('span', { class: 'sign', 'aria-hidden': 'true' }, each.exists ? '✓' : '+'), each.material, SHORT[each.metric] ? make('small', {}, ` ${SHORT[each.metric]}`) : '', make('span', { class: 'unseen' }, each.exists ? ', there already' : ', to be built'));
  const rows = [...waves].map(([name, some]) => make('div', { class: 'wave-row' }, make('h3', {}, name), make('ul', { class: 'mats' }, some.map(item))));
  return make('div', { class: 'waves' }, rows);
}
