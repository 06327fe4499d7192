import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS } from '../../../compiler/format/iso-time.ts';
import { FILES_NAME, type FileEntry, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { bench, median, peakMegabytes, type Took, timed } from '../bench.ts';
import { runFloor } from './compile.ts';
import { headerLine, readingLine } from './generated-snapshots.ts';

/** What a process took, as it writes it down when it ends. */
interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  /** Bytes that were given to the system to be written. */
  readonly written: number;
  readonly peakMb: number;
}

/** Names the file that the usage is written to. */
const USAGE_FILE = 'SIGNALPRESS_BENCH_USAGE';

/** A module of its own, loaded in front of the program: what it imported would count as the program's. */
const USAGE_MODULE = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeFileSync } from 'node:fs';
${peakMegabytes}
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const [, written] = /^wchar: (\\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? [];
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, written: Number(written), peakMb: peakMegabytes() };
  writeFileSync(process.env.${USAGE_FILE}, JSON.stringify(usage));
});`)}`;

const SIGNALS = {
  'hydrology.river-level': 'stage_ft',
  'hydrology.streamflow': 'discharge_cfs',
  'crypto.spot': 'price_usd',
  'macro.unemployment': 'unemployment_pct',
  'drug-shortage.active-shortages': 'active_count',
} as const;
const HOURS_TIMED = 5;
/** Hours before those, one by one: from then on each hour removes a release, as it does in a shop. */
const HOURS_WARM = 5;
const FLOOR_THREADS = 2;
const FIRST_HOUR = Date.UTC(2022, 0, 1);
/** Kinds of files that describe or find bodies, and are none. */
const NO_BODY = /^(verify|log|index|segment)\//;

/**
 * What an hour costs in the life of a shop: every entity gets one new reading an hour, and the shipped program compiles each
 * hour. Hours up to the ages that are measured come in one compile; then hours come one by one, and the middle of the last ones
 * counts, beside the floor of the same run: what two threads need to parse the readings of that hour, and to hash, sign,
 * serialise and write the bodies that it changed. Also what an unchanged compile costs, and what the disk holds in the end.
 */
export const experiment = bench(
  { entities: 500, signals: 5, ages: '100,1000,4000', 'per-hour': 1 },
  async ({ flags, folder, say }) => {
    writeFileSync(join(folder, 'issuer.key'), `${'01'.repeat(32)}\n`, { mode: 0o600 });
    const signals = Object.keys(SIGNALS).slice(0, flags.signals) as (keyof typeof SIGNALS)[];
    const ages = flags.ages.split(',').map(Number);
    const { entities, 'per-hour': perHour } = flags;
    await measure(folder, { entities, signals, ages, perHour, say });
  },
);

interface YearShape {
  readonly entities: number;
  readonly signals: readonly (keyof typeof SIGNALS)[];
  readonly ages: readonly number[];
  readonly perHour: number;
  readonly say: (line: string) => void;
}

interface Hour extends Usage {
  readonly wallMs: number;
  readonly files: number;
  /** Bytes of the bodies that this hour changed, and where they are stored in the data folder. */
  readonly bodies: number;
  readonly paths: readonly string[];
}

async function measure(root: string, shape: YearShape): Promise<void> {
  let hour = 0;
  let first: Hour | null = null;
  for (const age of shape.ages) {
    for (; hour < age - HOURS_TIMED - HOURS_WARM; hour += 1) writeHour(root, shape, hour);
    compileHour(root, hour - 1);
    for (; hour < age - HOURS_TIMED; hour += 1) {
      writeHour(root, shape, hour);
      compileHour(root, hour);
    }
    const timed: Hour[] = [];
    for (; hour < age; hour += 1) {
      writeHour(root, shape, hour);
      timed.push(compileHour(root, hour));
    }
    const middle = middleOf(timed);
    const last = timed.at(-1)?.paths ?? [];
    const floor = await floorOf(root, { paths: last, hour: hour - 1 });
    const same = compileHour(root, hour - 1);
    first ??= middle;
    shape.say(hourText(age, middle, first));
    shape.say(`          ${floorText(middle, floor)}`);
    shape.say(`          unchanged: ${seconds(same.cpuMs)} of CPU`);
  }
  shape.say(diskText(root));
}

