/**
 * One compile: snapshots in, one signed release out.
 *
 *  1. `compile()` reads the catalogue, lists the snapshots and locks the data folder. It refuses batches of the future, and a clock that goes
 *     back.
 *  2. `compileInto()` decides what to build upon: what the previous compile remembers where all of it still fits, else
 *     nothing. The way is the same, and so are the bytes. On any doubt it throws away what was written and begins again
 *     with nothing.
 *  3. `compileRun()` gives each signal to a worker as one job: read new lines, settle them upon the past of their
 *     entities, derive, hash and sign. This thread alone joins the results and writes files.
 *  4. One bad line publishes nothing, except where the caller lets some readings be left out. All faults are reported
 *     together. A release that lost much is refused too.
 *  5. `publishRun()` writes what joins signals, the log, the descriptions and the head, reads back, and switches.
 *
 * Hashed and signed bytes are RFC 8785 JSON under SHA-256 and Ed25519 (RFC 8032), the log is a tree of RFC 6962;
 * format/FORMAT.md defines both. No clock is read here: `asOf` is the only one, so the same input, clock and key give the
 * same bytes.
 *
 * Known limits: one compile at a time in a data folder. A snapshot file that is removed or changed costs a full compile.
 * Collections are read whole each time.
 */

import { hash, type KeyObject } from 'node:crypto';
import { join, relative, resolve, sep } from 'node:path';
import { BUILTIN } from '../catalog/builtin.ts';
import {
  builtinDigest,
  catalogText,
  ownDigest,
  type WholeCatalog,
} from '../catalog/whole-catalog.ts';
import { keyIdOf } from '../format/citation.ts';
import { defined } from '../format/errors.ts';
import { firstHistory, type KeyHistory } from '../format/key-history.ts';
import { grouped } from '../format/lists.ts';
import { CATALOG_PATH } from '../format/release.ts';
import { SERIES_DAYS_MAX } from '../products/shapes/series.ts';
import { Assembly } from '../publish/assemble/assembly.ts';
import type { JobChunk } from '../publish/assemble/chunk-builder.ts';
import { COLLECTION_PARTS } from '../publish/assemble/collection-parts.ts';
import {
  type DueSignal,
  inlineRunner,
  type JobRunner,
  joinShares,
  type SharedSignal,
  signalShares,
  wholeSignals,
  workerRunner,
} from '../publish/assemble/job-runner.ts';
import type { JobResult, SignalJob } from '../publish/assemble/signal-job.ts';
import { isOverlapKey, refuseKey } from '../publish/keys/key-command.ts';
import { readKeys } from '../publish/keys/key-store.ts';
import { keyWarnings } from '../publish/keys/root-draft.ts';
import { type LogMemory, takeTurn } from '../publish/log/log-turn.ts';
import {
  type PublishOptions,
  type PublishSummary,
  previousCatalog,
  publishRun,
  type Run,
  type RunTerms,
  STATEMENTS_NOTE,
} from '../publish/publish-run.ts';
import { refuseChanges, refuseNothing, refuseShrink } from '../publish/refuse-changes.ts';
import { futureBatches, listSnapshots, signalFiles } from '../readings/list-snapshots.ts';
import { loadCatalog } from '../readings/load-catalog.ts';
import { type KnownSignal, type Memory, Notes, stateOf } from '../readings/memory.ts';
import {
  changedSince,
  type Listed,
  listStored,
  type Plan,
  planMerge,
  shelvesOf,
  stateKey,
} from '../readings/merge-plan.ts';
import { dueSignal, EntityNotes, knownSignals } from '../readings/next-state.ts';
import { SIGNAL_BYTES_IN_MEMORY } from '../readings/partition.ts';
import { REJECTS_FOLDER } from '../readings/read-signal.ts';
import { leafStore } from '../release/leaf-store.ts';
import {
  BY_CADENCE,
  correctorFault,
  RETENTION,
  type Retention,
  timeFault,
} from '../release/release-folders.ts';
import { readRemembered } from '../release/release-list.ts';
import { currentRelease, openStaging, type Staging } from '../release/release-store.ts';
import { StatementList } from '../release/statement-list.ts';
import { verifyShards } from '../release/verify-shards.ts';
import { byPlace, CompileError, ForgottenError, type InputFault } from '../system/compile-error.ts';
import { canonicalDigest } from '../system/jcs.ts';
import { type Issuer, issuerDid, signingKey } from '../system/sealer.ts';

/** New input up to this size is not worth starting threads for. */
const INLINE_BYTES_MAX = 200_000;

