import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../../compiler/compile.ts';
import { currentName } from '../../../compiler/stages/publish/release-folders.ts';
import { expectVerified, optionsOf, writeBatch } from './kill-work.ts';
import { CALLS, callsOn, type Injection, injectArgs, type TracedCall } from './traced-calls.ts';

interface InjectionCampaign {
  /** An empty folder. */
  readonly root: string;
  /** A script that compiles: `child FOLDER ROUND`. */
  readonly script: string;
  /** 1 goes on from the previous release, 3 compiles everything. */
  readonly round: 1 | 3;
  /** What goes wrong, of the calls that a good compile makes. */
  readonly choose: (calls: readonly TracedCall[]) => readonly Injection[];
}

/** What came of all injections. */
export interface InjectionTally {
  injections: number;
  /** Calls of the compile that could have gone wrong. */
  calls: number;
  killed: number;
  /** Compiles that said that they failed, and those that went on. */
  refused: number;
  finished: number;
  /** Injections that nothing on the data folder met: the program made another number of calls before. */
  missed: number;
  /** Which release was current afterwards. */
  old: number;
  fresh: number;
  readonly broken: string[];
}

/** Fails or kills a compile at its calls, each time from the same state, verifies what is current, and compiles again. */
export async function runInjections(campaign: InjectionCampaign): Promise<InjectionTally> {
  const { root, round, choose } = campaign;
  writeBatch(root, 0);
  await compile(optionsOf(root, 0));
  cpSync(join(root, 'data'), join(root, 'before'), COPY);
  for (let batch = 1; batch <= round; batch += 1) writeBatch(root, batch);
  const calls = tracedCalls(campaign);
  const tally: InjectionTally = {
    ...{ injections: 0, calls: calls.length, killed: 0, refused: 0, finished: 0, missed: 0 },
    ...{ old: 0, fresh: 0, broken: [] },
  };
  for (const injection of choose(calls)) await injectOne(campaign, injection, tally);
  return tally;
}

const COPY = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const;

/** The state before the compile, in the same place, so that it makes the same calls. */
function restore(root: string): void {
  rmSync(join(root, 'data'), { recursive: true });
  cpSync(join(root, 'before'), join(root, 'data'), COPY);
}

function tracedCalls({ root, script, round }: InjectionCampaign): TracedCall[] {
  restore(root);
  const log = join(root, 'trace');
  const trace = ['--seccomp-bpf', '-f', '-y', '-o', log, '-e', `trace=${CALLS.join(',')}`];
  const command = [process.execPath, script, 'child', root, String(round)];
  const { status, stderr } = spawnSync('strace', [...trace, ...command], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot trace a compile: it exited with ${status}: ${stderr}`);
  return callsOn(join(root, 'data'), readFileSync(log, 'utf8'));
}

async function injectOne(
  { root, script, round }: InjectionCampaign,
  injection: Injection,
  tally: InjectionTally,
): Promise<void> {
  restore(root);
  const data = join(root, 'data');
  const before = currentName(data);
  const log = join(root, 'trace');
  const args = ['-f', '-y', '-o', log, ...injectArgs(injection)];
  const command = [process.execPath, script, 'child', root, String(round)];
  const { status, signal } = spawnSync('strace', [...args, ...command], { stdio: 'ignore' });
  const isOld = currentName(data) === before;
  const named = `${injection.call.name} ${injection.call.when} ${injection.fault}`;
  const wrong = (what: string): void => void tally.broken.push(`${named}: ${what}`);
  tally.injections += 1;
  tally[outcomeOf(status, signal)] += 1;
  tally[isOld ? 'old' : 'fresh'] += 1;
  if (!hasFired(readFileSync(log, 'utf8'), data)) tally.missed += 1;
  if (status === 0 && isOld) wrong('exit 0, but old');
  await expectVerified(data, wrong);
  try {
    await compile(optionsOf(root, round + 1));
    await expectVerified(data, wrong);
  } catch (error) {
    wrong(`the next compile: ${error instanceof Error ? error.message : error}`);
  }
}

function outcomeOf(
  status: number | null,
  signal: string | null,
): 'killed' | 'refused' | 'finished' {
  if (signal !== null) return 'killed';
  return status === 0 ? 'finished' : 'refused';
}

/** Whether a call on the data folder failed by injection, or never came back. */
function hasFired(trace: string, data: string): boolean {
  const lines = trace.split('\n').filter((line) => line.includes(data));
  return lines.some((line) => /\(INJECTED\)$| = \?|<unfinished \.\.\.>$/.test(line));
}
