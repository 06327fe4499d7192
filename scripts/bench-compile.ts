import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type CompileSummary, compile } from '../compiler/compile.ts';
import { HOUR_MS } from '../compiler/contract/iso-time.ts';
import { storedPath } from '../compiler/contract/path.ts';
import { FILES_NAME, parseFiles } from '../compiler/contract/release.ts';
import { median } from './median.ts';

/**
 * Times a whole compile beside its floor in the same run: hash, sign and write of the same bytes
 * with node:crypto and nothing else, on one thread and on as many as the compile has. Then a compile with nothing new, and one
 * with a batch of one percent of the entities, beside the whole one. Judge by the ratios; seconds move with the machine. Nothing
 * is deleted before the end: file systems pay for deletes later, in what runs next. Usage: bench-compile [readings] [entities] [rounds]
 */
const SIGNALS = [
  'hydrology.river-level',
  'hydrology.streamflow',
  'crypto.spot',
  'macro.unemployment',
];
const METRIC = ['stage_ft', 'discharge_cfs', 'price_usd', 'unemployment_pct'];
const WORKERS = 2;
const CHANGED_BATCH = '2026-11-21';
/** Characters of a typical hash core. */
const CORE_CHARS = 500;

interface FloorWork {
  readonly source: string;
  readonly target: string;
  readonly paths: readonly string[];
  readonly cores: number;
}

if (isMainThread) await main(process.argv.slice(2).map(Number));
else floor(workerData as FloorWork);

