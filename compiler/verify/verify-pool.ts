import { Worker } from 'node:worker_threads';
import type { Release } from '../format/release.ts';
import { callWorker } from './call-worker.ts';
import { checkIndexes, type IndexResult, type WorkShare } from './release-index.ts';
import { checkChunk, type ShareContext, type ShareResult } from './share-check.ts';

/** A worker holds one record with its views and the shared lists. */
const WORKER_LIMITS = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 512 };

export interface WorkerShare {
  readonly root: string;
  readonly head: Release;
  readonly list: SharedArrayBuffer;
  readonly known: SharedArrayBuffer | null;
  readonly independent: boolean;
  readonly part: WorkShare;
}

export type PoolTask = 'chunks' | 'indexes';
export type PoolMessage =
  | { readonly chunk: number; readonly result: ShareResult }
  | { readonly index: IndexResult }
  | { readonly done: PoolTask }
  | { readonly failure: string };

export interface VerifyPool {
  /** Results by chunk, in any order. */
  chunks(take: (chunk: number, result: ShareResult) => void): Promise<void>;
  indexes(): Promise<IndexResult[]>;
  close(): Promise<void>;
}

export function inlinePool(context: ShareContext): VerifyPool {
  return {
    async chunks(take) {
      for (let chunk = 0; chunk < context.list.chunks; chunk += 1) {
        take(chunk, checkChunk(context, chunk));
      }
    },
    indexes: async () => [checkIndexes(context, { number: 0, of: 1 })],
    close: async () => undefined,
  };
}

/** Every n-th chunk to each of n workers. */
export function workerPool(count: number, share: Omit<WorkerShare, 'part'>): VerifyPool {
  const file = import.meta.url.endsWith('.ts') ? './verify-worker.ts' : './verify-worker.js';
  const workers = Array.from({ length: count }, (_, number) => {
    const workerData: WorkerShare = { ...share, part: { number, of: count } };
    return new Worker(new URL(file, import.meta.url), {
      workerData,
      resourceLimits: WORKER_LIMITS,
    });
  });
  const all = (task: PoolTask, take: (message: PoolMessage) => void) =>
    Promise.all(
      workers.map((worker) =>
        callWorker<PoolMessage, void>(worker, {
          order: task,
          ended: 'Cannot verify: a worker thread ended early',
          take(message, done) {
            if ('done' in message) done();
            else if ('failure' in message) throw new Error(message.failure);
            else take(message);
          },
        }),
      ),
    );
  return {
    async chunks(take) {
      await all('chunks', (message) => {
        if ('chunk' in message) take(message.chunk, message.result);
      });
    },
    async indexes() {
      const results: IndexResult[] = [];
      await all('indexes', (message) => {
        if ('index' in message) results.push(message.index);
      });
      return results;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
