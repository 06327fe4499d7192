/** What a verification counts, with the words of its report. */
export const COUNTED = {
  files: 'listed files, each of its size and hash',
  record_hashes: 'record hashes recomputed from their cores',
  citations: 'citations: hash, signature and key',
  contents: 'content hashes recomputed from their bodies',
  listed_hashes: 'record hashes in bodies, each an entry of the log',
  views: 'add-ons, series, previews and samples equal to their record',
  legs: 'legs, city readings, life cycles and census rows equal to their record',
  series_rows: 'rows of series chained to a signed end',
  preview_rows: 'rows of previews equal to their series',
  forms: 'thin and verifiable forms equal to the usual form',
  roster_rows: 'rows of rosters equal to their subject',
  filings: 'filings equal to the list of their filer',
  descriptions: 'descriptions of this issuer and these operations',
  catalog_lines: 'lines of the catalog equal to their record',
  lookup_lines: 'look-up lines, each current one carried by its file',
  releases: 'kept releases, each naming the one before',
  log_entries: 'entries of the log hashed again',
  checkpoints: 'signed checkpoints, each the start of the next',
  logged_hashes: 'published record hashes found in the log',
} as const;

export type Counted = keyof typeof COUNTED;

/** Counts by name; what was not looked at is absent. */
export type Tally = Partial<Record<Counted, number>>;

/** Adds to one count. */
export function count(tally: Tally, name: Counted, more = 1): void {
  if (more > 0) tally[name] = (tally[name] ?? 0) + more;
}

/** The tally in the order of the report. */
export function inOrder(tally: Tally): Tally {
  const names = Object.keys(COUNTED) as Counted[];
  return Object.fromEntries(
    names.filter((name) => tally[name] !== undefined).map((name) => [name, tally[name]]),
  );
}
