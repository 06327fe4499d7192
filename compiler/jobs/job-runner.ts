import { Worker } from 'node:worker_threads';
import { callWorker } from '../verify/call-worker.ts';
import type { JobChunk } from './chunk-builder.ts';
import { type JobFailure, thrownFailure } from './job-failure.ts';
import { type JobResult, runSignalJob, type SignalJob } from './signal-job.ts';

/** Runs signal jobs, in this thread or in workers; the output is the same. */
export interface JobRunner {
  run(job: SignalJob, emit: (chunk: JobChunk) => void): Promise<JobResult>;
  close(): Promise<void>;
}

/**
 * Without bounds a worker grows before it collects. A larger young generation than this costs memory and saves no time, since a
 * chunk is small; what goes through partitions has its memory bounded more tightly.
 */
const YOUNG_MB = { inMemory: 16, partitioned: 8 };
const OLD_MB_MAX = 512;

/** What a worker is given: its job, and the count of its chunks that are not written yet. */
export interface WorkerOrder {
  readonly job: SignalJob;
  readonly waiting: Int32Array<SharedArrayBuffer>;
}

/** Messages from a worker to the main thread. */
export type WorkerMessage =
  | { readonly chunk: JobChunk }
  | { readonly result: JobResult }
  | { readonly failure: JobFailure };

/** Everything in this thread: small inputs, tests, and machines with one core. */
export function inlineRunner(): JobRunner {
  return {
    run: async (job, emit) => runSignalJob(job, emit),
    close: async () => undefined,
  };
}

interface WorkerPlan {
  readonly count: number;
  /** How the readings of the largest signal are grouped. */
  readonly grouping: keyof typeof YOUNG_MB;
}

/** Jobs of `count` worker threads; a job waits until one of them is free. */
export function workerRunner({ count, grouping }: WorkerPlan): JobRunner {
  const file = import.meta.url.endsWith('.ts') ? './signal-worker.ts' : './signal-worker.js';
  const resourceLimits = {
    maxYoungGenerationSizeMb: YOUNG_MB[grouping],
    maxOldGenerationSizeMb: OLD_MB_MAX,
  };
  const workers = Array.from(
    { length: count },
    () => new Worker(new URL(file, import.meta.url), { resourceLimits }),
  );
  const idle = [...workers];
  const waiting: ((worker: Worker) => void)[] = [];
  const release = (worker: Worker): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(worker);
    else next(worker);
  };
  return {
    async run(job, emit) {
      const worker = idle.pop() ?? (await new Promise<Worker>((free) => waiting.push(free)));
      try {
        return await runIn(worker, job, emit);
      } finally {
        release(worker);
      }
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function runIn(
  worker: Worker,
  job: SignalJob,
  emit: (chunk: JobChunk) => void,
): Promise<JobResult> {
  const waiting = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const takeChunk = (chunk: JobChunk): void => {
    try {
      emit(chunk);
    } finally {
      Atomics.sub(waiting, 0, 1);
      Atomics.notify(waiting, 0);
    }
  };
  return callWorker<WorkerMessage, JobResult>(worker, {
    order: { job, waiting } satisfies WorkerOrder,
    ended: 'Cannot compile: a worker thread ended early',
    take(message, done) {
      if ('chunk' in message) takeChunk(message.chunk);
      else if ('result' in message) done(message.result);
      else throw thrownFailure(message.failure);
    },
  });
}
