import { readdirSync, readFileSync } from 'node:fs';

/** What a process of this machine has taken so far. */
export interface Usage {
  /** CPU time of all its threads, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const PAGE_BYTES = 4096;

/** Asks Linux, so that the measured program runs as it is shipped and knows nothing of it. */
export function usageOf(pid: number): Usage {
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
