import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile } from '../../compiler/compile.ts';
import {
  CURRENT_LINK,
  currentName,
  readRelease,
} from '../../compiler/stages/publish/release-folders.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import { optionsOf, writeBatch } from './kill-work.ts';

/** Kills are spread over this many times what a compile took alone: the reader takes its share of the machine. */
const SPREAD = 2.2;
const TRUST = 'any' as const;

/** What a campaign saw. */
export interface Tally {
  killed: number;
  finished: number;
  reads: number;
  readonly broken: string[];
}

export interface Campaign {
  /** An empty folder. */
  readonly root: string;
  readonly kills: number;
  /** Whole numbers from 0 up to a limit. */
  readonly random: (below: number) => number;
  /** A script that compiles: `child FOLDER ROUND`. */
  readonly script: string;
}

/** Kills compiles at random instants while a reader verifies what is current, and compiles once more at the end. */
export async function runKills({ root, kills, random, script }: Campaign): Promise<Tally> {
  const tally: Tally = { killed: 0, finished: 0, reads: 0, broken: [] };
  writeBatch(root, 0);
  const { ms } = await timedCompile(script, root);
  const state = { stop: false };
  const reader = readInALoop(root, tally, state);
  for (let round = 1; round <= kills; round += 1) {
    writeBatch(root, round);
    const running = start(script, root, round);
    await killOne({ running, round, afterMs: random(ms * SPREAD) }, tally);
  }
  state.stop = true;
  await reader;
  await compile(optionsOf(root, kills + 1));
  await look(root, tally);
  return tally;
}

async function timedCompile(script: string, root: string): Promise<{ ms: number }> {
  const started = performance.now();
  const [code] = await once(start(script, root, 0), 'exit');
  if (code !== 0) throw new Error(`Cannot begin: the first compile exited with ${code}`);
  return { ms: performance.now() - started };
}

function start(script: string, root: string, round: number): ChildProcess {
  return spawn(process.execPath, [script, 'child', root, String(round)], { stdio: 'ignore' });
}

interface Kill {
  readonly running: ChildProcess;
  readonly round: number;
  readonly afterMs: number;
}

async function killOne({ running, round, afterMs }: Kill, tally: Tally): Promise<void> {
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

/** Verifies what is current; answers its sequence, which must not be below `newest`. */
export async function look(root: string, tally: Tally, newest = 0): Promise<number> {
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