async function main([readings = 100_000, entities = 5000, rounds = 3]: number[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'bench-compile-'));
  try {
    makeSnapshots(join(root, 'snapshots'), readings, entities);
    const ratios: Ratios[] = [];
    for (let round = 1; round <= rounds; round++) {
      ratios.push(await runRound(root, { round, readings, entities }));
      rmSync(join(root, 'snapshots', CHANGED_BATCH), { recursive: true });
    }
    const middle = (of: (ratio: Ratios) => number): string => median(ratios.map(of)).toFixed(2);
    const one = middle((ratio) => ratio.one);
    const two = middle((ratio) => ratio.two);
    const changed = middle((ratio) => 100 * ratio.changed);
    console.log(
      `compile / floor, median of ${rounds} rounds: ` +
        `${one} x one thread, ${two} x ${WORKERS} threads; one percent changed / whole: ${changed} %`,
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Time of a compile over the floor on one thread and on as many as the compile has. */
interface Ratios {
  readonly one: number;
  readonly two: number;
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
  if (!changed.value.wentOn) throw new Error('Cannot compare: the change was compiled whole');
  const { folder, files, bytes } = full.value;
  const run = { data, folder, readings };
  const target = join(root, `floor-${round}`);
  const one = await timedFloor({ ...run, target: `${target}-one`, threads: 1 });
  const two = await timedFloor({ ...run, target: `${target}-two`, threads: WORKERS });
  console.log(
    [
      `round ${round}: compile ${seconds(full)}, ${rate(readings, full)} readings/s`,
      `${rate(files, full)} files/s (${files} files, ${(bytes / 1e6).toFixed(0)} MB)`,
      `unchanged ${seconds(same)}, 1 % changed ${seconds(changed)}`,
      `floor on one thread ${seconds(one)}, on ${WORKERS} ${seconds(two)}`,
      `peak so far ${peakMb.toFixed(0)} MB`,
    ].join(', '),
  );
  return { one: full.ms / one.ms, two: full.ms / two.ms, changed: changed.ms / full.ms };
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

interface FloorRun {
  readonly data: string;
  readonly folder: string;
  readonly target: string;
  readonly readings: number;
  readonly threads: number;
}

/** The same bytes as the release, hashed, signed where they carry a citation, written and synced. */
async function timedFloor(run: FloorRun): Promise<Timed<void>> {
  const { data: source, folder, target, readings, threads } = run;
  const list = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
  const share = Math.ceil(list.length / threads);
  const workers = Array.from({ length: threads }, (_, at) => {
    const paths = list
      .slice(at * share, (at + 1) * share)
      .map((file) => storedPath(file.path, file.sha256));
    const data = { source, target, paths, cores: readings / threads } satisfies FloorWork;
    return new Worker(new URL(import.meta.url), { workerData: data });
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const result = await timed(async () => {
    for (const worker of workers) worker.postMessage('go');
    await Promise.all(workers.map((worker) => once(worker, 'exit')));
    execFileSync('sync', ['-f', target]);
  });
  return result;
}

/** Reads everything first, so that only hash, sign and write are timed. */
function floor(work: FloorWork): void {
  const bodies = work.paths.map((path) => [path, readFileSync(join(work.source, path))] as const);
  parentPort?.once('message', () => sealAndWrite(work, bodies));
  parentPort?.postMessage('ready');
}

function sealAndWrite(work: FloorWork, bodies: readonly (readonly [string, Buffer])[]): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const core = 'x'.repeat(CORE_CHARS);
  for (let count = 0; count < work.cores; count++) hash('sha256', core, 'hex');
  const made = new Set<string>();
  for (const [path, bytes] of bodies) {
    const digest = hash('sha256', bytes, 'buffer');
    if (bytes.includes('"_citation"')) {
      // The format has three hashes of a signed file: file, content and statement.
      hash('sha256', bytes, 'hex');
      hash('sha256', core, 'hex');
      sign(null, digest, privateKey);
    }
    const full = join(work.target, path);
    const folder = dirname(full);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(full, bytes, { flag: 'wx' });
  }
}

function makeSnapshots(root: string, readings: number, entities: number): void {
  const folder = join(root, '2026-11-20');
  mkdirSync(folder, { recursive: true });
  const each = Math.ceil(entities / SIGNALS.length);
  const depth = Math.ceil(readings / entities);
  for (const [index, signal] of SIGNALS.entries()) {
    const lines = [headerLine(signal)];
    for (let entity = 0; entity < each; entity++) {
      for (let back = 0; back < depth; back++) {
        lines.push(readingLine({ metric: METRIC[index] ?? '', entity, back }));
      }
    }
    writeFileSync(join(folder, `${signal}.ndjson`), `${lines.join('\n')}\n`);
  }
}

/** A new batch with a new reading of every hundredth entity. */
function changeOnePercent(root: string, entities: number): void {
  const folder = join(root, 'snapshots', CHANGED_BATCH);
  mkdirSync(folder, { recursive: true });
  const each = Math.ceil(entities / SIGNALS.length);
  for (const [index, signal] of SIGNALS.entries()) {
    const lines = [headerLine(signal)];
    for (let entity = 0; entity < each; entity += 100) {
      lines.push(readingLine({ metric: METRIC[index] ?? '', entity, back: -1 }));
    }
    writeFileSync(join(folder, `${signal}.ndjson`), `${lines.join('\n')}\n`);
  }
}

function headerLine(signal: string): string {
  const thresholds = signal.endsWith('level')
    ? { action: 20, minor: 25, moderate: 30, major: 40 }
    : undefined;
  return JSON.stringify({
    header: {
      collected_at: '2026-11-20T11:00:00Z',
      sources: [{ name: 'bench generator', weight: 1, independent: true, role: 'generated' }],
      source_ref: 'https://example.org/bench',
      source_tier: null,
      ...(thresholds === undefined ? {} : { thresholds }),
    },
  });
}

function readingLine({
  metric,
  entity,
  back,
}: {
  metric: string;
  entity: number;
  back: number;
}): string {
  const observed = new Date(Date.UTC(2026, 10, 20, 10) - back * HOUR_MS).toISOString();
  const value = ((entity * 7 + back * 13) % 400) / 10;
  return JSON.stringify({
    entity: String(10_000_000 + entity),
    entity_name: `Generated station ${entity}`,
    observed_at: observed,
    current: { [metric]: value },
    qualifiers: ['P'],
  });
}
