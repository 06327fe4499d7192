import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';

export const GATE = resolve('build/gatekeeper/signalpress-gate.js');
const START_TIMEOUT_MS = 120_000;

/** The built gatekeeper as a process of its own, at a port that stays the same when it is started again. */
export interface GateProcess {
  readonly port: number;
  /** Resolves once it listens; rejects with what it said when it does not. */
  start(): Promise<void>;
  /** Ends it by a signal, if it runs; resolves with its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

export interface GateProcessOptions {
  readonly port: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export function gateProcess({ port, cwd, env }: GateProcessOptions): GateProcess {
  let gate: ChildProcess | null = null;
  process.once('exit', () => gate?.kill('SIGKILL'));
  return {
    port,
    async start() {
      gate = spawn(process.execPath, [GATE], {
        cwd,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { PATH: process.env.PATH, SIGNALPRESS_PORT: String(port), ...env },
      });
      await hasLogged(gate, 'listens on');
    },
    async stop(signal) {
      const running = gate;
      if (running === null || running.exitCode !== null || running.signalCode !== null) return null;
      const ended = new Promise<number | null>((done) => running.once('close', done));
      running.kill(signal);
      return ended;
    },
  };
}

/** Resolves once a process wrote certain words to its errors; rejects with what it wrote when it ends before. */
export function hasLogged(child: ChildProcess, words: string): Promise<void> {
  return new Promise((done, reject) => {
    let text = '';
    const fail = (): void => reject(new Error(`Cannot start "${child.spawnfile}": ${text}`));
    const timer = setTimeout(fail, START_TIMEOUT_MS);
    child.once('error', reject);
    child.once('close', fail);
    child.stderr?.on('data', (piece) => {
      // What comes later is read, so that it does not stop, but not kept.
      if (text.length < 10_000) text += piece;
      if (!text.includes(words)) return;
      clearTimeout(timer);
      child.off('close', fail);
      done();
    });
  });
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) await new Promise((done) => server.close(done));
  return ports;
}
