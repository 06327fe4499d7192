import { parentPort } from 'node:worker_threads';
import { recoverPayer } from '../money/signature.ts';
import type { SignatureJob } from './signature-pool.ts';

parentPort?.on('message', (jobs: readonly SignatureJob[]) =>
  parentPort?.postMessage(jobs.map(({ digest, signature }) => recoverPayer(digest, signature))),
);
