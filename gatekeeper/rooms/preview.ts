import { CATALOG_URL } from '../../compiler/catalog/static-files.ts';
import { defined } from '../../compiler/format/errors.ts';
import { DOCUMENTS } from '../../compiler/products/documents.ts';
import { endpointAt } from '../../compiler/products/products.ts';
import type { Line } from '../../compiler/products/shapes/line.ts';
import { canonicalTarget, parseFilePath } from '../../compiler/products/shapes/path.ts';
import { atomicAmount, priceBySignal, priceOf } from '../../compiler/products/shapes/price.ts';
import type { Endpoint, TableRow } from '../../compiler/products/shapes/product.ts';
import { storedFile } from '../heart/answers/answers.ts';
import {
  type Answered,
  KEEP_FOR_RELEASE,
  MISS,
  type Question,
  type Service,
} from '../heart/answers/service.ts';
import { sellsNow } from '../heart/release/offered.ts';
import { perRelease, type ReleaseIndex } from '../heart/release/release-index.ts';
import { catalogCounts } from './catalog.ts';
import { FREE_BYTES_MAX, jsonContent } from './json-content.ts';

/** How much one answer shows; the catalogue has it all. */
interface Extent {
  /** Names in one list; without any there are no lists. */
  names: number;
  /** Rows of the price menu; all of them, with the prices of single signals, where it is left out. */
  prices?: number;
}
/** As much as fits: with long ids or many lines less is shown. */
const EXTENTS: readonly Extent[] = [
  { names: 500 },
  { names: 100 },
  { names: 10 },
  { names: 0 },
  { names: 0, prices: 1000 },
];

/** Lists that are not called after their path. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  '/gauge/filing-company': 'filing_watchlist',
};

/** `/gauge/preview`: counts, prices and legal values. Computed, because it follows what the operator has switched on. */
export async function preview({ release }: Service): Promise<Answered> {
  const counts = await catalogCounts(release);
  // The first answer that fits the limit of free answers, else the last.
  let shortest: Answered = MISS;
  for (const extent of EXTENTS) {
    const answered = jsonContent(body(release, counts, extent), KEEP_FOR_RELEASE);
    if (answered.content.body.length <= FREE_BYTES_MAX) return answered;
    shortest = answered;
  }
  return shortest;
}

function body(release: ReleaseIndex, counts: object, extent: Extent): object {
  const { head, catalog } = release;
  const sold = catalog.operations.filter((row) => sellsNow(row, release));
  const priced = sold.filter((row) => row.priceUsd !== null);
  const gated = sold.filter((row) => row.token);
  // The catalog counts the entities itself.
  const { entities: _, ...stored } = head.counts;
  return {
    nature: 'What is sold here; descriptive official readings, no forecast, no advice',
    as_of: head.as_of,
    counts: {
      ...stored,
      ...counts,
      endpoints: sold.length,
      paid_endpoints: priced.length,
      token_endpoints: gated.length,
      free_endpoints: sold.length - priced.length - gated.length,
    },
    prices: priced.slice(0, extent.prices).map((row) => {
      const { path, summary, params } = row;
      const required = Object.keys(params).filter((name) => params[name]?.required);
      const price_usd = priceOf(row);
      const bySignal = extent.prices === undefined ? priceBySignal(row) : null;
      const other = bySignal === null ? {} : { price_by_signal: bySignal };
      return {
        path,
        price_usd,
        price_atomic: atomicAmount(price_usd),
        ...other,
        required,
        summary,
      };
    }),
    ...Object.fromEntries(catalog.lines.flatMap((row) => bundleList(row, release, extent.names))),
    ...cutNote(release, priced, extent),
    documents: documentRequests(release, extent.names),
    catalog: '/gauge/catalog',
    coverage: '/gauge/coverage?summary=1',
    sample: '/gauge/sample',
  };
}

