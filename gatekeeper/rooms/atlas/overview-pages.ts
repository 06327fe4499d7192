import type {
  SiteBundle,
  SiteEntities,
  SiteEntityRow,
  SitePiece,
} from '../../../compiler/catalog/site.ts';
import {
  chainUrl,
  lineUrl,
  placeUrl,
  recordUrl,
  releaseUrl,
} from '../../../compiler/catalog/thing-urls.ts';
import { type Html, html } from '../../../compiler/format/html.ts';
import type { ReleaseEntry } from '../../../compiler/format/release-entry.ts';
import { endpointAt } from '../../../compiler/products/products.ts';
import { canonicalTarget, filePath } from '../../../compiler/products/shapes/path.ts';
import {
  bandFor,
  counted,
  isLitBand,
  plainWords,
  sayTime,
  shown,
} from '../../../compiler/products/shapes/say.ts';
import { entryOfSequence } from '../../heart/release/log-files.ts';
import { logTip } from '../../heart/release/log-tip.ts';
import type { ReleaseReader } from '../../heart/release/release-index.ts';
import { freeReading, type Shop, type ShopSignal, saidOf, shopOf } from './free-reading.ts';
import { badge, capital, crumbs, type ThingPage, tableOf } from './parts.ts';

/** Names of a signal that the page of its line lists; the page of the signal has all. */
const LISTED_MAX = 48;

/** What a line of business has: its signals, whom they are about, and its chain. Null where nothing of it is stored. */
export async function linePage(id: string, reader: ReleaseReader): Promise<ThingPage | null> {
  const shop = await shopOf(reader);
  const line = reader.release.catalog.lines.find((one) => one.id === id);
  const signals = [...shop.signals.values()].filter((signal) => signal.line === id);
  if (line === undefined || signals.length === 0) return null;
  const bundle = shop.bundles.find((one) => one.line === id);
  const parts = await Promise.all(signals.map((signal) => signalPart(signal, reader)));
  const description =
    line.tagline ?? `${signals.map(({ title }) => title).join(', ')}: official readings, signed.`;
  const main = html`${crumbs([lineUrl(id), line.title])}
<h1>${capital(line.title)}</h1><p class="lead">${capital(description)}</p>
${bundle === undefined ? null : chainList(bundle)}
${parts}`;
  return { title: capital(line.title), description, main };
}

function chainList(bundle: SiteBundle): Html {
  const { line, title, subjects, price_usd } = bundle;
  const links = subjects
    .slice(0, LISTED_MAX)
    .map((one) => html`<li><a href="${chainUrl(line, one)}"><bdi>${shown(one)}</bdi></a></li>`);
  return html`<section aria-labelledby="chain-title"><h2 id="chain-title">One chain</h2><p>The legs of ${title} at one subject, in causal order; as one signed body for $${price_usd}.</p>
<ul class="entities">${links}</ul></section>`;
}

async function signalPart(signal: ShopSignal, reader: ReleaseReader): Promise<Html> {
  const { signal_id, title, entities, cadence } = signal;
  const rows = await firstRows(signal, reader);
  const links = rows.map(
    ([entity, name]) =>
      html`<li><a href="${recordUrl(signal_id, entity)}"><bdi>${shown(name ?? entity)}</bdi></a></li>`,
  );
  const all = html`<a href="/site/#/${encodeURIComponent(signal_id)}">all ${entities.toLocaleString('en')}</a>`;
  return html`<section><h2>${capital(title)}</h2><p class="soft">${counted(entities, 'entity', 'entities')}, ${cadence}; ${all}</p>
<ul class="entities">${links}</ul></section>`;
}

async function firstRows(
  { list }: ShopSignal,
  { release, spend }: ReleaseReader,
): Promise<readonly SiteEntityRow[]> {
  const read = async (url: string): Promise<unknown> => {
    const path = url.slice(1);
    return release.has(path) ? JSON.parse(`${(await release.body(path, spend)).bytes}`) : {};
  };
  const { rows = null, pieces = [] } = (await read(list)) as Partial<SiteEntities>;
  const [first] = pieces;
  const found =
    rows ??
    (first === undefined ? [] : (((await read(first.url)) as Partial<SitePiece>).rows ?? []));
  return found.slice(0, LISTED_MAX);
}

