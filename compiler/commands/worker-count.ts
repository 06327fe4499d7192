import { cpus } from 'node:os';

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
