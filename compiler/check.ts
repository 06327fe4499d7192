import { hash } from 'node:crypto';
import { catalogText } from './contract/catalog/whole-catalog.ts';
import { defined } from './contract/defined.ts';
import { SERIES_DAYS_MAX } from './contract/endpoints.ts';
import { type DueSignal, inlineRunner, wholeSignals } from './jobs/job-runner.ts';
import { ALWAYS, type JobResult, type SignalJob } from './jobs/signal-job.ts';
import { COLLECTION_PARTS } from './stages/assemble/collection-parts.ts';
import { byPlace, CompileError } from './stages/intake/compile-error.ts';
import { futureBatches, listSnapshots, type Snapshots } from './stages/intake/list-snapshots.ts';
import { loadCatalog } from './stages/intake/load-catalog.ts';
import { refuseChanges } from './stages/publish/refuse-changes.ts';
import { type Issuer, issuerDid, signingKey } from './stages/seal/sealer.ts';

// A dry run: catalogue and snapshots are judged by the code of a full compile, and what it makes of them is thrown away.

/** Signs what is thrown away; no release is ever signed by it. */
const NO_KEY = new Uint8Array(32);

interface CheckOptions {
  /** Folder of batches. */
  readonly snapshots: string;
  /** The time that a release would describe, ISO-8601 UTC. */
  readonly asOf: string;
  /** Folder of the releases that the next one is to follow; null where nothing was published. */
  readonly data: string | null;
  /** An empty folder for what only this check needs; its caller removes it. */
  readonly scratch: string;
}

/** How much was looked at and found right. */
export interface CheckSummary {
  readonly lines: number;
  readonly signals: number;
  readonly batches: number;
  readonly readings: number;
  /** Rows of collections. */
  readonly rows: number;
}

/** Judges what is stored as a compile would; throws a CompileError that names every fault. */
export async function check(options: CheckOptions): Promise<CheckSummary> {
  const { snapshots, asOf } = options;
  const loaded = loadCatalog(snapshots);
  if (options.data !== null) {
    const sha256 = `sha256:${hash('sha256', catalogText(loaded.file), 'hex')}`;
    refuseChanges(options.data, { ...loaded, sha256 }, { accepted: false });
  }
  const { catalog } = loaded;
  const stored = listSnapshots(snapshots, catalog);
  const due = stored.signals.map((signal): DueSignal => {
    const entry = defined(catalog.entryById.get(signal.signal_id), 'the signal of the files');
    return { ...signal, entry };
  });
  const results = await readSignals(due, options);
  const parts = COLLECTION_PARTS.map((read) => read(stored.collections, asOf, catalog));
  refuseFaults(stored, asOf, [...results, ...parts]);
  return {
    lines: catalog.lines.length,
    signals: catalog.signals.length,
    batches: stored.batches.length,
    readings: results.reduce((sum, { readings }) => sum + readings, 0),
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
  };
}

function refuseFaults(
  stored: Snapshots,
  asOf: string,
  judged: readonly Pick<JobResult, 'faults'>[],
): void {
  const faults = [...futureBatches(stored, asOf), ...judged.flatMap((one) => one.faults)];
  if (faults.length > 0) throw new CompileError(faults.sort(byPlace));
}

async function readSignals(due: readonly DueSignal[], options: CheckOptions): Promise<JobResult[]> {
  const runner = inlineRunner();
  const results: JobResult[] = [];
  for (const { signal, share } of wholeSignals(due)) {
    results.push(await runner.run({ ...jobOf(signal, options), share }, () => undefined));
  }
  return results;
}

function jobOf(
  { signal_id, entry, files: added }: DueSignal,
  { snapshots, asOf, scratch }: CheckOptions,
): Omit<SignalJob, 'share'> {
  return {
    signal_id,
    entry,
    added,
    known: { root: snapshots, days: [] },
    shelves: null,
    seriesDays: SERIES_DAYS_MAX,
    unsureUntil: ALWAYS,
    data: scratch,
    issuer: NOBODY,
    key: KEY,
    scratch,
    asOf,
    rejects: null,
  };
}

const KEY = signingKey(NO_KEY);
const did = issuerDid(KEY);
const NOBODY: Issuer = { name: 'check', did, keyId: did, baseUrl: 'https://check.example' };
