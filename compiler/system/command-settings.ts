import { cpus } from 'node:os';

/** Where progress goes: a terminal gets one line that changes, anything else one line per stage. */
export interface Screen {
  readonly isTTY: boolean;
  write(text: string): void;
}

export interface CommandSettings {
  readonly version: string;
  readonly env: (name: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly print: (text: string) => void;
  readonly screen: Screen;
  readonly exit: (code: number) => void;
  /** Calls once when the process is told to end; returns what takes that back. */
  readonly onStop: (stop: () => void) => () => void;
}

/** The folder of releases where no option names one. */
export function dataFolder({ env }: Pick<CommandSettings, 'env'>): string {
  return env('SIGNALPRESS_DATA') ?? 'dist-data';
}

/** For commands that tell a script something. */
export const JSON_OPTION = ['--json', 'print it as JSON'] as const;

export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** More workers than this only share the disk. */
const WORKERS_MAX = 8;

/** One worker a core, as text of an option. */
export function defaultWorkers(): string {
  return String(Math.min(WORKERS_MAX, cpus().length));
}

/** Threads that `--workers` asks for; throws a RangeError that names the option. */
export function workerCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= WORKERS_MAX) return count;
  throw new RangeError(
    `Cannot use --workers "${text}": not a whole number from 0 to ${WORKERS_MAX}`,
  );
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a length such as `90s`, `30m`, `2h` or `7d`; throws a RangeError for any other text. */
export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === '') {
    throw new RangeError(
      `Cannot use "${text}" as a length of time: write it as 90s, 30m, 2h or 7d`,
    );
  }
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/**
 * Reads an option that may be given more than once, one value each time: one that takes several at once would swallow the
 * argument behind it.
 */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x21-\x7e][\x20-\x7e]*\s*$/;

/** The header that a variable holds, `Name: value`; null without one. Throws a RangeError, which repeats nothing of it. */
export function header(env: CommandSettings['env'], name: string): string | null {
  const text = env(name);
  if (text === undefined || text === '') return null;
  if (HEADER.test(text)) return text;
  throw new RangeError(`Cannot use ${name}: not one header; write "Authorization: Bearer …"`);
}