/** Signals that one page tells of. */
const SIGNALS_MAX = 40;

/** Everything that is known of one place, company, coin or drug; null where nothing is. */
export async function placePage(entity: string, reader: ReleaseReader): Promise<ThingPage | null> {
  const shop = await shopOf(reader);
  reader.spend(shop.signals.size / NAMES_A_UNIT);
  const own: ShopSignal[] = [];
  for (const signal of shop.signals.values()) {
    if (own.length === SIGNALS_MAX) break;
    const pair = { signal_id: signal.signal_id, entity };
    if (reader.release.has(filePath(endpointAt('/gauge/history-preview'), pair))) own.push(signal);
  }
  const readings = await Promise.all(
    own.map(({ signal_id }) => freeReading({ signal_id, entity }, reader)),
  );
  const known = readings.filter((one) => one !== null);
  const [first] = known;
  if (first === undefined) return null;
  const rows = known.map((reading) => {
    const { signal, row } = reading;
    const said = saidOf(reading);
    return html`<tr><th scope="row"><a href="${recordUrl(signal.signal_id, entity)}">${capital(signal.title)}</a></th><td><bdi>${shown(said.value)}</bdi></td><td>${badge(signal, row)}</td><td>${said.when}</td></tr>
`;
  });
  const chains = shop.bundles.filter(({ subjects }) => subjects.includes(entity));
  const description = `${first.name}: ${counted(known.length, 'official reading', 'official readings')}, signed.`;
  const main = html`${crumbs([placeUrl(entity), first.name])}
<h1><bdi>${shown(first.name)}</bdi></h1><p class="lead">What official sources say of it now.</p>
${tableOf('Readings', ['What', 'Reading', 'Class', 'Observed'], rows)}
${chains.map(({ line, title }) => html`<p>One chain: <a href="${chainUrl(line, entity)}">${title}</a>.</p>`)}`;
  const { base_url: baseUrl } = reader.release.head;
  const jsonLd = {
    '@type': 'Dataset',
    name: first.name,
    description,
    url: baseUrl + placeUrl(entity),
    spatialCoverage: first.name,
    hasPart: known.map(({ signal }) => ({
      '@type': 'Dataset',
      name: `${first.name}: ${signal.title}`,
      url: baseUrl + recordUrl(signal.signal_id, entity),
    })),
  };
  return { title: first.name, description, main, jsonLd };
}

const LIT = {
  true: ['lit', 'lit'],
  false: ['unlit', 'not lit'],
  null: ['open', 'no class'],
} as const;

/** The legs of a line at one subject, in causal order; null for a chain that is not sold here. */
export async function chainPage(
  line: string,
  subject: string,
  reader: ReleaseReader,
): Promise<ThingPage | null> {
  const shop = await shopOf(reader);
  const bundle = shop.bundles.find((one) => one.line === line);
  if (bundle === undefined || !bundle.subjects.includes(subject)) return null;
  const legs = await Promise.all(
    bundle.legs.map(({ name, signals }) => leg(name, signals, { bundle, subject, shop, reader })),
  );
  const { title, path, param, price_usd, subjects } = bundle;
  const target = canonicalTarget(path, { [param]: subject });
  const others = subjects.slice(0, LISTED_MAX).filter((one) => one !== subject);
  const description = `${title} at ${subject}: the legs of one chain in causal order, at their newest readings.`;
  const main = html`<article class="bundle">${crumbs([lineUrl(line), title])}
<h1>${capital(title)}: one chain, <bdi>${shown(subject)}</bdi></h1>
<p class="lead">Legs in causal order, at their newest readings. A leg is lit when its class is not the mildest: a state, not a judgement.</p>
<ol class="chain">${legs}</ol>
<h2>What a purchase adds</h2><p>For $${price_usd} the same legs come as one signed body: with every record hash, the count of lit legs, how far their times lie apart, and a sentence that joins them. Each leg still verifies by itself.</p>
<p><a href="${target}"><bdi>${shown(target)}</bdi></a></p>
<h2>Other subjects</h2><ul class="entities">${others.map((one) => html`<li><a href="${chainUrl(line, one)}"><bdi>${shown(one)}</bdi></a></li>`)}</ul></article>`;
  return { title: `${capital(title)}: one chain, ${subject}`, description, main };
}

