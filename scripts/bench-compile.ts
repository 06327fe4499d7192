import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type CompileSummary, compile } from '../compiler/compile.ts';
import { FILES_NAME, parseFiles } from '../compiler/contract/release.ts';

/**
 * Times a whole compile beside its floor in the same run: hash, sign and write of the same bytes
 * with node:crypto and nothing else, on as many threads. Judge by the ratio; seconds move with the
 * machine. Usage: bench-compile [readings] [entities] [rounds]
 */
const SIGNALS = [
  'hydrology.river-level',
  'hydrology.streamflow',
  'crypto.spot',
  'macro.unemployment',
];
const METRIC = ['stage_ft', 'discharge_cfs', 'price_usd', 'unemployment_pct'];
const WORKERS = 2;
/** Bytes of a typical hash core, statement and signed body. */
const CORE_BYTES = 500;

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
    const ratios: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      ratios.push(await runRound(root, round, readings));
    }
    const sorted = ratios.sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    console.log(`compile / floor: median ${median.toFixed(2)} of ${rounds} rounds`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function runRound(root: string, round: number, readings: number): Promise<number> {
  const data = join(root, `data-${round}`);
  const [full, summary] = await timed(() => compileInto(root, data));
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const [again] = await timed(() => compileInto(root, data));
  const [floorMs] = await timed(() => runFloor(summary, join(root, `floor-${round}`), readings));
  const { files, bytes } = summary;
  console.log(
    [
      `round ${round}: compile ${seconds(full)}, ${rate(readings, full)} readings/s`,
      `${rate(files, full)} files/s (${files} files, ${(bytes / 1e6).toFixed(0)} MB)`,
      `unchanged ${seconds(again)}`,
      `floor ${seconds(floorMs)}`,
      `ratio ${(full / floorMs).toFixed(2)}`,
      `peak so far ${peakMb.toFixed(0)} MB`,
    ].join(', '),
  );
  rmSync(data, { recursive: true });
  return full / floorMs;
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

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const started = performance.now();
  const value = await work();
  return [performance.now() - started, value];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function rate(count: number, ms: number): string {
  return Math.round((count / ms) * 1000).toString();
}

/** The same bytes as the release, hashed, signed where they carry a citation, and written. */
async function runFloor(summary: CompileSummary, target: string, readings: number): Promise<void> {
  const paths = parseFiles(readFileSync(join(summary.folder, FILES_NAME), 'utf8')).map(
    (f) => f.path,
  );
  const half = Math.ceil(paths.length / WORKERS);
  const parts = Array.from({ length: WORKERS }, (_, at) => paths.slice(at * half, (at + 1) * half));
  const runs = parts.map((part) => {
    const data = { source: summary.folder, target, paths: part, cores: readings / WORKERS };
    const worker = new Worker(new URL(import.meta.url), { workerData: data satisfies FloorWork });
    return new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
  });
  await Promise.all(runs);
  rmSync(target, { recursive: true });
}

function floor({ source, target, paths, cores }: FloorWork): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const core = Buffer.alloc(CORE_BYTES, 'x');
  for (let count = 0; count < cores; count++) createHash('sha256').update(core).digest('hex');
  const made = new Set<string>();
  for (const path of paths) {
    const bytes = readFileSync(join(source, path));
    const digest = createHash('sha256').update(bytes).digest();
    if (bytes.includes('"_citation"')) sign(null, digest, privateKey);
    const folder = dirname(join(target, path));
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(join(target, path), bytes, { flag: 'wx' });
  }
  parentPort?.postMessage('done');
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
  const observed = new Date(Date.UTC(2026, 10, 20, 10) - back * 3_600_000).toISOString();
  const value = ((entity * 7 + back * 13) % 400) / 10;
  return JSON.stringify({
    entity: String(10_000_000 + entity),
    entity_name: `Generated station ${entity}`,
    observed_at: observed,
    current: { [metric]: value },
    qualifiers: ['P'],
  });
}
