import { lineOf, SIGNALS } from '../compiler/contract/lines.ts';
import { CATALOG_PATH, type CatalogRow, parseCatalogRow } from '../compiler/contract/release.ts';
import { perRelease } from './per-release.ts';
import type { ReleaseIndex } from './release-index.ts';
import { type Answered, jsonContent, KEEP_FOR_RELEASE, type Question } from './service.ts';

/** Pairs after which a page of the catalog ends, at the end of a signal. */
export const CATALOG_PAGE_PAIRS = 500;

/** Latest readings by signal id, in the order of the table; a signal without readings is missing. */
export type CatalogRows = ReadonlyMap<string, readonly CatalogRow[]>;

/** The compiled list of latest readings; empty when the release has none. */
export const catalogRows = perRelease(async (release: ReleaseIndex): Promise<CatalogRows> => {
  if (!release.has(CATALOG_PATH)) return new Map();
  const { bytes } = await release.body(CATALOG_PATH);
  const rows = new Map<string, CatalogRow[]>(SIGNALS.map((signal) => [signal.id, []]));
  for (const line of bytes.toString('utf8').split('\n').slice(0, -1)) {
    const row = parseCatalogRow(line);
    rows.get(row.signal_id)?.push(row);
  }
  return new Map([...rows].filter(([, list]) => list.length > 0));
});

interface CatalogSignal {
  readonly signal_id: string;
  readonly industry: string;
  readonly entities: readonly {
    readonly entity: string;
    readonly name: string | null;
    readonly entity_name: string | null;
  }[];
}

/** `/gauge/catalog`: legal pairs, filtered, whole or paged. */
export async function catalog(question: Question, release: ReleaseIndex): Promise<Answered> {
  const { signal_id: signalId, industry, all, page = '1' } = question.route.values;
  const rows = await catalogRows(release);
  const signals = [...rows.entries()]
    .map(([id, list]) => catalogSignal(id, list))
    .filter((row) => signalId === undefined || row.signal_id === signalId)
    .filter((row) => industry === undefined || row.industry === industry);
  const whole = all !== undefined || signalId !== undefined || industry !== undefined;
  const pages = whole ? [signals] : paged(signals);
  return jsonContent(catalogPage(pages, Number(page)), KEEP_FOR_RELEASE);
}

function catalogSignal(id: string, list: readonly CatalogRow[]): CatalogSignal {
  return {
    signal_id: id,
    industry: lineOf(id)?.industry ?? '',
    entities: list.map(({ entity, entity_name: name }) => ({ entity, name, entity_name: name })),
  };
}

/** Cuts at the end of a signal, so that the entities of one signal are never spread over pages. */
function paged(signals: readonly CatalogSignal[]): CatalogSignal[][] {
  const pages: CatalogSignal[][] = [];
  let pairs = CATALOG_PAGE_PAIRS;
  for (const signal of signals) {
    if (pairs >= CATALOG_PAGE_PAIRS) {
      pages.push([]);
      pairs = 0;
    }
    pages.at(-1)?.push(signal);
    pairs += signal.entities.length;
  }
  return pages;
}

function catalogPage(pages: readonly (readonly CatalogSignal[])[], page: number): object {
  const signals = pages[page - 1] ?? [];
  const pairs = pages.flat().reduce((sum, signal) => sum + signal.entities.length, 0);
  return {
    signals,
    page,
    pages: pages.length,
    total_signals: pages.flat().length,
    total_pairs: pairs,
    next: page < pages.length ? `/gauge/catalog?page=${page + 1}` : null,
    all: '/gauge/catalog?all=1',
  };
}
