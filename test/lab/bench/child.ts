import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defined } from '../../../compiler/contract/defined.ts';
import type { ChildReport, Role } from './server.ts';

/** How long a server may take to listen. */
export const START_MS = 20_000;

/** One server in a process of its own. */
export interface Child {
  readonly pid: number;
  /** The first of its ports. */
  readonly port: number;
  readonly ports: readonly number[];
  usage(): ProcessUsage;
  stop(): Promise<void>;
}

/** Starts a server that stands beside the gatekeeper; see gate.ts for the gatekeeper itself. */
export async function startChild(role: Role, execArgv: readonly string[] = []): Promise<Child> {
  const script = fileURLToPath(new URL('./server.js', import.meta.url));
  const child = fork(script, [JSON.stringify(role)], { execArgv: [...execArgv] });
  const { ports } = await report(child, role.kind);
  return childOf(child, ports, () => child.disconnect());
}

/** `end` asks the process to leave by itself. */
export function childOf(child: ChildProcess, ports: readonly number[], end: () => void): Child {
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

/** Tells on which ports the server listens; rejects when it ends or says nothing for too long. */
function report(child: ChildProcess, name: string): Promise<ChildReport> {
  return new Promise((resolve, reject) => {
    const fail = (state: string): void => {
      clearTimeout(timer);
      reject(new Error(`Cannot start ${name}: it ${state}; see its output above`));
    };
    const timer = setTimeout(() => fail(`said nothing for ${START_MS} ms`), START_MS);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    child.once('message', (message) => {
      clearTimeout(timer);
      resolve(message as ChildReport);
    });
  });
}

/** One core for the server under load, the other for everything else. */
export const CORES = { server: '0', rest: '1' } as const;

/** Moves all threads of a process to one core; needs Linux's taskset. */
export function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

/** What a process of this machine has taken so far. */
interface ProcessUsage {
  /** CPU time of all its threads, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const PAGE_BYTES = 4096;

/** Asks Linux, so that the measured program runs as it is shipped and knows nothing of it. */
function usageOf(pid: number): ProcessUsage {
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
