import { newYorkDayEnd } from '../../contract/new-york-time.ts';
import type { FilingCoverage, ListGap } from '../../contract/settle-filings.ts';
import type { StoredListing, StoredPage } from '../intake/filing-row.ts';
import { jcs } from '../seal/jcs.ts';

/** The lists of a filer as they were collected, and the older pages that were collected apart. */
export interface Listings {
  readonly listings: readonly StoredListing[];
  readonly pages: readonly StoredPage[];
}

/** The list that speaks for a filer: the one collected last, of several of that time the one of the best tier. */
export function newestListing(listings: readonly StoredListing[]): StoredListing | undefined {
  const [newest] = [...listings].sort(newestFirst);
  return newest;
}

function newestFirst(a: StoredListing, b: StoredListing): number {
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
export function coverageOf(newest: StoredListing, { listings, pages }: Listings): FilingCoverage {
  const { collected_at, source } = newest;
  const own = listings.filter((listing) => listing.source === source).sort(newestFirst);
  const gaps = gapsOf(newest, { listings: own, pages: pages.filter(isOf(source)) });
  const from = own.reduce(reachedFrom, newest.from);
  const covered_from = from === null ? null : throughPages(from, newest, pages);
  return { collected_at, covered_from, gaps };
}

const isOf = (source: string) => (page: StoredPage) => page.source === source;

/** What could not be read: of the newest list, and before it of everything that carries it on. */
function gapsOf(newest: StoredListing, { listings, pages }: Listings): ListGap[] {
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
