import { defined } from '../../format/errors.ts';
import { DAY_MS, isMidnight, isoTime, newYorkDayEnd } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import {
  acceptedAt,
  FILING_COLLECTION,
  FILING_SOURCE_CLASS,
  type FilingFacts,
  filingCore,
  isAmendment,
} from '../../products/shapes/filing.ts';
import {
  FILERS_PATH,
  FILINGS_A_PART,
  type FilerLine,
  filingRecordsPath,
  formatFilerLine,
} from '../../products/shapes/filing-index.ts';
import { filingLists, storedForms } from '../../products/shapes/filing-lists.ts';
import { canonicalTarget } from '../../products/shapes/path.ts';
import type { FilingRow } from '../../products/shapes/resolve-bodies.ts';
import {
  type FilingCoverage,
  type ListGap,
  newestFirst,
} from '../../products/shapes/settle-filings.ts';
import { askedForms, filerAnswers } from '../../products/shapes/settlement-answers.ts';
import { endOfLook } from '../../products/shapes/settlement-intervals.ts';
import {
  readCollection,
  type StoredFiling,
  type StoredFilingRow,
  type StoredListing,
  type StoredPage,
  type StoredRow,
  storedFilingRowSchema,
} from '../../readings/collection-rows.ts';
import { batchOrder } from '../../readings/list-snapshots.ts';
import { isAfter } from '../../readings/reading.ts';
import type { Press } from '../../release/press.ts';
import type { InputFault } from '../../system/compile-error.ts';
import { canonicalDigest, jcs } from '../../system/jcs.ts';
import { putRowHashes, type ReadPart, type RowHash, succeed } from './settle-rows.ts';

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
): FilingCoverage & Pick<FilerLine, 'collected_at'> {
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
  readonly filings: readonly KeptFiling[];
  /** What later batches revised. */
  readonly revised: readonly KeptFiling[];
}

interface SealedFiling extends KeptFiling {
  readonly filing: FilingRow;
}

function writeFilers(filers: readonly Filer[], press: Press): void {
  const stored = filers.map((filer) => {
    const filings = filer.filings.map((kept) => sealed(kept));
    const forms = storedForms(filingLists(filings.map(({ filing }) => filing)));
    return { filer, filings, line: { ...filer, forms } };
  });
  const lines = stored.map(({ line }) => line);
  const forms = askedForms(lines);
  for (const { filer, filings, line } of stored) {
    writeFilings(filer, filings, press);
    const rows = filings.map(({ filing }) => filing);
    // Whatever its answers follow from is in the line: a look that found nothing new signs nothing again.
    press.group(`filer ${filer.cik}`, canonicalDigest({ line, forms }), () => {
      const { answers, indexes } = filerAnswers(line, rows, forms);
      for (const { path, body, statement } of answers) {
        press.putSigned(path, body.entity, press.sealer.seal(body, statement));
      }
      for (const [path, index] of indexes) press.file(path, JSON.stringify(index));
    });
  }
  press.file(FILERS_PATH, lines.map(formatFilerLine).join(''));
  writeFilingPreviews(lines, press);
}

/**
 * The records that all answers are made of, oldest first, so that a new filing changes the last part alone. A revised
 * filing keeps its hash in the look-ups; stored as before again, it is the current one.
 */
function writeFilings(filer: Filer, filings: readonly SealedFiling[], press: Press): void {
  const oldestFirst = [...filings].reverse();
  const current: RowHash[] = [];
  for (let from = 0; from < oldestFirst.length; from += FILINGS_A_PART) {
    const part = oldestFirst.slice(from, from + FILINGS_A_PART);
    const path = filingRecordsPath(filer.cik, from / FILINGS_A_PART);
    press.file(path, JSON.stringify({ rows: part.map(({ filing }) => filing) }));
    current.push(...part.map((one) => hashOf(one, path)));
  }
  const revised = filer.revised.map((kept) => hashOf(sealed(kept), null));
  putRowHashes(press, [...current, ...revised]);
}

/** Where the hash of a filing is found; `file` is null where another has taken its place. */
function hashOf({ filing }: SealedFiling, file: string | null): RowHash {
  const { entity, observed_at, record_hash } = filing;
  return { record_hash, signal_id: null, entity, observed_at, file };
}

function sealed({ row, batch }: KeptFiling): SealedFiling {
  const snapshot_date = `${row.collected_at.slice(0, 10)}T00:00:00Z`;
  const core = filingCore(row.cik, { ...row, snapshot_date });
  const { row: _kind, ...facts } = core;
  const filing: FilingRow = {
    ...facts,
    is_amendment: isAmendment(row.form),
    evidence_url: row.source_ref,
    grade: row.grade ?? null,
    retrieved_at: row.collected_at,
    record_hash: canonicalDigest(core),
    _hash_core: core,
  };
  return { row, batch, filing };
}

const NATURE =
  'Which filers and form types have stored filing records; descriptive only, never adjudicates an event, no advice';
const CUTOFF_RULE =
  'a bare date means the whole official filing day in New York and is compared with the filing date; ' +
  'a date-time with Z or an offset is compared with the time of acceptance';
const ANSWER_RULE =
  'the newest filing of the form at or before the cutoff, else the first one after it; amendments and ' +
  'filings of the same day make it ambiguous, sources that tell different facts make it conflicting; ' +
  'an answer is signed for all cutoffs from valid_from on, before valid_until';
const NONE_RULE =
  'filed_by_cutoff is false only where the stored list is whole (covered_from is null) and has no gap before the cutoff; ' +
  'it is null for every cutoff that is not before the last look at the list (collected_at)';
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
  // The last day that was over when the list was looked at.
  const cutoff = dayBefore(endOfLook(collected_at, 'filing_date'));
  return canonicalTarget(path, { cutoff, entity: tickers[0] ?? cik, form });
}

function dayBefore(day: string): string {
  return isoTime(Date.parse(`${day}T00:00:00Z`) - DAY_MS).slice(0, 10);
}
