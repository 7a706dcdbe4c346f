// The partitions by the worker that owns them, on request, and how many bytes each worker sent to
// each, in the last pass and in all.

import { make } from './make.js';
import { ask } from './service.js';
import { size } from './words.js';

const COLOURS = 8;
const EVERY = 1000; // milliseconds between two questions, however many passes there are

export class Owners {
  /** `changed()` when the reader wants the picture drawn otherwise. */
  constructor(id, changed) {
    Object.assign(this, { id, changed });
    this.on = false;
    this.told = null;
    this.button = make('button', { type: 'button', class: 'quiet small', 'aria-pressed': 'false', onclick: () => { this.on = !this.on; changed(); } }, 'Colour by worker');
    this.sent = make('div', {});
    this.element = make('div', { class: 'owners', hidden: true }, this.button, this.sent);
  }

  /** Shown where several workers share a material. */
  show(triangle, material) {
    const several = (material?.shares?.length ?? 0) > 1;
    this.element.hidden = !several;
    this.button.setAttribute('aria-pressed', String(this.on));
    const told = several && this.on ? this.of(material) : null;
    const owners = told?.owners ?? [];
    triangle.element.classList.toggle('by-worker', owners.length > 0);
    triangle.cells.forEach((cell, pair) => cell.style.setProperty('--owner', owners.length ? `var(--worker${owners[pair] % COLOURS})` : ''));
    this.sent.replaceChildren(...(owners.length ? [this.table(told)] : []));
  }

  /** What is known; it is asked for again when there were further passes. */
  of(material) {
    const name = `${material.material} ${material.metric} ${material.shares.length}`;
    if (this.told?.name !== name) this.told = { name, passes: -1, asked: -Infinity };
    const { told } = this;
    const passes = material.passes.length;
    const wait = told.passes === passes ? Infinity : told.asked + EVERY - performance.now();
    if (wait > 0) {
      if (wait < EVERY) this.later ??= setTimeout(() => { this.later = null; this.changed(); }, wait);
    } else {
      Object.assign(told, { passes, asked: performance.now() });
      const query = new URLSearchParams({ material: material.material, metric: material.metric });
      ask(`/api/v1/builds/${encodeURIComponent(this.id)}/owners?${query}`).then((answer) => {
        Object.assign(told, answer);
        if (this.told === told) this.changed();
      }).catch(() => {});
    }
    return told;
  }

  table({ shares, borders }) {
    const border = (sender, receiver) => borders.find((each) => each.sender === sender && each.receiver === receiver);
    const sent = ({ bytes, bytes_in_all: all }) => [size(bytes), make('small', {}, `${size(all)} in all`)];
    const name = (n) => [make('i', { class: `owner owner${n % COLOURS}` }), ` ${shares[n].node} · ${n}`];
    const cell = (from, to) => make('td', {}, from === to ? '–' : sent(border(from, to)));
    return make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Sent from worker to worker' }, make('table', { class: 'sent' }, make('caption', {}, 'Sent from worker to worker in the last pass, and in all'),
      make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'from'), shares.map((_, n) => make('th', { scope: 'col' }, 'to ', name(n))))),
      make('tbody', {}, shares.map((share, from) => make('tr', {}, make('th', { scope: 'row' }, name(from), make('small', {}, `${share.partitions} king pairs`)), shares.map((_, to) => cell(from, to)))))));
  }
}
