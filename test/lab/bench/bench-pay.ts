import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileSample } from '../../../scripts/sample/write-sample.ts';
import { crowdRun } from './crowd-run.ts';
import { latencyRun } from './latency-run.ts';
import { ratioRun } from './ratio-run.ts';
import { slowRun } from './slow-run.ts';

/**
 * Purchases at the shipped program, its log and its journal on, in interleaved rounds of one run, each server on one core,
 * buyers and facilitator on the other. Four runs:
 *  - ratio: purchases a second beside x402-express, both against one instant facilitator. "rest" is the share of one core
 *    that buyers and facilitator took: they bound what is measured when it nears 100 %. "floor" is what nobody can beat
 *    on this machine who recovers a signature and calls the facilitator over node:http and undici.
 *  - latency: how long 100 buyers wait whose facilitator takes 300 ms a call.
 *  - crowd: the slowest of 1,000 buyers at once beside the middle one.
 *  - slow: 1,000 buyers who wait for a facilitator that takes a second, and free answers meanwhile.
 * Judge by the ratios: absolute figures move with the machine. Needs Linux.
 * Usage: bench-pay [--only ratio|latency|crowd|slow] [--rounds 5] [--payments 4000] [--warm-up 12000] [--at-once 256]
 *                  [--buyers 1000] [--cpu-prof FOLDER]
 */
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    payments: { type: 'string', default: '4000' },
    'warm-up': { type: 'string', default: '12000' },
    'at-once': { type: 'string', default: '256' },
    only: { type: 'string' },
    buyers: { type: 'string', default: '1000' },
    'cpu-prof': { type: 'string' },
  },
});
/** Buyers at a facilitator that takes a while, and what each of them buys in one round. */
const PATIENT = { buyers: 100, purchases: 6, delayMs: 300 };

const started = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'bench-pay-'));
try {
  await compileSample(folder);
  const runs = (name: string): boolean => flags.only === undefined || flags.only === name;
  const rounds = Number(flags.rounds);
  const payments = Number(flags.payments);
  if (runs('ratio')) {
    const warmUp = Number(flags['warm-up']);
    const atOnce = Number(flags['at-once']);
    const profile = flags['cpu-prof'] ?? null;
    await ratioRun({ folder, rounds, payments, warmUp, atOnce, profile });
  }
  if (runs('latency')) await latencyRun({ folder, rounds, ...PATIENT });
  const buyers = Number(flags.buyers);
  if (runs('crowd')) await crowdRun({ folder, rounds, buyers, payments: 3 * payments });
  if (runs('slow')) await slowRun({ folder, buyers });
  console.log(`took ${((performance.now() - started) / 1000).toFixed(0)} s`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
