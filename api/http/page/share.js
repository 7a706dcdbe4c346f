// Taking a game away: its position as FEN, its moves as PGN, a link to all of it.

import { make } from './make.js';

/** Copies a text, and says on the button whether that was possible. */
export async function copy(button, text) {
  const before = (button.dataset.text ??= button.textContent);
  const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  button.textContent = done || copiedBySelection(text) ? 'Copied' : 'Not allowed here';
  setTimeout(() => { button.textContent = before; }, 1600);
}

/** Browsers have no clipboard for pages of other machines without TLS, but copy what is selected. */
function copiedBySelection(text) {
  const focused = document.activeElement;
  const field = make('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: -1 });
  document.body.append(field);
  field.value = text;
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return done;
}

export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-chess-pgn' }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A link to a game from its first position on. */
export function linkTo(game, metric) {
  const moves = game.steps.slice(1).map((step) => step.uci).join('_');
  const query = new URLSearchParams({ fen: game.steps[0].fen.replaceAll(' ', '_'), ...(moves ? { moves } : {}), ...(metric === 'dtc' ? {} : { metric }) });
  return `${location.origin}/?${query.toString().replaceAll('%2F', '/')}`;
}
