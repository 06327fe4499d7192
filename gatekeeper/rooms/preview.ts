import { canonicalTarget } from '../../compiler/contract/canonical-request.ts';
import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import type { Line } from '../../compiler/contract/catalog/line.ts';
import { DOCUMENT_ENDPOINTS } from '../../compiler/contract/document-bodies.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { parseFilePath } from '../../compiler/contract/path.ts';
import { atomicAmount, priceBySignal, priceOf } from '../../compiler/contract/price.ts';
import type { Release } from '../../compiler/contract/release.ts';
import { CATALOG_URL } from '../../compiler/contract/static-files.ts';
import {
  type Answered,
  type ContentAnswer,
  KEEP_FOR_RELEASE,
  MISS,
  type Service,
} from '../answers/service.ts';
import { sellsNow } from '../offer/example-request.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { catalogCounts } from './catalog.ts';
import { FREE_BYTES_MAX, jsonContent } from './json-content.ts';

/** Entities that one list shows; the catalog has them all. */
const PREVIEW_LIST_MAX = 500;
/** As many as fit: with long ids fewer are shown. */
const LIST_LENGTHS: readonly number[] = [PREVIEW_LIST_MAX, 100, 10];

/** Lists that are not called after their path. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  '/gauge/filing-company': 'filing_watchlist',
};

/**
 * `/gauge/preview`: counts, the price menu, one list of legal values per bundle, and the stored documents. Computed, because
 * what is sold follows from what the operator has switched on.
 */
export async function preview({ release }: Service): Promise<Answered> {
  const counts = await catalogCounts(release);
  const answers = LIST_LENGTHS.map(
    (max) => () => jsonContent(body(release, counts, max), KEEP_FOR_RELEASE),
  );
  return firstThatFits(answers);
}

/** The first answer that fits the limit of free answers, else the last. */
function firstThatFits(answers: readonly (() => ContentAnswer)[]): Answered {
  let shortest: Answered = MISS;
  for (const make of answers) {
    const answered = make();
    if (answered.content.body.length <= FREE_BYTES_MAX) return answered;
    shortest = answered;
  }
  return shortest;
}

function body(release: ReleaseIndex, counts: object, max: number): object {
  const { head, catalog } = release;
  const sold = catalog.operations.filter((row) => sellsNow(row, release));
  const priced = sold.filter((row) => row.priceUsd !== null);
  const gated = sold.filter((row) => row.token);
  return {
    nature: 'What is sold here; descriptive official readings, no forecast, no advice',
    as_of: head.as_of,
    counts: {
      ...stockCounts(head),
      ...counts,
      endpoints: sold.length,
      paid_endpoints: priced.length,
      token_endpoints: gated.length,
      free_endpoints: sold.length - priced.length - gated.length,
    },
    prices: priced.map(priceRow),
    ...Object.fromEntries(catalog.lines.flatMap((row) => bundleList(row, release, max))),
    ...(isCut(catalog, max)
      ? { lists: `at most ${max} names each; all are in ${CATALOG_URL}` }
      : {}),
    documents: documentRequests(release, max),
    catalog: '/gauge/catalog',
    coverage: '/gauge/coverage?summary=1',
    sample: '/gauge/sample',
  };
}

function isCut({ lines }: Catalog, max: number): boolean {
  return lines.some(({ bundle, entities }) => bundle !== undefined && entities.length > max);
}

/** What is stored, beside the counts that the catalog tells too. */
function stockCounts({ counts }: Release): object {
  const { entities, ...others } = counts;
  return others;
}

function priceRow(row: Endpoint): object {
  const { path, summary, params } = row;
  const required = Object.keys(params).filter((name) => params[name]?.required);
  const price = priceOf(row);
  const bySignal = priceBySignal(row);
  const other = bySignal === null ? {} : { price_by_signal: bySignal };
  return { path, price_usd: price, price_atomic: atomicAmount(price), ...other, required, summary };
}

function bundleList(
  row: Line,
  release: ReleaseIndex,
  max: number,
): (readonly [string, readonly string[]])[] {
  if (row.bundle === undefined) return [];
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
  return DOCUMENT_ENDPOINTS.flatMap((endpoint) => {
    const { path, file = '' } = endpoint;
    const stored = release.files.pathsUnder(file.slice(0, file.search(/\{|$/)), max);
    return stored.flatMap((each) => {
      const values = parseFilePath(endpoint, each);
      return values === null ? [] : [canonicalTarget(path, values)];
    });
  });
}