interface ChainOf {
  readonly bundle: SiteBundle;
  readonly subject: string;
  readonly shop: Shop;
  readonly reader: ReleaseReader;
}

async function leg(name: string, signals: readonly string[], of: ChainOf): Promise<Html> {
  const parts = (await Promise.all(signals.map((id) => legPart(id, of)))).filter(
    (part) => part !== null,
  );
  const known = parts.filter(({ isLit }) => isLit !== null);
  const isLit = known.length === 0 ? null : known.some((part) => part.isLit === true);
  const [style, word] = LIT[`${isLit}`];
  return html`<li class="leg ${style}"><h2>${plainWords(name)} <span class="lamp">${word}</span></h2>${parts.map(({ item }) => item)}</li>`;
}

async function legPart(
  signalId: string,
  { bundle, subject, shop, reader }: ChainOf,
): Promise<{ readonly item: Html; readonly isLit: boolean | null } | null> {
  const signal = shop.signals.get(signalId);
  if (signal === undefined) return null;
  const pairs = bundle.entity_of[signalId] ?? {};
  const entity = Object.hasOwn(pairs, subject) ? (pairs[subject] ?? subject) : subject;
  const reading = await freeReading({ signal_id: signalId, entity }, reader);
  if (reading === null) {
    return {
      isLit: null,
      item: html`<div class="part">${signal.title}: no reading is stored</div>`,
    };
  }
  const { row } = reading;
  const said = saidOf(reading);
  const item = html`<div class="part"><a href="${recordUrl(signalId, entity)}">${signal.title}</a><strong class="value"><bdi>${shown(said.value)}</bdi></strong>${badge(signal, row)}<span class="soft">${said.when}</span></div>`;
  return { item, isLit: isLitBand(signal, bandFor(signal, row)) };
}

/** Releases that the log lists for people. */
const RELEASES_MAX = 24;

/** Most addresses that a sitemap may hold, by its standard. */
const SITEMAP_MAX = 50_000;
/** Names that are looked up or listed for the cost of a plain answer. */
const NAMES_A_UNIT = 50;

/** The pages of a line for search engines; null where nothing of it is stored. */
export async function lineSitemap(id: string, reader: ReleaseReader): Promise<string | null> {
  const { release, spend } = reader;
  const shop = await shopOf(reader);
  const own = [...shop.signals.values()].filter(({ line }) => line === id);
  if (own.length === 0) return null;
  const subjects = shop.bundles.find(({ line }) => line === id)?.subjects ?? [];
  const urls = [lineUrl(id), ...subjects.map((subject) => chainUrl(id, subject))];
  for (const { signal_id } of own) {
    const folder = `free/history-preview/${signal_id}/`;
    const names = release.files.namesUnder(folder, SITEMAP_MAX - urls.length);
    spend(names.length / NAMES_A_UNIT);
    // A name of a stored file is spelled as the end of an address is.
    for (const name of names) urls.push(`/r/${signal_id}/${name.slice(0, -'.json'.length)}`);
  }
  return sitemapOf(urls, reader);
}

/** The pages that belong to no line. */
export function logSitemap(reader: ReleaseReader): string {
  const releases = newestReleases(reader).map(releaseUrl);
  return sitemapOf(['/', '/docs', '/log/', ...releases], reader);
}

