/** What is wrong with one file of a release; `where` is a member, a line or ''. */
export interface ReleaseFault {
  readonly file: string;
  readonly where: string;
  readonly detail: string;
}

export type BodyFault = readonly [where: string, detail: string];

/** Faults that are kept; more are only counted. */
export const FAULTS_MAX = 100;

/** Gathers faults in memory that does not grow with them. */
export class Faults {
  readonly kept: ReleaseFault[] = [];
  count = 0;

  add(file: string, where: string, detail: string): void {
    this.count += 1;
    if (this.kept.length < FAULTS_MAX) this.kept.push({ file, where, detail });
  }

  addAll({ faults, faultCount }: { faults: readonly ReleaseFault[]; faultCount: number }): void {
    this.count += faultCount;
    this.kept.push(...faults.slice(0, FAULTS_MAX - this.kept.length));
  }

  /** Takes over what was gathered elsewhere about files that are not named yet. */
  addUnnamed({ kept }: Faults): void {
    const named = new Set(this.kept.map(({ file }) => file));
    for (const { file, where, detail } of kept) if (!named.has(file)) this.add(file, where, detail);
  }
}

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
  filings: 'filings that their answers follow from',
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

export function count(tally: Tally, name: Counted, more = 1): void {
  if (more > 0) tally[name] = (tally[name] ?? 0) + more;
}

export function inOrder(tally: Tally): Tally {
  const names = Object.keys(COUNTED) as Counted[];
  return Object.fromEntries(
    names.filter((name) => tally[name] !== undefined).map((name) => [name, tally[name]]),
  );
}
