import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CompileOptions, compile } from '../../../compiler/cli/compile.ts';
import { makeSample, SAMPLE_HOUR } from '../../sample-folder.ts';
import { campaign } from '../campaign.ts';
import { runFlips } from './run-flips.ts';
import { runHarms } from './run-harms.ts';

/** Of the sample: a scale, a place of several signals, a life cycle, rosters, filings, documents. */
const SIGNALS =
  /\/(airquality|hydrology|climate-policy|filing|trust|mcp|stable|stablecoin|document)\b/;
const BATCHES_FROM = '2026-11-1';

/** A data folder with two releases of a part of the sample. */
export async function smallData(
  home: string,
): Promise<{ data: string; root: string; did: string }> {
  const [whole, snapshots] = [join(home, 'sample'), join(home, 'snapshots')];
  makeSample(whole);
  for (const path of readdirSync(whole, { recursive: true, encoding: 'utf8' })) {
    if (path < BATCHES_FROM || !SIGNALS.test(path)) continue;
    cpSync(join(whole, path), join(snapshots, path));
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
  await compile({ ...options, asOf: SAMPLE_HOUR });
  const { folder, release } = await compile({ ...options, asOf: '2026-11-21T12:00:00Z' });
  return { data, root: folder, did: release.issuer_did };
}

/**
 * Changes one byte of every class in every file of a small release, swaps, drops, adds and replays files, and says what
 * `verify` did not name (I24).
 */
export const experiment = campaign(
  { seed: 24, rounds: 25 },
  async ({ flags: { seed, rounds }, folder, random, say }) => {
    const release = await smallData(folder);
    const flips = await runFlips(release, { random, own: rounds * 4 });
    const harms = await runHarms({ ...release, random, rounds });
    say(`seed ${seed}: ${flips.flips} changed bytes ${JSON.stringify(flips.byClass)}`);
    say(`harms ${JSON.stringify(harms.byHarm)}`);
    return [...flips.wrong, ...harms.wrong];
  },
);
