import { hash } from 'node:crypto';
import type { Statement } from '../../contract/citation.ts';
import { defined } from '../../contract/defined.ts';
import {
  acceptedAt,
  FILING_COLLECTION,
  FILING_SOURCE_CLASS,
  type FilingFacts,
  filingCore,
  type HashedFiling,
  isAmendment,
} from '../../contract/filing.ts';
import {
  FILERS_PATH,
  type FilerLine,
  filerPath,
  filingListPath,
  filingPath,
  formatFilerLine,
  formatFilingLine,
} from '../../contract/filing-index.ts';
import { filingLists, provenList, storedForms } from '../../contract/filing-lists.ts';
import { isMidnight, newYorkDayEnd } from '../../contract/iso-time.ts';
import { grouped } from '../../contract/lists.ts';
import type { FilerCoverage, FilingRow } from '../../contract/resolve-bodies.ts';
import { canonicalTarget } from '../../contract/route.ts';
import { type FilingCoverage, type ListGap, newestFirst } from '../../contract/settle-filings.ts';
import {
  readCollection,
  type StoredFiling,
  type StoredFilingRow,
  type StoredListing,
  type StoredPage,
  type StoredRow,
  storedFilingRowSchema,
} from '../intake/collection-rows.ts';
import type { InputFault } from '../intake/compile-error.ts';
import { batchOrder } from '../intake/list-snapshots.ts';
import { isAfter } from '../intake/reading.ts';
import type { Press } from '../publish/press.ts';
import { canonicalDigest, jcs } from '../seal/jcs.ts';
import { putRowHashes, type ReadPart, type RowHash, succeed } from './rosters/settle-rows.ts';

/** Securities filings: one file a filing, lists of them by filer, and what may be asked for. */
export const readFilings: ReadPart = (collections, asOf) => {
  const { rows, faults } = readCollection(
    { files: collections[FILING_COLLECTION], asOf },
    storedFilingRowSchema,
  );
  const groups = grouped(rows, ({ row }) => row.cik);
  const all: InputFault[] = [...faults];
  const filers = [...groups.values()].flatMap((group) => filerOf(group, all) ?? []);
  const sorted = onePlaceForEachTicker(filers.sort((a, b) => ascending(a.cik, b.cik)));
  return {
    faults: all,
    rows: rows.length,
    write: (press) => {
      if (sorted.length > 0) writeFilers(sorted, press);
    },
  };
};

type Stored = StoredRow<StoredFilingRow>;

function filerOf(group: readonly [Stored, ...Stored[]], all: InputFault[]): Filer | null {
  const rows = group.map((stored) => stored.row);
  const listings = rows.filter((row) => row.kind === 'listing');
  const newest = newestListing(listings);
  if (newest === undefined) {
    const [{ row, file }] = group;
    const message = `filer ${row.cik} has no row of kind "listing"; store the list of its filings too`;
    all.push({ code: 'bad_field', file, field: 'kind', message });
    return null;
  }
  const pages = rows.filter((row) => row.kind === 'page');
  return {
    ...coverageOf(newest, { listings, pages }),
    cik: newest.cik,
    name: newest.name,
    tickers: newest.tickers,
    listing: newest,
    ...settledFilings(group, all),
  };
}

interface PlacedFiling extends KeptFiling {
  readonly file: string;
  readonly line: number;
}

/** One row for each filing and source. */
function settledFilings(
  group: readonly Stored[],
  all: InputFault[],
): Pick<Filer, 'filings' | 'revised'> {
  const { kept, revised, conflicts } = succeed(filingsByOneClock(group).sort(byBatch), {
    keyOf: ({ row }) => `${row.accession} ${row.source}`,
    isSame: (latest, found) => addsNothing(latest.row, found.row),
    repeated: (known, found) => (addsNothing(known.row, found.row) ? known : null),
  });
  all.push(...conflicts.map(([, found]) => conflict(found)));
  return { filings: [...kept.values()].sort((a, b) => newestFirst(a.row, b.row)), revised };
}

/**
 * What a source lists of a filer in one batch, its main list and older pages, has one clock: a list that does not tell
 * which follows the others, and where they contradict each other no hour is known.
 */
function filingsByOneClock(group: readonly Stored[]): PlacedFiling[] {
  const lists = grouped(group, ({ batch, row }) => `${batch} ${row.source}`);
  return [...lists.values()].flatMap((rows) => {
    const bases = new Set(rows.map(({ row }) => row.acceptance_basis ?? 'undetermined'));
    bases.delete('undetermined');
    const [basis = 'undetermined'] = bases.size === 1 ? bases : [];
    return rows.flatMap(({ row, ...place }) =>
      row.kind === 'filing' ? [{ ...place, row: { ...row, ...acceptanceOf(row, basis) } }] : [],
    );
  });
}

