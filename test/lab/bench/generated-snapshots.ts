import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../compiler/format/errors.ts';
import { HOUR_MS } from '../../../compiler/format/iso-time.ts';

/** What the generated readings are of. */
export const SIGNALS = [
  'hydrology.river-level',
  'hydrology.streamflow',
  'crypto.spot',
  'macro.unemployment',
];
const METRIC = ['stage_ft', 'discharge_cfs', 'price_usd', 'unemployment_pct'];
const BATCH = '2026-11-20';
const NEWEST = Date.UTC(2026, 10, 20, 10);
export const CHANGED_BATCH = '2026-11-20T11Z';

/** The snapshot file that the whole compile reads of a signal. */
export function snapshotFile(root: string, signal: string): string {
  return join(root, 'snapshots', BATCH, `${signal}.ndjson`);
}

/** Writes one batch of hourly readings: as many for each entity, the entities shared out among the signals. */
export function makeSnapshots(root: string, readings: number, entities: number): void {
  const folder = join(root, 'snapshots', BATCH);
  mkdirSync(folder, { recursive: true });
  const each = Math.ceil(entities / SIGNALS.length);
  const depth = Math.ceil(readings / entities);
  for (const [index, signal] of SIGNALS.entries()) {
    const lines = [headerLine(signal)];
    for (let entity = 0; entity < each; entity++) {
      for (let back = 0; back < depth; back++) {
        lines.push(
          readingLine(
            defined(METRIC[index], 'the metric'),
            entity,
            back + 1,
            NEWEST - back * HOUR_MS,
          ),
        );
      }
    }
    writeFileSync(snapshotFile(root, signal), `${lines.join('\n')}\n`);
  }
}

/** A new batch with a new reading of every hundredth entity. */
export function changeOnePercent(root: string, entities: number): void {
  const folder = join(root, 'snapshots', CHANGED_BATCH);
  mkdirSync(folder, { recursive: true });
  const each = Math.ceil(entities / SIGNALS.length);
  for (const [index, signal] of SIGNALS.entries()) {
    const lines = [headerLine(signal)];
    for (let entity = 0; entity < each; entity += 100) {
      lines.push(readingLine(defined(METRIC[index], 'the metric'), entity, 0, NEWEST + HOUR_MS));
    }
    writeFileSync(join(folder, `${signal}.ndjson`), `${lines.join('\n')}\n`);
  }
}

export function headerLine(signal: string, collected_at = '2026-11-20T11:00:00Z'): string {
  const thresholds = { action: 20, minor: 25, moderate: 30, major: 40 };
  return JSON.stringify({
    header: {
      collected_at,
      sources: [{ name: 'bench generator', weight: 1, independent: true, role: 'generated' }],
      source_ref: 'https://example.org/bench',
      source_tier: null,
      ...(signal.endsWith('level') ? { thresholds } : {}),
    },
  });
}

/** The reading of an entity at the n-th time. */
export function readingLine(metric: string, entity: number, n: number, observed: number): string {
  const figure = (entity * 7 + n * 13) % 400;
  return JSON.stringify({
    entity: String(10_000_000 + entity),
    entity_name: `Generated station ${entity}`,
    observed_at: new Date(observed).toISOString(),
    current: { [metric]: metric.endsWith('count') ? figure : figure / 10 },
    qualifiers: ['P'],
  });
}
