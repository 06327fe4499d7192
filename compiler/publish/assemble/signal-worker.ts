import { parentPort } from 'node:worker_threads';
import { CHUNKS_WAITING_MAX, type JobChunk } from './chunk-builder.ts';
import { jobFailure, type WorkerMessage, type WorkerOrder } from './job-runner.ts';
import { runSignalJob } from './signal-job.ts';

const port = parentPort;

function send(message: WorkerMessage): void {
  port?.postMessage(message);
}

/** Hands a chunk over without a copy, and waits while too many are not written yet. */
function handOver(chunk: JobChunk, waiting: WorkerOrder['waiting']): void {
  Atomics.add(waiting, 0, 1);
  send({ chunk });
  for (let count = Atomics.load(waiting, 0); count >= CHUNKS_WAITING_MAX; ) {
    Atomics.wait(waiting, 0, count);
    count = Atomics.load(waiting, 0);
  }
}

port?.on('message', ({ job, waiting }: WorkerOrder) => {
  try {
    send({ result: runSignalJob(job, (chunk) => handOver(chunk, waiting)) });
  } catch (failure) {
    send({ failure: jobFailure(failure) });
  }
});
