import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Report, Role, Usage } from './server.ts';

/** How long a server may take to listen, or to tell its usage. */
const REPORT_MS = 20_000;

/** One server in a process of its own. */
export interface Child {
  readonly pid: number;
  readonly ports: readonly number[];
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

export async function startChild(role: Role, execArgv: readonly string[] = []): Promise<Child> {
  const script = fileURLToPath(new URL('./server.js', import.meta.url));
  const child = fork(script, [JSON.stringify(role)], { execArgv: [...execArgv] });
  const first = await message(child);
  if (!('ports' in first)) throw new Error(`Cannot start ${role.kind}: it told no port`);
  return {
    pid: child.pid ?? 0,
    ports: first.ports,
    async usage() {
      child.send('usage');
      return (await message(child)) as Usage;
    },
    async stop() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** The next report of a child; rejects when it ends or says nothing for too long. */
function message(child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
      act();
    };
    const fail = (state: string): void => {
      settle(() => reject(new Error(`Cannot go on: server ${state}; see its output above`)));
    };
    const onMessage = (report: unknown): void => settle(() => resolve(report as Report));
    const onExit = (code: number | null): void => fail(`ended with code ${code}`);
    const timer = setTimeout(() => fail(`said nothing for ${REPORT_MS} ms`), REPORT_MS);
    child.once('message', onMessage).once('exit', onExit);
  });
}
