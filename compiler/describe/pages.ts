import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { howToBuy } from '../catalog/how-to-buy.ts';
import { UNSOURCED } from '../catalog/register.ts';
import { SITE_FOLDER, type SiteSignal, type SiteSignals } from '../catalog/site.ts';
import { KEYS_URL, LOG_URL } from '../catalog/static-files.ts';
import { defined } from '../format/defined.ts';
import { type Html, html, sitePage } from '../format/html.ts';
import type { IssuerKey, KeyHistory } from '../format/key-history.ts';
import type { CatalogRow } from '../format/release.ts';
import { isObject } from '../format/strict-json.ts';
import { canonicalTarget } from '../products/shapes/path.ts';
import { PACKAGE_FOLDER } from '../system/package-folder.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import type { Issuer } from '../system/sealer.ts';
import type { CatalogView } from './write-pieces.ts';

interface IndexMaterial {
  readonly issuer: Issuer;
  readonly asOf: string;
  readonly shop: SiteSignals;
  readonly assets: Assets;
  readonly catalog: CatalogView;
  readonly keys: KeyHistory;
  /** A target that answers 402: what the examples buy. */
  readonly example: string;
  /** Signals of which nothing is sold and that no source of the register feeds. */
  readonly unsourced: readonly string[];
}

/** Entities of a signal that the index shows; the catalogue has them all. */
const SHOWN_ENTITIES = 8;

/** Subjects that the index names at its top. */
const SHOWN_SUBJECTS = 6;

