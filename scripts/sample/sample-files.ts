import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { placesOf } from '../../compiler/contract/catalog/catalog.ts';
import type { Line, Signal } from '../../compiler/contract/catalog/line.ts';
import { LINES } from '../../compiler/contract/lines.ts';
import { SAMPLE_EXCEPTIONS } from './sample-exceptions.ts';
import { sampleFilings } from './sample-filings.ts';
import { lifecycleReading } from './sample-lifecycle.ts';
import type { SampleBatches, SampleReading } from './sample-recipe.ts';
import { sampleRosterFiles } from './sample-rosters.ts';
import { type Moment, recentMoments, seasonMoments } from './sample-times.ts';
import { sampleThresholds, sampleValues } from './sample-values.ts';

/** How every file of the sample says that nothing of it was observed. */
export const SAMPLE_LABEL = 'sample data: generated, not observed';
/** What every file of the sample says about itself, in its header line. */
const HEADER = {
  sources: [
    { name: 'Signalpress sample generator', weight: 1, role: 'generated', independent: true },
  ],
  source_ref: null,
  source_tier: null,
  grade: SAMPLE_LABEL,
  scope: `${SAMPLE_LABEL}; bands without an official scale are ours`,
  validation_status: SAMPLE_LABEL,
  uncertainty: 'none stated: generated values',
};

/** Which sample is generated. */
interface SampleAsk {
  /** The whole hour at which it ends, as ISO-8601 UTC; one hour always gives the same bytes. */
  readonly hour: string;
  /** With the lines whose source needs a data key, as if an operator had one. */
  readonly isKeyed?: boolean;
}

/** Every file of the sample: path below the snapshots folder, and text. */
export function sampleFiles({ hour, isKeyed = false }: SampleAsk): Map<string, string> {
  const files = new Map<string, string>();
  for (const row of LINES) {
    if (row.emptyUntilKeyed === true && !isKeyed) continue;
    for (const signal of row.signals) {
      for (const [batch, readings] of batchesOf(row, signal, hour)) {
        files.set(`${batch}/${signal.id}.ndjson`, fileText(readings));
      }
    }
  }
  for (const [path, text] of sampleFilings(SAMPLE_LABEL, hour)) files.set(path, text);
  for (const [path, text] of sampleRosterFiles(HEADER, hour)) files.set(path, text);
  return files;
}

/** The entities that the sample covers for one signal: gauges for rivers, else the line's list. */
export function sampleEntities(row: Line, signal: Signal): readonly string[] {
  const map = row.entityOf?.[signal.id];
  return map === undefined ? row.entities : row.entities.map((entity) => map[entity] ?? entity);
}

function batchesOf(row: Line, signal: Signal, hour: string): SampleBatches {
  const batches: SampleBatches = new Map();
  const recent = recentMoments(signal.cadence, hour);
  const moments = isSeasonal(signal) ? [...seasonMoments(signal.cadence, hour), ...recent] : recent;
  for (const moment of moments) {
    const batch = moment.collectedAt.slice(0, 10);
    const readings = sampleEntities(row, signal).map((entity) =>
      reading(row, signal, { entity, hour, moment }),
    );
    batches.set(batch, [...(batches.get(batch) ?? []), ...readings]);
  }
  SAMPLE_EXCEPTIONS[signal.id]?.(batches);
  return batches;
}

/** Same-season years are needed wherever a percentile or a share of bands is derived. */
export function isSeasonal(signal: Signal): boolean {
  return signal.seasonal === true;
}

interface SamplePlace {
  readonly entity: string;
  readonly hour: string;
  readonly moment: Moment;
}

function reading(row: Line, signal: Signal, { entity, hour, moment }: SamplePlace): SampleReading {
  const thresholds = sampleThresholds(signal, entity);
  const time = moment.observedAt;
  const facts =
    row.states === undefined
      ? { current: sampleValues(signal, { entity, time }) }
      : lifecycleReading(row, signal, { entity, time, hour });
  return {
    entity,
    entity_name: sampleName(row, entity),
    observed_at: time,
    collected_at: moment.collectedAt,
    ...facts,
    ...(thresholds === null ? {} : { thresholds }),
  };
}

/** Names nobody without saying that it is a sample: many ids are those of places, companies and prices that exist. */
function sampleName(row: Line, entity: string): string {
  const name = /^sample-(.*)$/.exec(entity)?.[1];
  if (name !== undefined) return `Sample: ${titled(name)}`;
  return `Sample values for ${placesOf(BUILTIN, row.id).get(entity)?.name ?? entity}`;
}

function titled(id: string): string {
  return id
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
}

/** One header line, then one reading a line; the collection time of most lines goes into the header. */
function fileText(readings: readonly SampleReading[]): string {
  const collected_at = readings[0]?.collected_at;
  const header = { header: { collected_at, ...HEADER } };
  const lines = readings.map((item) => {
    const { collected_at: own, ...rest } = item;
    return own === collected_at ? rest : item;
  });
  return `${[header, ...lines].map((line) => JSON.stringify(line)).join('\n')}\n`;
}
