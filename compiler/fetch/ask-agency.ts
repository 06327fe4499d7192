import { isoTime } from '../contract/iso-time.ts';
import { withoutKeys } from '../import/fetch-note.ts';
import { type FetchNote, ImportError } from '../import/payload.ts';
import type { FetchPlan, Source } from '../import/source.ts';
import type { AgencyClient, AgencyReply, AgencyRequest } from './agency-client.ts';
import type { Archive, Look } from './archive.ts';
import type { Clock, Pace } from './clock.ts';
import { FetchError } from './fetch-error.ts';

/** Addresses that one source may ask at a time, pages included. */
const ADDRESSES_MAX = 2000;
const ATTEMPTS_MAX = 3;
const BACKOFF_MS = 1_000;
/** A longer wait that an agency asks for is left to the next time. */
const WAIT_MS_MAX = 60_000;
/** So many addresses failing in a row are a fault of the agency, not of the addresses. */
const FAILURES_IN_A_ROW_MAX = 3;

const ENDED = 'this process was told to end; it is asked next time';

/** How agencies are asked. */
export interface FetchBy {
  readonly client: AgencyClient;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly pace: Pace;
  /** The contact in `User-Agent`; null when none is set. */
  readonly contact: string | null;
  /** A data key by the name of its variable. */
  readonly keyOf: (variable: string) => string | undefined;
  /** Aborted to end early; the request that is under way ends by itself. */
  readonly signal?: AbortSignal;
}

/** One source, as it is asked this time. */
export interface SourceRun {
  readonly source: Source;
  readonly plan: FetchPlan;
  readonly looks: Map<string, Look>;
  readonly by: FetchBy;
}

/** An address that answered, and when. */
export interface AgencyAnswer {
  readonly url: string;
  readonly answer: AgencyReply;
  readonly at: string;
}

/** What came of all addresses. */
export interface Asked {
  readonly answered: readonly AgencyAnswer[];
  readonly failures: readonly FetchError[];
  /** Addresses that were not asked, because of those failures or because this process is to end. */
  readonly unasked: number;
  /** It was cut short because this process is to end. */
  readonly isCut: boolean;
}

/**
 * Asks one address after the other, and the pages behind each. One that fails is left behind; a host that cannot be reached
 * is asked nothing more, nor is an agency that turns us away or fails at several addresses in a row.
 */
export async function askAll(addresses: readonly string[], run: SourceRun): Promise<Asked> {
  const answered: AgencyAnswer[] = [];
  const failures: FetchError[] = [];
  let queue = [...addresses];
  let unreached = 0;
  const seen = new Set(queue);
  let inARow = 0;
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    const found = await tried(() => askPolitely(url, run));
    const next =
      found instanceof FetchError ? found : await tried(() => newPages(found, seen, run));
    if (!(found instanceof FetchError)) answered.push(found);
    if (next instanceof FetchError) {
      failures.push(next);
      const reachable = queue.filter((other) => !isOnDeadHost(other, url, next));
      unreached += queue.length - reachable.length;
      queue = reachable;
    } else queue.unshift(...next);
    inARow = next instanceof FetchError ? inARow + weightOf(next) : 0;
    if (inARow >= FAILURES_IN_A_ROW_MAX || hasEnded(run.by)) break;
  }
  const isCut = hasEnded(run.by) && queue.length + failures.length > 0;
  return { answered, failures, unasked: queue.length + unreached, isCut };
}

/** Whether an address is at the host of another one that could not be reached. */
function isOnDeadHost(address: string, dead: string, { fault }: FetchError): boolean {
  return fault.isUnreachable === true && new URL(address).host === new URL(dead).host;
}

/** Whether this process was told to end. */
function hasEnded({ signal }: FetchBy): boolean {
  return signal?.aborted === true;
}

/** Being turned away counts for all the failures that may follow it; an address that is not there says nothing of others. */
function weightOf({ fault }: FetchError): number {
  if (fault.isAbsent === true) return 0;
  return fault.isRefusal === true ? FAILURES_IN_A_ROW_MAX : 1;
}

