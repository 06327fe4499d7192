import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { tables } from '../../../compiler/contract/release.ts';
import type { JobFailure } from '../../../compiler/jobs/job-failure.ts';
import type { JobResult, SignalJob } from '../../../compiler/jobs/signal-job.ts';
import { canonicalDigest } from '../../../compiler/stages/seal/canonical-digest.ts';
import type { ChunkFile } from './chunk-file.ts';

/** One compile at a time uses the database, as one at a time uses its data folder. */
export const ORDERS = 'signalpress-orders';
export const ANSWERS = 'signalpress-answers';
/** Orders that no worker could bring to an end. */
export const LOST = 'signalpress-lost';

/** A job as it goes to another machine. The key stays behind: a worker has one of its own, or has none. */
export interface Order {
  /** Of the compile. */
  readonly run: string;
  /** Of the job in its compile. */
  readonly id: string;
  readonly program: string;
  /** Folder that the compile and all workers see by this path, for what the job makes. */
  readonly store: string;
  readonly job: Omit<SignalJob, 'key' | 'scratch'>;
}

/** What became of an order. */
export interface Answer {
  readonly run: string;
  readonly id: string;
  readonly outcome:
    | { readonly result: JobResult; readonly file: ChunkFile }
    | { readonly failure: JobFailure };
}

/** What both sides must have in common: the same tables, and a Node that reads what the other's wrote. */
export function program(): string {
  return `${canonicalDigest(tables(BUILTIN))} on Node ${process.versions.node.split('.')[0]}`;
}

/** As much of pg-boss 10 as is used; its package stands in test/postgres alone. */
export interface JobQueue {
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  on(event: 'error', take: (error: Error) => void): unknown;
  createQueue(name: string): Promise<void>;
  /** Removes the jobs that nobody has taken. */
  purgeQueue(name: string): Promise<void>;
  send(name: string, data: object, options?: SendOptions): Promise<string | null>;
  /** Gives nothing where the database cannot be reached. */
  fetch(name: string, options: { readonly batchSize: number }): Promise<readonly QueuedJob[]>;
  complete(name: string, ids: string | readonly string[]): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
  cancel(name: string, ids: readonly string[]): Promise<unknown>;
}

export interface SendOptions {
  readonly retryLimit?: number;
  readonly expireInSeconds?: number;
  readonly deadLetter?: string;
}

export interface QueuedJob {
  readonly id: string;
  readonly data: object;
}

interface QueueSettings {
  readonly connectionString: string;
  readonly max: number;
  readonly schedule: boolean;
  readonly supervise: boolean;
  readonly maintenanceIntervalSeconds: number;
}

/** The queues in the database of a URL, as a worker sees them: they may not be there yet. */
export function joinQueues(url: string): Promise<JobQueue> {
  return openQueues(url, false);
}

/** Makes the queues too, and looks for what has expired: the compile alone does both. */
export async function makeQueues(url: string): Promise<JobQueue> {
  const queue = await openQueues(url, true);
  for (const name of [LOST, ORDERS, ANSWERS]) await queue.createQueue(name);
  return queue;
}

async function openQueues(url: string, supervise: boolean): Promise<JobQueue> {
  const load = createRequire(resolve('test/postgres/package.json'));
  const Boss: new (settings: QueueSettings) => JobQueue = load('pg-boss');
  const fixed = { max: 2, schedule: false, maintenanceIntervalSeconds: 1 };
  const boss = new Boss({ connectionString: url, supervise, ...fixed });
  // An error of the background task is told by what does not come.
  boss.on('error', () => {});
  await boss.start();
  return boss;
}
