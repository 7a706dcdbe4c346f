// A stream of the service's events, which comes back with what was missed when it is lost.
//
// EventSource cannot send a token, so that the stream is read from fetch: lines are gathered to
// events, the last id is remembered and sent as Last-Event-ID when the stream is opened again.
// The service sends something every 15 seconds; a stream that is silent for much longer is lost.

import { Problem, Unreachable, answered } from './service.js';

const SILENT = 40_000;
const [FIRST_WAIT, LONGEST_WAIT] = [250, 8_000];

/** Follow `path` from the event after `since`.  `take` is called with {id, event, data} of builds;
    `gone` when the service says that there is no such stream any more. */
export class Stream {
  constructor(path, since, { take, gone = () => {} }) {
    Object.assign(this, { path, last: since, take, gone });
    this.closed = false;
    this.failures = 0;
    this.back = () => this.wake?.();
    document.addEventListener('again', this.back);
    this.run();
  }

  close() {
    this.closed = true;
    this.reading?.abort();
    document.removeEventListener('again', this.back);
    this.wake?.();
  }

  async run() {
    while (!this.closed) {
      const error = await this.read().then(() => null, (thrown) => thrown);
      if (this.closed) return;
      if (error?.status === 404) return this.gone();
      await this.pause(this.patience(error));
    }
  }

  /** The time to wait: without a reader, or without the right to read, until something changes. */
  patience(error) {
    if (error instanceof Unreachable) return LONGEST_WAIT;
    if (error instanceof Problem && error.status < 404) return null;
    if (error === null && this.isOver) return LONGEST_WAIT; // the build may be retried
    return Math.min(FIRST_WAIT * 2 ** this.failures++, LONGEST_WAIT);
  }

  /** Until so much time has passed (null: however long), or the service is there again. */
  pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = milliseconds === null ? null : setTimeout(resolve, milliseconds);
      this.wake = () => { clearTimeout(timer); resolve(); };
    });
  }

  async read() {
    this.reading = new AbortController();
    const since = this.last === null ? {} : { 'Last-Event-ID': this.last };
    const headers = { Accept: 'text/event-stream', ...since };
    const response = await answered(this.path, { headers, cache: 'no-store', signal: this.reading.signal });
    this.isOver = response.status === 204;
    if (this.isOver) return;
    const reader = response.body.getReader();
    const lines = new Lines((event) => this.taken(event));
    try {
      for (;;) {
        const timer = setTimeout(() => this.reading.abort(), SILENT);
        const { done, value } = await reader.read().finally(() => clearTimeout(timer));
        if (done) return;
        this.failures = 0;
        lines.feed(value);
      }
    } catch (error) {
      if (error instanceof TypeError || error.name === 'AbortError') return; // cut off: come back
      throw error;
    }
  }

  taken(event) {
    if (this.closed) return;
    if (event.id !== null) this.last = event.id;
    if (event.event === 'service') document.dispatchEvent(new CustomEvent('condition', { detail: event.data }));
    else this.take(event);
  }
}

/** Bytes to events, as the standard has it. */
class Lines {
  constructor(take) {
    this.take = take;
    this.decoder = new TextDecoder();
    this.rest = '';
    this.clear();
  }

  clear() {
    this.event = { id: null, event: 'message', data: [] };
  }

  feed(bytes) {
    const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split('\n');
    this.rest = lines.pop();
    for (const line of lines) this.line(line.replace(/\r$/, ''));
  }

  line(line) {
    if (line === '') return this.end();
    const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (field === 'data') this.event.data.push(value);
    else if (field === 'id' || field === 'event') this.event[field] = value;
  }

  end() {
    const { id, event, data } = this.event;
    this.clear();
    if (data.length) this.take({ id, event, data: JSON.parse(data.join('\n')) });
  }
}
