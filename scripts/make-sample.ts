import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CITY_RIVER_GAUGE } from '../compiler/contract/entities.ts';
import { LINES, type Line, type Signal } from '../compiler/contract/lines.ts';
import { SAMPLE_EXCEPTIONS } from './sample/sample-exceptions.ts';
import { sampleFilings } from './sample/sample-filings.ts';
import { lifecycleReading } from './sample/sample-lifecycle.ts';
import type { SampleBatches, SampleReading } from './sample/sample-reading.ts';
import { sampleRosterFiles } from './sample/sample-rosters.ts';
import { type Moment, recentMoments, seasonMoments } from './sample/sample-times.ts';
import { sampleThresholds, sampleValues } from './sample/sample-values.ts';

const LABEL = 'sample data: generated, not observed';
/** What every file of the sample says about itself, in its header line. */
const HEADER = {
  sources: [
    { name: 'Signalpress sample generator', weight: 1, role: 'generated', independent: true },
  ],
  source_ref: null,
  source_tier: null,
  grade: LABEL,
  scope: `${LABEL}; bands without an official scale are ours`,
  validation_status: LABEL,
  uncertainty: 'none stated: generated values',
};

/** Every file of the sample: path below the snapshots folder, and text. */
export function sampleFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const row of LINES as readonly Line[]) {
    if (row.emptyUntilKeyed === true) continue;
    for (const signal of row.signals) {
      for (const [batch, readings] of batchesOf(row, signal)) {
        files.set(`${batch}/${signal.id}.ndjson`, fileText(readings));
      }
    }
  }
  for (const [path, text] of sampleFilings(LABEL)) files.set(path, text);
  for (const [path, text] of sampleRosterFiles(HEADER)) files.set(path, text);
  return files;
}

/** The entities that the sample covers for one signal: gauges for rivers, else the line's list. */
export function sampleEntities(row: Line, signal: Signal): readonly string[] {
  const map = row.entityOf?.[signal.id];
  return map === undefined ? row.entities : row.entities.map((entity) => map[entity] ?? entity);
}

function batchesOf(row: Line, signal: Signal): SampleBatches {
  const batches: SampleBatches = new Map();
  const recent = recentMoments(signal.cadence);
  const moments = isSeasonal(signal) ? [...seasonMoments(signal.cadence), ...recent] : recent;
  for (const moment of moments) {
    const batch = moment.collectedAt.slice(0, 10);
    const readings = sampleEntities(row, signal).map((entity) =>
      reading(row, signal, { entity, moment }),
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

function reading(row: Line, signal: Signal, at: { entity: string; moment: Moment }): SampleReading {
  const { entity, moment } = at;
  const name = sampleName(entity);
  const thresholds = sampleThresholds(signal, entity);
  const time = moment.observedAt;
  const facts =
    row.states === undefined
      ? { current: sampleValues(signal, { entity, time }) }
      : lifecycleReading(row, signal, { entity, time });
  return {
    entity,
    ...(name === null ? {} : { entity_name: name }),
    observed_at: time,
    collected_at: moment.collectedAt,
    ...facts,
    ...(thresholds === null ? {} : { thresholds }),
  };
}

const CITY_OF_GAUGE = new Map(Object.entries(CITY_RIVER_GAUGE).map(([city, site]) => [site, city]));

function sampleName(entity: string): string | null {
  const city = CITY_OF_GAUGE.get(entity);
  if (city !== undefined) return `Sample gauge for ${city}`;
  return entity.startsWith('sample-') ? `S${entity.slice(1).replaceAll('-', ' ')}` : null;
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

/** Replaces the sample in a snapshots folder; files that do not carry its label stay. */
function writeSample(root: string): void {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isDirectory()) removeSample(join(root, entry.name));
  }
  const files = sampleFiles();
  let bytes = 0;
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: 'wx' });
    bytes += Buffer.byteLength(text);
  }
  console.log(`Wrote ${files.size} sample files, ${bytes} bytes, into ${root}`);
}

function removeSample(batch: string): void {
  for (const name of readdirSync(batch)) {
    const file = join(batch, name);
    const [header = ''] = readFileSync(file, 'utf8').split('\n', 1);
    if (header.includes(LABEL)) rmSync(file);
  }
  if (readdirSync(batch).length === 0) rmdirSync(batch);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeSample('snapshots');
