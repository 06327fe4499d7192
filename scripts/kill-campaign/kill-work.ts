import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompileOptions } from '../../compiler/compile.ts';

const ENTITIES = 60;
const AS_OF = '2026-11-20T12:00:00Z';

/** The compile of a round, in this thread. */
export function optionsOf(root: string, round: number): CompileOptions {
  return {
    snapshots: join(root, 'snapshots'),
    data: join(root, 'data'),
    asOf: new Date(Date.parse(AS_OF) + round * 60_000).toISOString(),
    issuerName: 'campaign',
    baseUrl: 'http://127.0.0.1:4021',
    seed: new Uint8Array(32).fill(1),
    workers: 0,
    // Every third one whole, the others on what is remembered.
    full: round % 3 === 0,
  };
}

/** The first batch has every entity, later ones a few. */
export function writeBatch(root: string, round: number): void {
  const time = new Date(Date.UTC(2026, 0, 1) + round * 3_600_000).toISOString();
  const folder = join(root, 'snapshots', `${time.slice(0, 13)}Z`);
  mkdirSync(folder, { recursive: true });
  const count = round === 0 ? ENTITIES : 2;
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      entity: `coin-${(round * 2 + index) % ENTITIES}`,
      observed_at: time,
      collected_at: time,
      current: { price_usd: round + index },
      sources: [{ name: 'campaign', weight: 1, independent: true }],
      source_ref: null,
      source_tier: null,
    }),
  );
  writeFileSync(join(folder, 'crypto.spot.ndjson'), `${lines.join('\n')}\n`);
}
