import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import type { Readable } from 'node:stream';
import { messageOf } from '../../../compiler/format/errors.ts';
import type { Log } from '../../wire/log/line-log.ts';
import { workerVariables } from './worker-role.ts';

/**
 * Several gatekeepers of one machine behind one port (`SIGNALPRESS_WORKERS`).
 *
 *  1. The parent starts the first worker alone: what keeps it from starting is said once.
 *  2. Once that one listens, the others are started. All accept from one socket (node:cluster). The parent opens no
 *     journal and no release, and holds no money.
 *  3. A worker that ends is replaced, after a delay that doubles while workers end soon after their start.
 *  4. A stop is passed on, and the parent ends after the last worker.
 *
 * Workers share the journal, whose claims decide which of them settles a payment; no worker depends on another.
 */

/** Delays before a worker is started again, the first and the longest. */
const RESTART_MS = [100, 30_000] as const;
/** A worker that lived for this long starts with the first delay again. */
const SETTLED_MS = 10_000;
/** Starts in a row that may fail while no worker listens. */
const FAILED_STARTS_MAX = 5;

type WorkerProcess = Pick<ChildProcess, 'stdout' | 'stderr' | 'kill' | 'on'>;

export interface WorkersOptions {
  readonly count: number;
  /** Starts the worker of a place, 0 up to `count`; its output is piped. */
  readonly fork: (place: number) => WorkerProcess;
  /** Told once, when the first worker listens. */
  readonly announce: (url: string) => void;
  readonly log: Log;
  readonly output: (text: Buffer) => void;
  readonly errors: (text: Buffer) => void;
  /** Milliseconds of any steady clock. */
  readonly now: () => number;
  readonly restartMs?: readonly [first: number, longest: number];
}

/** The message of a worker that listens. */
export interface Listening {
  readonly listens: string;
}

export class Workers {
  /** How it ended: `stopped` on request, `failed` when no worker could be kept running. */
  readonly ended: Promise<'stopped' | 'failed'>;
  readonly #options: WorkersOptions;
  readonly #running = new Map<number, WorkerProcess>();
  readonly #listening = new Set<number>();
  /** Starts of each place in a row that ended soon. */
  readonly #shortLives = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #end: (how: 'stopped' | 'failed') => void = () => undefined;
  #isAnnounced = false;
  #failedStarts = 0;
  #how: 'stopped' | 'failed' | null = null;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#start(0);
  }

  #start(place: number): void {
    const { fork, now, log, output, errors } = this.#options;
    const worker = fork(place);
    const startedMs = now();
    this.#running.set(place, worker);
    if (worker.stdout !== null) forwardLines(worker.stdout, output);
    if (worker.stderr !== null) forwardLines(worker.stderr, errors);
    worker.on('message', (message: Partial<Listening> | null) => {
      const url = message?.listens;
      if (typeof url === 'string') this.#listens(place, url);
    });
    // A process that could not be made is closed as well.
    worker.on('error', (error) =>
      log({ event: 'worker_failed', worker: place, error: messageOf(error) }),
    );
    // By then its last words have been read.
    worker.on('close', (code, signal) => this.#closed(place, { code, signal, startedMs }));
  }

  stop(signal: NodeJS.Signals): void {
    this.#finish('stopped', signal);
  }

  #listens(place: number, url: string): void {
    this.#listening.add(place);
    this.#failedStarts = 0;
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    this.#options.announce(url);
    for (let other = 1; other < this.#options.count; other += 1) {
      if (this.#how === null) this.#start(other);
    }
  }

  #closed(
    place: number,
    exit: { code: number | null; signal: string | null; startedMs: number },
  ): void {
    const { code, signal, startedMs } = exit;
    const { log, now } = this.#options;
    this.#running.delete(place);
    const listened = this.#listening.delete(place);
    if (this.#how !== null) {
      this.#endIfEmpty();
      return;
    }
    const livedMs = Math.round(now() - startedMs);
    // Whoever kills one from outside does not show that none can start.
    if (!listened && signal !== 'SIGKILL') this.#failedStarts += 1;
    const isHopeless = this.#listening.size === 0 && this.#failedStarts >= FAILED_STARTS_MAX;
    // What keeps the first worker from starting keeps every other one from it too.
    if (!this.#isAnnounced || isHopeless) {
      this.#finish('failed', 'SIGTERM');
      return;
    }
    const delayMs = this.#delay(place, livedMs);
    const times = { lived_ms: livedMs, again_ms: delayMs };
    log({ event: 'worker_ended', worker: place, code, signal, ...times });
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#start(place);
    }, delayMs);
    this.#timers.add(timer);
  }

  #delay(place: number, livedMs: number): number {
    const [first, longest] = this.#options.restartMs ?? RESTART_MS;
    const shortLives = livedMs >= SETTLED_MS ? 0 : (this.#shortLives.get(place) ?? 0);
    this.#shortLives.set(place, shortLives + 1);
    return Math.min(first * 2 ** shortLives, longest);
  }

  #finish(how: 'stopped' | 'failed', signal: NodeJS.Signals): void {
    if (this.#how !== null) return;
    this.#how = how;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const worker of this.#running.values()) worker.kill(signal);
    this.#endIfEmpty();
  }

  #endIfEmpty(): void {
    if (this.#how !== null && this.#running.size === 0) this.#end(this.#how);
  }
}

const NEWLINE = 0x0a;
const BREAK = Buffer.from([NEWLINE]);
/** Longest beginning of a line that is held back; whoever writes more is not writing lines. */
const HELD_BYTES_MAX = 1024 * 1024;

/** Passes a stream on in whole lines, so that those of several streams do not run into each other. */
function forwardLines(from: Readable, write: (text: Buffer) => void): void {
  let held: Buffer = Buffer.alloc(0);
  from.on('data', (piece: Buffer) => {
    const text = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const end = text.length > HELD_BYTES_MAX ? text.length : text.lastIndexOf(NEWLINE) + 1;
    held = text.subarray(end);
    if (end > 0) write(text.subarray(0, end));
  });
  // Whoever was killed in the middle of a line must not spoil the next one.
  from.on('end', () => {
    if (held.length > 0) write(Buffer.concat([held, BREAK]));
  });
}

/** Starts this program again as workers that share its port; `fd` is that of a socket that listens already. */
export function forkedWorkers({
  fd,
  ...options
}: Omit<WorkersOptions, 'fork' | 'errors'> & { fd: number | null }): Workers {
  // Each worker accepts for itself. Handed out in turn by the parent, connections would be spread more evenly, but one that
  // is on its way to a worker when that is killed hangs for ever, and those on their way to the last one are lost.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ silent: true });
  const toErrors = (text: Buffer): boolean => process.stderr.write(text);
  return new Workers({
    ...options,
    errors: toErrors,
    fork: (place) => cluster.fork(workerVariables({ place, fd })).process,
  });
}

/** Tells the parent that this worker listens, and stops it in order when the parent is gone. */
export function joinWorkers(url: string, stop: (why: string) => void): void {
  const { worker } = cluster;
  worker?.on('disconnect', () => {
    // Otherwise node:cluster ends the process at once, and with it what is being paid for.
    worker.exitedAfterDisconnect = true;
    stop('the parent is gone');
  });
  process.send?.({ listens: url } satisfies Listening);
}
