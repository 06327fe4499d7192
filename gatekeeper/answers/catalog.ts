import { canonicalTarget } from '../../compiler/contract/canonical-request.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { lineOf, SIGNALS } from '../../compiler/contract/lines.ts';
import { encodeSegment, type Values } from '../../compiler/contract/path.ts';
import { positionOf } from '../../compiler/contract/places.ts';
import { productsOf } from '../../compiler/contract/products.ts';
import { CATALOG_PATH, type CatalogRow, parseCatalogRow } from '../../compiler/contract/release.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { sellsNow } from '../offer/example-request.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { storedLines } from '../release/stored-lines.ts';
import { FREE_BYTES_MAX } from './free-bytes.ts';
import { type Answered, jsonBytes, KEEP_FOR_RELEASE, type Question } from './service.ts';

/** Pairs after which a page of the catalog ends, at the end of a signal. */
const CATALOG_PAGE_PAIRS = 500;
/** Bytes of a page beside its pairs. */
const CATALOG_FRAME_BYTES = 10_000;
/** Most bytes of one answer, for one signal or for everything at once; the rest is on the next page. */
const CATALOG_PAGE_BYTES = FREE_BYTES_MAX - CATALOG_FRAME_BYTES;

/** Latest readings by signal id, in the order of the table; a signal without readings is missing. */
export type CatalogRows = ReadonlyMap<string, readonly CatalogRow[]>;

/** The compiled list of latest readings; empty when the release has none. */
export const catalogRows = perRelease(async (release: ReleaseIndex): Promise<CatalogRows> => {
  const rows = new Map<string, CatalogRow[]>(SIGNALS.map((signal) => [signal.id, []]));
  const texts = new Map<string, string>();
  for (const line of await storedLines(CATALOG_PATH, { release, spend: FOR_EVERYBODY })) {
    const row = withSharedTexts(parseCatalogRow(line), texts);
    rows.get(row.signal_id)?.push(row);
  }
  return new Map([...rows].filter(([, list]) => list.length > 0));
});

/** A row whose texts are those of earlier rows where they say the same: 100,000 rows take 20 MB instead of 45. */
function withSharedTexts(row: CatalogRow, texts: Map<string, string>): CatalogRow {
  const shared = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  return {
    signal_id: shared(row.signal_id),
    entity: shared(row.entity),
    entity_name: row.entity_name === null ? null : shared(row.entity_name),
    observed_at: shared(row.observed_at),
    band: row.band === null ? null : shared(row.band),
    record_hash: row.record_hash,
    last_looked_at: shared(row.last_looked_at),
  };
}

/** What is stored, in the words of every list that counts it; counted once. */
export const catalogCounts = perRelease(async (release: ReleaseIndex) => {
  const all = [...(await catalogRows(release))];
  return {
    signal_ids: all.length,
    industries: new Set(all.map(([id]) => lineOf(id)?.industry)).size,
    pairs: all.reduce((sum, [, list]) => sum + list.length, 0),
    distinct_entities: new Set(all.flatMap(([, list]) => list.map(({ entity }) => entity))).size,
  };
});

/** A signal of the catalog, or a part of a long one, its JSON made once: the whole list is free. */
interface CatalogPiece {
  readonly signalId: string;
  readonly industry: string;
  readonly pairs: number;
  readonly json: string;
  readonly bytes: number;
}

const catalogPieces = perRelease(async (release: ReleaseIndex): Promise<CatalogPiece[]> => {
  const rows = await catalogRows(release);
  return [...rows].flatMap(([id, list]) => piecesOf(headOf(id, release), list));
});

/** `/gauge/catalog`: the legal pairs, filtered, in one answer if they fit, or page by page. */
export async function catalog(question: Question, release: ReleaseIndex): Promise<Answered> {
  const { page = '1', ...filters } = question.route.values;
  const { signal_id: signalId, industry } = filters;
  const pieces = (await catalogPieces(release))
    .filter((piece) => signalId === undefined || piece.signalId === signalId)
    .filter((piece) => industry === undefined || piece.industry === industry);
  const pages = paged(pieces, Object.keys(filters).length > 0 ? Infinity : CATALOG_PAGE_PAIRS);
  const body = Buffer.from(catalogPage(pages, Number(page), filters), 'utf8');
  return jsonBytes(body, KEEP_FOR_RELEASE);
}

interface SignalHead {
  readonly signal_id: string;
  readonly industry: string;
  /** Paths of the paid operations that have an answer about the signal. */
  readonly sells: readonly string[];
}

function headOf(signalId: string, release: ReleaseIndex): SignalHead {
  const sold = productsOf(signalId).filter((row) => isStocked(row, signalId, release));
  const industry = lineOf(signalId)?.industry ?? '';
  return { signal_id: signalId, industry, sells: sold.map(({ path }) => path) };
}

/** Whether something of one signal is stored for an operation that can answer about it. */
function isStocked(row: Endpoint, signalId: string, release: ReleaseIndex): boolean {
  const [folder = '', rest] = row.file?.split('{signal_id}') ?? [];
  if (rest === undefined) return sellsNow(row, release);
  const end = rest.slice(0, rest.search(/\{|$/));
  return release.pathsUnder(folder + encodeSegment(signalId) + end, 1).length > 0;
}

/** The pairs of a signal; a signal longer than a page is cut between two pairs. */
function piecesOf(signal: SignalHead, list: readonly CatalogRow[]): CatalogPiece[] {
  const pieces: string[][] = [];
  let room = 0;
  for (const { entity, entity_name: name } of list) {
    const json = JSON.stringify({
      entity,
      name,
      entity_name: name,
      ...positionOf(signal.signal_id, entity),
    });
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > room) {
      pieces.push([]);
      room = CATALOG_PAGE_BYTES;
    }
    pieces.at(-1)?.push(json);
    room -= bytes;
  }
  const { signal_id: signalId, industry } = signal;
  const head = JSON.stringify(signal).slice(0, -1);
  return pieces.map((entities) => {
    const json = `${head},"entities":[${entities.join(',')}]}`;
    return { signalId, industry, pairs: entities.length, json, bytes: Buffer.byteLength(json) };
  });
}

/** Ends a page after enough pairs, and before it gets too long. */
function paged(pieces: readonly CatalogPiece[], pairsMax: number): CatalogPiece[][] {
  const pages: CatalogPiece[][] = [];
  let pairs = Infinity;
  let bytes = 0;
  for (const piece of pieces) {
    if (pairs >= pairsMax || bytes + piece.bytes > CATALOG_PAGE_BYTES) {
      pages.push([]);
      pairs = 0;
      bytes = 0;
    }
    pages.at(-1)?.push(piece);
    pairs += piece.pairs;
    bytes += piece.bytes;
  }
  return pages;
}

function catalogPage(
  pages: readonly (readonly CatalogPiece[])[],
  page: number,
  filters: Values,
): string {
  const listed = pages.flat();
  const next = canonicalTarget('/gauge/catalog', { ...filters, page: String(page + 1) });
  const rest = JSON.stringify({
    page,
    pages: pages.length,
    total_signals: new Set(listed.map((piece) => piece.signalId)).size,
    total_pairs: listed.reduce((sum, piece) => sum + piece.pairs, 0),
    next: page < pages.length ? next : null,
    all: '/gauge/catalog?all=1',
  });
  const signals = (pages[page - 1] ?? []).map((piece) => piece.json);
  return `{"signals":[${signals.join(',')}],${rest.slice(1)}`;
}
