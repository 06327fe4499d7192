import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Child, childOf, START_MS } from './child.ts';
import { PAYEE } from './payer.ts';

const PROGRAM = fileURLToPath(new URL('../../../gatekeeper/signalpress-gate.js', import.meta.url));
/** The limit stays on, as it is shipped, and is never reached. */
const RATE_LIMIT = '1000000';
const LISTENS = /signalpress listens on http:\/\/\S+:(\d+)/;

export interface GateOptions {
  /** Holds `data`, a folder of releases; the journal goes beside it. */
  readonly folder: string;
  /** Null for the facilitator inside the process. */
  readonly facilitator: string | null;
  /** As the setting has it; the gatekeeper's own default where it is left out. */
  readonly verify?: 'always' | 'settle-only';
  /** Flags of Node, such as those that write a profile. */
  readonly execArgv?: readonly string[];
}

/** Starts the program as it is shipped: a journal on disk, and a log into a pipe that is read. */
export async function startGate(options: GateOptions): Promise<Child> {
  const { folder, execArgv = [] } = options;
  const gate = spawn(process.execPath, [...execArgv, PROGRAM, ...flagsOf(options)], {
    // No settings file lies there, and no setting of this shell is handed on.
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  gate.stdout.resume();
  const port = await portOf(gate);
  return childOf(gate, [port], () => gate.kill('SIGTERM'));
}

function flagsOf({ folder, facilitator, verify }: GateOptions): string[] {
  const state = mkdtempSync(join(folder, 'state-'));
  return [
    ...['--port', '0', '--data', join(folder, 'data'), '--state', state],
    ...['--pay-to', PAYEE, '--rate-limit', RATE_LIMIT],
    ...(facilitator === null ? [] : ['--facilitator-url', facilitator]),
    ...(verify === undefined ? [] : ['--verify', verify]),
  ];
}

/** The port that the gatekeeper says it listens on; rejects with its words when it does not start. */
function portOf(gate: ChildProcessByStdio<null, Readable, Readable>): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (state: string): void => {
      clearTimeout(timer);
      reject(new Error(`Cannot start the gatekeeper: it ${state}: ${output}`));
    };
    const timer = setTimeout(() => fail(`does not listen after ${START_MS} ms`), START_MS);
    gate.once('exit', (code) => fail(`ended with code ${code}`));
    gate.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const port = LISTENS.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}
