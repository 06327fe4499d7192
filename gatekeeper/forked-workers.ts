import cluster from 'node:cluster';
import { workerVariables } from './worker-role.ts';
import { type Listening, runWorkers, type Workers, type WorkersOptions } from './workers.ts';

export interface ForkedWorkersOptions extends Omit<WorkersOptions, 'fork' | 'errors'> {
  /** Descriptor of a socket that listens already, for all of them. */
  readonly fd: number | null;
}

/** Starts this program again as workers that share its port. */
export function forkedWorkers({ fd, ...options }: ForkedWorkersOptions): Workers {
  // The kernel would give most connections to one of them, so this process accepts and hands them out in turn. But what
  // it has accepted when the last worker closes would be lost, and a socket that is held open must not lose any.
  cluster.schedulingPolicy = fd === null ? cluster.SCHED_RR : cluster.SCHED_NONE;
  cluster.setupPrimary({ silent: true });
  const toErrors = (text: Buffer): boolean => process.stderr.write(text);
  return runWorkers({
    ...options,
    errors: toErrors,
    fork: (place) => cluster.fork(workerVariables({ place, fd })).process,
  });
}

/** Tells the parent that this worker listens, and stops it in order when the parent is gone. */
export function joinWorkers(url: string, stop: (why: string) => void): void {
  const { worker } = cluster;
  worker?.on('disconnect', () => {
    // Otherwise node:cluster ends the process at once, and with it what is being paid for.
    worker.exitedAfterDisconnect = true;
    stop('the parent is gone');
  });
  process.send?.({ listens: url } satisfies Listening);
}
