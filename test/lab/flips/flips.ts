// Changes one byte of every class in every file of a small release, swaps, drops, adds and replays files, and counts what
// `verify` did not name (I24). Usage: campaign-flips [seed] [rounds], or campaign-flips bits [seed] [bits]: every bit of the
// smallest files, one of every file, all of the head, and a tenth as many of one delivered body of each operation.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CompileOptions, compile } from '../../../compiler/compile.ts';
import { sampleFiles } from '../../../scripts/sample/sample-files.ts';
import { SAMPLE_AS_OF } from '../../../scripts/sample/sample-times.ts';
import { writeSample } from '../../../scripts/sample/write-sample.ts';
import { runBits } from './run-bits.ts';
import { runBodyBits } from './run-body-bits.ts';
import { runFlips } from './run-flips.ts';
import { runHarms } from './run-harms.ts';

const SEED_DEFAULT = 24;
const ROUNDS_DEFAULT = 25;
const BITS_DEFAULT = 1_000_000;
const WHOLE_FILES = 50;
/** A body is hashed, parsed and its signature checked, which takes far longer than a hash alone. */
const BODY_SHARE = 10;
/** Of the sample: a scale, a place of several signals, a life cycle, rosters, filings, documents. */
const SIGNALS =
  /\/(airquality|hydrology|climate-policy|filing|trust|mcp|stable|stablecoin|document)\b/;
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
  const part = [...sampleFiles({ hour: SAMPLE_AS_OF })].filter(([path]) => {
    return path >= BATCHES_FROM && SIGNALS.test(path);
  });
  writeSample(snapshots, new Map(part));
  const data = join(home, 'data');
  const options: Omit<CompileOptions, 'asOf'> = {
    snapshots,
    data,
    issuerName: 'Flip campaign',
    baseUrl: 'https://readings.example',
    seed: new Uint8Array(32).fill(7),
    workers: 0,
  };
  await compile({ ...options, asOf: SAMPLE_AS_OF });
  const { folder, release } = await compile({ ...options, asOf: '2026-11-21T12:00:00Z' });
  return { data, root: folder, did: release.issuer_did };
}

/** Runs what is asked for over a release of its own, and says how long it took. */
async function inSmallData(
  work: (release: Awaited<ReturnType<typeof smallData>>) => Promise<readonly string[]>,
): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'signalpress-flips-'));
  try {
    const started = performance.now();
    const wrong = await work(await smallData(home));
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`${wrong.length} not found, ${seconds} s`);
    for (const line of wrong.slice(0, 20)) console.log(`  ${line}`);
    return wrong.length === 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function byteCampaign(seed: number, rounds: number): Promise<boolean> {
  return inSmallData(async (release) => {
    const random = seeded(seed);
    const flips = await runFlips(release, { random, own: rounds * 4 });
    const harms = await runHarms({ ...release, random, rounds });
    console.log(`seed ${seed}: ${flips.flips} changed bytes ${JSON.stringify(flips.byClass)}`);
    console.log(`harms ${JSON.stringify(harms.byHarm)}`);
    return [...flips.wrong, ...harms.wrong];
  });
}

function bitCampaign(seed: number, bits: number): Promise<boolean> {
  return inSmallData(async (release) => {
    const random = seeded(seed);
    const files = await runBits(release, { random, bits, wholeFiles: WHOLE_FILES, headStep: 1 });
    const { whole, wholeFiles, each, head } = files;
    console.log(
      `seed ${seed}: ${whole} bits of ${wholeFiles} whole files, one of each of ${each} files, ` +
        `${head} of the head`,
    );
    const delivered = runBodyBits(release, { random, bits: bits / BODY_SHARE });
    const { bodies, bits: changed, sameValue, notCovered } = delivered;
    console.log(
      `${changed} bits of ${bodies} delivered bodies; verified all the same: ${sameValue} that say the same, ` +
        `members outside every hash ${JSON.stringify(notCovered)}`,
    );
    return [...files.wrong, ...delivered.wrong];
  });
}

const main = process.argv[1];
if (main !== undefined && import.meta.url === pathToFileURL(main).href) {
  const args = process.argv.slice(2);
  const ofBits = args[0] === 'bits';
  const [seed = SEED_DEFAULT, size] = args.slice(ofBits ? 1 : 0).map(Number);
  const isClean = ofBits
    ? await bitCampaign(seed, size ?? BITS_DEFAULT)
    : await byteCampaign(seed, size ?? ROUNDS_DEFAULT);
  process.exitCode = isClean ? 0 : 1;
}
