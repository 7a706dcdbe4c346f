// A slider over the passes of a material: what was decided after each of them, by partition.
//
// Only the journal keeps what passes found by partition, so it is asked for when it is to be shown.

import { make } from './make.js';
import { colour, plural } from './words.js';

const add = (sum, cells) => cells.map((found, i) => found + (sum?.[i] ?? 0));
const found = ({ won, lost }) => won.map((n, i) => n + lost[i]);

export class PassSlider {
  /** `read` answers with the passes of a material; `changed` is called when another is chosen. */
  constructor(read, changed) {
    Object.assign(this, { read, changed, name: null, passes: null, reading: null });
    this.range = make('input', { type: 'range', min: 0, 'aria-label': 'Pass', oninput: () => this.moved() });
    this.said = make('output', {});
    this.element = make('div', { class: 'pass-slider' }, this.range, this.said);
  }

  /** Shows the slider for a material that has made `count` passes; hides it for null. */
  show(name, count) {
    this.element.hidden = name === null || count < 2;
    if (name === this.name) return;
    Object.assign(this, { name, passes: null });
    this.range.max = this.range.value = count - 1;
    this.say(count);
  }

  /** Reads the passes, unless they are there or on their way. */
  async load() {
    const { name } = this;
    if (this.passes || this.reading === name || name === null) return;
    this.reading = name;
    const passes = await this.read(name).catch(() => []);
    this.reading = null;
    if (name !== this.name) return;
    this.take(passes);
    this.show(name, passes.length);
    this.moved();
  }

  moved() {
    if (!this.passes) return void this.load();
    this.say(this.passes.length);
    this.changed();
  }

  take(passes) {
    let sum = null;
    this.passes = passes.map(({ winner, depth, cells }) => {
      sum = add(sum, found(cells));
      return { winner, depth, cells: found(cells), sum };
    });
    this.range.max = passes.length - 1;
  }

  /** The pass that is chosen, once passes are known. */
  get pass() {
    return this.passes?.[Number(this.range.value)] ?? null;
  }

  say(count) {
    const { pass } = this;
    const isLast = Number(this.range.value) === count - 1;
    const text = pass && !isLast ? `After pass ${pass.depth}, ${colour(pass.winner)} to win` : `After all ${plural(count, 'pass', 'passes')}`;
    this.said.textContent = text;
    this.range.setAttribute('aria-valuetext', text);
  }
}
