// Access: a token, kept in this browser as long as its owner chooses, and the dialog to enter it.

import { make } from './make.js';

const NAME = 'kingpair.token';
const MEANING = { probe: 'ask tables', build: 'build', admin: 'delete tables' };
const $ = (id) => document.getElementById(id);

/** Whether the service wants a token, and what this one allows. */
let session = { required: false, name: null, scopes: [] };

const token = () => sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);

/** What requests carry; nothing where no token was entered. */
export const authorization = () => bearing(token());
const bearing = (secret) => (secret ? { Authorization: `Bearer ${secret}` } : {});

export const may = (scope) => !session.required || session.scopes.includes(scope);

/** The dialog, and the banner that says when the service wants a token, or another. */
export async function beginAccess() {
  $('key').onclick = open;
  $('access-form').onsubmit = enter;
  $('forget').onclick = forget;
  $('access-close').onclick = () => $('access').close();
  document.addEventListener('refused', ({ detail }) => banner(detail.status === 401 ? lacking() : detail.message));
  document.addEventListener('service', (event) => event.detail && introduce());
  await introduce();
}

/** What the service says of a token; null without an answer. */
async function sessionOf(secret) {
  const response = await fetch('/api/v1/session', { headers: bearing(secret) }).catch(() => null);
  return response?.ok ? response.json() : null;
}

/** Ask what the token allows; without an answer, what was known stays. */
async function introduce() {
  session = (await sessionOf(token())) ?? session;
  if (session.required && !session.scopes.length) banner(lacking());
  else $('refused').hidden = true;
  show();
}

async function enter(event) {
  event.preventDefault();
  const secret = $('token').value.trim();
  const found = await sessionOf(secret);
  if (found === null) return say('The service does not answer.', true);
  if (found.required && found.name === null) return say('There is no such token; it may have been revoked.', true);
  keep(secret, $('keep-long').checked);
  await leaveDialog();
}

async function forget() {
  keep('');
  await leaveDialog();
}

/** All that was refused is asked again. */
async function leaveDialog() {
  $('access').close();
  await introduce();
  document.dispatchEvent(new CustomEvent('again'));
}

/** Keep a token in this tab, or on this device; an empty one is none. */
function keep(value, forLong = false) {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
  if (value) (forLong ? localStorage : sessionStorage).setItem(NAME, value);
}

// ---- what is shown ----

function open() {
  $('token').value = '';
  $('keep-long').checked = localStorage.getItem(NAME) !== null;
  show();
  $('access').showModal();
  $('token').focus();
}

function show() {
  const kept = token() !== null;
  $('key').classList.toggle('kept', kept);
  $('key').setAttribute('aria-label', kept ? 'Access: a token is kept' : 'Access: enter a token');
  $('forget').hidden = !kept;
  say(described(kept), false);
}

function described(kept) {
  if (!session.required) return 'This service needs no token.';
  if (!kept || session.name === null) return 'The operator of the service can make one: kingpair token create.';
  const where = localStorage.getItem(NAME) === null ? 'until this tab is closed' : 'on this device';
  return `“${session.name}” is kept ${where}. It may ${session.scopes.map((scope) => MEANING[scope] ?? scope).join(', ')}.`;
}

function say(text, wrong) {
  $('access-now').textContent = text;
  $('access-now').classList.toggle('wrong', wrong);
}

const lacking = () => (token() === null ? 'This service asks for a token.' : 'The token is not known here; it may have been revoked.');

function banner(text) {
  const button = make('button', { type: 'button', onclick: open }, token() === null ? 'Enter a token' : 'Use another token');
  $('refused').replaceChildren(make('span', {}, text), button);
  $('refused').hidden = false;
}
