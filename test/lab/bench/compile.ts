import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type CompileSummary, compile } from '../../../compiler/cli/compile.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { bench, median, peakMegabytes, type Took, timed } from '../bench.ts';
import {
  CHANGED_BATCH,
  changeOnePercent,
  makeSnapshots,
  SIGNALS,
  snapshotFile,
} from './generated-snapshots.ts';

/**
 * What no compile can beat. `crypto`: the same bytes are hashed, signed and written, and nothing else. `format`: readings are
 * parsed too, every hash of the format is made, and every body is serialised; nothing is checked, derived, sorted or looked up.
 */
export type FloorKind = 'crypto' | 'format';

interface FloorRun {
  readonly kind: FloorKind;
  /** Folder that release paths are stored under, and the one that they are written to again. */
  readonly source: string;
  readonly target: string;
  /** Paths of the files of the release. */
  readonly paths: readonly string[];
  /** Snapshot files, each with about as many readings. */
  readonly snapshots: readonly string[];
  readonly threads: number;
}

type FloorWork = Omit<FloorRun, 'threads'>;
type FloorBody = readonly [path: string, bytes: Buffer];

/** As long as a typical hash core, and what of it does not stand in a line. */
const CORE = 'x'.repeat(500);
const REST_OF_CORE = { rest: 'x'.repeat(350) };
/** As long as the state in front of a row of a series. */
const CHAIN = 'x'.repeat(150);
/** As long as what the log hashes for a leaf or a node. */
const TREE = Buffer.alloc(65);

if (!isMainThread) work(workerData as FloorWork);

/** Runs the work when all threads have read what they need; what `timed` measures ends when the disk has everything. */
export async function runFloor<T>(
  run: FloorRun,
  timed: (work: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const threads = Array.from({ length: run.threads }, (_, at) => {
    const share = { at, of: run.threads };
    const paths = shareOf(run.paths, share);
    const snapshots = shareOf(run.snapshots, share);
    const workerData = { ...run, paths, snapshots } satisfies FloorWork;
    return new Worker(new URL(import.meta.url), { workerData });
  });
  await Promise.all(threads.map((thread) => once(thread, 'message')));
  return timed(async () => {
    for (const thread of threads) thread.postMessage('go');
    await Promise.all(threads.map((thread) => once(thread, 'exit')));
    execFileSync('sync', ['-f', run.target]);
  });
}

/** Neighbours stay together, so that no two threads write into one folder. */
function shareOf<T>(items: readonly T[], { at, of }: { at: number; of: number }): T[] {
  const size = Math.ceil(items.length / of);
  return items.slice(at * size, (at + 1) * size);
}

/** Reads everything first, so that only the work itself is timed. */
function work({ kind, source, target, paths, snapshots }: FloorWork): void {
  const bodies = paths.map((path): FloorBody => [path, readFileSync(join(source, path))]);
  const lines = snapshots.flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'));
  const shapes = kind === 'format' ? shapesOf(bodies) : new Map<string, unknown>();
  const seal = kind === 'format' ? sealReading : () => void hash('sha256', CORE, 'hex');
  parentPort?.once('message', () => {
    for (const line of lines) seal(line);
    sealAndWrite(target, bodies, shapes);
  });
  parentPort?.postMessage('ready');
}

/** One body of each folder, which stands for all others there. */
function shapesOf(bodies: readonly FloorBody[]): Map<string, unknown> {
  const json = bodies.filter(([path]) => path.endsWith('.json'));
  const one = new Map(json.map(([path, bytes]) => [dirname(path), bytes]));
  return new Map([...one].map(([folder, bytes]) => [folder, JSON.parse(bytes.toString('utf8'))]));
}

/** What the format asks for each reading: its core, its link of the series, its leaf of the log and a node above. */
function sealReading(line: string): void {
  const reading = JSON.parse(line);
  const core = JSON.stringify({ ...reading, ...REST_OF_CORE });
  const record_hash = hash('sha256', core, 'hex');
  hash('sha256', JSON.stringify([CHAIN, { ...reading, record_hash }]), 'hex');
  hash('sha256', TREE, 'buffer');
  hash('sha256', TREE, 'buffer');
}

function sealAndWrite(
  target: string,
  bodies: readonly FloorBody[],
  shapes: ReadonlyMap<string, unknown>,
): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const made = new Set<string>();
  for (const [path, bytes] of bodies) {
    const folder = dirname(path);
    const shape = shapes.get(folder);
    if (shape !== undefined) JSON.stringify(shape);
    const digest = hash('sha256', bytes, 'buffer');
    if (bytes.includes('"_citation"')) {
      // The format has three hashes of a signed file: file, content and statement; the second is of canonical text.
      if (shape !== undefined) JSON.stringify(shape);
      hash('sha256', bytes, 'hex');
      hash('sha256', CORE, 'hex');
      sign(null, digest, privateKey);
    }
    if (!made.has(folder)) mkdirSync(join(target, folder), { recursive: true });
    made.add(folder);
    writeFileSync(join(target, path), bytes, { flag: 'wx' });
  }
}