/** `GET /`: says everything that is needed to buy by itself. It names no time but that of the release. */
export function indexPage(material: IndexMaterial): string {
  const { issuer, asOf, shop, assets } = material;
  const { name: issuerName, baseUrl, did } = issuer;
  return sitePage({
    title: `${issuerName}: official readings, signed`,
    description: `Official readings of ${counted(shop.entities, 'entity', 'entities')} as signed JSON, sold one call at a time. Anybody can verify them offline.`,
    issuerName,
    baseUrl,
    path: '/',
    styles: assets.styles,
    script: assets.script,
    facts: { 'as-of': asOf, 'issuer-did': did, 'issuer-name': issuerName, 'base-url': baseUrl },
    isListed: true,
    main: html`${hero(material)}
${catalogue(material)}
<section id="record" aria-label="One record" hidden></section>
<section id="map" aria-label="Map" hidden></section>
<section id="bundle" aria-label="Chain" hidden></section>
${buying(material)}
${CHANGES}
${trustSection(material)}`,
  });
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function hero({ shop, asOf, issuer }: IndexMaterial): Html {
  const { entities, signals } = shop;
  const titles = [...new Set(signals.map(({ line_title }) => line_title))];
  const subjects = titles.slice(0, SHOWN_SUBJECTS);
  const more = titles.length > subjects.length ? ' and more' : '';
  return html`<div class="hero"><h1>Official readings, signed. Check them yourself.</h1>
<p class="lead">Readings of ${subjects.join(', ')}${more}, as their sources published them. Each answer is a signed JSON file: you can prove offline that nobody altered it.</p>
<p>${counted(entities, 'entity', 'entities')} of ${counted(signals.length, 'signal', 'signals')}, as of <time datetime="${asOf}">${asOf}</time>.
<a href="#buy">Buy one call at a time</a>, or look at <a href="/gauge/sample">a whole record, free</a>.</p></div>
<section id="verify" aria-labelledby="verify-title"><h2 id="verify-title">Is this genuine?</h2>
<noscript><p>Save what you bought as <code>answer.json</code>, and let the command check it. It calls nobody:</p>
<pre tabindex="0"><code>npx signalpress verify answer.json --issuer ${issuer.did}</code></pre></noscript></section>`;
}

function catalogue(material: IndexMaterial): Html {
  const { signals } = material.shop;
  const industries = [...new Set(signals.map(({ industry }) => industry))];
  return html`<section id="catalogue" aria-labelledby="catalogue-title"><h2 id="catalogue-title">Catalogue</h2>
<p class="soft">Every name leads to its last seven readings, free. A signal names what is sold about it, in USD a call.</p>
<div class="industries">${industries.map((industry) => {
    const own = signals.filter((signal) => signal.industry === industry);
    return html`<div class="industry"><h3>${titleOf(industry)}</h3>
${own.map((signal) => signalEntry(signal, material))}</div>
`;
  })}</div>${unsold(material.unsourced)}</section>`;
}

function unsold(signals: readonly string[]): Html | null {
  if (signals.length === 0) return null;
  return html`<details id="unsold"><summary>Not sold <span class="soft">${counted(signals.length, 'signal', 'signals')}, ${UNSOURCED}</span></summary>
<p>${signals.map((id) => html`<code>${id}</code> `)}</p></details>`;
}

/** `climate-policy` as `Climate policy`. */
function titleOf(id: string): string {
  return id.slice(0, 1).toUpperCase() + id.slice(1).replaceAll('-', ' ');
}

function signalEntry(signal: SiteSignal, { catalog, shop }: IndexMaterial): Html {
  const { signal_id, title, line_title, entities, sells, sample } = signal;
  const prices = new Map(shop.prices.map(({ path, price_usd }) => [path, price_usd]));
  const sold = sells.map(
    (path) => html`<li><code>${path}</code> ${defined(prices.get(path), 'the price')}</li>`,
  );
  const rest = canonicalTarget('/gauge/catalog', { signal_id });
  const free = canonicalTarget('/gauge/sample', { signal_id });
  return html`<details><summary>${titleOf(title)} <span class="soft">${line_title} · ${counted(entities, 'entity', 'entities')}</span></summary>
<ul class="entities">${firstRows(catalog, signal_id).map((row) => entityLink(row))}
<li><a href="${rest}">All ${entities.toLocaleString('en')}, as JSON</a></li></ul>
<ul class="sells" aria-label="What is sold, USD a call">${sold}</ul>${
    sample === null ? null : html`<p><a href="${free}">A whole record, free</a></p>`
  }</details>
`;
}

function firstRows(catalog: CatalogView, signalId: string): CatalogRow[] {
  const rows: CatalogRow[] = [];
  for (const row of catalog.rows(signalId)) {
    if (rows.push(row) === SHOWN_ENTITIES) break;
  }
  return rows;
}

function entityLink({ signal_id, entity, entity_name }: CatalogRow): Html {
  const target = canonicalTarget('/gauge/history-preview', { entity, signal_id });
  return html`<li><a href="${target}"><bdi>${entity_name ?? entity}</bdi></a></li>`;
}

function buying({ issuer, shop, example }: IndexMaterial): Html {
  const { baseUrl } = issuer;
  const query = new URL(example, baseUrl).searchParams;
  const [signal_id, entity] = [query.get('signal_id'), query.get('entity')];
  const pair = signal_id === null || entity === null ? null : { signal_id, entity };
  return html`<section id="buy" aria-labelledby="buy-title"><h2 id="buy-title">How to buy</h2>
<p>Ask for a paid address. It answers <strong>402</strong> with the price. Sign it with a wallet that holds USDC, and send the same request again: no account, no API key. Only a 200 is ever charged. A lost answer comes again without a second charge.</p>
${howToBuy({ baseUrl, target: example, pair })}
<p>Networks, asset and every other way to pay and to connect: <a href="/gauge/channels">/gauge/channels</a>.</p>
<h3 id="prices">Prices</h3>
<div class="scroll" tabindex="0" role="region" aria-labelledby="prices"><table><thead><tr><th scope="col">Address</th><th scope="col">What it answers</th><th scope="col" class="figure">USD a call</th></tr></thead>
<tbody>${shop.prices.map(
    ({ path, price_usd, other_prices = '', summary }) =>
      html`<tr><th scope="row"><a href="${path}"><code>${path}</code></a></th><td>${summary}</td><td class="figure">${price_usd}${other_prices}</td></tr>
`,
  )}</tbody></table></div>
<p class="soft">What is sold to holders of a subscription is listed at <a href="/gauge/preview">/gauge/preview</a>, where this shop sells any.</p></section>`;
}

const CHANGES = html`<section id="changes" aria-labelledby="changes-title"><h2 id="changes-title">What changed</h2>
<p>New and revised readings of this release, without what is sold: <a href="/changes.json">as JSON</a>, or as a <a href="/changes.atom">feed (Atom)</a>.</p></section>`;

/** Who signs, with which keys, and what keeps the signer honest. */
function trustSection({ issuer, asOf, keys }: IndexMaterial): Html {
  const { name, did, baseUrl } = issuer;
  return html`<section id="trust" aria-labelledby="trust-title"><h2 id="trust-title">Trust</h2>
<div class="cards"><div class="card"><h3>Issuer</h3><p><bdi>${name}</bdi></p><p><code>${did}</code></p>
<p class="soft">Anybody can make a key. Compare this one with a source that you trust and that is not this page.</p></div>
<div class="card"><h3>Release</h3><p id="release">As of <time datetime="${asOf}">${asOf}</time></p>
<p class="soft">The number of the release, and whether it is served in time, say <a href="/healthz">/healthz</a>.</p></div>
<div class="card"><h3>Transparency log</h3><p><a href="${LOG_URL}">Signed checkpoint</a>. Nothing that is in the log can be taken out or changed unnoticed.</p>
<p id="witnesses"><strong>Witnessed by nobody</strong> when this page was made: only the issuer says that everybody sees the same log.</p>
<p class="soft">Public time stamps of its roots: <a href="/gauge/anchor">/gauge/anchor</a>.</p></div></div>
<h3>Keys</h3><div class="scroll" tabindex="0" role="region" aria-label="Keys"><table><thead><tr><th scope="col">Key</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">Revoked from</th></tr></thead>
<tbody>${keys.keys.map(keyRow)}</tbody></table></div><p>Signed history of the keys: <a href="${KEYS_URL}">${KEYS_URL}</a></p>
<h3>Check everything yourself</h3>
<pre tabindex="0"><code>curl -s '${baseUrl}/gauge/sample' &gt; answer.json
npx signalpress verify answer.json --issuer ${did}</code></pre>
<p class="soft">Nothing is asked of this shop after the download. A body can be sent to <code>POST /verify</code> too, and a hash looked up at <code>/v/</code>.</p></section>`;
}

function keyRow({ did, valid_from, valid_until, revoked_from }: IssuerKey): Html {
  return html`<tr><th scope="row"><code>${did}</code></th><td>${valid_from ?? 'the first key'}</td><td>${valid_until ?? 'in use'}</td><td>${revoked_from ?? 'never'}</td></tr>
`;
}

type Json = Readonly<Record<string, unknown>>;

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

/** The bundled browser program, as `npm run build` left it. */
interface Assets {
  /** Path in the release, bytes; a long file comes under each coding too. */
  readonly files: readonly (readonly [path: string, bytes: Buffer])[];
  /** URL paths of what the index loads. */
  readonly script: string;
  readonly styles: readonly string[];
}

/** The picture of a shared link, beside the sources of the page. It names no operator. */
export function readPicture(): Buffer {
  return readPlain(join(PACKAGE_FOLDER, 'compiler', 'page', 'og.png'), STORED_BYTES_MAX);
}

const BUILT = join(PACKAGE_FOLDER, 'build', 'compiler', 'page');

let known: Assets | null = null;

/** Reads the bundle once; throws a RangeError where it was not built. */
export function siteAssets(): Assets {
  known ??= readAssets(BUILT);
  return known;
}

function readAssets(folder: string): Assets {
  const list = join(folder, 'bundle.json');
  if (!existsSync(list)) {
    throw new RangeError(`Cannot find the page's program at "${list}"; run npm run build`);
  }
  const { script, styles } = JSON.parse(readPlain(list, STORED_BYTES_MAX).toString('utf8')) as {
    readonly script: string;
    readonly styles: readonly string[];
  };
  const names = readdirSync(join(folder, 'assets')).sort();
  const files = names.map((name): [string, Buffer] => {
    const bytes = readPlain(join(folder, 'assets', name), STORED_BYTES_MAX);
    return [`${SITE_FOLDER}/assets/${name}`, bytes];
  });
  const url = (name: string): string => `/${SITE_FOLDER}/${name}`;
  return { files, script: url(script), styles: styles.map(url) };
}
