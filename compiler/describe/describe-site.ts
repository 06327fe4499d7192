import type { Catalog } from '../catalog/catalog.ts';
import { sourcesOf } from '../catalog/register.ts';
import {
  SITE_CHANGES_PATH,
  SITE_FEED_PATH,
  SITE_FOLDER,
  SITE_INDEX_PATH,
  SITE_SIGNALS_URL,
  SITE_SUBJECTS_MAX,
  type SiteBundle,
  type SiteChange,
  type SiteChanges,
  type SitePrice,
  type SiteSignal,
  type SiteSignals,
} from '../catalog/site.ts';
import { LOG_SITEMAP_URL, lineSitemapUrl, recordUrl } from '../catalog/thing-urls.ts';
import { spokenOf } from '../catalog/units.ts';
import { defined } from '../format/errors.ts';
import { html } from '../format/html.ts';
import type { KeyHistory } from '../format/key-history.ts';
import { CATALOG_PATH } from '../format/release.ts';
import type { Line, SignalEntry } from '../products/shapes/line.ts';
import { canonicalTarget, decodeSegment, pairOf } from '../products/shapes/path.ts';
import { otherPrices, priceBySignal, priceOf } from '../products/shapes/price.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import { say } from '../products/shapes/say.ts';
import { needsTokens, productsOf, stockStart } from '../products/signal-products.ts';
import type { CatalogChange, CatalogNews } from '../release/catalog-changes.ts';
import type { Press } from '../release/press.ts';
import type { Issuer } from '../system/sealer.ts';
import type { Shelf } from './examples.ts';
import { worldOf } from './home.ts';
import { type ManifestEntry, rowOf } from './manifest.ts';
import { indexPage, readPicture, siteAssets } from './pages.ts';
import { CatalogView, listPath, mapPath } from './write-pieces.ts';

const FEED_MAX = 100;

export interface SiteMaterial extends ShopMaterial {
  readonly keys: KeyHistory;
  /** What differs from the release before; null where that one cannot be read. */
  readonly news: CatalogNews | null;
}

/** Writes the page for people: HTML that says everything by itself, and what its program asks for. */
export function describeSite(press: Press, material: SiteMaterial): void {
  const { issuer, asOf } = press;
  const { shelf, entries, keys } = material;
  const assets = siteAssets();
  for (const [path, bytes] of assets.files) press.file(path, bytes);
  const view = new CatalogView(shelf.read(CATALOG_PATH));
  const shop = siteSignals(material, view);
  press.pack(SITE_SIGNALS_URL.slice(1), JSON.stringify(shop));
  const example = entries.find(({ path }) => path === '/gauge')?.input_example_request ?? '/gauge';
  const sold = new Set(shop.signals.map(({ signal_id }) => signal_id));
  const unsold = material.catalog.signals.filter(({ id }) => !sold.has(id));
  const unsourced = unsold.map(({ id }) => id).filter((id) => sourcesOf(id).length === 0);
  const { catalog } = material;
  const world = worldOf({ shelf, catalog, signals: shop.signals, pair: pairOf(example) });
  const page = { issuer, asOf, shop, assets, catalog: view, keys, example, unsourced, world };
  press.pack(SITE_INDEX_PATH, indexPage(page));
  const { baseUrl } = issuer;
  const changes = siteChanges(material.news, { asOf, baseUrl });
  press.pack(SITE_CHANGES_PATH, `${JSON.stringify(changes)}\n`);
  press.pack(SITE_FEED_PATH, changesFeed(changes, issuer, material.catalog));
  press.pack(`${SITE_FOLDER}/sitemap.xml`, sitemapIndex(shop, baseUrl));
  press.file(`${SITE_FOLDER}/og.png`, readPicture());
}

/** What a reading is called that a reader has not seen. */
const WORDS: Readonly<Record<SiteChange['change'], string>> = {
  new: 'first reading',
  newer: 'new reading',
  revised: 'revised reading',
  older: 'newest reading withdrawn',
  gone: 'no longer listed',
};

