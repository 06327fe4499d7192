import { parentPort } from 'node:worker_threads';
import type { WorkerMessage } from './job-runner.ts';
import { runSignalJob, type SignalJob } from './signal-job.ts';

const port = parentPort;
const send = (message: WorkerMessage): void => port?.postMessage(message);

port?.on('message', (job: SignalJob) => {
  try {
    send({ result: runSignalJob(job, (chunk) => send({ chunk })) });
  } catch (failure) {
    send({ failure });
  }
});
