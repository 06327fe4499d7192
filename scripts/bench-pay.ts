import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileSample } from './compile-sample.ts';
import { latencyRun } from './pay-bench/latency-run.ts';
import { ratioRun } from './pay-bench/ratio-run.ts';
import { slowRun } from './pay-bench/slow-run.ts';

/**
 * Purchases a second of the real gatekeeper, journal and log on disk, beside x402-express, both against one
 * instant facilitator on loopback, in interleaved rounds of one run; then the latency of one buyer whose facilitator takes
 * 300 ms a call, with and without the call of `/verify`; then 1,000 buyers who wait for a facilitator that takes a second. Judge by the ratios: absolute figures move with the machine. "rest" is the share
 * of one core that buyers and facilitator took: they bound what is measured when it nears 100 %. "floor" is what
 * nobody can beat on this machine who recovers a signature and calls the facilitator over node:http and undici.
 * Usage: bench-pay [--rounds 5] [--payments 4000] [--warm-up 12000] [--at-once 256] [--pin] [--only ratio|latency|slow]
 *                  [--buyers 1000] [--cpu-prof FOLDER]
 * `--pin` gives each server under load one core of its own (Linux, taskset), as the published figures have it.
 */
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    payments: { type: 'string', default: '4000' },
    'warm-up': { type: 'string', default: '12000' },
    'at-once': { type: 'string', default: '256' },
    pin: { type: 'boolean', default: false },
    only: { type: 'string' },
    buyers: { type: 'string', default: '1000' },
    'cpu-prof': { type: 'string' },
  },
});

const started = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'bench-pay-'));
try {
  await compileSample(folder);
  const runs = (name: string): boolean => flags.only === undefined || flags.only === name;
  if (runs('ratio')) {
    await ratioRun({
      folder,
      rounds: Number(flags.rounds),
      payments: Number(flags.payments),
      warmUp: Number(flags['warm-up']),
      atOnce: Number(flags['at-once']),
      pin: flags.pin,
      profile: flags['cpu-prof'] ?? null,
    });
  }
  if (runs('latency')) await latencyRun(folder);
  if (runs('slow')) await slowRun({ folder, buyers: Number(flags.buyers) });
  console.log(`took ${((performance.now() - started) / 1000).toFixed(0)} s`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
