import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Options of a run by name, each with its default. */
export type Options = Readonly<Record<string, string | number | boolean>>;
type Wide<Value> = Value extends number ? number : Value extends boolean ? boolean : string;
type Flags<O extends Options> = { readonly [Name in keyof O]: Wide<O[Name]> };

/** What every run gets. */
export interface Ground<O extends Options> {
  readonly flags: Flags<O>;
  /** An empty folder. It goes at the end, with every other temporary one that the run made. */
  readonly folder: string;
  /** Whole numbers from 0 up to a limit, the same ones for the same `--seed`. */
  readonly random: (below: number) => number;
  /** A line of the report. */
  readonly say: (line: string) => void;
  /** Tells now and then how far the run is. */
  readonly progress: (done: number, all: number) => void;
}

/** What `npm run lab -- NAME` runs. */
export interface Experiment {
  readonly options: Options;
  /** Whether everything was as it has to be. */
  run(args: readonly string[]): Promise<boolean>;
}

/** The program of `apart.ts`, where it is built. */
export const APART = join(import.meta.dirname, 'apart.js');

const PROGRESS_MS = 10_000;
const SEED_DEFAULT = 24;
/** What is wrong is shown so often. */
const SHOWN = 40;

/** A campaign: its work says what it found wrong, or null where nothing is judged, as in a bench. */
export function campaign<const O extends Options>(
  options: O,
  work: (ground: Ground<O>) => Promise<readonly string[] | null>,
): Experiment {
  return {
    options,
    async run(args) {
      const flags = flagsOf(options, args);
      const started = performance.now();
      const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;
      let told = started;
      const progress = (done: number, all: number): void => {
        if (performance.now() - told < PROGRESS_MS) return;
        told = performance.now();
        console.error(`${done} of ${all}, ${seconds()}`);
      };
      const say = (line: string): void => console.log(line);
      const random = seeded(typeof flags.seed === 'number' ? flags.seed : SEED_DEFAULT);
      const folder = mkdtempSync(join(tmpdir(), 'signalpress-lab-'));
      // Whoever makes a temporary folder makes it in there.
      process.env.TMPDIR = folder;
      const clear = (): void => rmSync(folder, { recursive: true, force: true });
      process.once('exit', clear);
      const wrong = await work({ flags, folder, random, say, progress });
      for (const line of wrong?.slice(0, SHOWN) ?? []) say(`  ${line.slice(0, 400)}`);
      say(wrong === null ? `took ${seconds()}` : `${wrong.length} wrong, ${seconds()}`);
      return (wrong ?? []).length === 0;
    },
  };
}

/** Throws a RangeError for an option that is unknown, or no number where its default is one. */
function flagsOf<O extends Options>(options: O, args: readonly string[]): Flags<O> {
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, value]) => {
        return [name, { type: typeof value === 'boolean' ? 'boolean' : 'string' } as const];
      }),
    ),
  });
  const flags = Object.entries(options).map(([name, fallback]) => {
    const given = values[name] ?? fallback;
    const flag = typeof fallback === 'number' ? Number(given) : given;
    if (!Number.isNaN(flag)) return [name, flag];
    throw new RangeError(`Cannot run with --${name} "${given}": not a number`);
  });
  return Object.fromEntries(flags);
}

/** Numbers from 0 up to a limit, the same ones for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** How often each name comes. */
export function countsOf(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
