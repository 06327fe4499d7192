import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Usage, usageOf } from './process-usage.ts';
import type { Report, Role } from './server.ts';

/** How long a server may take to listen. */
export const START_MS = 20_000;

/** One server in a process of its own. */
export interface Child {
  readonly pid: number;
  readonly ports: readonly number[];
  usage(): Usage;
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
function report(child: ChildProcess, name: string): Promise<Report> {
  return new Promise((resolve, reject) => {
    const fail = (state: string): void => {
      clearTimeout(timer);
      reject(new Error(`Cannot start ${name}: it ${state}; see its output above`));
    };
    const timer = setTimeout(() => fail(`said nothing for ${START_MS} ms`), START_MS);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    child.once('message', (message) => {
      clearTimeout(timer);
      resolve(message as Report);
    });
  });
}
