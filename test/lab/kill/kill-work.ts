import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompileOptions, compile } from '../../../compiler/cli/compile.ts';
import { HOUR_MS } from '../../../compiler/format/iso-time.ts';
import { openLogMemory } from '../../../compiler/publish/anchor/log-memory.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { FORMAT_2_TERMS } from '../../format-2-folder.ts';
import { SEED } from '../../snapshot-folder.ts';

const ENTITIES = 60;
const AS_OF = '2026-11-20T12:00:00Z';
const TERMS = {
  issuerName: 'campaign',
  baseUrl: 'http://127.0.0.1:4021',
  seed: new Uint8Array(32).fill(1),
} as const;

/** Folder of what remembers the log outside, beside that of the data. */
export const MEMORY = 'memory';

/** Rounds from here on are those of a folder of the first format. */
export const FIRST_FORMAT = 1_000_000;

/** The compile of a round, in this thread. */
export function optionsOf(root: string, round: number): CompileOptions {
  const isFirst = round >= FIRST_FORMAT;
  const { asOf, ...terms } = isFirst
    ? { ...FORMAT_2_TERMS, seed: SEED, full: false }
    : { asOf: AS_OF, ...TERMS, full: isFull(round) };
  const minutes = isFirst ? round - FIRST_FORMAT : round;
  const data = join(root, 'data');
  const place = join(root, MEMORY, 'log');
  return {
    snapshots: join(root, 'snapshots'),
    data,
    // That of the first format is remembered from its first entry beside the releases on.
    logMemory: openLogMemory({ place, data, auth: null, fetch }),
    asOf: new Date(Date.parse(asOf) + minutes * 60_000).toISOString(),
    ...terms,
    workers: 0,
  };
}

/** Every third one whole, the others on what is remembered. */
export function isFull(round: number): boolean {
  return round % 3 === 0;
}

/** Compiles as a process of its own. One that was forked says `ready`, waits for a word, and says `publish` when it begins to. */
export async function compileApart(root: string, round: number): Promise<void> {
  const say = (word: string): void => void process.send?.(word);
  if (process.connected) {
    say('ready');
    await once(process, 'message');
  }
  const progress = ({ stage }: { readonly stage: string }): void => {
    if (stage === 'publish') say(stage);
  };
  try {
    await compile({ ...optionsOf(root, round), progress });
  } finally {
    if (process.connected) process.disconnect();
  }
}

/** The first batch has every entity, later ones a few. */
export function writeBatch(root: string, round: number): void {
  const time = new Date(Date.UTC(2026, 0, 1) + round * HOUR_MS).toISOString();
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

/** Says the first two faults of the release that is current in a data folder. */
export async function expectVerified(data: string, wrong: (what: string) => void): Promise<void> {
  const { faults } = await verifyRelease(data, { trust: 'any' });
  for (const { file, detail } of faults.slice(0, 2)) wrong(`${file} ${detail}`);
}
