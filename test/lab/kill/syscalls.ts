import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../../compiler/cli/compile.ts';
import { currentName, readRelease } from '../../../compiler/release/release-folders.ts';
import { format2Folder } from '../../format-2-folder.ts';
import { readLog, seenLog } from '../../publish/log/memory-store.ts';
import { APART, campaign } from '../campaign.ts';
import { expectVerified, FIRST_FORMAT, MEMORY, optionsOf, writeBatch } from './kill-work.ts';

/** A compile that goes on from the previous release, one of everything, and the first one over a folder of the first format. */
const ROUNDS = { 'going on': 1, full: 3, migrating: FIRST_FORMAT } as const;

/**
 * Kills a compile at single system calls on its data folder, or lets them fail with EIO, ENOSPC and EDQUOT, as a trace of a
 * good one numbers them (I16): afterwards the previous release or the new one is served whole, the log has grown or is what it
 * was, and the next compile succeeds. `--log`: only calls on files of the log, each of them.
 */
export const experiment = campaign({ runs: 800, log: false }, async (ground) => {
  const { flags, folder, say, progress } = ground;
  const most = Math.ceil(flags.runs / Object.keys(ROUNDS).length);
  const broken: string[] = [];
  for (const [name, round] of Object.entries(ROUNDS)) {
    const root = join(folder, String(round));
    const choose = (calls: readonly TracedCall[]) =>
      injectionsAt(flags.log ? calls.filter(({ isOfLog }) => isOfLog) : calls, most);
    const tally = await runInjections({ root, script: APART, round, choose, progress });
    const { injections, calls, killed, refused, finished, missed, old, fresh } = tally;
    say(
      `${name}: ${injections} injections at ${calls} calls; ${killed} killed, ` +
        `${refused} refused, ${finished} finished (${missed} met no call); ${old} old, ${fresh} new`,
    );
    broken.push(...tally.broken);
  }
  return broken;
});

interface InjectionCampaign {
  /** An empty folder. */
  readonly root: string;
  /** The program of `apart.ts`, which compiles. */
  readonly script: string;
  /** One of `ROUNDS`. */
  readonly round: number;
  /** What goes wrong, of the calls that a good compile makes. */
  readonly choose: (calls: readonly TracedCall[]) => readonly Injection[];
  readonly progress?: (done: number, all: number) => void;
}

/** What came of all injections. */
interface InjectionTally {
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
  if (round >= FIRST_FORMAT) format2Folder(root);
  else {
    writeBatch(root, 0);
    await compile(optionsOf(root, 0));
    for (let batch = 1; batch <= round; batch += 1) writeBatch(root, batch);
  }
  mkdirSync(join(root, MEMORY), { recursive: true });
  for (const name of ['data', MEMORY]) cpSync(join(root, name), join(root, 'before', name), COPY);
  const calls = tracedCalls(campaign);
  const tally: InjectionTally = {
    ...{ injections: 0, calls: calls.length, killed: 0, refused: 0, finished: 0, missed: 0 },
    ...{ old: 0, fresh: 0, broken: [] },
  };
  const chosen = choose(calls);
  for (const [at, injection] of chosen.entries()) {
    await injectOne(campaign, injection, tally);
    campaign.progress?.(at, chosen.length);
  }
  return tally;
}

const COPY = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const;

/** The state before the compile, in the same place, so that it makes the same calls. */
function restore(root: string): void {
  for (const name of ['data', MEMORY]) {
    rmSync(join(root, name), { recursive: true });
    cpSync(join(root, 'before', name), join(root, name), COPY);
  }
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
  const { name, when, file } = injection.call;
  const wrong = (what: string): void =>
    void tally.broken.push(`${name} ${when} ${injection.fault} on "${file}": ${what}`);
  const look = async (): Promise<void> => {
    readLog(data, seen, wrong);
    if (!isFirstFormat(data)) await expectVerified(data, wrong);
  };
  const before = currentName(data);
  const seen = seenLog();
  readLog(data, seen, wrong);
  const log = join(root, 'trace');
  const args = ['-f', '-y', '-o', log, ...injectArgs(injection)];
  const command = [process.execPath, script, 'child', root, String(round)];
  const { status, signal } = spawnSync('strace', [...args, ...command], { stdio: 'ignore' });
  const isOld = currentName(data) === before;
  tally.injections += 1;
  tally[outcomeOf(status, signal)] += 1;
  tally[isOld ? 'old' : 'fresh'] += 1;
  if (!hasFired(readFileSync(log, 'utf8'), data)) tally.missed += 1;
  if (status === 0 && isOld) wrong('exit 0, but old');
  await look();
  try {
    await compile(optionsOf(root, round + 1));
    await look();
  } catch (error) {
    wrong(`the next compile: ${error instanceof Error ? error.message : error}`);
  }
}

