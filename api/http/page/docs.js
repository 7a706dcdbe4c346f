// The description of the interface, openapi.json, as a page.

import { beginAccess } from './access.js';
import { make } from './make.js';
import { changeTheme } from './theme.js';

const METHODS = ['get', 'post', 'delete'];
let schemas = {};

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
  const scope = described['x-scope'] ? [make('p', {}, `Needs a token of scope ${described['x-scope']}.`)] : [];
  return make('details', {},
    make('summary', {}, make('span', { class: 'method' }, method.toUpperCase()), ' ', make('code', {}, path), ' ', make('span', {}, summary)),
    parameters.length ? make('dl', {}, parameters) : null,
    make('dl', {}, answers),
    scope,
    make('pre', {}, exampleOf(path, method, described)));
}

function exampleOf(path, method, described) {
  const query = (described.parameters ?? []).filter((each) => each.in === 'query' && each.required)
    .map((each) => `${each.name}=${each.schema?.examples?.[0] ?? '…'}`).join('&');
  const place = path.replace(/{(\w+)}/g, (_, name) => described.parameters.find((each) => each.name === name)?.schema?.examples?.[0] ?? '…');
  const url = `${location.origin}${place}${query ? `?${query}` : ''}`;
  const how = { get: '', post: '-X POST ', delete: '-X DELETE ' }[method];
  const body = bodyOf(described);
  return body ? `curl '${url}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'` : `curl ${how}'${url}'`;
}

/** The smallest body that is taken: what is required, by its examples. */
function bodyOf(described) {
  const name = described.requestBody?.content?.['application/json']?.schema?.$ref?.split('/').at(-1);
  if (!name) return null;
  const { properties, required = [] } = schemas[name];
  return Object.fromEntries(required.map((key) => [key, properties[key].examples?.[0] ?? '…']));
}

async function show() {
  const described = await fetch('/openapi.json').then((response) => response.json());
  schemas = described.components?.schemas ?? {};
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

document.getElementById('theme').onclick = changeTheme;
beginAccess();
