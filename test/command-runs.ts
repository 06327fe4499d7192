import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { makeFolder } from './snapshot-folder.ts';

const ROOT = join(import.meta.dirname, '..');

/** Where a file of the build stands; throws for an old build, so that no test judges a program of yesterday. */
export function built(path: string): string {
  const fault = inject('buildProblem');
  if (fault !== null) throw new Error(fault);
  return join(ROOT, 'build', path);
}

/** A start of the program. */
export interface CommandRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The folder that it starts in; a new one where nothing is said. */
  readonly cwd?: string;
}

/** What it said, and how it ended. */
export interface CommandEnd {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
}

/** Longest that all runs of a file may take, on a machine that is busy. */
export const RUNS_MS_MAX = 300_000;

/** Runs one command after the other: its module is loaded again each time, and what that imports only once. */
const program = (cli: string): string => `
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
  writeSync(2, ends.length + '\\n');
  ends.push(open);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, run.env);
  process.chdir(run.cwd);
  process.argv = [process.execPath, 'signalpress', ...run.args];
  import(${JSON.stringify(cli)} + '?' + ends.length);
});
`;

/**
 * Starts of the program, one after the other in one process: a process for each takes half a second. What a test file
 * plans while it is collected runs when the first end is asked for, in the order in which it was planned.
 */
export class CommandRuns {
  readonly #planned: (CommandRun & { readonly cwd: string })[] = [];
  #ends: readonly CommandEnd[] | null = null;

  /** Plans a run; returns how to ask for its end. */
  plan(args: readonly string[], more: Omit<CommandRun, 'args'> = {}): () => CommandEnd {
    if (this.#ends !== null) throw new Error(`Cannot plan ${args.join(' ')}: the others have run`);
    const { env = {}, cwd = makeFolder() } = more;
    const at = this.#planned.push({ args, env, cwd }) - 1;
    return () => {
      this.#ends ??= ended(this.#planned);
      const end = this.#ends[at];
      if (end === undefined) throw new Error(`Cannot tell the end of ${args.join(' ')}: not run`);
      return end;
    };
  }
}

function ended(runs: readonly CommandRun[]): readonly CommandEnd[] {
  const script = join(makeFolder(), 'runs.mjs');
  // Not the bundle: its parts import it by its name, which would run the command a second time.
  writeFileSync(script, program(pathToFileURL(built('compiler/cli/cli.js')).href));
  const { stdout, stderr, signal } = spawnSync(process.execPath, [script], {
    env: { PATH: process.env.PATH },
    input: JSON.stringify(runs),
    timeout: RUNS_MS_MAX,
    encoding: 'utf8',
  });
  const ends: readonly CommandEnd[] = stdout === '' ? [] : JSON.parse(stdout);
  if (ends.length === runs.length) return ends;
  const last = runs[Number(stderr.match(/^\d+$/gm)?.at(-1) ?? 0)];
  const why = signal === null ? stderr : 'it did not end in time';
  throw new Error(`Cannot run "${last?.args.join(' ')}": ${why}`);
}