async function tried<T>(ask: () => T | Promise<T>): Promise<T | FetchError> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof FetchError) return error;
    throw error;
  }
}

/** The page behind an answer, if there is one that was not asked before. */
function newPages(found: AgencyAnswer, seen: Set<string>, run: SourceRun): string[] {
  const next = nextPage(found, run);
  if (next === null || seen.has(next)) return [];
  if (seen.size >= ADDRESSES_MAX) throw tooMany(next);
  seen.add(next);
  return [next];
}

function tooMany(subject: string): FetchError {
  return new FetchError({ subject, state: `more than ${ADDRESSES_MAX} addresses; ask for less` });
}

/** Asks in turn, and again where that is polite. */
async function askPolitely(url: string, run: SourceRun): Promise<AgencyAnswer> {
  const { by } = run;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await askInTurn(url, run);
    } catch (error) {
      const waitMs = error instanceof FetchError ? waitBefore(attempt, error, by.clock) : null;
      if (waitMs === null || hasEnded(by)) throw error;
      await by.clock.sleep(waitMs, by.signal);
    }
  }
}

async function askInTurn(url: string, run: SourceRun): Promise<AgencyAnswer> {
  const { plan, by, source } = run;
  const { host } = new URL(url);
  await by.pace.turn(host, plan.perMinute, by.signal);
  if (hasEnded(by)) throw new FetchError({ subject: url, state: ENDED });
  try {
    const receive = by.archive.receive.bind(null, source.id);
    const answer = await by.client.ask(questionOf(url, run), receive);
    return { url, answer, at: isoTime(secondOf(by.clock.now())) };
  } catch (error) {
    if (isUnreachable(error)) by.pace.giveBack(host, plan.perMinute);
    throw error;
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof FetchError && error.fault.isUnreachable === true;
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** How long to wait before the next attempt; null where there is none. */
function waitBefore(attempt: number, { fault }: FetchError, { random }: Clock): number | null {
  if (fault.isTransient !== true || attempt >= ATTEMPTS_MAX) return null;
  const backoff = BACKOFF_MS * 2 ** (attempt - 1) * (1 + random());
  const wait = Math.max(backoff, fault.waitMs ?? 0);
  return wait > WAIT_MS_MAX ? null : wait;
}

function questionOf(url: string, { source, plan, looks, by }: SourceRun): AgencyRequest {
  const look = looks.get(withoutKeys(url));
  // A whole is compared as a whole, and what could not be read is asked for again.
  const isConditional = look !== undefined && look.refused !== true && plan.isWhole !== true;
  return {
    url,
    plan,
    format: source.format,
    key: plan.key === undefined ? null : (by.keyOf(plan.key.variable) ?? null),
    known: isConditional ? look : null,
  };
}

/** What an address says: what came, or what it said before where that still holds. */
function answeredBytes(
  { url, answer }: Pick<AgencyAnswer, 'url' | 'answer'>,
  { source, looks, by }: Pick<SourceRun, 'source' | 'looks' | 'by'>,
): Uint8Array {
  if (answer.kind === 'payload') return by.archive.peek(answer.incoming);
  const look = looks.get(withoutKeys(url));
  if (look === undefined) throw new TypeError(`Cannot read "${url}" again: nothing is known of it`);
  return by.archive.payload({ ...look, source: source.id });
}

/** Where a payload goes on; null for the last page. */
function nextPage({ url, answer, at }: AgencyAnswer, { source, plan, looks, by }: SourceRun) {
  if (plan.nextPage === undefined) return null;
  const note: FetchNote = { url, fetched_at: at, http_status: 200 };
  try {
    const bytes = answeredBytes({ url, answer }, { source, looks, by });
    return plan.nextPage({ bytes, note, subject: url });
  } catch (cause) {
    if (!(cause instanceof ImportError)) throw cause;
    throw new FetchError({ subject: url, state: cause.message }, { cause });
  }
}
