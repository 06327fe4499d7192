// Shows forged bodies to every judge: the command, POST /gauge/verify, the client and verify_record.py. None may believe
// a lie, and all have to say the same.
//
//   node build/scripts/campaign-forgeries.js [seed] [forgeries]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seeded } from '../flips/flips.ts';
import type { Forgery, Trusted } from './forgery.ts';
import { readingForgeries, settlementForgeries } from './plan.ts';
import { readingShop } from './reading-shop.ts';
import { type ForgeryResult, type IsTrue, runForgeries } from './run-forgeries.ts';
import { SETTLEMENT_NOW, settlementShop } from './settlement-shop.ts';
import { isTrueReading, isTrueSettlement } from './true-answers.ts';

const SEED_DEFAULT = 24;
const FORGERIES_DEFAULT = 24_000;

async function settlements(most: number, random: (below: number) => number): Promise<boolean> {
  const shop = await settlementShop();
  const trusted = { did: shop.did, service: shop.service, now: SETTLEMENT_NOW };
  const forgeries = settlementForgeries(shop, most, random);
  return judged('settlement answers', { forgeries, trusted, isTrue: isTrueSettlement(shop) });
}

async function readings(most: number, random: (below: number) => number): Promise<boolean> {
  const { moments, ask, ...trusted } = await readingShop();
  const forgeries = readingForgeries(moments, most, random);
  return judged('all other bodies', {
    forgeries,
    trusted,
    isTrue: isTrueReading(ask, trusted.now),
  });
}

interface Campaign {
  readonly forgeries: readonly Forgery[];
  readonly trusted: Trusted;
  readonly isTrue: IsTrue;
}

async function judged(name: string, { forgeries, trusted, isTrue }: Campaign): Promise<boolean> {
  const started = performance.now();
  const result = await runForgeries(forgeries, trusted, isTrue);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${forgeries.length} forgeries of ${name}, ${seconds} s`);
  report(result);
  return result.passed.length + result.disputed.length === 0;
}

function report({ judged, harmless, verdicts, passed, disputed }: ForgeryResult): void {
  console.log(`  judged ${JSON.stringify(judged)}`);
  console.log(
    `  verdicts ${JSON.stringify(verdicts)}; true all the same ${JSON.stringify(harmless)}`,
  );
  console.log(`  ${passed.length} lies passed, ${disputed.length} disputed`);
  for (const line of [...passed, ...disputed].slice(0, 40)) console.log(`  ${line.slice(0, 400)}`);
}

const main = process.argv[1];
if (main !== undefined && import.meta.url === pathToFileURL(main).href) {
  const [seed = SEED_DEFAULT, most = FORGERIES_DEFAULT] = process.argv.slice(2).map(Number);
  const home = mkdtempSync(join(tmpdir(), 'signalpress-forgeries-'));
  process.env.TMPDIR = home;
  try {
    const random = seeded(seed);
    const half = Math.ceil(most / 2);
    console.log(`seed ${seed}`);
    const isClean = [await settlements(half, random), await readings(half, random)];
    process.exitCode = isClean.includes(false) ? 1 : 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