const WORKERS = 2;

/**
 * Times a whole compile beside its floor in the same run: hash, sign and write of the same bytes with node:crypto and nothing
 * else, on one thread and on as many as the compile has; and beside what the format asks of any compile. Then a compile with
 * nothing new, and one with a batch of one percent of the entities, beside the whole one. Nothing is deleted before the end:
 * file systems pay for deletes later, in what runs next.
 */
export const experiment = bench(
  { readings: 100_000, entities: 5000, rounds: 3 },
  async ({ flags, folder, say }) => {
    const { readings, entities, rounds } = flags;
    makeSnapshots(folder, readings, entities);
    const ratios: Ratios[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const { told, ...own } = await runRound(folder, { round, readings, entities });
      say(told);
      ratios.push(own);
      rmSync(join(folder, 'snapshots', CHANGED_BATCH), { recursive: true });
    }
    const middle = (of: (ratio: Ratios) => number): string => median(ratios.map(of)).toFixed(2);
    say(
      `compile / floor, median of ${rounds} rounds: ` +
        `${middle(({ one }) => one)} x one thread, ${middle(({ two }) => two)} x ${WORKERS} threads; ` +
        `what the format asks of any compile ${middle(({ format }) => format)} x ${WORKERS} threads; ` +
        `one percent changed / whole: ${middle(({ changed }) => 100 * changed)} %`,
    );
  },
);

/** Time of a compile over the floor on one thread and on as many as the compile has. */
interface Ratios {
  readonly one: number;
  readonly two: number;
  /** Time of what the format asks of any compile over the floor, on as many threads. */
  readonly format: number;
  /** Time of a compile with one percent changed over that of a whole one. */
  readonly changed: number;
}

async function runRound(
  root: string,
  {
    round,
    readings,
    entities,
  }: { readonly round: number; readonly readings: number; readonly entities: number },
): Promise<Ratios & { readonly told: string }> {
  const data = join(root, `data-${round}`);
  const full = await timed(() => compileInto(root, data));
  const peakMb = peakMegabytes();
  const same = await timed(() => compileInto(root, data));
  changeOnePercent(root, entities);
  const changed = await timed(() => compileInto(root, data));
  if (!changed.value.isIncremental)
    throw new Error('Cannot compare: the change was compiled whole');
  const { folder, files, bytes } = full.value;
  const target = join(root, `floor-${round}`);
  const list = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
  const paths = [...list].map((file) => storedPath(file.path, file.sha256));
  const floored = { source: data, paths, snapshots: SIGNALS.map((one) => snapshotFile(root, one)) };
  /** Times a floor of the release that the compile has just made. */
  const floor = (kind: FloorKind, threads: number) => {
    const into = `${target}-${kind}-${threads}`;
    return runFloor({ ...floored, kind, target: into, threads }, timed<void>);
  };
  const one = await floor('crypto', 1);
  const two = await floor('crypto', WORKERS);
  const format = await floor('format', WORKERS);
  return {
    told: [
      `round ${round}: compile ${seconds(full)}, ${rate(readings, full)} readings/s`,
      `${rate(files, full)} files/s (${files} files, ${(bytes / 1e6).toFixed(0)} MB)`,
      `unchanged ${seconds(same)}, 1 % changed ${seconds(changed)}`,
      `floor on one thread ${seconds(one)}, on ${WORKERS} ${seconds(two)}, of the format ${seconds(format)}`,
      `peak so far ${peakMb.toFixed(0)} MB`,
    ].join(', '),
    one: full.ms / one.ms,
    two: full.ms / two.ms,
    format: format.ms / two.ms,
    changed: changed.ms / full.ms,
  };
}

function compileInto(root: string, data: string): Promise<CompileSummary> {
  return compile({
    snapshots: join(root, 'snapshots'),
    data,
    asOf: '2026-11-20T12:00:00Z',
    issuerName: 'bench',
    baseUrl: 'http://127.0.0.1:4021',
    seed: new Uint8Array(32).fill(1),
    workers: WORKERS,
  });
}

function seconds({ ms, cpuMs }: Took): string {
  return `${(ms / 1000).toFixed(2)} s (cpu ${(cpuMs / 1000).toFixed(2)})`;
}

function rate(count: number, { ms }: Took): string {
  return Math.round((count / ms) * 1000).toString();
}
