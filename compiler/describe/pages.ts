import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { howToBuy } from '../catalog/how-to-buy.ts';
import { UNSOURCED } from '../catalog/register.ts';
import { SITE_FOLDER, type SiteSignal, type SiteSignals } from '../catalog/site.ts';
import { KEYS_URL, LOG_URL } from '../catalog/static-files.ts';
import { recordUrl } from '../catalog/thing-urls.ts';
import { defined } from '../format/errors.ts';
import { type Html, html, sitePage } from '../format/html.ts';
import type { IssuerKey, KeyHistory } from '../format/key-history.ts';
import type { CatalogRow } from '../format/release.ts';
import { canonicalTarget, pairOf } from '../products/shapes/path.ts';
import { counted, sayTime } from '../products/shapes/say.ts';
import { PACKAGE_FOLDER } from '../system/package-folder.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import type { Issuer } from '../system/sealer.ts';
import {
  catalogData,
  chartsSection,
  freshHours,
  mapSignal,
  nowSection,
  type World,
} from './home.ts';
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
  readonly world: World;
  /** Signals of which nothing is sold and that no source of the register feeds. */
  readonly unsourced: readonly string[];
}

/** Entities of a signal that the index shows; the catalogue has them all. */
const SHOWN_ENTITIES = 8;

/** `GET /`: says everything that is needed to buy by itself. It names no time but that of the release. */
export function indexPage(material: IndexMaterial): string {
  const { issuer, asOf, shop, assets, world } = material;
  const { name: issuerName, baseUrl, did } = issuer;
  const { signals } = shop;
  return sitePage({
    title: `${issuerName}: official readings, signed`,
    description: `Official readings of ${counted(shop.entities, 'entity', 'entities')} as signed JSON, sold one call at a time. Anybody can verify them offline.`,
    issuerName,
    baseUrl,
    path: '/',
    styles: assets.styles,
    script: assets.script,
    runsFirst: true,
    facts: {
      'as-of': asOf,
      'fresh-hours': String(freshHours(signals)),
      'issuer-did': did,
      'issuer-name': issuerName,
      'base-url': baseUrl,
    },
    isListed: true,
    jsonLd: catalogData(issuer, { signals, asOf }),
    main: html`${hero(material)}
<section id="record" aria-label="One record" hidden></section>
<section id="bought" aria-label="What I bought" hidden></section>
${nowSection(world, signals)}
${CHANGES}
${chartsSection(world)}
${mapSection(mapSignal(world, signals))}
${catalogue(material)}
${buying(material)}
${verifySection(issuer)}
${trustSection(material)}`,
  });
}

function hero({ shop, asOf }: IndexMaterial): Html {
  const { entities, signals } = shop;
  const status = `${counted(entities, 'entity', 'entities')} of ${counted(signals.length, 'signal', 'signals')}.`;
  return html`<div class="hero"><h1>What official sources say now, signed so that you can prove it later.</h1>
<search class="finder"><label for="find">Find a place, an id or what is measured</label>
<input type="search" id="find" autocomplete="off" spellcheck="false" aria-describedby="find-status">
<p id="find-status" class="soft" role="status">${status}</p><ul class="hits"></ul></search>
<p class="soft">As of <time datetime="${asOf}">${sayTime(asOf)}</time>. <strong id="age"></strong></p></div>`;
}

/** Its place is kept until the program draws the map in it. */
function mapSection(signal: string | null): Html {
  if (signal === null) return html`<section id="map" aria-label="Map" hidden></section>`;
  return html`<section id="map" aria-label="Map" data-signal="${signal}"><h2>Map</h2>
<noscript><p>The map needs a program. What is on it: <a href="/gauge/catalog">every reading, as JSON</a>.</p></noscript></section>`;
}

function verifySection({ did }: Issuer): Html {
  return html`<section id="verify" aria-labelledby="verify-title"><h2 id="verify-title">Is this genuine?</h2>
<noscript><p>Save what you bought as <code>answer.json</code>, and let the command check it. It calls nobody:</p>
<pre tabindex="0"><code>npx signalpress verify answer.json --issuer ${did}</code></pre></noscript></section>`;
}

function catalogue(material: IndexMaterial): Html {
  const { signals } = material.shop;
  const industries = [...new Set(signals.map(({ industry }) => industry))];
  return html`<section id="catalogue" aria-labelledby="catalogue-title"><h2 id="catalogue-title">Catalogue</h2>
<p class="soft">Every name leads to its newest readings, free. A signal names what is sold about it, in USD a call.</p>
<div class="industries">${industries.map((industry) => {
    const own = signals.filter((signal) => signal.industry === industry);
    return html`<div class="industry"><h3>${titleOf(industry)}</h3>
${[...new Set(own.map(({ line }) => line))].map((line) =>
  lineEntry(
    own.filter((signal) => signal.line === line),
    material,
  ),
)}</div>
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

/** The signals of one line, closed until somebody opens it. */
function lineEntry(signals: readonly SiteSignal[], material: IndexMaterial): Html {
  const title = titleOf(signals[0]?.line_title ?? '');
  return html`<details class="line"><summary>${title} <span class="soft">${counted(signals.length, 'signal', 'signals')}</span></summary>
${signals.map((signal) => signalEntry(signal, material))}</details>
`;
}

function signalEntry(signal: SiteSignal, { catalog, shop }: IndexMaterial): Html {
  const { signal_id, title, entities, sells, sample } = signal;
  const prices = new Map(shop.prices.map(({ path, price_usd }) => [path, price_usd]));
  const sold = sells.map(
    (path) => html`<li><code>${path}</code> ${defined(prices.get(path), 'the price')}</li>`,
  );
  const rest = canonicalTarget('/gauge/catalog', { signal_id });
  const free = canonicalTarget('/gauge/sample', { signal_id });
  return html`<details><summary>${titleOf(title)} <span class="soft">${counted(entities, 'entity', 'entities')}</span></summary>
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
  return html`<li><a href="${recordUrl(signal_id, entity)}"><bdi>${entity_name ?? entity}</bdi></a></li>`;
}

function buying({ issuer, shop, example }: IndexMaterial): Html {
  const { baseUrl } = issuer;
  const pair = pairOf(example);
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
<p>New and revised readings of this release, without what is sold: <a href="/changes.json">as JSON</a>, or as a <a href="/changes.atom">feed (Atom)</a>.</p><ul class="hits"></ul></section>`;

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

/** The bundled browser program, as `npm run build` left it. */
interface Assets {
  /** Path in the release, bytes; a long file comes under each coding too. */
  readonly files: readonly (readonly [path: string, bytes: Buffer])[];
  /** URL paths of what the index loads. */
  readonly script: string;
  readonly styles: readonly string[];
  /** URL path of the program of the documents. */
  readonly docsScript: string;
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
  const built = JSON.parse(readPlain(list, STORED_BYTES_MAX).toString('utf8')) as Record<
    'script' | 'docsScript',
    string
  > & { readonly styles: readonly string[] };
  const names = readdirSync(join(folder, 'assets')).sort();
  const files = names.map((name): [string, Buffer] => {
    const bytes = readPlain(join(folder, 'assets', name), STORED_BYTES_MAX);
    return [`${SITE_FOLDER}/assets/${name}`, bytes];
  });
  const url = (name: string): string => `/${SITE_FOLDER}/${name}`;
  const { script, docsScript, styles } = built;
  return { files, script: url(script), docsScript: url(docsScript), styles: styles.map(url) };
}
