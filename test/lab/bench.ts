import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../compiler/cli/compile.ts';
import { defined } from '../../compiler/format/errors.ts';
import { makeSample, SAMPLE_HOUR } from '../shared-folder.ts';
import { PAYEE } from './bench/buyers.ts';
import type { Role } from './bench/server.ts';
import { campaign, type Experiment, type Ground, type Options } from './campaign.ts';

const PROGRAM = join(import.meta.dirname, '../../gatekeeper/signalpress-gate.js');
const SERVER = join(import.meta.dirname, 'bench/server.js');
/** How long a server may take to listen. */
const START_MS = 60_000;
/** The limit stays on, as it is shipped, and is never reached. */
const RATE_LIMIT = '1000000';
const LISTENS = /signalpress listens on http:\/\/\S+:(\d+)/;
const PAGE_BYTES = 4096;

/** One core for the server under load, the other for everything else. */
const CORES = { server: '0', rest: '1' } as const;
type Core = keyof typeof CORES;

/** One server in a process of its own. */
export interface Server {
  readonly pid: number;
  /** The first of its ports. */
  readonly port: number;
  readonly ports: readonly number[];
  usage(): Usage;
  stop(): Promise<void>;
}

/** What a process of this machine has taken so far. */
interface Usage {
  /** CPU time of all its threads, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

interface GateOptions {
  /** Holds `data`, a folder of releases; the journal goes beside it. */
  readonly folder: string;
  /** The facilitator inside the process where it is left out. */
  readonly facilitator?: string;
  /** As the setting has it; the gatekeeper's own default where it is left out. */
  readonly verify?: 'always' | 'settle-only';
  /** Flags of Node, such as those that write a profile. */
  readonly execArgv?: readonly string[];
  /** No core of its own where it is left out. */
  readonly core?: Core;
}

/** What a bench gets beside what every run gets. Every server ends with the bench, if it was not stopped before. */
export interface BenchGround<O extends Options> extends Ground<O> {
  /** Starts the program as it is shipped: a journal on disk, and a log into a pipe that is read. */
  readonly gate: (options: GateOptions) => Promise<Server>;
  /** Starts a server that stands beside the gatekeeper. */
  readonly server: (role: Role, core?: Core, execArgv?: readonly string[]) => Promise<Server>;
}

/** A bench: it measures and tells, and finds nothing wrong. */
export function bench<const O extends Options>(
  options: O,
  work: (ground: BenchGround<O>) => Promise<void>,
): Experiment {
  return campaign(options, async (ground) => {
    const running: Server[] = [];
    const kept = (server: Server, core?: Core): Server => {
      running.push(server);
      if (core !== undefined) pin(server.pid, core);
      return server;
    };
    try {
      await work({
        ...ground,
        gate: async (how) => kept(await startGate(how), how.core),
        server: async (role, core, execArgv = []) => kept(await startServer(role, execArgv), core),
      });
    } finally {
      await Promise.all(running.map((server) => server.stop()));
    }
    return null;
  });
}

/** Moves all threads of a process to one core; needs Linux's taskset. */
export function pin(pid: number, core: Core): void {
  execFileSync('taskset', ['-a', '-c', '-p', CORES[core], String(pid)], { stdio: 'ignore' });
}

async function startServer(role: Role, execArgv: readonly string[]): Promise<Server> {
  const child = fork(SERVER, [JSON.stringify(role)], { execArgv: [...execArgv] });
  const ports = await whenReady<number[]>(child, role.kind, (ready) => {
    child.once('message', (message) => ready(message as number[]));
  });
  return serverOf(child, ports, () => child.disconnect());
}

async function startGate(options: GateOptions): Promise<Server> {
  const { folder, facilitator, verify, execArgv = [] } = options;
  const state = mkdtempSync(join(folder, 'state-'));
  const flags = [
    ...['--port', '0', '--data', join(folder, 'data'), '--state', state],
    ...['--pay-to', PAYEE, '--rate-limit', RATE_LIMIT],
    ...(facilitator === undefined ? [] : ['--facilitator-url', facilitator]),
    ...(verify === undefined ? [] : ['--verify', verify]),
  ];
  const gate = spawn(process.execPath, [...execArgv, PROGRAM, ...flags], {
    // No settings file lies there, and no setting of this shell is handed on.
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  gate.stdout.resume();
  let output = '';
  const port = await whenReady<number>(
    gate,
    'the gatekeeper',
    (ready) => {
      gate.stderr.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const found = LISTENS.exec(output)?.[1];
        if (found !== undefined) ready(Number(found));
      });
    },
    () => output,
  );
  return serverOf(gate, [port], () => gate.kill('SIGTERM'));
}

