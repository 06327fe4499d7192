import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CompileSummary, compile } from '../../../compiler/compile.ts';
import { storedPath } from '../../../compiler/contract/path.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/contract/release.ts';
import { type FloorKind, runFloor } from './compile-floor.ts';
import {
  CHANGED_BATCH,
  changeOnePercent,
  makeSnapshots,
  SIGNALS,
  snapshotFile,
} from './generated-snapshots.ts';
import { median } from './table.ts';

/**
 * Times a whole compile beside its floor in the same run: hash, sign and write of the same bytes with node:crypto and nothing
 * else, on one thread and on as many as the compile has; and beside what the format asks of any compile. Then a compile with
 * nothing new, and one with a batch of one percent of the entities, beside the whole one. Judge by the ratios; seconds move
 * with the machine. Nothing is deleted before the end: file systems pay for deletes later, in what runs next.
 * Usage: bench-compile [readings] [entities] [rounds]
 */
const WORKERS = 2;

await main(process.argv.slice(2).map(Number));

async function main([readings = 100_000, entities = 5000, rounds = 3]: number[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'bench-compile-'));
  try {
    makeSnapshots(root, readings, entities);
    const ratios: Ratios[] = [];
    for (let round = 1; round <= rounds; round++) {
      ratios.push(await runRound(root, { round, readings, entities }));
      rmSync(join(root, 'snapshots', CHANGED_BATCH), { recursive: true });
    }
    const middle = (of: (ratio: Ratios) => number): string => median(ratios.map(of)).toFixed(2);
    const one = middle((ratio) => ratio.one);
    const two = middle((ratio) => ratio.two);
    const format = middle((ratio) => ratio.format);
    const changed = middle((ratio) => 100 * ratio.changed);
    console.log(
      `compile / floor, median of ${rounds} rounds: ` +
        `${one} x one thread, ${two} x ${WORKERS} threads; what the format asks of any compile ` +
        `${format} x ${WORKERS} threads; one percent changed / whole: ${changed} %`,
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Time of a compile over the floor on one thread and on as many as the compile has. */
interface Ratios {
  readonly one: number;
  readonly two: number;
  /** Time of what the format asks of any compile over the floor, on as many threads. */
  readonly format: number;
  /** Time of a compile with one percent changed over that of a whole one. */
  readonly changed: number;
}

interface Round {
  readonly round: number;
  readonly readings: number;
  readonly entities: number;
}

async function runRound(root: string, { round, readings, entities }: Round): Promise<Ratios> {
  const data = join(root, `data-${round}`);
  const full = await timed(() => compileInto(root, data));
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const same = await timed(() => compileInto(root, data));
  changeOnePercent(root, entities);
  const changed = await timed(() => compileInto(root, data));
  if (!changed.value.isIncremental)
    throw new Error('Cannot compare: the change was compiled whole');
  const { folder, files, bytes } = full.value;
  const target = join(root, `floor-${round}`);
  const floor = (kind: FloorKind, threads: number) =>
    timedFloor(root, { data, folder, target: `${target}-${kind}-${threads}`, kind, threads });
  const one = await floor('crypto', 1);
  const two = await floor('crypto', WORKERS);
  const format = await floor('format', WORKERS);
  console.log(
    [
      `round ${round}: compile ${seconds(full)}, ${rate(readings, full)} readings/s`,
      `${rate(files, full)} files/s (${files} files, ${(bytes / 1e6).toFixed(0)} MB)`,
      `unchanged ${seconds(same)}, 1 % changed ${seconds(changed)}`,
      `floor on one thread ${seconds(one)}, on ${WORKERS} ${seconds(two)}, of the format ${seconds(format)}`,
      `peak so far ${peakMb.toFixed(0)} MB`,
    ].join(', '),
  );
  return {
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

interface Timed<T> {
  readonly ms: number;
  /** User and system time of all threads. */
  readonly cpuMs: number;
  readonly value: T;
}

async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const value = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - started, cpuMs: (user + system) / 1000, value };
}

function seconds({ ms, cpuMs }: Timed<unknown>): string {
  return `${(ms / 1000).toFixed(2)} s (cpu ${(cpuMs / 1000).toFixed(2)})`;
}

function rate(count: number, { ms }: Timed<unknown>): string {
  return Math.round((count / ms) * 1000).toString();
}

interface FloorFigures {
  /** Folder of the release that is written again, and of its files. */
  readonly folder: string;
  readonly data: string;
  readonly target: string;
  readonly kind: FloorKind;
  readonly threads: number;
}

/** Times a floor of the release that a compile has just made. */
function timedFloor(
  root: string,
  { folder, data, target, kind, threads }: FloorFigures,
): Promise<Timed<void>> {
  const list = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
  const paths = [...list].map((file) => storedPath(file.path, file.sha256));
  const snapshots = SIGNALS.map((signal) => snapshotFile(root, signal));
  return runFloor({ kind, source: data, target, paths, snapshots, threads }, timed);
}
