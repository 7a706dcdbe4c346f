// Asking the service: answers, problems in its own words, and whether it is there at all.

const RETRY = 1500;
let waiting = null;

export class Problem extends Error {
  constructor(body) {
    super(body.detail || body.title || 'The service refused.');
    this.status = body.status;
  }
}

export class Unreachable extends Error {}

/** The JSON of a path; Problem if it was refused, Unreachable if nobody answers. */
export async function ask(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(query ? `${path}?${query}` : path, { signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    lost();
    throw new Unreachable('The service does not answer.');
  }
  const body = await response.json().catch(() => ({ detail: 'The answer cannot be read.' }));
  if (!response.ok) throw new Problem({ status: response.status, ...body });
  return body;
}

/** Say so, and tell the page once the service is back. */
function lost() {
  if (waiting) return;
  document.dispatchEvent(new CustomEvent('service', { detail: false }));
  waiting = setInterval(async () => {
    const there = await fetch('/healthz').then((response) => response.ok, () => false);
    if (!there) return;
    clearInterval(waiting);
    waiting = null;
    document.dispatchEvent(new CustomEvent('service', { detail: true }));
  }, RETRY);
}
