import type { Catalog } from '../../../contract/catalog/catalog.ts';
import type { Line, SignalEntry } from '../../../contract/catalog/line.ts';
import { defined } from '../../../contract/defined.ts';
import type { Endpoint } from '../../../contract/endpoints.ts';
import { decodeSegment, encodeSegment } from '../../../contract/path.ts';
import { otherPrices, priceBySignal, priceOf } from '../../../contract/price.ts';
import { needsTokens, productsOf } from '../../../contract/products.ts';
import {
  SITE_SUBJECTS_MAX,
  type SiteBundle,
  type SitePrice,
  type SiteSignal,
  type SiteSignals,
} from '../../../contract/site.ts';
import { metricUnit } from '../../../contract/units.ts';
import { type ManifestEntry, rowOf } from '../manifest.ts';
import type { Shelf } from '../stored-bodies.ts';
import { listPath, mapPath } from './site-paths.ts';

/** What the page is made from. */
export interface ShopMaterial {
  readonly catalog: Catalog;
  readonly shelf: Shelf;
  /** Every operation of the manifest. */
  readonly entries: readonly ManifestEntry[];
  /** How many entities each signal has. */
  readonly counts: ReadonlyMap<string, number>;
  /** Entity of the free sample of a signal. */
  readonly sampleOf: (signalId: string) => string | null;
}

/** Everything that is sold now, as the page shows it. */
export function siteSignals(material: ShopMaterial): SiteSignals {
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
    entities: [...counts.values()].reduce((sum, count) => sum + count, 0),
  };
}

function priceRow(row: Endpoint): SitePrice {
  const other = otherPrices(priceBySignal(row));
  const prices = { price_usd: priceOf(row), ...(other === '' ? {} : { other_prices: other }) };
  return { path: row.path, ...prices, summary: row.summary };
}

function signalOfSite(
  entry: SignalEntry,
  sold: ReadonlySet<string>,
  { catalog, shelf, counts, sampleOf }: ShopMaterial,
): SiteSignal {
  const { signal, line } = entry;
  const { id, measures, cadence, metrics, rulers = [], bands = [] } = signal;
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
    signal_id: id,
    industry: line.industry,
    line: line.id,
    line_title: line.title,
    measures,
    cadence,
    metrics: metrics.map((name) => ({ name, label: metricUnit(name).label })),
    scales: rulers,
    bands,
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
  const [folder = '', rest] = row.file?.split('{signal_id}') ?? [];
  if (rest === undefined) return sold.has(row.path);
  const end = rest.slice(0, rest.search(/\{|$/));
  for (const _ of shelf.under(folder + encodeSegment(signalId) + end)) return true;
  return false;
}

function bundleOf({ id, title, bundle, entityOf }: Line, { shelf, catalog }: ShopMaterial) {
  const operation = bundle && catalog.operationByPath.get(bundle.path);
  if (bundle === undefined || operation === undefined) return [];
  const subjects = subjectsUnder(`bundle/${id}/`, shelf);
  if (subjects.length === 0) return [];
  const { path, param, legs } = bundle;
  const price_usd = priceOf(operation);
  const made: SiteBundle = {
    line: id,
    title,
    path,
    param,
    price_usd,
    legs,
    entity_of: entityOf ?? {},
    subjects,
  };
  return [made];
}

function subjectsUnder(folder: string, { under }: Shelf): string[] {
  const subjects: string[] = [];
  for (const path of under(folder)) {
    subjects.push(decodeSegment(path.slice(folder.length, -'.json'.length)));
    if (subjects.length === SITE_SUBJECTS_MAX) break;
  }
  return subjects;
}