export interface CompileOptions extends PublishOptions {
  readonly snapshots: string;
  /** Says that the current release, which is of a later time, was published by a clock that ran ahead. */
  readonly acceptClock?: boolean;
  readonly issuerName: string;
  /** Worker threads; 0 compiles in this thread. */
  readonly workers: number;
  /** Reads everything again and rewrites every file, ignoring what earlier compiles remembered. */
  readonly full?: boolean;
  /** Publishes even when a signal lost many of its entities or readings. */
  readonly allowShrink?: boolean;
  /** Publishes even when the catalogue changes what was sold. */
  readonly acceptCatalogChanges?: boolean;
  /** How many bad lines of a million one snapshot file may lose; 0 by default: any of them stops the compile. */
  readonly maxRejectsPpm?: number;
  /** Days that series deliver, back from their newest snapshot: 1 to SERIES_DAYS_MAX, which is the default. */
  readonly seriesDays?: number;
  /** Which of the releases before this one stay; the newest few by default. */
  readonly retention?: Retention;
  /** What remembers the log outside; null or absent to go without. */
  readonly logMemory?: LogMemory | null;
}

export interface CompileSummary extends PublishSummary {
  /** Snapshot files of closed batches that hold something else than when they were read first; only a full compile looks. */
  readonly changed: readonly string[];
  /** Whether the key that was given for an overlap signed the log too; null where none was given. */
  readonly overlapSigned: boolean | null;
  /** What will keep a later change of keys, or a later release, from being published; a line each. */
  readonly keyWarnings: readonly string[];
  /** What the catalogue changed of what was sold, as it was accepted. */
  readonly catalogChanges: readonly string[];
}

/** Publishes one release of what is stored; throws a CompileError that names every fault. */
export async function compile(options: CompileOptions): Promise<CompileSummary> {
  refuseNesting(options);
  // What an earlier compile read and accepted, it accepted by its clock.
  const isFull = options.full === true || options.acceptClock === true;
  const loaded = loadCatalog(options.snapshots);
  const whole = { ...loaded, ...statedCatalog(loaded) };
  const catalogChanges = refuseChanges(options.data, whole, {
    accepted: options.acceptCatalogChanges === true,
  });
  const listed = listStored({ ...options, catalog: whole.catalog, isFull });
  refuseFaults(futureBatches(listed.stored, options.asOf));
  const { retention = RETENTION } = options;
  const turn = await takeTurn(options.data, { ...options, memory: options.logMemory ?? null });
  const staging = openStaging(options.data, { full: options.full === true, retention, turn });
  try {
    refuseTime(options, staging.place);
    refuseStale(options);
    const summary = await compileInto(options, staging, { ...listed, whole, isFull });
    return { ...summary, catalogChanges };
  } catch (error) {
    staging.discard();
    throw error;
  }
}

/** Goes on from the previous release if that is known to be safe; otherwise, and after any mismatch, from the snapshots. */
async function compileInto(
  options: CompileOptions,
  staging: Staging,
  {
    isFull,
    whole,
    ...listed
  }: Listed & { readonly whole: StatedCatalog; readonly isFull: boolean },
): Promise<Omit<CompileSummary, 'catalogChanges'>> {
  const issuerKey = signingKey(options.seed);
  const did = issuerDid(issuerKey);
  const { issuerName: name, baseUrl } = options;
  const issuer = { name, did, keyId: keyIdOf(did), baseUrl };
  const { catalog, text, tableDigest, sha256 } = whole;
  const { maxRejectsPpm: rejectsPpm = 0, seriesDays = SERIES_DAYS_MAX } = options;
  const key = stateKey(issuer, tableDigest, { rejectsPpm, seriesDays });
  const keys = issuerKeys(options, staging, issuer);
  const stated = { catalog, catalogText: text, catalogSha256: sha256, tableDigest };
  const overlapKey = overlapKeyOf(options, keys, issuer);
  const open = { staging, ...stated, issuer, issuerKey, overlapKey, keys, stateKey: key };
  const isWhole = !isFull && staging.previous?.files() !== null;
  const plan = isWhole ? planMerge(options.data, key, listed) : null;
  if (plan !== null) {
    try {
      return await compileRun(options, openRun(options, open, plan));
    } catch (error) {
      if (!(error instanceof ForgottenError)) throw error;
      staging.restart();
    }
  }
  const stored = isFull ? listed.stored : listSnapshots(options.snapshots, catalog);
  const source = {
    memory: null,
    known: listed.known,
    stored,
    added: new Map(stored.signals.map(({ signal_id, files }) => [signal_id, files])),
  };
  return compileRun(options, openRun(options, open, source));
}

type StatedCatalog = WholeCatalog & ReturnType<typeof statedCatalog>;