function sitemapOf(urls: readonly string[], { release }: ReleaseReader): string {
  const start = html`<url><loc>${release.head.base_url}`;
  // Addresses are of letters that mean nothing in markup.
  const rows = urls.map((url) => `${start}${url}</loc></url>\n`);
  return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${rows.join('')}</urlset>
`;
}

/** Sequences, newest first. */
function newestReleases({ release }: ReleaseReader): number[] {
  const { sequence } = release.head;
  return Array.from({ length: Math.min(sequence, RELEASES_MAX) }, (_, at) => sequence - at);
}

/** The log as people may look at it: its head, who cosigned it, and its newest releases. */
export async function logPage(reader: ReleaseReader): Promise<ThingPage> {
  const { proof, tree } = await logTip(reader.release);
  const { signed } = proof;
  const links = newestReleases(reader).map(
    (one) => html`<li><a href="${releaseUrl(one)}">Release ${one}</a></li>`,
  );
  const description =
    'The transparency log: an entry for each release, which nobody can take out or change unnoticed.';
  const main = html`${crumbs(['/log/', 'Log'])}
<h1>The log</h1><p class="lead">${description}</p>
<dl class="facts"><dt>Origin</dt><dd><code>${signed.origin}</code></dd><dt>Entries</dt><dd>${tree.size.toLocaleString('en')}</dd></dl>
<h2>Signed checkpoint</h2><pre tabindex="0"><code>${proof.checkpoint.split('\n').map((line) => html`${line}\n`)}</code></pre>
<p><a href="/log/checkpoint">As a file</a>, <a href="/log/vkey">its key</a>, <a href="/gauge/anchor">its time stamps</a>. <code>signalpress monitor</code> follows it, and says when it is not the same log any more.</p>
<h2>Newest releases</h2><ul class="entities">${links}</ul>`;
  return { title: 'The log', description, main, isOfNow: true };
}

/** What the log says of one release; null for one that it does not have. */
export async function releasePage(
  sequence: number,
  { release }: ReleaseReader,
): Promise<ThingPage | null> {
  const { tree } = await logTip(release);
  const found = await entryOfSequence(sequence, tree).catch((error: unknown) => {
    if (error instanceof RangeError) return null;
    throw error;
  });
  if (found === null) return null;
  const { entry, index } = found;
  const isCurrent = sequence === release.head.sequence;
  const description = `Release ${sequence}, as of ${sayTime(entry.as_of)}: ${counted(entry.new.count, 'new record hash', 'new record hashes')} of ${counted(entry.all.count, 'statement', 'statements')}.`;
  const main = html`${crumbs(['/log/', 'Log'], [releaseUrl(sequence), `Release ${sequence}`])}
<h1>Release ${sequence}</h1><p class="lead">${description} ${isCurrent ? 'It is served now.' : 'A later one is served now.'}</p>
${factsOf(entry, index)}
<p>${sequence > 1 ? html`<a href="${releaseUrl(sequence - 1)}">The one before</a>. ` : null}${isCurrent ? html`<a href="/#changes">What it changed</a>, <a href="/.well-known/release.json">its signed head</a>.` : html`<a href="${releaseUrl(sequence + 1)}">The one after</a>.`}</p>`;
  return { title: `Release ${sequence}`, description, main };
}

function factsOf({ as_of, head, all, new: taken, valid_until }: ReleaseEntry, index: number): Html {
  const facts: (readonly [string, Html | string])[] = [
    ['As of', sayTime(as_of)],
    ['Next one promised by', valid_until === null ? 'no promise' : sayTime(valid_until)],
    ['Entry of the log', (index + 1).toLocaleString('en')],
    ['Hash of its head', html`<code>${head}</code>`],
    [
      `Root over its ${counted(all.count, 'statement', 'statements')}`,
      html`<code>${all.root}</code>`,
    ],
    [
      `Root over ${counted(taken.count, 'new hash', 'new hashes')}`,
      html`<code>${taken.root}</code>`,
    ],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
