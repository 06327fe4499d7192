import { isWithin, LEADS, type LogRun, runPath } from '../../contract/log-runs.ts';
import { FIRST_BYTES, sortedLines } from '../publish/hash-lines.ts';
import { ReusedBytes } from '../publish/reused-bytes.ts';
import { HEX_AT, linesBetween, type RunSource } from './run-lines.ts';

/** What the runs of a log are made of. */
export interface RunParts {
  /** The log so far. A run of it is within one run of the new log. */
  readonly before: RunSource;
  /** What was appended, by the runs of the new log. */
  readonly added: RunSource;
  /** Whether a run is in the release already and stays as it is. */
  readonly stands: (run: LogRun) => boolean;
}

/** Path and lines of each file of each run that does not stand; the lines are valid until the next file is asked for. */
export function* runFiles({
  before,
  added,
  stands,
}: RunParts): Generator<readonly [string, Buffer]> {
  for (const run of added.runs) {
    if (stands(run)) continue;
    const sources = before.runs
      .filter((inner) => isWithin(inner, run))
      .map((inner) => (first: number) => before.lines(inner, first));
    yield* filesOf(run, [...sources, (first) => added.lines(run, first)]);
  }
}

type LinesOfByte = (first: number) => Buffer;

/** The files of one run, made byte by byte where it has more of them: so memory does not grow with the run. */
function* filesOf(
  run: LogRun,
  sources: readonly LinesOfByte[],
): Generator<readonly [string, Buffer]> {
  const memory = new ReusedBytes();
  const steps = Math.min(run.shards, FIRST_BYTES);
  const [bytes, shards] = [FIRST_BYTES / steps, run.shards / steps];
  const leads = LEADS / run.shards;
  for (let step = 0; step < steps; step += 1) {
    const lines = sortedLines(gathered(sources, step * bytes, bytes), HEX_AT, memory);
    for (let shard = step * shards; shard < (step + 1) * shards; shard += 1) {
      yield [runPath(run, shard), linesBetween(lines, shard * leads, (shard + 1) * leads)];
    }
  }
}

function gathered(sources: readonly LinesOfByte[], from: number, count: number): Buffer {
  const parts: Buffer[] = [];
  for (let first = from; first < from + count; first += 1) {
    for (const source of sources) parts.push(Buffer.from(source(first)));
  }
  return Buffer.concat(parts);
}
