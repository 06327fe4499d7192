import { join } from 'node:path';
import { SITE_DOCS_PATH, SITE_FOLDER } from '../catalog/site.ts';
import { defined } from '../format/errors.ts';
import { Html, html, sitePage } from '../format/html.ts';
import { isObject } from '../format/strict-json.ts';
import type { Press } from '../release/press.ts';
import { PACKAGE_FOLDER } from '../system/package-folder.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import type { Issuer } from '../system/sealer.ts';
import { siteAssets } from './pages.ts';

// `/docs`: the documents of Signalpress and the OpenAPI document of this shop as pages that need no program.

/** A section of the documents, as `npm run build` rendered them (scripts/build-docs.ts). */
interface DocSection {
  readonly title: string;
  readonly pages: readonly {
    readonly name: string;
    readonly title: string;
    readonly html: string;
    readonly parts: readonly {
      readonly id: string;
      readonly heading: string;
      readonly text: string;
    }[];
  }[];
}

const RENDERED = join(PACKAGE_FOLDER, 'build', 'compiler', 'page', 'docs.json');
let known: readonly DocSection[] | null = null;

function docSections(): readonly DocSection[] {
  known ??= JSON.parse(readPlain(RENDERED, STORED_BYTES_MAX).toString('utf8')) as DocSection[];
  return known;
}

/** Characters of a part that the search reads. */
const FOUND_CHARS_MAX = 1200;

/** A link of the list that every page of the documents has. */
interface DocLink {
  readonly href: string;
  readonly title: string;
}

/** Writes the index of the documents, a page each, one for each tag of the OpenAPI document, and what the search reads. */
export function describeDocs(press: Press, document: object): void {
  const { issuer } = press;
  const sections = docSections();
  const api = apiPages(document);
  const lists = [
    ...sections.map(({ title, pages }) => ({
      title,
      links: pages.map((page): DocLink => ({ href: `/docs/${page.name}`, title: page.title })),
    })),
    {
      title: 'API of this shop',
      links: api.map(({ name, title }): DocLink => ({ href: `/docs/${name}`, title })),
    },
  ];
  const put = (
    path: string,
    page: { url: string; title: string; description: string; content: Html },
  ): void => press.pack(path, docPage(page, { issuer, lists }));
  const listed = lists.map(
    ({ title, links }) => html`<h2>${title}</h2><ul>${links.map(linkItem)}</ul>
`,
  );
  const description =
    'How to buy, how to publish, how to verify, and every operation of this shop.';
  put(SITE_DOCS_PATH, {
    url: '/docs',
    title: 'Documents',
    description,
    content: html`<h1>Documents</h1><p class="lead">${description}</p>
${listed}`,
  });
  for (const { pages } of sections) {
    for (const { name, title, html: rendered, parts } of pages) {
      const [first] = parts.flatMap(({ text }) => (text === '' ? [] : [text]));
      const description = (first ?? title).slice(0, 200);
      put(docPath(name), { url: `/docs/${name}`, title, description, content: new Html(rendered) });
    }
  }
  for (const { name, title, description, content } of api) {
    put(docPath(name), { url: `/docs/${name}`, title, description, content });
  }
  const found = sections.flatMap(({ pages }) =>
    pages.flatMap((page) =>
      page.parts.map(({ id, heading, text }) => ({
        href: `/docs/${page.name}#${id}`,
        title: heading,
        page: page.title,
        text: text.slice(0, FOUND_CHARS_MAX),
      })),
    ),
  );
  press.pack(
    `${SITE_FOLDER}/data/docs.json`,
    JSON.stringify([...found, ...api.flatMap(({ found }) => found)]),
  );
}

function docPath(name: string): string {
  return `${SITE_FOLDER}/docs/${name}`;
}

function linkItem({ href, title }: DocLink): Html {
  return html`<li><a href="${href}">${title}</a></li>
`;
}

