import cluster from 'node:cluster';
import { workerVariables } from './worker-role.ts';
import { type Listening, Workers, type WorkersOptions } from './workers.ts';

interface ForkedWorkersOptions extends Omit<WorkersOptions, 'fork' | 'errors'> {
  /** Descriptor of a socket that listens already, for all of them. */
  readonly fd: number | null;
}

/** Starts this program again as workers that share its port. */
export function forkedWorkers({ fd, ...options }: ForkedWorkersOptions): Workers {
  // Each worker accepts for itself. Handed out in turn by the parent, connections would be spread more evenly, but one that
  // is on its way to a worker when that is killed hangs for ever, and those on their way to the last one are lost.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ silent: true });
  const toErrors = (text: Buffer): boolean => process.stderr.write(text);
  return new Workers({
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
