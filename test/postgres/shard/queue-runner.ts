import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobChunk } from '../../../compiler/jobs/chunk-builder.ts';
import { thrownFailure } from '../../../compiler/jobs/job-failure.ts';
import type { JobRunner } from '../../../compiler/jobs/job-runner.ts';
import type { JobResult, SignalJob } from '../../../compiler/jobs/signal-job.ts';
import { CHUNKS, PARTIAL, readChunks } from './chunk-file.ts';
import {
  ANSWERS,
  type Answer,
  type JobQueue,
  LOST,
  makeQueues,
  ORDERS,
  type Order,
  program,
} from './job-queue.ts';
import { QueueSeal, type Sealed } from './queue-seal.ts';

const POLL_MS = 50;
const BATCH = 50;

export interface QueueRunnerSettings {
  /** Of the database. */
  readonly url: string;
  /** Shared folder for what the jobs make. */
  readonly store: string;
  readonly seed: Uint8Array;
  /** After this a job is given to another worker. It must be longer than any job takes. */
  readonly expireInSeconds: number;
  /** How many more workers may be tried after a job lost its first. */
  readonly retryLimit: number;
  /** Longest time in which no job at all comes to an end. */
  readonly patienceMs: number;
}

const isMade = (name: string): boolean => name.endsWith(PARTIAL) || name.endsWith(CHUNKS);

interface Waiting {
  resolve(outcome: Answer['outcome']): void;
  reject(error: Error): void;
}

/**
 * Runs the jobs of one compile by way of a queue. What a job made is taken over only when the whole of it was answered, and
 * once: a worker may be lost at any moment, or two may do the same job.
 */
export class QueueRunner implements JobRunner {
  readonly #settings: QueueRunnerSettings;
  readonly #run = randomUUID();
  readonly #seal: QueueSeal;
  readonly #waiting = new Map<string, Waiting>();
  readonly #queue: Promise<JobQueue>;
  readonly #loop: Promise<void>;
  #isClosed = false;
  #failure: Error | null = null;

  constructor(settings: QueueRunnerSettings) {
    this.#settings = settings;
    this.#seal = new QueueSeal(settings.seed);
    this.#queue = this.#open();
    this.#loop = this.#listen().catch((error: Error) => this.#giveUp(error));
  }

  async run(job: SignalJob, emit: (chunk: JobChunk) => void): Promise<JobResult> {
    const { key: _key, scratch: _scratch, ...plain } = job;
    if (job.rejects !== null) {
      throw new RangeError('Cannot shard a compile that leaves lines out: run it on one machine');
    }
    if (this.#failure !== null) throw this.#failure;
    const id = `${job.signal_id}-${job.share.index}`;
    const answered = new Promise<Answer['outcome']>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    // The loop may give up before anybody waits here.
    answered.catch(() => {});
    await this.#order({
      run: this.#run,
      id,
      program: program(),
      store: this.#settings.store,
      job: plain,
    });
    const outcome = await answered;
    if ('failure' in outcome) throw thrownFailure(outcome.failure);
    readChunks(outcome.file, emit);
    rmSync(outcome.file.path, { force: true });
    return outcome.result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loop;
    const queue = await this.#queue.catch(() => null);
    if (queue !== null) {
      await this.#forget(queue);
      await queue.stop({ graceful: false });
    }
  }

  /** Begins without what an earlier compile left that was killed. */
  async #open(): Promise<JobQueue> {
    const queue = await makeQueues(this.#settings.url);
    await this.#forget(queue);
    return queue;
  }

  /** What nobody waits for is not worth a worker's time, nor room in the shared folder. */
  async #forget(queue: JobQueue): Promise<void> {
    for (const name of [ORDERS, ANSWERS, LOST]) await queue.purgeQueue(name);
    const { store } = this.#settings;
    for (const name of readdirSync(store).filter(isMade))
      rmSync(join(store, name), { force: true });
  }

  async #order(order: Order): Promise<void> {
    const { expireInSeconds, retryLimit } = this.#settings;
    const options = { expireInSeconds, retryLimit, deadLetter: LOST };
    const sent = await (await this.#queue).send(ORDERS, this.#seal.seal('order', order), options);
    if (sent === null) throw new Error(`Cannot order the job "${order.id}": the queue refused it`);
  }

  async #listen(): Promise<void> {
    const queue = await this.#queue;
    let quietMs = 0;
    while (!this.#isClosed) {
      const count = (await this.#takeAnswers(queue)) + (await this.#takeLost(queue));
      quietMs = count > 0 || this.#waiting.size === 0 ? 0 : quietMs + POLL_MS;
      if (quietMs > this.#settings.patienceMs) {
        throw new Error(
          `no job came to an end in ${this.#settings.patienceMs / 1000} s; look at the workers`,
        );
      }
      await delay(POLL_MS);
    }
  }

  async #takeAnswers(queue: JobQueue): Promise<number> {
    const answers = await queue.fetch(ANSWERS, { batchSize: BATCH });
    for (const { id, data } of answers) {
      this.#take(data);
      await queue.complete(ANSWERS, id);
    }
    return answers.length;
  }

  #take(data: Partial<Sealed>): void {
    const { run, id, outcome } = this.#seal.open('answer', data) as Answer;
    const waiting = run === this.#run ? this.#waiting.get(id) : undefined;
    if (waiting !== undefined) {
      this.#waiting.delete(id);
      waiting.resolve(outcome);
      return;
    }
    // It is of an earlier compile, or a second answer, which says the same.
    if ('file' in outcome) rmSync(outcome.file.path, { force: true });
  }

  async #takeLost(queue: JobQueue): Promise<number> {
    const lost = await queue.fetch(LOST, { batchSize: BATCH });
    for (const { id: job, data } of lost) {
      await queue.complete(LOST, job);
      const { run, id } = this.#seal.open('order', data) as Order;
      if (run !== this.#run) continue;
      const count = this.#settings.retryLimit + 1;
      const why = `Cannot compile: ${count} workers took the job "${id}", and none brought it to an end`;
      this.#waiting.get(id)?.reject(new Error(why));
      this.#waiting.delete(id);
    }
    return lost.length;
  }

  #giveUp(error: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#failure = new Error(`Cannot compile with other machines: ${error.message}`, {
      cause: error,
    });
    for (const { reject } of waiting) reject(this.#failure);
  }
}
