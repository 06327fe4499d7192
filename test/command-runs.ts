import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeFolder } from './snapshot-folder.ts';

/** A start of the program, in a folder of its own. */
export interface CommandRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What it said, and how it ended. */
export interface CommandEnd {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
}

const CLI = pathToFileURL(join(import.meta.dirname, '../build/compiler/cli.js')).href;

/** Runs one command after the other: its module is loaded anew each time, and what that imports only once. */
const PROGRAM = `
import { readFileSync, writeSync } from 'node:fs';
const runs = JSON.parse(readFileSync(0, 'utf8'));
const ends = [];
let open = null;
const keep = (name) => (chunk, ...more) => {
  if (open !== null) open[name] += chunk;
  if (typeof more.at(-1) === 'function') more.at(-1)();
  return true;
};
for (const name of ['stdout', 'stderr']) {
  process[name].write = keep(name);
  process[name].setMaxListeners(0);
}
const end = (status) => {
  if (open !== null) open.status = status;
  open = null;
};
process.exit = (code) => {
  end(code ?? process.exitCode ?? 0);
  throw new Error('the command has ended');
};
process.on('beforeExit', () => {
  end(process.exitCode ?? 0);
  process.exitCode = 0;
  const run = runs[ends.length];
  if (run === undefined) {
    process.removeAllListeners('beforeExit');
    writeSync(1, JSON.stringify(ends));
    return;
  }
  open = { status: null, stdout: '', stderr: '', cwd: run.cwd };
  ends.push(open);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, run.env);
  process.chdir(run.cwd);
  process.argv = [process.execPath, 'signalpress', ...run.args];
  import(${JSON.stringify(CLI)} + '?' + ends.length);
});
`;

const nameOf = ({ args, env = {} }: CommandRun): string => JSON.stringify([args, env]);

/**
 * Starts of the program, one after the other in one process: a process for each takes half a second. They are made when
 * the first of them is asked for.
 */
export function commandRuns(runs: readonly CommandRun[]) {
  let ends: ReadonlyMap<string, CommandEnd> | null = null;
  return (args: readonly string[], env: Readonly<Record<string, string>> = {}): CommandEnd => {
    ends ??= ended(runs);
    const end = ends.get(nameOf({ args, env }));
    if (end === undefined) throw new Error(`Cannot tell the end of ${args.join(' ')}: not run`);
    return end;
  };
}

function ended(runs: readonly CommandRun[]): Map<string, CommandEnd> {
  const script = join(makeFolder(), 'runs.mjs');
  writeFileSync(script, PROGRAM);
  const given = runs.map(({ args, env = {} }) => ({ args, env, cwd: makeFolder() }));
  const { stdout, stderr } = spawnSync(process.execPath, [script], {
    env: { PATH: process.env.PATH },
    input: JSON.stringify(given),
    encoding: 'utf8',
  });
  const ends: readonly CommandEnd[] = stdout === '' ? [] : JSON.parse(stdout);
  if (ends.length !== runs.length) throw new Error(`Cannot run the commands: ${stderr}`);
  return new Map(runs.map((run, at) => [nameOf(run), ends[at] as CommandEnd]));
}