/** Rejects when the process ends before it is ready, or takes too long. */
function whenReady<T>(
  child: ChildProcess,
  name: string,
  listen: (ready: (value: T) => void) => void,
  output: () => string = () => 'see its output above',
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (state: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`Cannot start ${name}: it ${state}: ${output()}`));
    };
    const timer = setTimeout(() => fail(`does not listen after ${START_MS} ms`), START_MS);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    listen((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** `end` asks the process to leave by itself. */
function serverOf(child: ChildProcess, ports: readonly number[], end: () => void): Server {
  const { pid = 0 } = child;
  return {
    pid,
    port: defined(ports[0], 'a port of the server'),
    ports,
    usage: () => usageOf(pid),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      end();
      await gone;
    },
  };
}

/** Asks Linux, so that the measured program runs as it is shipped and knows nothing of it. */
function usageOf(pid: number): Usage {
  const [, resident = ''] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  const tasks = `/proc/${pid}/task`;
  const nanos = readdirSync(tasks).map((task) => nanosOf(`${tasks}/${task}/schedstat`));
  const sum = nanos.reduce((left, right) => left + right, 0);
  return { cpuMs: sum / 1e6, rssBytes: Number(resident) * PAGE_BYTES };
}

/** The time that one thread has run; a thread that has ended since counts nothing. */
function nanosOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}

/** What a piece of work of this process took. */
export interface Took<T = unknown> {
  readonly ms: number;
  /** User and system time of all threads. */
  readonly cpuMs: number;
  readonly value: T;
}

export async function timed<T>(work: () => Promise<T> | T): Promise<Took<T>> {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const value = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - started, cpuMs: (user + system) / 1000, value };
}

/** Generates the sample in `snapshots` of a folder and compiles it into `data`. */
export async function compileSample(folder: string): Promise<void> {
  makeSample(join(folder, 'snapshots'));
  await compileFolder(folder, SAMPLE_HOUR);
}

/** Compiles `snapshots` of a folder into its `data`. */
export async function compileFolder(folder: string, asOf: string): Promise<void> {
  await compile({
    snapshots: join(folder, 'snapshots'),
    data: join(folder, 'data'),
    asOf,
    issuerName: 'bench',
    baseUrl: 'http://127.0.0.1:4021',
    seed: randomBytes(32),
    workers: 2,
  });
}

/** The value that a share of all values does not exceed; the middle one by default, of an even number the upper. */
export function percentile(values: readonly number[], share = 0.5): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values);
}

/** What a load on a server came to. */
export interface Sample {
  readonly perSecond: number;
  /** CPU time of the server process for each answer, in microseconds. */
  readonly cpuMicros: number;
}

/** Answers a second beside those of another server. */
export function rate(own: Sample, other: Sample): number {
  return own.perSecond / other.perSecond;
}

/** Answers for the same CPU time: what other programs of the machine take moves it less. */
export function thrift(own: Sample, other: Sample): number {
  return other.cpuMicros / own.cpuMicros;
}

/** Median of the ratios of one round each; NaN where the other server did not run. */
export function ratio(
  left: readonly Sample[],
  right: readonly Sample[],
  of: (own: Sample, other: Sample) => number,
): number {
  return median(
    left.flatMap((own, round) => {
      const other = right[round];
      return other === undefined ? [] : [of(own, other)];
    }),
  );
}

export function ratioText(value: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(2);
}

/** One line of a table: so many names to the left, figures to the right. */
export function columns(
  widths: readonly number[],
  cells: readonly (string | number)[],
  names = 1,
): string {
  return cells
    .map((cell, at) => {
      const width = defined(widths[at], 'the width');
      return at < names ? String(cell).padEnd(width) : String(cell).padStart(width);
    })
    .join('');
}

/** How an aim is told. */
export function aimed(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED';
}

/**
 * The most memory in megabytes that this process ever had. It stands by itself, so that its text can run in a child.
 * `maxRSS` also counts what the parent had when it made the child: a child of a large test runner begins at its size.
 */
export function peakMegabytes(): number {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  const status = '/proc/self/status';
  const peak = existsSync(status) && /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(status, 'utf8'));
  return (peak ? Number(peak[1]) : process.resourceUsage().maxRSS) / 1024;
}
