import { defined } from '../../../contract/defined.ts';
import { type Html, html, sitePage } from '../../../contract/html.ts';
import { isObject } from '../../../contract/strict-json.ts';
import type { Issuer } from '../../seal/sealer.ts';
import type { Assets } from './assets.ts';

type Json = Readonly<Record<string, unknown>>;

/** Legal values that a parameter shows. */
const ENUM_SHOWN = 12;
/** How deep the members of a schema are told apart. */
const DEPTH_MAX = 6;
const SCHEMA = '#/components/schemas/';
const EXAMPLE = '#/components/examples/';
const RESPONSE = '#/components/responses/';

/** `GET /docs`: an OpenAPI document as a page that needs no program. */
export function docsPage(
  document: object,
  { issuer, assets }: { readonly issuer: Issuer; readonly assets: Assets },
): string {
  const { info, tags, paths, components } = document as Readonly<Record<string, Json>>;
  const { name: issuerName, baseUrl } = issuer;
  const operations = operationsOf(defined(paths, 'the paths'));
  const title = `${issuerName}: API`;
  const description = `${operations.length} operations: what each takes, answers and costs.`;
  const schemas = Object.entries(objectOf(components?.schemas));
  return sitePage({
    title,
    description,
    issuerName,
    baseUrl,
    path: '/docs',
    styles: assets.styles,
    script: null,
    isListed: true,
    main: html`<h1>API</h1><p class="lead">${textOf(info?.description)}</p><p>${textOf(info?.['x-guidance'])}</p>
<p>The same for programs: <a href="/openapi.json">openapi.json</a>. Base address: <code>${baseUrl}</code></p>
${listOf(tags).map((tag) => tagSection(tag, operations, components ?? {}))}
<section aria-labelledby="schemas"><h2 id="schemas">Answers</h2>
${schemas.map(([name, schema]) => schemaEntry(name, objectOf(schema)))}</section>`,
  });
}

interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly facts: Json;
}

function operationsOf(paths: Json): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, facts]) => {
      return { method: method.toUpperCase(), path, facts: objectOf(facts) };
    }),
  );
}

function tagSection(tag: Json, operations: readonly DocumentedOperation[], components: Json): Html {
  const name = textOf(tag.name);
  const own = operations.filter(({ facts }) => listOf(facts.tags, String).includes(name));
  const id = `tag-${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${textOf(tag.description)} <span class="soft">${name}</span></h2>
${own.map((operation) => operationEntry(operation, components))}</section>
`;
}

function operationEntry({ method, path, facts }: DocumentedOperation, components: Json): Html {
  const price = priceWords(objectOf(objectOf(facts['x-payment-info']).price));
  const parameters = listOf(facts.parameters);
  return html`<details id="${textOf(facts.operationId)}"><summary><code>${method} ${path}</code> ${textOf(facts.summary)} <strong>${price}</strong></summary>
<div class="card"><p>${textOf(facts.description)}</p>
${parameters.length === 0 ? null : parameterTable(parameters)}${responses(objectOf(facts.responses), components)}</div></details>
`;
}

/** One price, or the lowest and the highest; nothing of what is free. */
function priceWords({ amount, min, max }: Json): string | null {
  if (amount !== undefined) return `${textOf(amount)} USD`;
  return min === undefined ? null : `${textOf(min)} to ${textOf(max)} USD`;
}

