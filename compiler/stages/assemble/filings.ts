import { acceptedAt, FILING_COLLECTION, type FilingFacts } from '../../contract/filing.ts';
import { isMidnight, newYorkDayEnd } from '../../contract/iso-time.ts';
import { grouped } from '../../contract/lists.ts';
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
import { jcs } from '../seal/jcs.ts';
import { type Filer, type KeptFiling, writeFilers } from './filing-files.ts';
import type { ReadPart } from './part.ts';
import { succeed } from './rosters/settle-rows.ts';

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

/**
 * One row for each filing and source: a repeat keeps the first, other facts in a later batch replace it, and other
 * facts in the same batch are a conflict.
 */
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

function addsNothing(known: StoredFiling, row: StoredFiling): boolean {
  return hasSameFacts(known, row) || knowsLess(known, row);
}

function factsOf({ form, items, event_time, filing_date, disclosure_time }: FilingFacts): string {
  return jcs([form, items, event_time, filing_date, disclosure_time]);
}

function hasSameFacts(a: StoredFiling, b: StoredFiling): boolean {
  return factsOf(a) === factsOf(b);
}

/** A list whose clock could not be told takes nothing back. */
function knowsLess(known: StoredFiling, row: StoredFiling): boolean {
  const { disclosure_time } = known;
  return row.disclosure_time === null && hasSameFacts(known, { ...row, disclosure_time });
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

/** The lists of a filer as they were collected, and the older pages that were collected apart. */
interface FilerListings {
  readonly listings: readonly StoredListing[];
  readonly pages: readonly StoredPage[];
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
  { listings, pages }: FilerListings,
): FilingCoverage {
  const { collected_at, source } = newest;
  const own = listings.filter((listing) => listing.source === source).sort(newestCollected);
  const gaps = gapsOf(newest, { listings: own, pages: pages.filter(isOf(source)) });
  const from = own.reduce(reachedFrom, newest.from);
  const covered_from = from === null ? null : throughPages(from, newest, pages);
  return { collected_at, covered_from, gaps };
}

const isOf = (source: string) => (page: StoredPage) => page.source === source;

/** What could not be read: of the newest list, and before it of everything that carries it on. */
function gapsOf(newest: StoredListing, { listings, pages }: FilerListings): ListGap[] {
  const { from: begin } = newest;
  const older = [...listings, ...pages].flatMap(({ gaps = [] }) => gaps);
  const reached = older.filter(({ from }) => begin !== null && from < begin);
  const all = new Map([...(newest.gaps ?? []), ...reached].map((gap) => [jcs(gap), gap]));
  return [...all.values()].sort((a, b) => (jcs(a) < jcs(b) ? -1 : 1));
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