function statedCatalog({ catalog, file }: WholeCatalog) {
  const text = catalogText(file);
  const hex = hash('sha256', text, 'hex');
  const isBuiltin = catalog === BUILTIN;
  const tableDigest = isBuiltin ? builtinDigest(canonicalDigest) : ownDigest(hex, canonicalDigest);
  return { text, tableDigest, sha256: `sha256:${hex}` };
}

function openRun(
  { asOf }: CompileOptions,
  open: RunTerms,
  source: Omit<Plan, 'memory'> & { readonly memory: Memory | null },
): Run {
  const { stored, added, memory } = source;
  const { staging } = open;
  const { scratch, writer, state } = staging;
  const before = (path: string): Buffer | null =>
    memory === null ? null : previousBytes(staging, path);
  const shards = verifyShards(`${scratch}/verify`, before);
  const leaves = leafStore(`${scratch}/leaves`);
  const statements = new StatementList(memory?.read(STATEMENTS_NOTE) ?? Buffer.alloc(0));
  const listed = before(CATALOG_PATH) ?? Buffer.alloc(0);
  const { catalog } = open;
  const assembly = new Assembly({ catalog, shards, leaves, statements, writer, memory, listed });
  const parts = COLLECTION_PARTS.map((read) => read(stored.collections, asOf, catalog));
  const notes = new Notes(state, memory);
  const due = dueSignals({ added, catalog }).map((signal) => dueSignal(signal, memory));
  const entities = new EntityNotes(`${scratch}/entities`, due);
  const made = { shards, leaves, statements, writer, assembly };
  return { ...open, ...source, ...made, parts, notes, entities };
}

/** A file of the previous release; null when it has none of that path. */
function previousBytes({ previous, data }: Staging, path: string): Buffer | null {
  const entry = previous?.files()?.find(path) ?? null;
  return entry === null ? null : readRemembered(data, entry);
}

function dueSignals({ added, catalog }: Pick<Run, 'added' | 'catalog'>): DueSignal[] {
  return [...added].map(([id, files]) => {
    const entry = defined(catalog.entryById.get(id), 'the signal of the files');
    return { ...signalFiles(id, files), entry };
  });
}

async function compileRun(
  options: CompileOptions,
  run: Run,
): Promise<Omit<CompileSummary, 'catalogChanges'>> {
  const { memory, stored } = run;
  const results = await runJobs(options, run);
  const faults = [...results, ...run.parts].flatMap((made) => made.faults);
  if (faults.length > 0 && memory !== null) {
    throw new ForgottenError('Cannot go on: only a full compile says everything that is wrong');
  }
  refuseFaults(faults);
  noteRejects(run, results);
  const signals = knownSignals(run, dueSignals(run), results);
  if (options.allowShrink !== true) refuseLoss(options, run, signals);
  const digests = new Map(results.flatMap(({ digests }) => Object.entries(digests)));
  const changed = memory === null ? changedSince(run.known, digests, stored) : [];
  const overlapSigned = options.overlapSeed === undefined ? null : run.overlapKey !== null;
  const published = await publishRun(options, run, signals, digests);
  const warnings = keyWarnings(run.keys, options.asOf);
  return { ...published, changed, overlapSigned, keyWarnings: warnings };
}

/** Refuses a release that lost much or is empty; an incremental compile cannot have lost anything. */
function refuseLoss(
  { snapshots, data }: CompileOptions,
  { memory, staging, parts }: Run,
  known: ReadonlyMap<string, KnownSignal>,
): void {
  if (memory === null) {
    const counted = stateOf(data)?.signals ?? {};
    // Nothing can be compared with a catalog that cannot be read.
    const catalog = previousCatalog(staging) ?? Buffer.alloc(0);
    refuseShrink({ catalog, signals: counted }, known);
  }
  const readings = [...known.values()].reduce((sum, signal) => sum + signal.readings, 0);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  refuseNothing(snapshots, readings, rows);
}

/** Releases among the batches would be taken for batches by the next compile. */
function refuseNesting({ snapshots, data }: CompileOptions): void {
  const path = relative(resolve(snapshots), resolve(data));
  if (snapshots === '' || path === '..' || path.startsWith(`..${sep}`)) return;
  const message = `the releases would lie among the batches of "${snapshots}"; pass another --data`;
  throw new CompileError([{ code: 'bad_setting', file: data, field: 'data', message }]);
}

/** Publication time never goes back: a clock before the last release is wrong, or that one's was. */
function refuseTime(options: CompileOptions, last: Staging['place']): void {
  const message = timeFault(last, options);
  if (message === null) return;
  throw new CompileError([{ code: 'bad_setting', file: options.data, field: 'as_of', message }]);
}