/** Compiles as of half past an hour, with the shipped program. */
function compileHour(root: string, hour: number): Hour {
  const usage = join(root, 'usage.json');
  const before = listOf(root);
  const program = join(import.meta.dirname, '../../../compiler/signalpress.js');
  const asOf = new Date(FIRST_HOUR + hour * HOUR_MS + HOUR_MS / 2).toISOString();
  const args = ['compile', '--snapshots', join(root, 'snapshots'), '--data', join(root, 'data')];
  const own = ['--key', join(root, 'issuer.key'), '--as-of', asOf];
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [program, ...args, ...own], {
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${USAGE_MODULE}`,
      [USAGE_FILE]: usage,
    },
    encoding: 'utf8',
  });
  const wallMs = performance.now() - started;
  if (status !== 0) throw new Error(`Cannot compile hour ${hour}: ${stderr}`);
  // Hours are compiled within seconds here: releases are as old as they would be.
  const time = (FIRST_HOUR + hour * HOUR_MS) / 1000;
  utimesSync(join(root, 'data/current'), time, time);
  const known = new Set(before.map(({ path, sha256 }) => `${path} ${sha256}`));
  const fresh = listOf(root).filter(({ path, sha256 }) => !known.has(`${path} ${sha256}`));
  const bodies = fresh.filter(({ path }) => !NO_BODY.test(path));
  return {
    ...(JSON.parse(readFileSync(usage, 'utf8')) as Usage),
    wallMs,
    files: fresh.length,
    bodies: bodies.reduce((sum, { size }) => sum + size, 0),
    paths: bodies.map(({ path, sha256 }) => storedPath(path, sha256)),
  };
}

/** What no program can do without: the readings of an hour parsed, and the bodies that it changed made again. */
async function floorOf(
  root: string,
  { paths, hour }: { readonly paths: readonly string[]; readonly hour: number },
): Promise<Took> {
  const folder = join(root, 'snapshots', batchOf(hour));
  const work = {
    kind: 'format',
    source: join(root, 'data'),
    target: join(root, `floor-${hour}`),
    paths,
    snapshots: readdirSync(folder).map((name) => join(folder, name)),
    threads: FLOOR_THREADS,
  } as const;
  return runFloor(work, timed<void>);
}

function floorText(hour: Hour, floor: Took): string {
  const ratio = (own: number, least: number): string => (own / least).toFixed(2);
  return (
    `floor on ${FLOOR_THREADS} threads: CPU ${seconds(floor.cpuMs)} (the hour ${ratio(hour.cpuMs, floor.cpuMs)} x), ` +
    `wall ${seconds(floor.ms)} (the hour ${ratio(hour.wallMs, floor.ms)} x)`
  );
}

function listOf(root: string): FileEntry[] {
  try {
    return parseFiles(readFileSync(join(root, 'data/current', FILES_NAME), 'utf8'));
  } catch {
    return [];
  }
}

function middleOf(hours: readonly Hour[]): Hour {
  const middle = (of: (hour: Hour) => number): number => median(hours.map(of));
  return {
    cpuMs: middle((hour) => hour.cpuMs),
    wallMs: middle((hour) => hour.wallMs),
    written: middle((hour) => hour.written),
    files: middle((hour) => hour.files),
    bodies: middle((hour) => hour.bodies),
    paths: [],
    peakMb: middle((hour) => hour.peakMb),
  };
}

function hourText(age: number, hour: Hour, first: Hour): string {
  const ratio = (of: (hour: Hour) => number): string => (of(hour) / of(first)).toFixed(2);
  return [
    `hour ${String(age).padStart(5)}: CPU ${seconds(hour.cpuMs)} (${ratio(({ cpuMs }) => cpuMs)} x)`,
    `wall ${seconds(hour.wallMs)}`,
    `written ${megabytes(hour.written)} (${ratio(({ written }) => written)} x)`,
    `${(hour.written / hour.bodies).toFixed(2)} x the bodies' ${megabytes(hour.bodies)}`,
    `${hour.files} files`,
    `peak ${hour.peakMb.toFixed(0)} MB`,
  ].join(', ');
}

function diskText(root: string): string {
  const release = listOf(root).reduce((sum, { size }) => sum + size, 0);
  const [readings, data] = [sizeOf(join(root, 'snapshots')), sizeOf(join(root, 'data'))];
  const ratio = (readings + data) / (readings + release);
  return (
    `disk: readings ${megabytes(readings)}, release ${megabytes(release)}, ` +
    `data folder ${megabytes(data)}: together ${ratio.toFixed(2)} x readings and release`
  );
}

/** Bytes of the files below a folder, each once. */
function sizeOf(folder: string, seen = new Set<number>()): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + sizeOf(path, seen);
    if (!entry.isFile()) return sum;
    const { ino, size } = statSync(path);
    if (seen.has(ino)) return sum;
    seen.add(ino);
    return sum + size;
  }, 0);
}

function batchOf(hour: number): string {
  return `${new Date(FIRST_HOUR + hour * HOUR_MS).toISOString().slice(0, 13)}Z`;
}

function writeHour(root: string, { entities, signals, perHour }: YearShape, hour: number): void {
  const at = FIRST_HOUR + hour * HOUR_MS;
  const folder = join(root, 'snapshots', batchOf(hour));
  mkdirSync(folder, { recursive: true });
  const each = Math.ceil(entities / signals.length);
  for (const signal of signals) {
    const lines = [headerLine(signal, new Date(at + HOUR_MS / 4).toISOString())];
    for (let entity = 0; entity < each; entity += 1) {
      for (let part = 0; part < perHour; part += 1) {
        const observed = at - HOUR_MS + (part * HOUR_MS) / perHour;
        lines.push(readingLine(SIGNALS[signal], entity, hour * perHour + part, observed));
      }
    }
    writeFileSync(join(folder, `${signal}.ndjson`), `${lines.join('\n')}\n`);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
