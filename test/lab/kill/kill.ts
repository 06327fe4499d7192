import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile } from '../../../compiler/cli/compile.ts';
import { CURRENT_LINK } from '../../../compiler/format/release.ts';
import { currentName } from '../../../compiler/release/release-folders.ts';
import { APART, campaign } from '../campaign.ts';
import {
  isFull,
  optionsOf,
  readCurrent,
  verifyCurrent,
  type Watch,
  writeBatch,
} from './kill-work.ts';

/**
 * Kills compiles at random instants, half of them while they publish, beside a reader of what is current: the served release
 * is always whole and never goes back, its log only grows, and the next compile succeeds (I15).
 */
export const experiment = campaign(
  { kills: 200, seed: 1 },
  async ({ flags, folder, random, say, progress }) => {
    const tally = await runKills({ root: folder, kills: flags.kills, random, progress });
    const { killed, killedPublishing, killedSwitched, finished, reads, verified, broken } = tally;
    say(
      `seed ${flags.seed}: ${killed + finished} compiles, ${killed} killed (${killedPublishing} while publishing, ` +
        `${killedSwitched} after the switch), ${finished} finished; ${reads} reads of the current release and ` +
        `${verified} whole verifications`,
    );
    return broken;
  },
);

/** One round in so many is left alone, so that the time of a compile is known as it grows. */
const LEFT_ALONE_EVERY = 11;
/** What it takes to know the times of both kinds of compile. */
const FIRST_ROUNDS = [1, 2, 3] as const;
/** Rounds after which a campaign ends, as a multiple of the kills that it was to make. */
const ROUNDS_MAX = 3;
/** From where the instant of a kill is drawn: half of them from the few steps that publish. */
const FROM = ['start', 'start', 'publish', 'switch'] as const;
type From = (typeof FROM)[number];

/** What a campaign saw. */
interface KillTally extends Pick<Watch, 'reads' | 'verified' | 'broken'> {
  killed: number;
  /** Of those, the ones after the compile had begun to publish, and after the switch. */
  killedPublishing: number;
  killedSwitched: number;
  finished: number;
}

interface KillCampaign {
  /** An empty folder. */
  readonly root: string;
  readonly kills: number;
  /** Whole numbers from 0 up to a limit. */
  readonly random: (below: number) => number;
  /** How long the reader rests between two reads; it reads without end by default. */
  readonly readerRestMs?: number;
  /** The program of `apart.ts`, which compiles and reads. */
  readonly script?: string;
  readonly progress?: (done: number, all: number) => void;
}

/** Kills compiles at random instants while another process reads what is current, and compiles once more at the end. */
export async function runKills(campaign: KillCampaign): Promise<KillTally> {
  const { root, kills, random, script = APART, readerRestMs = 0, progress } = campaign;
  const run: KillRun = { root, script, random, tally: emptyTally(), times: new Map() };
  writeBatch(root, 0);
  await compile(optionsOf(root, 0));
  for (const round of FIRST_ROUNDS) await leaveAlone(run, round);
  const reader = fork(script, ['reader', root, String(random(2 ** 31)), String(readerRestMs)]);
  let round = FIRST_ROUNDS.length + 1;
  for (; run.tally.killed < kills && round < (kills + 1) * ROUNDS_MAX; round += 1) {
    if (round % LEFT_ALONE_EVERY === 0) await leaveAlone(run, round);
    else await killOne(run, round);
    progress?.(run.tally.killed, kills);
  }
  const seen = await stopReader(reader);
  await compile(optionsOf(root, round));
  readCurrent(root, seen, random);
  await verifyCurrent(root, seen);
  const { reads, verified, broken } = seen;
  return { ...run.tally, reads, verified, broken: [...run.tally.broken, ...broken] };
}

function emptyTally(): KillTally {
  const killed = { killed: 0, killedPublishing: 0, killedSwitched: 0 };
  return { ...killed, finished: 0, reads: 0, verified: 0, broken: [] };
}

interface KillRun {
  readonly root: string;
  readonly script: string;
  readonly random: (below: number) => number;
  readonly tally: KillTally;
  /** Milliseconds to the end of the last compile of its kind that was left alone. */
  readonly times: Map<string, number>;
}

function kindOf(round: number, from: From): string {
  return `${isFull(round) ? 'full' : 'change'} ${from}`;
}

/** A compile on its way. */
interface Started {
  readonly child: ChildProcess;
  readonly exited: Promise<[code: number | null, signal: string | null]>;
  /** When it came how far, as `performance.now()` says; what it has not reached is absent. */
  readonly reached: Map<From, number>;
  /** Resolves when it comes there. */
  readonly at: Readonly<Record<From, Promise<unknown>>>;
}

/** A new batch, and a process that has loaded its program and is told to compile. */
async function begin({ root, script }: KillRun, round: number): Promise<Started> {
  writeBatch(root, round);
  const child = fork(script, ['child', root, String(round)], { stdio: 'ignore' });
  await once(child, 'message');
  const reached = new Map<From, number>();
  const note = (from: From) => (): void => void reached.set(from, performance.now());
  const at = {
    start: Promise.resolve(),
    publish: new Promise((done) => child.once('message', done)).then(note('publish')),
    switch: switched(join(root, 'data'), child).then(note('switch')),
  };
  const exited = once(child, 'exit') as Started['exited'];
  child.send('go');
  note('start')();
  return { child, exited, reached, at };
}

/** Resolves when another release becomes the current one; never, when the child ends before. */
function switched(data: string, child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    const watcher = watch(data, (_, name) => {
      if (name !== CURRENT_LINK) return;
      watcher.close();
      done();
    });
    child.once('exit', () => watcher.close());
  });
}

/** Lets a compile finish and notes how long it took; the end of its process is not worth a kill. */
async function leaveAlone(run: KillRun, round: number): Promise<void> {
  const { child, exited, reached } = await begin(run, round);
  const ended = once(child, 'disconnect').then(() => performance.now());
  const [code] = await exited;
  if (code !== 0) throw new Error(`Cannot time round ${round}: exited with ${code}`);
  run.tally.finished += 1;
  for (const [from, ms] of reached) run.times.set(kindOf(round, from), (await ended) - ms);
}

async function killOne(run: KillRun, round: number): Promise<void> {
  const { root, random, tally, times } = run;
  const data = join(root, 'data');
  const before = currentName(data);
  const from = FROM[random(FROM.length)] ?? 'start';
  const afterMs = (random(1000) / 1000) * (times.get(kindOf(round, from)) ?? 0);
  const { child, exited, at, reached } = await begin(run, round);
  await Promise.race([at[from].then(() => sleep(afterMs)), exited]);
  child.kill('SIGKILL');
  const [code, signal] = await exited;
  if (signal === 'SIGKILL') {
    tally.killed += 1;
    if (reached.has('publish')) tally.killedPublishing += 1;
    if (currentName(data) !== before) tally.killedSwitched += 1;
  } else if (code === 0) tally.finished += 1;
  else tally.broken.push(`round ${round}: exited with ${code} on its own`);
}

async function stopReader(reader: ChildProcess): Promise<Watch> {
  const message = once(reader, 'message');
  reader.send('stop');
  const [seen] = await message;
  return seen as Watch;
}
