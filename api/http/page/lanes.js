// A lane for each worker: what it does, its memory, and its throughput over the last while, on a
// logarithmic scale, since the last passes of a material find little and take no time.

import { make, makeSvg } from './make.js';
import { METRICS, plural, rough, size } from './words.js';

const [FEWEST, MOST] = [20, 90]; // samples of a worker that a lane is wide
const [WIDE, HIGH] = [180, 28];
const DOING = {
  begin: 'begins',
  exits: 'looks captures up for',
  unmove: 'un-moves',
  log: 'writes the log of',
  paint: 'writes the table of',
  publish: 'publishes',
  verify: 'proves',
};

const PHASES = { begin: 'Solve', exits: 'Solve', unmove: 'Solve', log: 'Solve', paint: 'Write', publish: 'Write', verify: 'Prove' };
const AFTER = ['paint', 'publish', 'verify']; // what a worker does once all passes are made

export class Lanes {
  constructor() {
    this.element = make('ul', { class: 'lanes' });
    this.past = new Map(); // worker -> throughput, sample by sample
    this.seen = new Map(); // node -> its cores and memory, since the page was opened
    this.cluster = make('ul', { class: 'nodes', 'aria-label': 'Nodes' });
  }

  /** The nodes: what each holds, which have no worker, and which have left. */
  holdings(workers, nodes) {
    for (const node of nodes) this.seen.set(node.name, node);
    const there = new Set(nodes.map(({ name }) => name));
    const rows = [...this.seen.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((node) => {
      const mine = workers.filter((worker) => worker.node === node.name);
      const held = mine.reduce((sum, worker) => sum + worker.memory_bytes, 0);
      const work = [...new Set(mine.map(({ domain }) => domain).filter(Boolean))].join(', ');
      const state = !there.has(node.name) ? 'has left' : mine.length ? `${plural(mine.length, 'worker')}: ${work || 'idle'}` : 'idle';
      return make('li', { class: mine.length ? '' : 'idle' }, make('b', {}, node.name), make('span', {}, state), make('span', {}, mine.length ? `holds ${size(held)} of ${size(node.memory_bytes)}` : `${plural(node.cores, 'core')}, ${size(node.memory_bytes)}`));
    });
    const idle = nodes.filter(({ name }) => !workers.some(({ node }) => node === name)).length;
    this.cluster.hidden = rows.length < 2;
    this.cluster.replaceChildren(make('li', {}, make('span', {}, `${plural(nodes.length, 'node')}${idle ? `, ${idle} idle` : ''}`)), ...rows);
  }

  show(workers, nodes) {
    this.holdings(workers, nodes);
    for (const { id, positions_per_second: rate } of workers) {
      this.past.set(id, [...(this.past.get(id) ?? []), rate ?? 0].slice(-MOST));
    }
    for (const id of this.past.keys()) if (!workers.some((worker) => worker.id === id)) this.past.delete(id);
    const most = Math.max(1, ...[...this.past.values()].flat());
    this.element.replaceChildren(...workers.map((worker) => this.lane(worker, most)));
  }

  lane(worker, most) {
    const idle = worker.doing === 'idle' || !worker.domain;
    const doing = idle ? 'idle' : `${DOING[worker.doing] ?? worker.doing} ${worker.domain}${worker.level === null || worker.level === undefined ? '' : ` level ${worker.level + 1}`}${worker.metric === 'dtc' ? '' : ` ${METRICS[worker.metric]}`}`;
    return make('li', { class: 'lane' },
      make('div', { class: 'who' }, make('b', {}, `${worker.node}\u00a0·\u00a0${worker.id.split('.').at(-1)}`), make('span', {}, idle || !PHASES[worker.doing] ? doing : `${PHASES[worker.doing]}: ${doing}`)),
      memory(worker),
      make('div', { class: 'rate' }, this.spark(worker.id, most), make('span', {}, worker.positions_per_second === null || AFTER.includes(worker.doing) ? 'not solving' : `${rough(worker.positions_per_second)} positions/s`)));
  }

  spark(id, most) {
    const past = this.past.get(id);
    const x = (i) => WIDE - ((past.length - 1 - i) * WIDE) / (Math.max(FEWEST, past.length) - 1);
    const y = (rate) => HIGH - 1 - ((HIGH - 2) * Math.log1p(rate)) / Math.log1p(most);
    const line = past.map((rate, i) => `${x(i).toFixed(1)},${y(rate).toFixed(1)}`);
    const ground = `${x(0).toFixed(1)},${HIGH} ${line.join(' ')} ${WIDE},${HIGH}`;
    return makeSvg('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', class: 'spark' },
      makeSvg('polygon', { points: ground }), makeSvg('polyline', { points: line.join(' '), 'vector-effect': 'non-scaling-stroke' }));
  }
}

function memory({ memory_bytes: used, memory_limit_bytes: limit }) {
  const text = limit ? `${size(used)} of ${size(limit)}` : size(used);
  return make('div', { class: 'memory' }, limit ? meter(used, limit, 'Memory', text) : null, make('span', {}, text));
}

/** A bar for a part of a whole; more than the whole is shown as too much. */
export function meter(part, whole, label, text) {
  const bar = make('span', {});
  bar.style.width = `${Math.min(100, (100 * part) / (whole || 1))}%`;
  return make('div', { class: `meter${part > whole ? ' over' : ''}`, role: 'meter', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': whole, 'aria-valuenow': Math.min(part, whole), 'aria-valuetext': text }, bar);
}
