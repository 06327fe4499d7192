import type { SignalEntry } from '../contract/catalog/line.ts';
import { defined } from '../contract/defined.ts';
import { byPlace, faultText, type InputFault } from '../stages/intake/compile-error.ts';
import type { SignalFiles } from '../stages/intake/list-snapshots.ts';
import { FILE_FAULTS_MAX } from '../stages/intake/quarantine.ts';
import { type Share, WHOLE } from '../stages/intake/share.ts';
import type { JobResult } from './signal-job.ts';

/** A share with less input would cost more to read again than it saves. */
const SHARE_BYTES_MIN = 1_000_000;
/** A signal with more input is one job: each share has memory of its own, and its bound is meant for all. */
const SHARED_BYTES_MAX = 100_000_000;

/** New files of a signal, and its row of the catalogue. */
export interface DueSignal extends SignalFiles {
  readonly entry: SignalEntry;
}

/** What one job is to work on. */
export interface SharedSignal {
  readonly signal: DueSignal;
  readonly share: Share;
}

/** One job for each signal, several for one that would keep other workers waiting; those with the most work first. */
export function signalShares(signals: readonly DueSignal[], workers: number): SharedSignal[] {
  const total = signals.reduce((sum, signal) => sum + effort(signal), 0);
  const fair = total / Math.max(1, workers);
  const shared = signals.flatMap((signal) => shares(signal, Math.ceil(effort(signal) / fair)));
  return evened(
    shared.sort((a, b) => shareEffort(b) - shareEffort(a)),
    workers,
  );
}

/** The last job is divided too where one worker would do it while the others have nothing left. */
function evened(queue: readonly SharedSignal[], workers: number): SharedSignal[] {
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
