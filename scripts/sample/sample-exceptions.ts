import type { SampleBatches, SampleReading } from './sample-recipe.ts';

type SampleEdit = (reading: SampleReading) => SampleReading | null;

/** A batch by its place from the newest one, which is 0. Throws where there are not that many. */
function batchAgo(batches: SampleBatches, ago: number): string {
  const batch = [...batches.keys()].sort().at(-1 - ago);
  if (batch !== undefined) return batch;
  throw new RangeError(`Cannot edit the sample: it has no batch ${ago} before the newest one`);
}

/** Rewrites the readings of one entity in one batch; null drops the reading. Throws where there is none to rewrite. */
function edit(
  batches: SampleBatches,
  at: { batch: string; entity: string },
  change: SampleEdit,
): void {
  const readings = batches.get(at.batch) ?? [];
  if (readings.every(({ entity }) => entity !== at.entity)) {
    throw new RangeError(`Cannot edit the sample: batch "${at.batch}" holds no "${at.entity}"`);
  }
  const changed = readings.flatMap((item) => {
    const kept = item.entity === at.entity ? change(item) : item;
    return kept === null ? [] : [kept];
  });
  batches.set(at.batch, changed);
}

function withCurrent(reading: SampleReading, values: Record<string, unknown>): SampleReading {
  return { ...reading, current: { ...reading.current, ...values } };
}

/** Tells the reading of the day before again in the newest batch, with `values` changed. */
function again(batches: SampleBatches, entity: string, values: Record<string, unknown>): void {
  const before = batchAgo(batches, 1);
  const old = batches.get(before)?.find((item) => item.entity === entity);
  const newest = batches.get(batchAgo(batches, 0));
  const collected_at = newest?.[0]?.collected_at;
  if (old === undefined || newest === undefined || collected_at === undefined) {
    throw new RangeError(`Cannot repeat the reading of "${entity}": none in batch "${before}"`);
  }
  newest.push(withCurrent({ ...old, collected_at }, values));
}

function dropSince(batches: SampleBatches, entity: string, firstBatch: string): void {
  for (const batch of batches.keys()) {
    if (batch >= firstBatch) edit(batches, { batch, entity }, () => null);
  }
}

/** Cases that a compile has to handle and an even sample would not hold, by signal. */
export const SAMPLE_EXCEPTIONS: Readonly<Record<string, (batches: SampleBatches) => void>> = {
  // a revision: the stage of the day before comes again, one tenth higher
  'hydrology.river-level': (batches) => {
    const before = batches.get(batchAgo(batches, 1));
    const old = before?.find((item) => item.entity === '07010000');
    const stage = Number(old?.current.stage_ft);
    again(batches, '07010000', { stage_ft: Math.round(stage * 100 + 10) / 100 });
  },
  // a repeat: the same reading collected twice
  'airquality.aqi': (batches) => again(batches, 'us-memphis', {}),
  // a stale leg: nothing new for four days
  'airquality.pm25': (batches) => dropSince(batches, 'us-denver', batchAgo(batches, 3)),
  // a metric that the reading before did not have
  'nas.aviation_wx': (batches) =>
    edit(batches, { batch: batchAgo(batches, 1), entity: 'sdf' }, (item) => {
      const { wind_kt: _absent, ...current } = item.current;
      return { ...item, current };
    }),
  // closed lanes: no waiting time is null, not 0
  'border-wait.lane-wait': (batches) =>
    edit(batches, { batch: batchAgo(batches, 0), entity: 'laredo-bridge1' }, (item) =>
      withCurrent(item, { wait_standard_min: null, lanes_open_count: 0, status: 'Lanes Closed' }),
    ),
  // two independent sources that nearly agree
  'crypto.spot': (batches) => {
    for (const readings of batches.values()) {
      for (const [index, item] of readings.entries()) readings[index] = withTwoSources(item);
    }
  },
};

function withTwoSources(item: SampleReading): SampleReading {
  const price = Number(item.current.price_usd);
  const values = [price, Math.round(price * 1001) / 1000];
  const sources = values.map((value, index) => ({
    name: `Signalpress sample generator ${index + 1}`,
    value,
    weight: 0.5,
    role: 'generated',
    independent: true,
  }));
  return { ...item, sources };
}
