import { execFileSync } from 'node:child_process';

/** One core for the server under load, the other for everything else. */
export const CORES = { server: '0', rest: '1' } as const;

/** Moves all threads of a process to one core; needs Linux's taskset. */
export function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}
