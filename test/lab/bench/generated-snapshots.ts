import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../compiler/contract/defined.ts';
import { HOUR_MS } from '../../../compiler/contract/iso-time.ts';

/** What the generated readings are of. */
export const SIGNALS = [
  'hydrology.river-level',
  'hydrology.streamflow',
  'crypto.spot',
  'macro.unemployment',
];
const METRIC = ['stage_ft', 'discharge_cfs', 'price_usd', 'unemployment_pct'];
const BATCH = '2026-11-20';
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
        lines.push(readingLine({ metric: defined(METRIC[index], 'the metric'), entity, back }));
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
      lines.push(readingLine({ metric: defined(METRIC[index], 'the metric'), entity, back: -1 }));
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
  const value = ((entity * 7 + (back + 1) * 13) % 400) / 10;
  return JSON.stringify({
    entity: String(10_000_000 + entity),
    entity_name: `Generated station ${entity}`,
    observed_at: observed,
    current: { [metric]: value },
    qualifiers: ['P'],
  });
}
