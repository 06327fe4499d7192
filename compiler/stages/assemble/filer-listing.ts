import type { FilingCoverage } from '../../contract/settle-filings.ts';
import type { StoredListing, StoredPage } from '../intake/filing-row.ts';

/** The lists of a filer as they were collected, and the older pages that were collected apart. */
export interface Listings {
  readonly listings: readonly StoredListing[];
  readonly pages: readonly StoredPage[];
}

/** The list that speaks for a filer: the one collected last. */
export function newestListing(listings: readonly StoredListing[]): StoredListing | undefined {
  return listings.reduce<StoredListing | undefined>((newest, listing) => {
    const later = newest === undefined || at(listing) >= at(newest);
    return later ? listing : newest;
  }, undefined);
}

function at({ collected_at }: StoredListing): number {
  return Date.parse(collected_at);
}

/**
 * From which filing day on the stored filings are whole: the newest list, then older lists that reach into it, then
 * stored pages without a gap between them. Null when nothing older exists.
 */
export function coverageOf(newest: StoredListing, { listings, pages }: Listings): FilingCoverage {
  const { collected_at, source } = newest;
  let from = newest.from;
  for (const older of listings.filter((listing) => listing.source === source)) {
    const reaches = from !== null && older.collected_at.slice(0, 10) >= from;
    if (reaches && (older.from === null || older.from < (from ?? ''))) from = older.from;
  }
  if (from === null) return { collected_at, covered_from: null };
  return { collected_at, covered_from: throughPages(from, newest, pages) };
}

function throughPages(
  start: string,
  { pages: named, source }: StoredListing,
  stored: readonly StoredPage[],
): string | null {
  let from = start;
  for (const page of named) {
    const whole = stored.some(
      (one) => one.source === source && one.from <= page.from && one.to >= page.to,
    );
    if (!whole && page.from < from) return from;
    if (page.from < from) from = page.from;
  }
  return null;
}
