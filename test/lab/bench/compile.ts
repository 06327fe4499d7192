import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type CompileSummary, compile } from '../../../compiler/cli/compile.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { bench, median, type Took, timed } from '../bench.ts';
import { type FloorKind, runFloor } from './compile-floor.ts';
import {
  CHANGED_BATCH,
  changeOnePercent,
  makeSnapshots,
  SIGNALS,
  snapshotFile,
} from './generated-snapshots.ts';

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
  const peakMb = process.resourceUsage().maxRSS / 1024;
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
