import { createHash } from 'node:crypto';
import { signalOf } from '../compiler/catalog/builtin.ts';
import { canonicalJson } from '../compiler/format/canonical.ts';
import { hashCore } from '../compiler/format/record-hash.ts';
import { SERIES_DAYS_MAX } from '../compiler/products/shapes/series.ts';
import { coreFields } from '../compiler/publish/assemble/entity-record.ts';
import { sourcedRow } from '../compiler/publish/assemble/series.ts';
import type { Ground } from '../compiler/readings/entity-past.ts';
import { type Grown, growPast } from '../compiler/readings/grow-past.ts';
import type { StoredReading } from '../compiler/readings/read-signal.ts';
import type { Reading } from '../compiler/readings/reading.ts';
import type { Segment } from '../compiler/readings/series-segments.ts';

/** What entities of a signal grow on; `segments` are kept as `<start>-<count>`. */
export function groundOf(
  signalId: string,
  batches: readonly string[],
  segments: ReadonlyMap<string, Buffer> = new Map(),
): Ground {
  const signal = signalOf(signalId);
  if (signal === undefined) throw new RangeError(`Cannot grow "${signalId}": not in the table`);
  const hashOf = (reading: Reading): string => {
    const core = canonicalJson(hashCore(coreFields(signal, reading)));
    return `sha256:${createHash('sha256').update(core).digest('hex')}`;
  };
  return {
    signal,
    batches,
    seriesDays: SERIES_DAYS_MAX,
    hashOf,
    rowOf: (reading, record_hash) => sourcedRow(signal, reading, record_hash),
    readSegment: (_, segment) => {
      const bytes = segments.get(segmentKey(segment));
      if (bytes === undefined) throw new RangeError('Cannot read a segment: not written');
      return bytes;
    },
  };
}

export function segmentKey({ before, count }: Segment): string {
  return `${before.rows}-${count}`;
}

/** An entity of readings that nothing contradicts, each of a batch of its own, oldest first. */
export function grownOf(signalId: string, readings: readonly Reading[]): Grown {
  const batches = readings.map(({ collected_at }) => `${collected_at.slice(0, 13)}Z`);
  const lines = readings.map((reading, batch): StoredReading => {
    return { reading, batch, file: `batch-${batch}`, line: 1, at: 0, size: 0 };
  });
  const growth = growPast(null, lines, groundOf(signalId, batches));
  if ('ok' in growth) return growth.ok;
  throw new RangeError('Cannot grow: the readings contradict each other');
}

/** A measured task runs a few times, and the fastest counts: other work only ever adds to it. */
const RUNS = 4;

/** Milliseconds of CPU that a task takes: what else runs on the machine adds little to them. */
export function cpuMsOf(task: () => unknown): number {
  const began = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

function fastest(task: () => unknown): number {
  return Math.min(...Array.from({ length: RUNS }, () => cpuMsOf(task)));
}

/** How many times longer a task takes for four times as much; 4 is linear, 16 quadratic. */
export function growth(size: number, taskOf: (size: number) => () => unknown): number {
  const [small, large] = [taskOf(size), taskOf(4 * size)];
  small();
  return fastest(large) / fastest(small);
}

/** Linear with room for a busy machine and for sorting, and far from quadratic. */
export const GROWTH_MAX = 9;
