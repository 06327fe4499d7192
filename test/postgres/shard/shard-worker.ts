/**
 * A process that takes jobs of compiles from the queue. Another machine would run the same: it needs the database, the folders
 * of snapshots, data and results by the same paths, and the issuer's key.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jobFailure } from '../../../compiler/jobs/job-failure.ts';
import { runSignalJob } from '../../../compiler/jobs/signal-job.ts';
import { signingKey } from '../../../compiler/stages/seal/sealer.ts';
import { ChunkWriter } from './chunk-file.ts';
import {
  ANSWERS,
  type Answer,
  type JobQueue,
  joinQueues,
  ORDERS,
  type Order,
  program,
  type QueuedJob,
} from './job-queue.ts';
import { QueueSeal } from './queue-seal.ts';

const POLL_MS = 20;
const STDOUT = 1;

/** Moments of a job at which a test stops a worker, to end it there. */
export type Moment = 'taken' | 'chunk' | 'written' | 'answered';

export interface WorkerSettings {
  readonly url: string;
  /** Of the issuer's key, hex. */
  readonly seed: string;
  readonly stallAt: Moment | null;
}

/** Lines on stdout, written at once, so that they are seen even when the process ends the next moment. */
export type WorkerNote =
  | { readonly ready: true }
  | { readonly took: string }
  | { readonly refused: string }
  | { readonly stalled: Moment };

function note(line: WorkerNote): void {
  writeSync(STDOUT, `${JSON.stringify(line)}\n`);
}

process.on('message', (settings: WorkerSettings) => {
  void work(settings);
});

async function work({ url, seed, stallAt }: WorkerSettings): Promise<void> {
  const worker = new ShardWorker(Buffer.from(seed, 'hex'), stallAt);
  const queue = await joinQueues(url);
  note({ ready: true });
  // Whoever started this process ends it.
  for (;;) {
    const [job] = await queue.fetch(ORDERS, { batchSize: 1 });
    if (job === undefined) await delay(POLL_MS);
    else await worker.take(job, queue);
  }
}

class ShardWorker {
  readonly #key: KeyObject;
  readonly #seal: QueueSeal;
  #stallAt: Moment | null;

  constructor(seed: Uint8Array, stallAt: Moment | null) {
    this.#key = signingKey(seed);
    this.#seal = new QueueSeal(seed);
    this.#stallAt = stallAt;
  }

  /** Answers before it completes: an order that is done twice is answered twice, one that is lost would never be. */
  async take({ id, data }: QueuedJob, queue: JobQueue): Promise<void> {
    let order: Order;
    try {
      order = this.#seal.open('order', data) as Order;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      note({ refused: message });
      await queue.fail(ORDERS, id, { message });
      return;
    }
    note({ took: order.id });
    this.#passes('taken');
    const outcome = this.#outcomeOf(order);
    this.#passes('written');
    const answer: Answer = { run: order.run, id: order.id, outcome };
    await queue.send(ANSWERS, this.#seal.seal('answer', answer));
    this.#passes('answered');
    await queue.complete(ORDERS, id);
  }

  #outcomeOf(order: Order): Answer['outcome'] {
    if (order.program !== program()) {
      const message = `Cannot run the job "${order.id}": this worker is another program; update it`;
      return { failure: jobFailure(new Error(message)) };
    }
    const scratch = mkdtempSync(join(tmpdir(), 'signalpress-shard-'));
    const chunks = new ChunkWriter(join(order.store, `${order.id}.${randomUUID()}`));
    try {
      const job = { ...order.job, key: this.#key, scratch };
      const result = runSignalJob(job, (chunk) => {
        chunks.add(chunk);
        this.#passes('chunk');
      });
      return { result, file: chunks.finish() };
    } catch (failure) {
      return { failure: jobFailure(failure) };
    } finally {
      chunks.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  }

  /** Stands still, once, where a test wants to end this process or to do something behind its back. */
  #passes(moment: Moment): void {
    if (moment !== this.#stallAt) return;
    this.#stallAt = null;
    note({ stalled: moment });
    process.kill(process.pid, 'SIGSTOP');
  }
}
