// The description of the interface, openapi.json, as a page.

import { make } from './make.js';

const kept = localStorage.getItem('theme');
if (kept) document.documentElement.dataset.theme = kept;

const METHODS = ['get', 'post', 'put', 'delete'];

function operation(path, method, described) {
  const summary = (described.description ?? described.summary ?? '').split('\n')[0].replaceAll('`', '');
  const parameters = (described.parameters ?? []).flatMap((each) => [
    make('dt', {}, each.name + (each.required ? '' : ' ?')),
    make('dd', {}, each.description ?? each.schema?.description ?? each.in),
  ]);
  const answers = Object.entries(described.responses ?? {}).flatMap(([status, each]) => [
    make('dt', {}, status),
    make('dd', {}, `${each.description} ${Object.keys(each.content ?? {}).join(', ')}`),
  ]);
  const example = exampleOf(path, method, described);
  return make('details', {},
    make('summary', {}, make('span', { class: 'method' }, method.toUpperCase()), ' ', make('code', {}, path), ' ', make('span', {}, summary)),
    parameters.length ? make('dl', {}, parameters) : null,
    make('dl', {}, answers),
    make('pre', {}, example));
}

function exampleOf(path, method, described) {
  const query = (described.parameters ?? []).filter((each) => each.in === 'query' && each.required)
    .map((each) => `${each.name}=${each.schema?.examples?.[0] ?? '…'}`).join('&');
  const url = `${location.origin}${path.replace('{material}', 'KQvKR')}${query ? `?${query}` : ''}`;
  if (method !== 'post') return `curl '${url}'`;
  const body = '{"fens": ["8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"]}';
  return `curl '${url}' -H 'Content-Type: application/json' -d '${body}'`;
}

async function show() {
  const described = await fetch('/openapi.json').then((response) => response.json());
  const groups = new Map();
  for (const [path, item] of Object.entries(described.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const tag = item[method].tags?.[0] ?? 'Other';
      groups.set(tag, [...(groups.get(tag) ?? []), operation(path, method, item[method])]);
    }
  }
  const sections = [...groups].flatMap(([tag, operations]) => [make('h2', {}, tag), ...operations]);
  document.getElementById('operations').replaceChildren(...sections);
}

show().catch(() => {
  document.getElementById('operations').textContent = 'The service does not answer.';
});
