import { hash } from 'node:crypto';
import { keyIdOf } from './contract/citation.ts';
import { signalOf } from './contract/lines.ts';
import {
  CONTRACT_VERSION,
  type FileEntry,
  formatFiles,
  type Release,
  tables,
} from './contract/release.ts';
import { inlineRunner, workerRunner } from './job-runner.ts';
import type { JobResult, SignalJob } from './signal-job.ts';
import { continueLog } from './stages/anchor/continue-log.ts';
import { keepLastCheckpoint } from './stages/anchor/last-checkpoint.ts';
import { Assembly } from './stages/assemble/assembly.ts';
import { readFilings } from './stages/assemble/filings.ts';
import type { Part, ReadPart } from './stages/assemble/part.ts';
import { ROSTER_PARTS } from './stages/assemble/rosters/roster-parts.ts';
import { describe } from './stages/describe/describe.ts';
import type { Shelf } from './stages/describe/stored-bodies.ts';
import { CompileError, type Problem } from './stages/intake/compile-error.ts';
import { listSnapshots, type SignalFiles } from './stages/intake/list-snapshots.ts';
import type { FileWriter } from './stages/publish/file-writer.ts';
import { type LeafStore, leafStore } from './stages/publish/leaf-store.ts';
import { type ListedFiles, listedFiles, readStored } from './stages/publish/listed-files.ts';
import { type CountedPress, makePress } from './stages/publish/press.ts';
import { writeHead } from './stages/publish/release-head.ts';
import { openStaging, type Staging } from './stages/publish/release-store.ts';
import { type VerifyShards, verifyShards } from './stages/publish/verify-shards.ts';
import { jcs } from './stages/seal/jcs.ts';
import { type Issuer, issuerDid, makeSealer, signingKey } from './stages/seal/sealer.ts';
import { openSignatureStore, signaturePlace } from './stages/seal/signature-store.ts';

/** What comes from collections, in the order in which it is written. */
const PARTS: readonly ReadPart[] = [readFilings, ...ROSTER_PARTS];

export interface CompileOptions {
  /** Folder of batches. */
  readonly snapshots: string;
  /** Folder of releases. */
  readonly data: string;
  /** The instant the compile speaks about, ISO-8601 UTC; the only clock there is. */
  readonly asOf: string;
  readonly issuerName: string;
  /** Public address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** `mailto:` or https address for whoever finds a fault; the descriptions show it. */
  readonly contact?: string | null;
  /** 32-byte Ed25519 seed. */
  readonly seed: Uint8Array;
  /** Worker threads; 0 compiles in this thread. */
  readonly workers: number;
  readonly progress?: (step: Progress) => void;
}

/** How far a compile is. */
export interface Progress {
  readonly stage: 'read' | 'join' | 'publish';
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export interface CompileSummary {
  readonly release: Release;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** Snapshots in, one new release out: signal by signal, then what joins signals, then the switch. */
export async function compile(options: CompileOptions): Promise<CompileSummary> {
  const { signals, collections } = listSnapshots(options.snapshots);
  const issuer = issuerOf(options);
  const staging = openStaging(options.data);
  try {
    refuseClockBehind(options, staging.previous?.head ?? null);
    const shards = verifyShards(`${staging.scratch}/verify`);
    const { writer } = staging;
    const leaves = leafStore(`${staging.scratch}/leaves`);
    const assembly = new Assembly({ shards, leaves, writer, scratch: staging.scratch });
    const parts = PARTS.map((read) => read(collections));
    const run = { staging, issuer, assembly, shards, leaves, writer, parts };
    const results = await runJobs(options, { ...run, signals });
    refuseProblems([...results, ...parts]);
    return publish(options, { ...run, results });
  } catch (error) {
    staging.discard();
    throw error;
  }
}

/** Publication time never goes back: a clock before the last release is wrong, or this folder is not ours. */
function refuseClockBehind({ asOf, data }: CompileOptions, previous: Release | null): void {
  if (previous === null || Date.parse(asOf) >= Date.parse(previous.as_of)) return;
  const message =
    `"${asOf}" is before the current release, as of ${previous.as_of}; ` +
    'correct the clock or --as-of, or publish into another folder';
  throw new CompileError([{ code: 'bad_setting', file: data, field: 'as_of', message }]);
}

function issuerOf(options: CompileOptions): Issuer {
  const did = issuerDid(signingKey(options.seed));
  const { issuerName: name, baseUrl } = options;
  return { name, did, keyId: keyIdOf(did), baseUrl };
}

interface Run {
  readonly staging: Staging;
  readonly issuer: Issuer;
  readonly assembly: Assembly;
  readonly shards: VerifyShards;
  readonly leaves: LeafStore;
  readonly writer: FileWriter;
  readonly parts: readonly Part[];
}

/** Every signal is one job; jobs start with the most work, their output is joined in any order. */
async function runJobs(
  options: CompileOptions,
  run: Run & { signals: readonly SignalFiles[] },
): Promise<JobResult[]> {
  const runner = options.workers > 0 ? workerRunner(options.workers) : inlineRunner();
  const queue = [...run.signals].sort((a, b) => effort(b) - effort(a));
  const report = progressOf(options, queue);
  try {
    const jobs = queue.map(async (signal) => {
      const job = jobOf(options, run, signal);
      const result = await runner.run(job, (chunk) => run.assembly.add(chunk));
      report(signal);
      return result;
    });
    return await Promise.all(jobs);
  } finally {
    await runner.close();
  }
}

/** Readings on an official scale become about twice as many files. */
function effort({ signal_id, bytes }: SignalFiles): number {
  const signal = signalOf(signal_id);
  const scaled = signal?.rulers !== undefined || signal?.ownThresholds !== undefined;
  return scaled ? 2 * bytes : bytes;
}

function jobOf(options: CompileOptions, run: Run, signal: SignalFiles): SignalJob {
  return {
    signal,
    issuer: run.issuer,
    seed: options.seed,
    scratch: run.staging.scratch,
    signatures: run.staging.signatures,
  };
}

function progressOf(options: CompileOptions, queue: readonly SignalFiles[]) {
  const total = queue.reduce((sum, signal) => sum + signal.bytes, 0);
  let done = 0;
  return (signal: SignalFiles): void => {
    done += signal.bytes;
    options.progress?.({ stage: 'read', done, total, label: signal.signal_id });
  };
}

function refuseProblems(results: readonly { readonly problems: readonly Problem[] }[]): void {
  const problems: Problem[] = results.flatMap((result) => result.problems);
  if (problems.length === 0) return;
  throw new CompileError(problems.sort(byPlace));
}

function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0);
}