function docPage(
  page: { url: string; title: string; description: string; content: Html },
  {
    issuer,
    lists,
  }: { issuer: Issuer; lists: readonly { title: string; links: readonly DocLink[] }[] },
): string {
  const { name: issuerName, baseUrl } = issuer;
  const { styles, docsScript } = siteAssets();
  const nav = lists.map(
    ({
      title,
      links,
    }) => html`<details${new Html(links.some(({ href }) => href === page.url) ? ' open' : '')}><summary>${title}</summary><ul>${links.map(
      (link) =>
        link.href === page.url
          ? html`<li><a href="${link.href}" aria-current="page">${link.title}</a></li>
`
          : linkItem(link),
    )}</ul></details>
`,
  );
  return sitePage({
    title: `${page.title}, ${issuerName}`,
    description: page.description,
    issuerName,
    baseUrl,
    path: page.url,
    styles,
    script: docsScript,
    isListed: true,
    main: html`<div class="docs"><nav class="docs-nav" aria-label="Documents"><div id="docs-search" hidden></div>
<p><a href="/docs">All documents</a></p>${nav}</nav>
<div class="doc">${page.content}</div></div>`,
  });
}

type Json = Readonly<Record<string, unknown>>;

const ENUM_SHOWN = 12;
/** How deep the members of a schema are told apart. */
const DEPTH_MAX = 6;
const SCHEMA = '#/components/schemas/';
const EXAMPLE = '#/components/examples/';
const RESPONSE = '#/components/responses/';

/** The OpenAPI document as an overview and one page for each tag, with the schemas that its operations answer. */
function apiPages(document: object) {
  const { info, tags, paths, components = {} } = document as Readonly<Record<string, Json>>;
  const operations = operationsOf(defined(paths, 'the paths'));
  const all = listOf(tags).map((tag) => {
    const name = textOf(tag.name);
    const own = operations.filter(({ facts }) => listOf(facts.tags, String).includes(name));
    return {
      name: `api-${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`,
      title: textOf(tag.description),
      own,
    };
  });
  const overview = {
    name: 'api',
    title: 'Every operation',
    description: `${operations.length} operations: what each takes, answers and costs.`,
    content: html`<h1>API</h1><p class="lead">${textOf(info?.description)}</p><p>${textOf(info?.['x-guidance'])}</p>
<p>The same for programs: <a href="/openapi.json">openapi.json</a>.</p>
${all.map(
  ({ name, title, own }) => html`<h2>${title}</h2><ul>${own.map(
    ({
      method,
      path,
      facts,
    }) => html`<li><a href="/docs/${name}#${textOf(facts.operationId)}"><code>${method} ${path}</code></a> ${textOf(facts.summary)}</li>
`,
  )}</ul>
`,
)}`,
    found: [],
  };
  const pages = all.map(({ name, title, own }) => ({
    name,
    title,
    description: `${title}: ${own.map(({ path }) => path).join(', ')}`.slice(0, 200),
    content: html`<h1>${title}</h1>
${own.map((operation) => operationEntry(operation, components))}
<h2 id="answers">Answers</h2>
${schemasOf(own, components).map(([schema, body]) => schemaEntry(schema, body))}`,
    found: own.map(({ method, path, facts }) => ({
      href: `/docs/${name}#${textOf(facts.operationId)}`,
      title: `${method} ${path}`,
      page: title,
      text: `${textOf(facts.summary)} ${textOf(facts.description)}`,
    })),
  }));
  return [overview, ...pages];
}

/** The schemas that operations answer, and those that these name, in the order of the document. */
function schemasOf(
  operations: readonly DocumentedOperation[],
  components: Json,
): (readonly [string, Json])[] {
  const schemas = objectOf(components.schemas);
  const named = new Set<string>();
  const shared = objectOf(components.responses);
  const look = (value: unknown): void => {
    const text = JSON.stringify(value) ?? '';
    for (const [, kind, name = ''] of text.matchAll(
      /"#\/components\/(schemas|responses)\/([^"]+)"/g,
    )) {
      if (kind === 'responses') look(shared[name]);
      else if (!named.has(name)) {
        named.add(name);
        look(schemas[name]);
      }
    }
  };
  look(operations.map(({ facts }) => facts.responses));
  return Object.entries(schemas)
    .filter(([name]) => named.has(name))
    .map(([name, schema]) => [name, objectOf(schema)] as const);
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