/** What differs from the release before: names, times and hashes, nothing that is sold. */
export function siteChanges(
  news: CatalogNews | null,
  { asOf, baseUrl }: { readonly asOf: string; readonly baseUrl: string },
): SiteChanges {
  const changes = (news?.newest ?? []).map((change) => changeRow(change, baseUrl));
  return { as_of: asOf, counts: news?.counts ?? null, changes };
}

function changeRow({ kind, row }: CatalogChange, baseUrl: string): SiteChange {
  const { signal_id, entity, entity_name, observed_at, record_hash } = row;
  const at = (path: string): string | null =>
    kind === 'gone' ? null : baseUrl + canonicalTarget(path, { signal_id, entity });
  return {
    change: kind,
    signal_id,
    entity,
    entity_name,
    observed_at,
    record_hash,
    url: at('/gauge'),
    preview_url: at('/gauge/history-preview'),
  };
}

/** The same as an Atom feed (RFC 4287). */
export function changesFeed(
  { as_of, changes }: SiteChanges,
  { name, baseUrl }: Issuer,
  catalog: Catalog,
): string {
  const entries = changes.slice(0, FEED_MAX).map((change) => {
    const { signal_id, entity, entity_name, record_hash, preview_url } = change;
    const entry = catalog.entryById.get(signal_id);
    const zone = entry?.named[entity]?.zone;
    const said = entry === undefined ? null : say(spokenOf(entry), { ...change, zone });
    return html`<entry>
<id>${baseUrl}/v/${record_hash}#${change.change}</id>
<title>${said?.topic ?? `${entity_name ?? entity}: ${signal_id}`}, ${WORDS[change.change]}</title>
<updated>${as_of}</updated>
<link rel="alternate" href="${baseUrl + (preview_url === null ? '/#changes' : recordUrl(signal_id, entity))}"/>
<summary>${said?.whole ?? `${signal_id} of ${entity}`}</summary>
</entry>
`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${baseUrl}/changes.atom</id>
<title>${name}: what changed</title>
<updated>${as_of}</updated>
<author><name>${name}</name></author>
<link rel="self" href="${baseUrl}/changes.atom"/>
<link rel="alternate" type="text/html" href="${baseUrl}/#changes"/>
${entries}</feed>
`.toString();
}

/** Names the lists of pages, which the gatekeeper makes: one a line, and one of everything else. */
function sitemapIndex({ signals }: SiteSignals, baseUrl: string): string {
  const lines = [...new Set(signals.map(({ line }) => line))];
  const lists = [LOG_SITEMAP_URL, ...lines.map(lineSitemapUrl)].map(
    (path) => html`<sitemap><loc>${baseUrl + path}</loc></sitemap>\n`,
  );
  return html`<?xml version="1.0" encoding="utf-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${lists}</sitemapindex>
`.toString();
}

interface ShopMaterial {
  readonly catalog: Catalog;
  readonly shelf: Shelf;
  readonly entries: readonly ManifestEntry[];
  readonly counts: ReadonlyMap<string, number>;
  readonly sampleOf: (signalId: string) => string | null;
}

function siteSignals(material: ShopMaterial, view: CatalogView): SiteSignals {
  const { catalog, entries, counts } = material;
  const priced = entries.filter(
    (entry) => entry.sells_now && rowOf(entry, catalog).priceUsd !== null,
  );
  // Only a gatekeeper with a secret sells subscriptions: the page leads to the manifest instead.
  const listed = priced.map((entry) => rowOf(entry, catalog)).filter((row) => !needsTokens(row));
  const sold = new Set(listed.map(({ path }) => path));
  const signals = [...catalog.entryById.values()].filter(
    ({ signal }) => (counts.get(signal.id) ?? 0) > 0,
  );
  return {
    signals: signals.map((entry) => signalOfSite(entry, sold, material)),
    bundles: catalog.lines.flatMap((line) => bundleOf(line, material)),
    prices: listed.map(priceRow),
    entities: distinctEntities(signals, view),
    zones: Object.fromEntries(catalog.lines.flatMap((line) => zonesOf(line, catalog))),
  };
}

function distinctEntities(signals: readonly SignalEntry[], view: CatalogView): number {
  const entities = new Set<string>();
  for (const { signal } of signals)
    for (const { entity } of view.lines(signal.id)) entities.add(entity);
  return entities.size;
}

function zonesOf(
  { id }: Line,
  { namedByLine }: Catalog,
): (readonly [string, Readonly<Record<string, string>>])[] {
  const zoned = Object.entries(namedByLine.get(id) ?? {}).flatMap(([entity, { zone }]) =>
    zone === undefined ? [] : [[entity, zone] as const],
  );
  return zoned.length === 0 || zoned.length > SITE_SUBJECTS_MAX
    ? []
    : [[id, Object.fromEntries(zoned)]];
}

function priceRow(row: Endpoint): SitePrice {
  const other = otherPrices(priceBySignal(row));
  const prices = { price_usd: priceOf(row), ...(other === '' ? {} : { other_prices: other }) };
  const needed = Object.entries(row.params).filter(([, { required }]) => required);
  const asks = needed.map(([name]) => name);
  return { path: row.path, ...prices, asks, summary: row.summary };
}

function signalOfSite(
  entry: SignalEntry,
  sold: ReadonlySet<string>,
  { catalog, shelf, counts, sampleOf }: ShopMaterial,
): SiteSignal {
  const { signal, line } = entry;
  const { id, measures } = signal;
  const raw = catalog.operationByPath.get('/gauge/raw')?.params.signal_id?.enum ?? [];
  const map = mapPath(id);
  const sells = productsOf(entry, catalog.operations).filter((row) =>
    isStocked(row, id, { shelf, sold }),
  );
  const own = sells.flatMap((row) => {
    const price = priceBySignal(row)?.[id];
    return price === undefined ? [] : [[row.path, price] as const];
  });
  return {
    ...spokenOf(entry),
    signal_id: id,
    industry: line.industry,
    line: line.id,
    line_title: line.title,
    measures,
    entities: defined(counts.get(id), 'the number of entities'),
    sells: sells.map(({ path }) => path),
    ...(own.length === 0 ? {} : { prices: Object.fromEntries(own) }),
    list: `/${listPath(id)}`,
    map: shelf.has(map) ? `/${map}` : null,
    raw: raw.includes(id),
    sample: sampleOf(id),
  };
}

/** Whether something of one signal is stored for an operation that can answer about it. */
function isStocked(
  row: Endpoint,
  signalId: string,
  { shelf, sold }: { shelf: Shelf; sold: ReadonlySet<string> },
): boolean {
  const start = stockStart(row, signalId);
  if (start === null) return sold.has(row.path);
  for (const _ of shelf.under(start)) return true;
  return false;
}

function bundleOf(
  { id, title, bundle, entityOf }: Line,
  { shelf, catalog }: ShopMaterial,
): SiteBundle[] {
  const operation = bundle && catalog.operationByPath.get(bundle.path);
  if (bundle === undefined || operation === undefined) return [];
  const subjects = subjectsUnder(`bundle/${id}/`, shelf);
  if (subjects.length === 0) return [];
  const { path, param, legs } = bundle;
  const price_usd = priceOf(operation);
  const sold = { path, param, price_usd, legs };
  return [{ line: id, title, ...sold, entity_of: entityOf ?? {}, subjects }];
}

function subjectsUnder(folder: string, { under }: Shelf): string[] {
  const subjects: string[] = [];
  for (const path of under(folder)) {
    subjects.push(decodeSegment(path.slice(folder.length, -'.json'.length)));
    if (subjects.length === SITE_SUBJECTS_MAX) break;
  }
  return subjects;
}