function publish(
  options: CompileOptions,
  run: Run & { results: readonly JobResult[] },
): CompileSummary {
  const { staging, assembly } = run;
  options.progress?.({ stage: 'join', done: 0, total: 1, label: 'bundles and look-ups' });
  const store = openSignatureStore(signaturePlace(staging.signatures, run.issuer.did, 'joined'));
  const sealer = makeSealer(run.issuer, signingKey(options.seed), store);
  const press = makePress({ ...run, sealer, asOf: options.asOf });
  assembly.write(press);
  for (const part of run.parts) part.write(press);
  const log = continueLog(options.data, press, run.leaves);
  describeRelease(options, run, press);
  const files = [...assembly.files, ...press.files, ...run.shards.write(run.writer)].sort(byPath);
  const release = writeHead(staging.root, { files, head: unsignedHead(options, run) }, sealer);
  store.save();
  options.progress?.({ stage: 'publish', done: 0, total: 1, label: `release ${release.sequence}` });
  const folder = staging.publish(releaseName(release));
  keepLastCheckpoint(options.data, log.checkpoint);
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return { release, folder, files: files.length, bytes };
}

/** Descriptions come last: they show what is stored. */
function describeRelease(
  { contact = null, data }: CompileOptions,
  run: Run,
  press: CountedPress,
): void {
  const files = [...run.assembly.files, ...press.files].sort(byPath);
  const listed = listedFiles(Buffer.from(formatFiles(files), 'utf8'));
  const shelf = shelfOf(data, listed);
  const keys = [{ did: run.issuer.did, key_id: run.issuer.keyId }];
  describe(press, { shelf, contact, keys });
}

/** What is stored so far, as the descriptions look at it. */
function shelfOf(data: string, listed: ListedFiles): Shelf {
  return {
    has: (path) => listed.find(path) !== null,
    under: (prefix) => listed.under(prefix),
    read(path) {
      const entry = listed.find(path);
      if (entry === null) throw new RangeError(`Cannot describe "${path}": not stored`);
      return readStored(data, entry);
    },
  };
}

/** The head without what follows from the files, and without its signature. */
function unsignedHead(options: CompileOptions, run: Run & { results: readonly JobResult[] }) {
  const previous = run.staging.previous?.head ?? null;
  return {
    format: 'signalpress-release/1' as const,
    contract_version: CONTRACT_VERSION,
    sequence: (previous?.sequence ?? 0) + 1,
    as_of: options.asOf,
    base_url: options.baseUrl,
    issuer_name: run.issuer.name,
    issuer_did: run.issuer.did,
    key_id: run.issuer.keyId,
    table_digest: digest(jcs(tables())),
    previous: previous === null ? null : digest(jcs(previous)),
    counts: {
      readings: sum(run.results, 'readings'),
      entities: sum(run.results, 'entities'),
      records: run.assembly.records,
      bundles: run.assembly.bundles,
      revisions: sum(run.results, 'revisions'),
      repeats: sum(run.results, 'repeats'),
    },
  };
}

function sum(
  results: readonly JobResult[],
  count: 'readings' | 'entities' | 'revisions' | 'repeats',
): number {
  return results.reduce((total, result) => total + result[count], 0);
}

function byPath(a: FileEntry, b: FileEntry): number {
  return a.path < b.path ? -1 : 1;
}

function digest(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}

/** Sorts like the sequence and tells the day: `000012-20261120T120000Z`. */
function releaseName(release: Release): string {
  const time = release.as_of.replace(/[-:]/g, '').replace(/\.\d+/, '');
  return `${String(release.sequence).padStart(6, '0')}-${time}`;
}