/** When a filing was accepted. Midnight is no time, whoever stored it. */
function acceptanceOf(
  { disclosure_time, acceptance_written, collected_at }: StoredFiling,
  basis: NonNullable<StoredListing['acceptance_basis']>,
): Pick<StoredFiling, 'disclosure_time' | 'acceptance_basis'> {
  const unknown = { disclosure_time: null, acceptance_basis: 'undetermined' } as const;
  if (basis === 'undetermined' || basis === 'contradictory') return unknown;
  const read = acceptance_written && acceptedAt(acceptance_written, basis);
  const time = disclosure_time ?? read ?? null;
  const isTime = time !== null && !isMidnight(Date.parse(time)) && !isAfter(time, collected_at);
  return isTime ? { disclosure_time: time, acceptance_basis: basis } : unknown;
}

/** Oldest batch first; in a batch who knows the hour, then the first collected one: the order of lines decides nothing. */
function byBatch(a: PlacedFiling, b: PlacedFiling): number {
  return (
    ascending(batchOrder(a.batch), batchOrder(b.batch)) ||
    Number(a.row.disclosure_time === null) - Number(b.row.disclosure_time === null) ||
    Date.parse(a.row.collected_at) - Date.parse(b.row.collected_at) ||
    ascending(jcs(a.row), jcs(b.row))
  );
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function conflict({ row, file, line }: PlacedFiling): InputFault {
  const message = `filing ${row.accession} is in this batch twice with other facts; keep one`;
  return { code: 'conflict', file, line, field: 'accession', message };
}

/** A list whose clock could not be told takes nothing back. */
function addsNothing(known: StoredFiling, row: StoredFiling): boolean {
  const disclosure_time = row.disclosure_time ?? known.disclosure_time;
  return factsOf(known) === factsOf({ ...row, disclosure_time });
}

function factsOf({ form, items, event_time, filing_date, disclosure_time }: FilingFacts): string {
  return jcs([form, items, event_time, filing_date, disclosure_time]);
}

/** A ticker that moved to another filer belongs to the one whose list is newer, else to the first of them. */
function onePlaceForEachTicker(filers: readonly Filer[]): Filer[] {
  const owners = new Map<string, Filer>();
  for (const filer of filers) {
    for (const ticker of filer.tickers) {
      const known = owners.get(ticker);
      const newer =
        known === undefined || Date.parse(filer.collected_at) > Date.parse(known.collected_at);
      if (newer) owners.set(ticker, filer);
    }
  }
  return filers.map((filer) => ({
    ...filer,
    tickers: filer.tickers.filter((ticker) => owners.get(ticker) === filer),
  }));
}

/** The list that speaks for a filer: the one collected last, of several of that time the one of the best tier. */
export function newestListing(listings: readonly StoredListing[]): StoredListing | undefined {
  const [newest] = [...listings].sort(newestCollected);
  return newest;
}

function newestCollected(a: StoredListing, b: StoredListing): number {
  const later = Date.parse(b.collected_at) - Date.parse(a.collected_at);
  return later || (orderText(a) < orderText(b) ? -1 : 1);
}

/** Best tier first; source and text only make the order total. */
function orderText(listing: StoredListing): string {
  return `${listing.source_tier ?? '~'} ${listing.source} ${jcs(listing)}`;
}

/**
 * From which filing day on the stored filings are whole: the newest list, then older lists that reach into it, then
 * the pages that it names, where they are stored without a gap. Null when nothing older exists.
 */
export function coverageOf(
  newest: StoredListing,
  { listings, pages }: { listings: readonly StoredListing[]; pages: readonly StoredPage[] },
): FilingCoverage {
  const { collected_at, source } = newest;
  const own = listings.filter((listing) => listing.source === source).sort(newestCollected);
  const gaps = gapsOf(newest, [...own, ...pages.filter((page) => page.source === source)]);
  const from = own.reduce(reachedFrom, newest.from);
  const covered_from = from === null ? null : throughPages(from, newest, pages);
  return { collected_at, covered_from, gaps };
}

/** What could not be read: of the newest list, and before it of everything that carries it on. */
function gapsOf(newest: StoredListing, all: readonly (StoredListing | StoredPage)[]): ListGap[] {
  const { from: begin } = newest;
  const older = all.flatMap(({ gaps = [] }) => gaps);
  const reached = older.filter(({ from }) => begin !== null && from < begin);
  const each = new Map([...(newest.gaps ?? []), ...reached].map((gap) => [jcs(gap), gap]));
  return [...each.values()].sort((a, b) => (jcs(a) < jcs(b) ? -1 : 1));
}

/** The day that an older list carries on to, when it was collected after the whole day that the newer one begins on. */
function reachedFrom(from: string | null, older: StoredListing): string | null {
  if (from === null || Date.parse(older.collected_at) <= Date.parse(newYorkDayEnd(from)))
    return from;
  return older.from === null || older.from < from ? older.from : from;
}

/** A stored page is the announced one where it covers its days and, where both say how many filings, holds as many. */
function holds(stored: StoredPage, page: StoredListing['pages'][number]): boolean {
  const counts = new Set([stored.count, page.count].filter((count) => count !== undefined));
  return stored.from <= page.from && stored.to >= page.to && counts.size < 2;
}

/** A list that begins on a day and names no older page does not say that nothing is older. */
function throughPages(
  start: string,
  { pages, source }: StoredListing,
  stored: readonly StoredPage[],
): string | null {
  if (pages.length === 0) return start;
  let from = start;
  for (const page of [...pages].sort((a, b) => (a.to < b.to ? 1 : -1))) {
    const whole = stored.some((one) => one.source === source && holds(one, page));
    if (!whole && page.from < from) return from;
    if (page.from < from) from = page.from;
  }
  return null;
}

/** Filers that a preview lists; all of them may be asked for. */
const PREVIEW_FILERS_MAX = 500;

/** One listing of a filing, as it counts. */
interface KeptFiling {
  readonly row: StoredFiling;
  /** Write batch that the filing first came with as it is. */
  readonly batch: string;
}

interface Filer extends Omit<FilerLine, 'forms'> {
  readonly listing: StoredListing;
  readonly filings: readonly KeptFiling[];
  /** What later batches revised. */
  readonly revised: readonly KeptFiling[];
}

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

const ROW_NATURE =
  'A filing as its source lists it; describes the filing record, never adjudicates the event; no advice';
const FILER_NATURE =
  'What is stored of one filer; describes the collection, never adjudicates an event; no advice';

interface SealedFiling extends KeptFiling {
  readonly hashed: HashedFiling;
}

function writeFilers(filers: readonly Filer[], press: Press): void {
  const lines = filers.map((filer) => {
    const filings = filer.filings.map(sealed);
    writeFilings(filer, filings, press);
    const listed = filings.map(({ hashed }) => hashed);
    press.file(filingListPath(filer.cik), listed.map(formatFilingLine).join(''));
    return writeFiler(filer, listed, press);
  });
  press.file(FILERS_PATH, lines.map(formatFilerLine).join(''));
  writeFilingPreviews(lines, press);
}

/** A revised filing keeps its hash in the look-ups; stored as before again, it is the current one. */
function writeFilings(filer: Filer, filings: readonly SealedFiling[], press: Press): void {
  const current = filings.map((filing) => hashOf(filing, writeFiling(filer, filing, press)));
  const revised = filer.revised.map((kept) => hashOf(sealed(kept), null));
  putRowHashes(press, [...current, ...revised]);
}

/** Where the hash of a filing is found; `file` is null where another has taken its place. */
function hashOf({ row, hashed }: SealedFiling, file: string | null): RowHash {
  const { entity, observed_at } = filingCore(row.cik, hashed);
  const { record_hash } = hashed;
  return { record_hash, signal_id: null, entity, observed_at, file };
}

function sealed({ row, batch }: KeptFiling): SealedFiling {
  const snapshot_date = `${row.collected_at.slice(0, 10)}T00:00:00Z`;
  const record_hash = canonicalDigest(filingCore(row.cik, { ...row, snapshot_date }));
  return { row, batch, hashed: { ...row, snapshot_date, record_hash } };
}

function writeFiling(filer: Filer, { row, hashed }: SealedFiling, press: Press): string {
  const core = filingCore(row.cik, hashed);
  const { row: _kind, ...facts } = core;
  const body: Omit<FilingRow, '_citation'> = {
    nature: ROW_NATURE,
    entity_name: filer.name,
    ...facts,
    is_amendment: isAmendment(row.form),
    evidence_url: row.source_ref,
    grade: row.grade ?? null,
    record_hash: hashed.record_hash,
    _hash_core: core,
  };
  const path = filingPath(filer.cik, row);
  put(press, { path, entity: filer.cik }, press.sealer.seal(body, statementOf(filer, row)));
  return path;
}

function statementOf({ cik, name }: Filer, row: KeptFiling['row']): Statement {
  const { accession, form, filing_date, disclosure_time } = row;
  const accepted =
    disclosure_time === null ? 'at an hour that its source leaves open' : `at ${disclosure_time}`;
  const query = `entity=${cik}&form=${encodeURIComponent(form)}&cutoff=${filing_date}`;
  return {
    claim: `filing record of ${form} ${accession} by ${name}`,
    fact: `${form} ${accession} of ${name} (CIK ${cik}) bears the filing day ${filing_date} and was accepted ${accepted}, as ${row.source} lists it`,
    target: `/resolve?${query}`,
    observed_at: disclosure_time ?? `${filing_date}T00:00:00Z`,
    retrieved_at: row.collected_at,
  };
}

function writeFiler(filer: Filer, filings: readonly HashedFiling[], press: Press): FilerLine {
  const { cik, name, tickers, collected_at, covered_from, gaps, listing } = filer;
  const lists = filingLists(filings).map((list) => provenList(list, sha256).head);
  const covers = coversOf(filer);
  const body: Omit<FilerCoverage, '_citation'> = {
    nature: FILER_NATURE,
    entity: cik,
    entity_name: name,
    tickers: [...tickers],
    observed_at: collected_at,
    covered_from,
    gaps: [...gaps],
    covers,
    filings_count: filings.length,
    lists,
    source: listing.source,
    source_ref: listing.source_ref,
    source_tier: listing.source_tier,
    grade: listing.grade ?? null,
  };
  const statement: Statement = {
    claim: `stored filings of ${name}`,
    fact: `${filings.length} filings of ${name} (CIK ${cik}) are stored, collected until ${collected_at}: ${covers}`,
    target: '/resolve/preview',
    observed_at: collected_at,
    retrieved_at: collected_at,
  };
  const path = filerPath(cik);
  put(press, { path, entity: cik }, press.sealer.seal(body, statement));
  return { cik, name, tickers, collected_at, covered_from, gaps, forms: storedForms(lists) };
}

function coversOf({ covered_from, gaps, listing }: Filer): string {
  const whole =
    covered_from === null
      ? `the whole list of ${listing.source}, from the first filing on`
      : `the list of ${listing.source} from the filing day ${covered_from} on; of older filings some or all are not stored`;
  const spans = gaps.map(({ from, to }) => `; incomplete from the filing day ${from} to ${to}`);
  return whole + spans.join('');
}

/** A file that no operation spells: its citation is looked up like any other. */
function put(
  press: Press,
  { path, entity }: { readonly path: string; readonly entity: string },
  signed: Pick<FilingRow, 'observed_at' | '_citation'>,
): void {
  press.file(path, JSON.stringify(signed));
  const { record_hash } = signed._citation;
  const entry = { kind: 'citation', state: 'current', file: path, signal_id: null } as const;
  press.lookUp({ record_hash, ...entry, entity, observed_at: signed.observed_at });
}

const NATURE =
  'Which filers and form types have stored filing records; descriptive only, never adjudicates an event, no advice';
const CUTOFF_RULE =
  'a bare date means the whole official filing day in New York and is compared with the filing date; ' +
  'a date-time with Z or an offset is compared with the time of acceptance';
const ANSWER_RULE =
  'the newest filing of the form at or before the cutoff, else the first one after it; amendments and ' +
  'filings of the same day make it ambiguous, sources that tell different facts make it conflicting';
const NONE_RULE =
  'filed_by_cutoff is false only where the stored list is whole (covered_from is null), has no gap before the cutoff and was collected after it, else null';
const CONFIDENCE_RULE =
  'confidence is 1 for a resolved answer and 0 for every other one; it is never a probability';

/** The two free bodies that say what may be asked for. */
export function writeFilingPreviews(filers: readonly FilerLine[], press: Press): void {
  press.put('/resolve/preview', {}, previewOf('/resolve', filers));
  press.put('/resolve/proposer/preview', {}, previewOf('/resolve/proposer', filers));
}

function previewOf(path: string, filers: readonly FilerLine[]): object {
  return {
    nature: NATURE,
    filers_count: filers.length,
    filers: filers.slice(0, PREVIEW_FILERS_MAX).map(filerRow),
    source_classes: [FILING_SOURCE_CLASS],
    cutoff_rule: CUTOFF_RULE,
    answer_rule: ANSWER_RULE,
    none_rule: NONE_RULE,
    ...(path === '/resolve' ? {} : { confidence_rule: CONFIDENCE_RULE }),
    example_request: exampleOf(path, filers),
  };
}

function filerRow({ name, forms, ...filer }: FilerLine): object {
  const { cik, tickers, collected_at, covered_from, gaps } = filer;
  const entity = tickers[0] ?? cik;
  return { entity, cik, entity_name: name, tickers, forms, collected_at, covered_from, gaps };
}

function exampleOf(path: string, filers: readonly FilerLine[]): string | null {
  const filer = filers.find(({ forms }) => forms.length > 0);
  if (filer === undefined) return null;
  const { cik, tickers, forms, collected_at } = filer;
  const form = defined(forms.find((one) => one === '10-K') ?? forms[0], 'the form');
  const cutoff = collected_at.slice(0, 10);
  return canonicalTarget(path, { cutoff, entity: tickers[0] ?? cik, form });
}
