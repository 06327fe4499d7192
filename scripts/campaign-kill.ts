import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CompileOptions, compile } from '../compiler/compile.ts';
import {
  CURRENT_LINK,
  currentName,
  readRelease,
} from '../compiler/stages/publish/release-folders.ts';
import { verifyRelease } from '../compiler/verify/verify-release.ts';

/**
 * Kills compiles at random instants of a seeded sequence while a reader verifies what is current in a loop, and compiles again after
 * each: the served release is always whole, never goes back, and the next compile succeeds. Usage: campaign-kill [kills] [seed],
 * and for campaign-syscalls: campaign-kill batch|child FOLDER ROUND
 */
const ENTITIES = 60;
/** Kills are spread over this many times what a compile took alone: the reader takes its share of the machine. */
const SPREAD = 2.2;
const AS_OF = '2026-11-20T12:00:00Z';
const TRUST = 'any' as const;

interface Tally {
  killed: number;
  finished: number;
  reads: number;
  readonly broken: string[];
}

const [first = '200', second = '1', child = ''] = process.argv.slice(2);
if (first === 'child') await compile(optionsOf(second, Number(child)));
else if (first === 'batch') writeBatch(second, Number(child));
else await main(Number(first), Number(second));

async function main(kills: number, seed: number): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'campaign-kill-'));
  const tally: Tally = { killed: 0, finished: 0, reads: 0, broken: [] };
  try {
    const random = seeded(seed);
    writeBatch(root, 0);
    const { ms } = await timedCompile(root, 0);
    const state = { stop: false };
    const reader = readInALoop(root, tally, state);
    for (let round = 1; round <= kills; round += 1) {
      writeBatch(root, round);
      await killOne({ root, round, afterMs: random() * ms * SPREAD }, tally);
    }
    state.stop = true;
    await reader;
    await compile(optionsOf(root, kills + 1));
    await look(root, tally);
    report(tally, { kills, seed });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function report({ killed, finished, reads, broken }: Tally, run: { kills: number; seed: number }) {
  console.log(
    `seed ${run.seed}: ${run.kills} compiles, ${killed} killed, ${finished} finished, ` +
      `${reads} reads of the current release, ${broken.length} broken`,
  );
  for (const line of broken.slice(0, 20)) console.log(`  ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

async function timedCompile(root: string, round: number): Promise<{ ms: number }> {
  const started = performance.now();
  const [code] = await once(start(root, round), 'exit');
  if (code !== 0) throw new Error(`Cannot begin: the first compile exited with ${code}`);
  return { ms: performance.now() - started };
}

function start(root: string, round: number): ChildProcess {
  const script = process.argv[1] ?? '';
  return spawn(process.execPath, [script, 'child', root, String(round)], { stdio: 'ignore' });
}

interface Kill {
  readonly root: string;
  readonly round: number;
  readonly afterMs: number;
}

async function killOne({ root, round, afterMs }: Kill, tally: Tally): Promise<void> {
  const running = start(root, round);
  const exited = once(running, 'exit');
  await Promise.race([sleep(afterMs), exited]);
  const wasRunning = running.kill('SIGKILL');
  const [code, signal] = await exited;
  if (signal === 'SIGKILL' && wasRunning) tally.killed += 1;
  else if (code === 0) tally.finished += 1;
  else tally.broken.push(`round ${round}: exited with ${code} on its own`);
}

/** What is current must verify whenever it is looked at, and never be older than before. */
async function readInALoop(root: string, tally: Tally, state: { stop: boolean }): Promise<void> {
  let newest = 0;
  while (!state.stop) {
    newest = Math.max(newest, await look(root, tally, newest));
    await sleep(1);
  }
}

async function look(root: string, tally: Tally, newest = 0): Promise<number> {
  const data = join(root, 'data');
  // A reader pins the release it began with, as the gatekeeper does.
  const name = currentName(data);
  if (name === null) {
    tally.broken.push(`"${CURRENT_LINK}" is gone`);
    return newest;
  }
  tally.reads += 1;
  const { verdict, faults } = await verifyRelease(join(data, 'releases', name), { trust: TRUST });
  const [fault] = faults;
  // A newer release may have been published meanwhile, which only makes this one the one before.
  const isOlder = faults.every(({ file }) => file === 'current');
  if (verdict !== 'verified' && !isOlder)
    tally.broken.push(`${name}: ${fault?.file} ${fault?.detail}`);
  const { sequence } = readRelease(data, name);
  if (sequence < newest) tally.broken.push(`${name}: older than ${newest}`);
  return sequence;
}

function optionsOf(root: string, round: number): CompileOptions {
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
function writeBatch(root: string, round: number): void {
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

/** Numbers from 0 to 1, the same ones for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
