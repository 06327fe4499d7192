import type { FileEntry } from '../contract/release.ts';
import { publicFileUrl } from '../contract/release.ts';
import type { Clock } from '../fetch/clock.ts';
import { asked, type Fetch, refusal, UnreachableError } from '../monitor/log-client.ts';
import type { MirrorFolder } from './mirror-folder.ts';

/** Files at once. */
const PARALLEL = 8;
/** How often a file is asked for before the address counts as out of reach. */
const ATTEMPTS_MAX = 8;
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 60_000;
/** Beside what any answer may take, so many bytes must come in a millisecond: who trickles is cut off. */
const BYTES_A_MS = 16;
/** Statuses that say nothing about a file, only about the moment. */
const BUSY = [408, 425, 429];

export interface FetchBy {
  readonly address: string;
  readonly fetch: Fetch;
  readonly folder: MirrorFolder;
  /** Ends everything early. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** Milliseconds of the steady clock at which everything has to be there. */
  readonly end: number;
  /** Longest wait for an answer beside what its bytes take, in milliseconds. */
  readonly answerMs: number;
}

/** What a service gave in place of files that its head lists. */
export interface Ungiven {
  readonly path: string;
  readonly detail: string;
}

/** What was fetched. */
export interface Fetched {
  /** Files that came as listed. */
  readonly files: number;
  readonly bytes: number;
  /** Files that went on where an earlier answer ended. */
  readonly resumed: number;
  readonly ungiven: readonly Ungiven[];
}

type Told = (done: number) => void;

/**
 * Fetches files, several at once. What the service refuses or gives otherwise is told, and is for the verifier to judge; an
 * address that cannot be reached throws an UnreachableError once the others have ended.
 */
export async function fetchFiles(
  wanted: readonly FileEntry[],
  by: FetchBy,
  told: Told = () => undefined,
): Promise<Fetched> {
  const sum = { files: 0, bytes: 0, resumed: 0, ungiven: [] as Ungiven[] };
  let done = 0;
  const errors: unknown[] = [];
  const left = wanted.values();
  const work = async (): Promise<void> => {
    for (const entry of left) {
      if (errors.length > 0) return;
      const { detail, bytes, isResumed } = await patiently(by, () => fetchOnce(entry, by));
      if (detail === null) sum.files += 1;
      else sum.ungiven.push({ path: entry.path, detail });
      done += 1;
      sum.bytes += bytes;
      sum.resumed += isResumed ? 1 : 0;
      told(done);
    }
  };
  const one = (): Promise<void> =>
    work().catch((error: unknown) => {
      errors.push(error);
    });
  await Promise.all(Array.from({ length: PARALLEL }, one));
  if (errors.length > 0) throw errors[0];
  return sum;
}

/** What came of one file. */
interface FetchedFile {
  /** Why it is not the listed one; null where it is. */
  readonly detail: string | null;
  readonly bytes: number;
  readonly isResumed: boolean;
}

/** Asks again where that may help: after a while of an address that does not answer, at once where null came of it. */
export async function patiently<T>(
  { clock, signal, end }: Pick<FetchBy, 'clock' | 'signal' | 'end'>,
  ask: () => Promise<T | null>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await ask();
      if (found !== null) return found;
    } catch (error) {
      const isOver = signal.aborted || attempt >= ATTEMPTS_MAX || clock.steady() > end;
      if (!(error instanceof UnreachableError) || isOver) throw error;
      const waitMs = Math.max(error.waitMs, PAUSE_MS * 2 ** attempt);
      await clock.sleep(Math.min(waitMs, PAUSE_MS_MAX), signal);
    }
  }
}

/** One answer; null where a part that came before was of something else, so that all of it is to be asked for. */
async function fetchOnce(entry: FileEntry, by: FetchBy): Promise<FetchedFile | null> {
  const { address, folder, fetch, signal } = by;
  const from = folder.partLength(entry);
  const headers = from > 0 ? { range: `bytes=${from}-` } : {};
  const asking = { fetch, waitMs: waitFor(entry.size, by), headers, signal };
  return asked(address + publicFileUrl(entry), asking, (response) =>
    answered(entry, { by, from, response }),
  );
}

/** Longest wait for an answer of so many bytes, in milliseconds. */
export function waitFor(
  bytes: number,
  { clock, end, answerMs }: Pick<FetchBy, 'clock' | 'end' | 'answerMs'>,
): number {
  return Math.max(0, Math.min(answerMs + bytes / BYTES_A_MS, end - clock.steady()));
}

/** Why an answer is not what was asked for; throws an UnreachableError where it says nothing about that. */
export async function settled(response: Response): Promise<string> {
  await response.body?.cancel();
  const { status } = response;
  const error = refusal(response);
  if (status >= 500 || BUSY.includes(status)) throw error;
  return error.message;
}

interface Answer {
  readonly by: FetchBy;
  /** Bytes that are there already. */
  readonly from: number;
  readonly response: Response;
}

async function answered(entry: FileEntry, answer: Answer): Promise<FetchedFile | null> {
  const { by, from, response } = answer;
  const { status } = response;
  if (status === 200) return taken(entry, { ...answer, from: 0 });
  if (isRest(answer)) return taken(entry, answer);
  const detail = await settled(response);
  by.folder.dropPart(entry);
  // What came before may be of something else, or too long.
  if (from > 0) return null;
  return { detail, bytes: 0, isResumed: false };
}

function isRest({ from, response: { status, headers } }: Answer): boolean {
  const range = headers.get('content-range');
  return status === 206 && from > 0 && range?.startsWith(`bytes ${from}-`) === true;
}

async function taken(
  entry: FileEntry,
  { by: { folder }, from, response }: Answer,
): Promise<FetchedFile | null> {
  if (from === 0) folder.dropPart(entry);
  const length = await folder.append(entry, chunksOf(response));
  const isResumed = from > 0;
  const bytes = length - from;
  if (folder.finish(entry) === 'good') return { detail: null, bytes, isResumed };
  // The part that came before may have been the wrong one.
  if (isResumed) return null;
  const detail = length === entry.size ? 'other bytes' : `another length than ${entry.size} bytes`;
  return { detail, bytes, isResumed };
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      yield read.value;
    }
  } finally {
    // Of an answer that is longer than it may be, the rest is not read.
    await reader?.cancel();
  }
}
