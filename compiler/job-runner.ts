import { Worker } from 'node:worker_threads';
import { type JobChunk, type JobResult, runSignalJob, type SignalJob } from './signal-job.ts';

/** Runs signal jobs, in this thread or in workers; the output is the same. */
export interface JobRunner {
  run(job: SignalJob, emit: (chunk: JobChunk) => void): Promise<JobResult>;
  close(): Promise<void>;
}

/**
 * A roomy young generation: nearly all of a job's objects die young, and each collection costs. The
 * old generation holds one partition of readings at a time.
 */
const WORKER_LIMITS = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 512 };

/** Messages from a worker to the main thread. */
export type WorkerMessage =
  | { readonly chunk: JobChunk }
  | { readonly result: JobResult }
  | { readonly failure: unknown };

/** Everything in this thread: small inputs, tests, and machines with one core. */
export function inlineRunner(): JobRunner {
  return {
    run: async (job, emit) => runSignalJob(job, emit),
    close: async () => undefined,
  };
}

/** Jobs of `count` worker threads; a job waits until one of them is free. */
export function workerRunner(count: number): JobRunner {
  const file = import.meta.url.endsWith('.ts') ? './signal-worker.ts' : './signal-worker.js';
  const workers = Array.from(
    { length: count },
    () => new Worker(new URL(file, import.meta.url), { resourceLimits: WORKER_LIMITS }),
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
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      finish();
    };
    const onError = (error: unknown): void => settle(() => reject(error));
    const onMessage = (message: WorkerMessage): void => {
      if ('chunk' in message) emit(message.chunk);
      else if ('result' in message) settle(() => resolve(message.result));
      else settle(() => reject(message.failure));
    };
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.postMessage(job);
  });
}
