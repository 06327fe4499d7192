import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { catalogText } from '../catalog/whole-catalog.ts';
import { defined } from '../format/errors.ts';
import { SERIES_DAYS_MAX } from '../products/shapes/series.ts';
import { COLLECTION_PARTS } from '../publish/assemble/collection-parts.ts';
import { type DueSignal, inlineRunner, wholeSignals } from '../publish/assemble/job-runner.ts';
import type { JobResult, SignalJob } from '../publish/assemble/signal-job.ts';
import { refuseChanges } from '../publish/refuse-changes.ts';
import { futureBatches, listSnapshots } from '../readings/list-snapshots.ts';
import { loadCatalog } from '../readings/load-catalog.ts';
import { type CommandSettings, JSON_OPTION, jsonText } from '../system/command-settings.ts';
import { byPlace, CompileError } from '../system/compile-error.ts';
import { type Issuer, issuerDid, signingKey } from '../system/sealer.ts';
import { publicationTime } from './compile-options.ts';

// A dry run: catalogue and snapshots are judged by the code of a full compile, and what it makes of them is thrown away.

interface CheckOptions {
  readonly snapshots: string;
  /** The time that a release would describe, ISO-8601 UTC. */
  readonly asOf: string;
  /** Folder of the releases that the next one is to follow; null where nothing was published. */
  readonly data: string | null;
  /** An empty folder for what only this check needs; its caller removes it. */
  readonly scratch: string;
}

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
  const runner = inlineRunner();
  const results: JobResult[] = [];
  for (const { signal, share } of wholeSignals(due)) {
    results.push(await runner.run({ ...jobOf(signal, options), share }, () => undefined));
  }
  const parts = COLLECTION_PARTS.map((read) => read(stored.collections, asOf, catalog));
  const faults = [
    ...futureBatches(stored, asOf),
    ...results.flatMap((one) => one.faults),
    ...parts.flatMap((one) => one.faults),
  ];
  if (faults.length > 0) throw new CompileError(faults.sort(byPlace));
  return {
    lines: catalog.lines.length,
    signals: catalog.signals.length,
    batches: stored.batches.length,
    readings: results.reduce((sum, { readings }) => sum + readings, 0),
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
  };
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
    data: scratch,
    issuer: NOBODY,
    key: KEY,
    scratch,
    asOf,
    rejects: null,
  };
}

/** Signs what is thrown away; no release is ever signed by it. */
const KEY = signingKey(new Uint8Array(32));
const did = issuerDid(KEY);
const NOBODY: Issuer = { name: 'check', did, keyId: did, baseUrl: 'https://check.example' };

interface CheckFlags {
  snapshots: string;
  data?: string;
  asOf?: string;
  json?: true;
}

export function defineCheck(command: Command, { env, now, print }: CommandSettings): void {
  command
    .option('--snapshots <folder>', 'folder of batches', 'snapshots')
    .option(
      '--data <folder>',
      'folder of releases, to see what the catalogue changes of what was sold',
      env('SIGNALPRESS_DATA'),
    )
    .option('--as-of <time>', 'the time that a release would describe (default: now)')
    .option(...JSON_OPTION)
    .action(async (flags: CheckFlags) => {
      const summary = await checked(flags, publicationTime(flags, now()).asOf);
      print(flags.json === true ? jsonText(summary) : checkText(summary));
    });
}

async function checked({ snapshots, data }: CheckFlags, asOf: string): Promise<CheckSummary> {
  const scratch = mkdtempSync(join(tmpdir(), 'signalpress-check-'));
  try {
    return await check({ snapshots, data: data ?? null, asOf, scratch });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

export function checkText({ lines, signals, batches, readings, rows }: CheckSummary): string {
  return (
    `no problems. catalogue: lines ${lines}, signals ${signals}; ` +
    `snapshots: batches ${batches}, readings ${readings}, rows ${rows}`
  );
}
