import { FILING_COLLECTION, type FilingFacts } from '../../contract/filing.ts';
import { newestFirst } from '../../contract/settle-filings.ts';
import type { Problem } from '../intake/compile-error.ts';
import { type FilingRow, filingRowSchema, type StoredFiling } from '../intake/filing-row.ts';
import { readCollection, type StoredRow } from '../intake/read-collection.ts';
import { jcs } from '../seal/jcs.ts';
import { coverageOf, newestListing } from './filer-listing.ts';
import { type Filer, type KeptFiling, writeFilers } from './filing-files.ts';
import type { ReadPart } from './part.ts';

/** Securities filings: one file a filing, lists of them by filer, and what may be asked for. */
export const readFilings: ReadPart = (collections, asOf) => {
  const { rows, problems } = readCollection(
    { files: collections[FILING_COLLECTION], asOf },
    filingRowSchema,
  );
  const groups = groupByFiler(rows);
  const faults: Problem[] = [...problems];
  const filers = [...groups.values()].flatMap((group) => filerOf(group, faults) ?? []);
  const sorted = onePlaceForEachTicker(filers).sort((a, b) => (a.cik < b.cik ? -1 : 1));
  return {
    problems: faults,
    rows: rows.length,
    write: (press) => {
      if (sorted.length > 0) writeFilers(sorted, press);
    },
  };
};

type Stored = StoredRow<FilingRow>;

function groupByFiler(rows: readonly Stored[]): ReadonlyMap<string, Stored[]> {
  const groups = new Map<string, Stored[]>();
  for (const stored of rows) {
    const group = groups.get(stored.row.cik);
    if (group === undefined) groups.set(stored.row.cik, [stored]);
    else group.push(stored);
  }
  return groups;
}

function filerOf(group: readonly Stored[], faults: Problem[]): Filer | null {
  const rows = group.map((stored) => stored.row);
  const listings = rows.filter((row) => row.kind === 'listing');
  const newest = newestListing(listings);
  const [first] = group;
  if (newest === undefined) {
    const { cik } = first?.row ?? { cik: '' };
    const message = `filer ${cik} has no row of kind "listing"; store the list of its filings too`;
    faults.push({ code: 'bad_field', file: first?.file ?? '', field: 'kind', message });
    return null;
  }
  const pages = rows.filter((row) => row.kind === 'page');
  return {
    ...coverageOf(newest, { listings, pages }),
    cik: newest.cik,
    name: newest.name,
    tickers: newest.tickers,
    listing: newest,
    ...settledFilings(group, faults),
  };
}

/** One row for each filing and source: a repeat keeps the first, other facts in a later batch replace it. */
function settledFilings(
  group: readonly Stored[],
  faults: Problem[],
): Pick<Filer, 'filings' | 'revised'> {
  const kept = new Map<string, KeptFiling>();
  const revised: KeptFiling[] = [];
  for (const { row, batch, file, line } of group) {
    if (row.kind !== 'filing') continue;
    const key = `${row.accession} ${row.source}`;
    const known = kept.get(key);
    if (known !== undefined && (tellsTheSame(known.row, row) || knowsLess(known.row, row)))
      continue;
    if (known !== undefined && known.batch === batch) {
      const message = `filing ${row.accession} is in this batch twice with other facts; keep one`;
      faults.push({ code: 'conflict', file, line, field: 'accession', message });
    }
    if (known !== undefined) revised.push(known);
    kept.set(key, { row, batch });
  }
  const filings = [...kept.values()].sort((a, b) => newestFirst(a.row, b.row));
  return { filings, revised };
}

function factsOf({ form, items, event_time, filing_date, disclosure_time }: FilingFacts): string {
  return jcs([form, items, event_time, filing_date, disclosure_time]);
}

function tellsTheSame(a: StoredFiling, b: StoredFiling): boolean {
  return factsOf(a) === factsOf(b);
}

/** A list whose clock could not be told takes nothing back. */
function knowsLess(known: StoredFiling, row: StoredFiling): boolean {
  const { disclosure_time } = known;
  return row.disclosure_time === null && tellsTheSame(known, { ...row, disclosure_time });
}

/** A ticker that moved to another filer belongs to the one whose list is newer. */
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
