// Changes one byte of every class in every file of a small release, swaps, drops, adds and replays files, and counts what
// `verify` did not name (I24). Usage: campaign-flips [seed] [rounds]
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CompileOptions, compile } from '../compiler/compile.ts';
import { runFlips } from './flip-campaign/run-flips.ts';
import { runHarms } from './flip-campaign/run-harms.ts';

const SEED_DEFAULT = 24;
const ROUNDS_DEFAULT = 25;
const SNAPSHOTS = 'snapshots';
/** Of the sample: a scale, a place of several signals, a life cycle, rosters, filings, documents. */
const SIGNALS =
  /^(airquality|hydrology|climate-policy|filing|trust|mcp|stable|stablecoin|document)\b/;
const BATCHES_FROM = '2026-11-1';

/** Numbers from 0 up to a limit, the same ones for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A data folder with two releases of a part of the sample. */
async function smallData(home: string): Promise<{ data: string; root: string; did: string }> {
  const snapshots = join(home, 'snapshots');
  for (const batch of readdirSync(SNAPSHOTS).filter((name) => name >= BATCHES_FROM)) {
    if (batch.endsWith('.md')) continue;
    mkdirSync(join(snapshots, batch), { recursive: true });
    for (const file of readdirSync(join(SNAPSHOTS, batch)).filter((name) => SIGNALS.test(name))) {
      cpSync(join(SNAPSHOTS, batch, file), join(snapshots, batch, file));
    }
  }
  const data = join(home, 'data');
  const options: Omit<CompileOptions, 'asOf'> = {
    snapshots,
    data,
    issuerName: 'Flip campaign',
    baseUrl: 'https://readings.example',
    seed: new Uint8Array(32).fill(7),
    workers: 0,
  };
  await compile({ ...options, asOf: '2026-11-20T12:00:00Z' });
  const { folder, release } = await compile({ ...options, asOf: '2026-11-21T12:00:00Z' });
  return { data, root: folder, did: release.issuer_did };
}

async function campaign(seed: number, rounds: number): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'signalpress-flips-'));
  try {
    const started = performance.now();
    const release = await smallData(home);
    const random = seeded(seed);
    const flips = await runFlips(release, { random, own: rounds * 4 });
    const harms = await runHarms({ ...release, random, rounds });
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`seed ${seed}: ${flips.flips} changed bytes, ${flips.wrong.length} not named`);
    console.log(JSON.stringify(flips.byClass));
    console.log(`${JSON.stringify(harms.byHarm)}, ${harms.wrong.length} not named, ${seconds} s`);
    for (const wrong of [...flips.wrong, ...harms.wrong].slice(0, 20)) console.log(`  ${wrong}`);
    return flips.wrong.length + harms.wrong.length === 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const main = process.argv[1];
if (main !== undefined && import.meta.url === pathToFileURL(main).href) {
  const [seed = SEED_DEFAULT, rounds = ROUNDS_DEFAULT] = process.argv.slice(2).map(Number);
  process.exitCode = (await campaign(seed, rounds)) ? 0 : 1;
}