/** Nobody could use a release that has already expired when it is published. */
function refuseStale({ asOf, validUntil, data }: CompileOptions): void {
  if (validUntil === undefined || validUntil === BY_CADENCE) return;
  if (Date.parse(validUntil) > Date.parse(asOf)) return;
  const message = `"${validUntil}" is not after the publication time ${asOf}; pass a later --valid-until`;
  throw new CompileError([{ code: 'bad_setting', file: data, field: 'valid_until', message }]);
}

/** The keys that the release is to list; throws a KeyError when the key that signs is none of them, or not at this time. */
function issuerKeys(options: CompileOptions, { previous }: Staging, issuer: Issuer): KeyHistory {
  const { data, asOf } = options;
  const last = currentRelease(data, previous);
  const keys = readKeys(data, last) ?? firstHistory(last?.issuerDid ?? issuer.did);
  refuseKey(keys, issuer.did, asOf);
  const message = correctorFault(options, issuer.did, keys);
  if (message === null) return keys;
  throw new CompileError([{ code: 'bad_setting', file: data, field: 'key', message }]);
}

/** The other key of an overlap, or null where none is given or it is not valid now; throws a KeyError for a stranger's. */
function overlapKeyOf(
  { overlapSeed, asOf }: CompileOptions,
  keys: KeyHistory,
  { did }: Issuer,
): KeyObject | null {
  if (overlapSeed === undefined) return null;
  const key = signingKey(overlapSeed);
  return isOverlapKey(keys, { did: issuerDid(key), signs: did }, asOf) ? key : null;
}

/** Jobs start with the most work, their output is joined in any order. */
async function runJobs(options: CompileOptions, run: Run): Promise<JobResult[]> {
  const due = dueSignals(run);
  const { workers, maxRejectsPpm = 0 } = options;
  // How many lines of a file may be left out is for one job to judge.
  const queue = maxRejectsPpm === 0 ? signalShares(due, workers) : wholeSignals(due);
  const runner = runnerFor(options, queue);
  const report = progressOf(options, queue);
  const take = (chunk: JobChunk): void => {
    run.assembly.add(chunk);
    run.entities.add(chunk);
  };
  try {
    const jobs = queue.map(async (shared) => {
      const result = await runner.run(jobOf(options, run, shared), take);
      report(shared);
      return result;
    });
    return [...grouped(await Promise.all(jobs), ({ signal_id }) => signal_id).values()].map(
      joinShares,
    );
  } finally {
    await runner.close();
  }
}

function runnerFor(options: CompileOptions, queue: readonly SharedSignal[]): JobRunner {
  const { workers } = options;
  const bytes = queue.reduce((sum, shared) => sum + bytesOf(shared), 0);
  if (workers === 0 || bytes < INLINE_BYTES_MAX) return inlineRunner();
  const isLong = queue.some((shared) => bytesOf(shared) > SIGNAL_BYTES_IN_MEMORY);
  return workerRunner(Math.min(workers, queue.length), isLong ? 'partitioned' : 'inMemory');
}

function bytesOf({ signal, share }: SharedSignal): number {
  return Math.ceil(signal.bytes / share.of);
}

function jobOf(options: CompileOptions, run: Run, { signal, share }: SharedSignal): SignalJob {
  const ppm = options.maxRejectsPpm ?? 0;
  const { signal_id, entry, files: added } = signal;
  const { known, memory, staging } = run;
  return {
    signal_id,
    entry,
    added,
    known: known.place(options.snapshots),
    shelves: memory === null ? null : shelvesOf(memory, signal_id),
    seriesDays: options.seriesDays ?? SERIES_DAYS_MAX,
    data: staging.data,
    share,
    issuer: run.issuer,
    key: run.issuerKey,
    scratch: staging.scratch,
    asOf: options.asOf,
    rejects: ppm === 0 ? null : { ppm, folder: join(staging.state, REJECTS_FOLDER) },
  };
}

/** Files of left-out lines are part of the state: they are kept as long as the snapshot files that they came from. */
function noteRejects({ notes }: Run, results: readonly JobResult[]): void {
  for (const { rejects } of results) {
    for (const [name, digest] of Object.entries(rejects.digests)) {
      notes.wrote(`${REJECTS_FOLDER}/${name}`, digest);
    }
  }
}

function progressOf(options: CompileOptions, queue: readonly SharedSignal[]) {
  const total = queue.reduce((sum, shared) => sum + bytesOf(shared), 0);
  let done = 0;
  return (shared: SharedSignal): void => {
    done += bytesOf(shared);
    options.progress?.({ stage: 'read', done, total, label: shared.signal.signal_id });
  };
}

function refuseFaults(faults: readonly InputFault[]): void {
  if (faults.length > 0) throw new CompileError([...faults].sort(byPlace));
}
