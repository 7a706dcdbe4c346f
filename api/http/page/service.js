// Asking the service: answers, problems in its own words, and whether it is there at all.

import { authorization } from './access.js';
import { make } from './make.js';

const RETRY = 1500;
let waiting = null;

export class Problem extends Error {
  constructor(body) {
    super(body.detail || body.title || 'The service refused.');
    this.status = body.status;
  }
}

export class Unreachable extends Error {}

/** The JSON of a path; Problem if it was refused, Unreachable if there is no answer. */
export async function ask(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(parameters).toString();
  const response = await answered(query ? `${path}?${query}` : path, { signal });
  return read(response);
}

/** The JSON of what a request that changes something answers; null where there is none. */
export async function tell(method, path, body = undefined, { headers = {}, signal } = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await answered(path, { method, signal, headers: { ...type, ...headers }, ...sent });
  return response.status === 204 ? null : read(response);
}

/** The response to a request in the name of whose token is kept, if it was not refused. */
export async function answered(path, { headers = {}, ...options } = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...authorization(), ...headers } });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    lost();
    throw new Unreachable('The service does not answer.');
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** Save what a link of the page leads to: with a token, which the browser would not send. */
export async function save(event) {
  const link = event.currentTarget;
  if (!('Authorization' in authorization())) return;
  event.preventDefault();
  const response = await answered(link.href);
  const name = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition'))?.[1] ?? 'table';
  const url = URL.createObjectURL(await response.blob());
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const read = (response) => response.json().catch(() => {
  throw new Problem({ status: response.status, detail: 'The answer cannot be read.' });
});

/** Why it was refused; for want of a token or of a scope, the page is told as well. */
async function refusal(response) {
  const body = await response.json().catch(() => ({ detail: 'The answer cannot be read.' }));
  // What the service says to programs of a missing token, the page says to people.
  const detail = response.status === 401 ? 'This is for those who have a token.' : body.detail;
  const problem = new Problem({ ...body, detail, status: response.status });
  if (response.status === 401 || response.status === 403) {
    document.dispatchEvent(new CustomEvent('refused', { detail: problem }));
  }
  return problem;
}

/** Say so; once the service is back tell the page, and that all may be asked again. */
export function lost() {
  if (waiting) return;
  document.dispatchEvent(new CustomEvent('service', { detail: false }));
  waiting = setInterval(look, RETRY);
}

export async function look() {
  const there = await fetch('/healthz').then((response) => response.ok, () => false);
  if (!there || !waiting) return;
  clearInterval(waiting);
  waiting = null;
  document.dispatchEvent(new CustomEvent('service', { detail: true }));
  document.dispatchEvent(new CustomEvent('again'));
}