/** A release of the first format is for the last program of that format to verify. */
function isFirstFormat(data: string): boolean {
  const name = currentName(data);
  return name !== null && readRelease(data, name).log_index !== undefined;
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

/** Calls that change what a disk holds, and those that read it. */
const CALLS = [
  ...['openat', 'write', 'pwrite64', 'writev', 'mkdir', 'rmdir', 'rename', 'link', 'symlink'],
  ...['unlink', 'ftruncate', 'fsync', 'fdatasync', 'syncfs', 'read', 'pread64'],
] as const;
const READS: ReadonlySet<string> = new Set(['read', 'pread64']);
const FAULTS = ['signal=KILL', 'error=EIO', 'error=ENOSPC', 'error=EDQUOT'] as const;
const READ_FAULTS = ['signal=KILL', 'error=EIO'] as const;
const LATE_SHARE = 0.75;
/** The log, and what a replacement of its checkpoint goes by. */
const OF_LOG = /^(log(\/|$)|\.checkpoint|\.cosigning|\.staged-log)/;
const LINE = /^(\d+)\s+(\w+)\((.*)/;

/** One call of a traced compile that touched the data folder. */
export interface TracedCall {
  readonly name: string;
  /** Which one of its name in its thread, from 1: what an injection counts. */
  readonly when: number;
  /** The file, below the data folder. */
  readonly file: string;
  /** Whether it came with the sync before the switch, or after it. */
  readonly isLate: boolean;
  /** Whether it is about the log beside the releases. */
  readonly isOfLog: boolean;
}

/** One call that is to go wrong. */
interface Injection {
  readonly call: TracedCall;
  readonly fault: string;
}

/** Calls that name the data folder, in their order; `trace` is one of `strace -f -y`. */
export function callsOn(data: string, trace: string): TracedCall[] {
  const counts = new Map<string, number>();
  const calls: TracedCall[] = [];
  let isLate = false;
  for (const line of trace.split('\n')) {
    const [, thread = '', name = '', rest = ''] = LINE.exec(line) ?? [];
    const when = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, when);
    isLate ||= name === 'syncfs';
    const at = rest.lastIndexOf(`${data}/`);
    if (at < 0 && !rest.includes(data)) continue;
    const file = /^[^">]*/.exec(at < 0 ? '' : rest.slice(at + data.length + 1))?.[0] ?? '';
    calls.push({ name, when, file, isLate, isOfLog: OF_LOG.test(file) });
  }
  return calls;
}

/** Every fault at every call, or as many as fit, spread evenly: of the late ones three times as many as of the others. */
export function injectionsAt(calls: readonly TracedCall[], most: number): Injection[] {
  const late = calls.filter(({ isLate }) => isLate).flatMap(allFaults);
  const early = calls.filter(({ isLate }) => !isLate).flatMap(allFaults);
  const lates = Math.min(late.length, Math.ceil(most * LATE_SHARE));
  const earlies = Math.min(early.length, most - lates);
  return [...spread(late, lates), ...spread(early, earlies)];
}

/** They begin with another one at each call, so that an even choice of them has all. */
function allFaults(call: TracedCall, at: number): Injection[] {
  const faults = READS.has(call.name) ? READ_FAULTS : FAULTS;
  const first = at % faults.length;
  const turned = [...faults.slice(first), ...faults.slice(0, first)];
  return turned.map((fault) => ({ call, fault }));
}

/** As many of the items, evenly. */
function spread<T>(items: readonly T[], wanted: number): T[] {
  const step = items.length / wanted;
  return Array.from({ length: wanted }, (_, at) => items[Math.floor(at * step)]).filter(
    (item) => item !== undefined,
  );
}

/** What `strace` is told. */
export function injectArgs({ call: { name, when }, fault }: Injection): string[] {
  return ['-e', `trace=${name}`, '-e', `inject=${name}:${fault}:when=${when}`];
}