function parameterTable(parameters: readonly Json[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Parameters"><table><thead><tr><th scope="col">Parameter</th><th scope="col">Meaning</th><th scope="col">Values</th></tr></thead><tbody>${parameters.map(
    ({ name, in: place, required, description, schema, example }) =>
      html`<tr><th scope="row"><code>${textOf(name)}</code><br><span class="soft">${required === true ? 'required' : 'optional'}, in the ${textOf(place)}</span></th><td>${textOf(description)}</td><td>${valuesOf(objectOf(schema), example)}</td></tr>
`,
  )}</tbody></table></div>`;
}

function valuesOf(schema: Json, example: unknown): Html {
  const legal = listOf(schema.enum, String);
  const shown = legal.slice(0, ENUM_SHOWN).map((value) => html`<code>${value}</code> `);
  const more = legal.length - shown.length;
  const ends = [
    ...(schema.minimum === undefined ? [] : [`from ${textOf(schema.minimum)}`]),
    ...(schema.maximum === undefined ? [] : [`to ${textOf(schema.maximum)}`]),
    ...(schema.default === undefined ? [] : [`without it ${textOf(schema.default)}`]),
  ];
  return html`${textOf(schema.type)} ${ends.join(', ')} ${shown}${more > 0 ? html`and ${more} more` : null}${
    example === undefined || legal.length > 0 ? null : html`such as <code>${textOf(example)}</code>`
  }`;
}

function responses(all: Json, components: Json): Html {
  const shared = objectOf(components.responses);
  const rows = Object.entries(all).map(([status, response]) => {
    const { $ref } = objectOf(response);
    const named = $ref === undefined ? response : shared[textOf($ref).slice(RESPONSE.length)];
    const { description, content } = objectOf(named);
    const json = objectOf(objectOf(content)['application/json']);
    return html`<tr><th scope="row">${status}</th><td>${textOf(description)}</td><td>${schemaName(objectOf(json.schema))}</td></tr>
`;
  });
  const success = objectOf(
    objectOf(objectOf(objectOf(all['200']).content)['application/json']).examples,
  );
  const name = textOf(objectOf(success.example).$ref).slice(EXAMPLE.length);
  const example = objectOf(objectOf(components.examples)[name]);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Responses"><table><thead><tr><th scope="col">Status</th><th scope="col">When</th><th scope="col">Body</th></tr></thead><tbody>${rows}</tbody></table></div>${
    example.value === undefined
      ? null
      : html`<details><summary>Example: ${textOf(example.summary)}</summary><pre tabindex="0"><code>${linesOf(example.value)}</code></pre></details>`
  }`;
}

/** JSON over several lines, each escaped by itself: a line end inside of a text stays a sign. */
function linesOf(value: unknown): Html[] {
  return JSON.stringify(value, null, 1)
    .split('\n')
    .map((line) => html`${line}\n`);
}

function schemaEntry(name: string, schema: Json): Html {
  return html`<details id="schema-${name}"><summary><code>${name}</code></summary><div class="card">${members(schema, 0)}</div></details>
`;
}

/** The members of an object, as a list in a list. */
function members(schema: Json, depth: number): Html | null {
  const properties = Object.entries(objectOf(schema.properties));
  if (properties.length === 0 || depth === DEPTH_MAX) return null;
  const required = listOf(schema.required, String);
  return html`<ul>${properties.map(([name, given]) => {
    const member = objectOf(given);
    const optional = required.includes(name) ? null : html` <span class="soft">optional</span>`;
    const inner = [member, objectOf(member.items), ...listOf(member.anyOf)];
    return html`<li><code>${name}</code> ${schemaName(member)}${optional} ${textOf(member.description)}${inner.map((one) => members(one, depth + 1))}</li>
`;
  })}</ul>`;
}

/** What a schema is called: its name, or its types. */
function schemaName(schema: Json): Html | string {
  const { $ref, anyOf, type, items, enum: legal, const: only } = schema;
  if (typeof $ref === 'string' && $ref.startsWith(SCHEMA)) {
    const name = $ref.slice(SCHEMA.length);
    return html`<a href="#schema-${name}"><code>${name}</code></a>`;
  }
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  const forms = listOf(anyOf);
  if (forms.length > 0)
    return html`${forms.map((one, at) => html`${at === 0 ? '' : ' or '}${schemaName(one)}`)}`;
  if (type === 'array') return html`list of ${schemaName(objectOf(items))}`;
  const words = listOf(legal, String).slice(0, ENUM_SHOWN);
  if (words.length > 0) return html`${words.map((word) => html`<code>${word}</code> `)}`;
  return Array.isArray(type) ? type.join(' or ') : textOf(type);
}

function objectOf(value: unknown): Json {
  return isObject(value) ? (value as Json) : {};
}

function listOf<Item = Json>(
  value: unknown,
  as: (each: unknown) => Item = objectOf as (each: unknown) => Item,
): Item[] {
  return Array.isArray(value) ? value.map(as) : [];
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}
