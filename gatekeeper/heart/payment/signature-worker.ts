import { parentPort } from 'node:worker_threads';
import { recoverJobs } from './signature-pool.ts';

parentPort?.on('message', (block: Uint8Array) => {
  const results = recoverJobs(block);
  parentPort?.postMessage(results, [results.buffer]);
});
