import cluster from 'node:cluster';
import { workerVariables } from './worker-role.ts';
import { type Listening, runWorkers, type Workers, type WorkersOptions } from './workers.ts';

export interface ForkedWorkersOptions extends Omit<WorkersOptions, 'fork' | 'errors'> {
  /** Descriptor of a socket that listens already, for all of them. */
  readonly fd: number | null;
}

/** Starts this program again as workers that share its port; connections go to each of them in turn. */
export function forkedWorkers({ fd, ...options }: ForkedWorkersOptions): Workers {
  // Left to the kernel, a few of them would get nearly all connections.
  cluster.schedulingPolicy = cluster.SCHED_RR;
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
