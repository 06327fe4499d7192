import { lineOf, SIGNALS } from '../compiler/contract/lines.ts';
import { CATALOG_PATH, type CatalogRow, parseCatalogRow } from '../compiler/contract/release.ts';
import { perRelease } from './per-release.ts';
import type { ReleaseIndex } from './release-index.ts';
import { type Answered, KEEP_FOR_RELEASE, type Question } from './service.ts';

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

/** One signal of the catalog, its JSON made once: the whole list is long and free. */
interface CatalogSignal {
  readonly signalId: string;
  readonly industry: string;
  readonly pairs: number;
  readonly json: string;
}

const catalogSignals = perRelease(async (release: ReleaseIndex): Promise<CatalogSignal[]> => {
  const rows = await catalogRows(release);
  return [...rows].map(([id, list]) => catalogSignal(id, list));
});

/** `/gauge/catalog`: legal pairs, filtered, whole or paged. */
export async function catalog(question: Question, release: ReleaseIndex): Promise<Answered> {
  const { signal_id: signalId, industry, all, page = '1' } = question.route.values;
  const signals = (await catalogSignals(release))
    .filter((row) => signalId === undefined || row.signalId === signalId)
    .filter((row) => industry === undefined || row.industry === industry);
  const whole = all !== undefined || signalId !== undefined || industry !== undefined;
  const pages = whole ? [signals] : paged(signals);
  const body = Buffer.from(catalogPage(pages, Number(page)), 'utf8');
  const content = { body, contentType: 'application/json', keepMs: KEEP_FOR_RELEASE };
  return { kind: 'content', content };
}

function catalogSignal(id: string, list: readonly CatalogRow[]): CatalogSignal {
  const industry = lineOf(id)?.industry ?? '';
  const entities = list.map(({ entity, entity_name: name }) => {
    return { entity, name, entity_name: name };
  });
  const json = JSON.stringify({ signal_id: id, industry, entities });
  return { signalId: id, industry, pairs: list.length, json };
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
    pairs += signal.pairs;
  }
  return pages;
}

function catalogPage(pages: readonly (readonly CatalogSignal[])[], page: number): string {
  const listed = pages.flat();
  const rest = JSON.stringify({
    page,
    pages: pages.length,
    total_signals: listed.length,
    total_pairs: listed.reduce((sum, signal) => sum + signal.pairs, 0),
    next: page < pages.length ? `/gauge/catalog?page=${page + 1}` : null,
    all: '/gauge/catalog?all=1',
  });
  const signals = (pages[page - 1] ?? []).map((signal) => signal.json);
  return `{"signals":[${signals.join(',')}],${rest.slice(1)}`;
}
