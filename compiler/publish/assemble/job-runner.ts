import { Worker } from 'node:worker_threads';
import { defined } from '../../format/errors.ts';
import type { SignalEntry } from '../../products/shapes/line.ts';
import type { SignalFiles } from '../../readings/list-snapshots.ts';
import { FILE_FAULTS_MAX, type Share, WHOLE } from '../../readings/read-signal.ts';
import { byPlace, ForgottenError, faultText, type InputFault } from '../../system/compile-error.ts';
import { callWorker } from '../../verify/call-worker.ts';
import type { JobChunk } from './chunk-builder.ts';
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

/** Jobs of `count` worker threads; a job waits until one is free. `grouping` is that of the largest signal. */
export function workerRunner(count: number, grouping: keyof typeof YOUNG_MB): JobRunner {
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

/** An error on its way between two threads: a copy of one keeps neither its class nor what the operating system said. */
interface JobFailure {
  message: string;
  isForgotten: boolean;
  /** `code`, `syscall` and `path` of what the operating system could not do. */
  system: Readonly<Record<string, string>>;
}

const SYSTEM_MEMBERS = ['code', 'syscall', 'path'] as const;

export function jobFailure(error: unknown): JobFailure {
  const isForgotten = error instanceof ForgottenError;
  if (!(error instanceof Error)) return { message: String(error), isForgotten, system: {} };
  const members = new Map<string, unknown>(Object.entries(error));
  const system = SYSTEM_MEMBERS.flatMap((name) => {
    const value = members.get(name);
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { message: error.message, isForgotten, system: Object.fromEntries(system) };
}

/** The inverse of jobFailure: an error that is reported and handled like one of this thread. */
export function thrownFailure({ message, isForgotten, system }: JobFailure): Error {
  const error = isForgotten ? new ForgottenError(message) : new Error(message);
  return Object.assign(error, system);
}

/** A share with less input would cost more to read again than it saves. */
const SHARE_BYTES_MIN = 1_000_000;
/** A signal with more input is one job: each share has memory of its own, and its bound is meant for all. */
const SHARED_BYTES_MAX = 100_000_000;

export interface DueSignal extends SignalFiles {
  readonly entry: SignalEntry;
}

export interface SharedSignal {
  readonly signal: DueSignal;
  readonly share: Share;
}

/** One job for each signal, several for one that would keep other workers waiting; those with the most work first. */
export function signalShares(signals: readonly DueSignal[], workers: number): SharedSignal[] {
  const total = signals.reduce((sum, signal) => sum + effort(signal), 0);
  const fair = total / Math.max(1, workers);
  const shared = signals.flatMap((signal) => shares(signal, Math.ceil(effort(signal) / fair)));
  // The last job is divided too where one worker would do it while the others have nothing left.
  const queue = shared.sort((a, b) => shareEffort(b) - shareEffort(a));
  const [whole, last] = [queue.slice(0, -1), queue.at(-1)];
  if (last === undefined || last.share.of > 1) return [...queue];
  const divided = [...whole, ...shares(last.signal, workers)];
  const saved = effortToEnd(queue, workers) - effortToEnd(divided, workers);
  return saved < SHARE_BYTES_MIN ? [...queue] : divided;
}

/** Effort of the worker that ends last, when each takes the next job as soon as it is free. */
function effortToEnd(queue: readonly SharedSignal[], workers: number): number {
  const efforts = Array.from({ length: Math.max(1, workers) }, () => 0);
  for (const shared of queue) {
    const free = efforts.indexOf(Math.min(...efforts));
    efforts[free] = defined(efforts[free], 'the effort') + shareEffort(shared);
  }
  return Math.max(...efforts);
}

/** One job for each signal, those with the most work first. */
export function wholeSignals(signals: readonly DueSignal[]): SharedSignal[] {
  const whole = signals.map((signal) => ({ signal, share: WHOLE }));
  return whole.sort((a, b) => effort(b.signal) - effort(a.signal));
}

/** As many shares as wished, or as are worth it. */
function shares(signal: DueSignal, wished: number): SharedSignal[] {
  const most = Math.floor(signal.bytes / SHARE_BYTES_MIN);
  // Nothing is divided where all files are empty.
  const isShared = most >= 2 && signal.bytes <= SHARED_BYTES_MAX;
  const of = isShared ? Math.max(1, Math.min(most, wished)) : 1;
  return Array.from({ length: of }, (_, index) => ({ signal, share: { index, of } }));
}

function shareEffort({ signal, share }: SharedSignal): number {
  return effort(signal) / share.of;
}

/** Readings on an official scale become about twice as many files. */
function effort({ entry: { signal }, bytes }: DueSignal): number {
  const scaled = signal.rulers !== undefined || signal.ownThresholds !== undefined;
  return scaled ? 2 * bytes : bytes;
}

/** What the shares of one signal found together; all of them read the same files. */
export function joinShares(results: readonly [JobResult, ...JobResult[]]): JobResult {
  const [first, ...others] = results;
  if (others.length === 0) return first;
  const sum = (count: 'readings' | 'entities' | 'revisions' | 'repeats'): number =>
    results.reduce((total, result) => total + result[count], 0);
  const all = results.flatMap(({ faults }) => faults);
  const changed = others.flatMap((other) => changedFiles(first, other));
  return {
    ...first,
    readings: sum('readings'),
    entities: sum('entities'),
    revisions: sum('revisions'),
    repeats: sum('repeats'),
    faults: [...fewOfEachFile(eachOnce(all)), ...eachOnce(changed)],
  };
}

/** Several shares may see one fault: of a header that they all read, or of a file that changed. */
function eachOnce(faults: readonly InputFault[]): InputFault[] {
  return [...new Map(faults.map((fault) => [faultText(fault), fault])).values()];
}

/** As many faults of a file as one job tells. */
function fewOfEachFile(faults: readonly InputFault[]): InputFault[] {
  const counts = new Map<string, number>();
  return [...faults].sort(byPlace).filter(({ file }) => {
    const count = (counts.get(file) ?? 0) + 1;
    counts.set(file, count);
    return count <= FILE_FAULTS_MAX;
  });
}

function changedFiles(one: JobResult, other: JobResult): InputFault[] {
  const changed = Object.keys(one.digests).filter(
    (name) => one.digests[name] !== other.digests[name],
  );
  const message = 'changed while it was read; compile again when it is complete';
  return changed.map((file) => ({ code: 'cannot_publish', file, message }));
}