/** What an answer leaves out and where that is found, each cut by itself. */
function cutNote(
  release: ReleaseIndex,
  priced: readonly Endpoint[],
  { names, prices }: Extent,
): { left_out?: string } {
  const { lines, operationByPath } = release.catalog;
  const listed = lines.filter(({ bundle }) => bundle && operationByPath.has(bundle.path));
  const isCut = (row: Line): boolean => row.entities.length > names;
  const holdsMore = (folder: string): boolean =>
    release.files.pathsUnder(folder, names + 1).length > names;
  const menu = prices === undefined ? '' : ` and ${prices} of ${priced.length} prices`;
  const isOpenCut = listed.some((row) => row.open && holdsMore(`bundle/${row.id}/`));
  const cuts = [
    listed.some(isCut) || prices !== undefined
      ? [`at most ${names} names each${menu}; all are in ${CATALOG_URL}`]
      : [],
    isOpenCut ? [`at most ${names} stored names of an open line; all are in /gauge/catalog`] : [],
    DOCUMENTS.some((row) => holdsMore(documentFolder(row)))
      ? [`at most ${names} documents of an operation; the others are asked for by its parameters`]
      : [],
  ].flat();
  return cuts.length === 0 ? {} : { left_out: cuts.join('. ') };
}

function documentFolder({ path, file }: Pick<TableRow, 'path' | 'file'>): string {
  const whole = defined(file, `the file of ${path}`);
  return whole.slice(0, whole.search(/\{|$/));
}

function bundleList(
  row: Line,
  release: ReleaseIndex,
  max: number,
): (readonly [string, readonly string[]])[] {
  if (row.bundle === undefined || max === 0) return [];
  const { path, param } = row.bundle;
  const name = LIST_NAMES[path] ?? `${path.slice('/gauge/'.length).replaceAll('-', '_')}s`;
  const endpoint = release.catalog.operationByPath.get(path);
  if (endpoint === undefined) return [];
  if (!row.open) return [[name, row.entities.slice(0, max)]];
  const stored = release.files.pathsUnder(`bundle/${row.id}/`, max).flatMap((file) => {
    return parseFilePath(endpoint, file)?.[param] ?? [];
  });
  return [[name, [...new Set([...row.entities.slice(0, max), ...stored])]]];
}

/** The request of every stored document, up to `max` an operation. */
function documentRequests(release: ReleaseIndex, max: number): string[] {
  return DOCUMENTS.flatMap((endpoint) => {
    const { path } = endpoint;
    const stored = release.files.pathsUnder(documentFolder(endpoint), max);
    return stored.flatMap((each) => {
      const values = parseFilePath(endpoint, each);
      return values === null ? [] : [canonicalTarget(path, values)];
    });
  });
}

const SEARCH_MATCHES_MAX = 50;
/** Longest text that is searched for; a service id is no longer. */
const SEARCH_CHARS_MAX = 190;
const SERVICES_MAX = 500_000;

/** Ids that are looked through for the cost of a plain answer. */
const IDS_A_UNIT = 1000;

const PRECHECK = endpointAt('/trust/precheck');
const PREVIEW = '/trust/preview';

/** Ids of all stored services, in their order. */
const serviceIds = perRelease(async (release: ReleaseIndex): Promise<readonly string[]> => {
  const file = defined(PRECHECK.file, 'the file of a service');
  const folder = file.slice(0, file.indexOf('{'));
  const paths = release.files.pathsUnder(folder, SERVICES_MAX);
  return paths.flatMap((path) => parseFilePath(PRECHECK, path)?.service ?? []);
});

/** `/trust/preview`: the stored list, or the ids that hold the text; always a 200. Computed, because the text is the caller's. */
export async function previewSearch(question: Question, service: Service): Promise<Answered> {
  const { route, spend } = question;
  const { q } = route.values;
  if (q === undefined) return storedFile(question, service);
  const wanted = q
    .trim()
    .slice(0, SEARCH_CHARS_MAX)
    .toLowerCase()
    .replaceAll(/[.\s]+/g, '-');
  const ids = wanted === '' ? [] : await serviceIds(service.release);
  spend(ids.length / IDS_A_UNIT);
  const matches = ids.filter((id) => id.includes(wanted));
  const [first] = matches;
  const body = {
    nature: 'ids of stored services; descriptive only, not a recommendation of any of them',
    q: q.slice(0, SEARCH_CHARS_MAX).toWellFormed(),
    count: matches.length,
    matches: matches.slice(0, SEARCH_MATCHES_MAX),
    more: matches.length > SEARCH_MATCHES_MAX,
    example_request:
      first === undefined ? null : canonicalTarget(PRECHECK.path, { service: first }),
    preview: PREVIEW,
  };
  return jsonContent(body, KEEP_FOR_RELEASE);
}
