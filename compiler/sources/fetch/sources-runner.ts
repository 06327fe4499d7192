import { existsSync } from 'node:fs';
import { hostsOf, noticesOf } from '../../catalog/register.ts';
import { type RunStatus, runStatusSchema, type SourceStatus } from '../../catalog/run-status.ts';
import { messageOf } from '../../format/errors.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';
import { withoutKeys } from '../kit/payload.ts';
import { addressesAt, type Source } from '../kit/source.ts';
import { type BatchDisk, batchName } from '../merge-batch.ts';
import {
  type AgencyAnswer,
  type Asked,
  askAll,
  type FetchBy,
  type SourceRun,
} from './agency-client.ts';
import { type Archive, type Archived, byFetch, type Look, notePath } from './archive.ts';
import { ArchiveImport, type TakenFetch } from './archive-import.ts';
import { runMetrics } from './run-metrics.ts';

const STATUS_BYTES_MAX = 16 << 20;
/** First wait after a failure; it doubles with each further one, up to the time between fetches. */
const RETRY_MS = 600_000;
/** A job of cron never starts at the very second: what is due this soon is due. */
const SLACK_MS_MAX = 300_000;

const NO_STATUS: RunStatus = {
  version: 1,
  updated_at: null,
  imported_through: null,
  compile: { is_due: true, last_success: null, last_error: null, release: null },
  sources: {},
  warned_on: null,
};

export const NO_SOURCE_STATUS: SourceStatus = {
  last_attempt: null,
  last_success: null,
  last_change: null,
  next_due: null,
  consecutive_failures: 0,
  last_error: null,
  waiting: 0,
  unread: 0,
  resume_at: null,
};

/** Reads a status file; throws a RangeError for one that something else wrote. */
export function readStatus(path: string): RunStatus {
  if (!existsSync(path)) return NO_STATUS;
  try {
    return runStatusSchema.parse(parseJson(decodeUtf8(readPlain(path, STATUS_BYTES_MAX))));
  } catch (cause) {
    const state = 'it is not a status file of this program; move it away, and it is made again';
    throw new RangeError(`Cannot use status file "${path}": ${state}`, { cause });
  }
}

/** Writes it twice: for programs, and beside it for Prometheus. */
function writeStatus(path: string, status: RunStatus): void {
  replaceFile(path, `${JSON.stringify(status, null, 2)}\n`);
  replaceFile(`${path.replace(/\.json$/, '')}.prom`, runMetrics(status));
}

interface Attempt {
  readonly startedAt: number;
  readonly failure: string | null;
  readonly isChanged: boolean;
  /** How long the agency asks to wait, in milliseconds. */
  readonly waitMs: number | null;
  readonly waiting: number;
  /** Entries that could not be read; null where nothing was imported. */
  readonly unread: number | null;
  readonly resumeAt: string | null;
}

function afterAttempt(
  before: SourceStatus,
  { startedAt, failure, isChanged, waitMs, waiting, unread, resumeAt }: Attempt,
  everyMs: number,
): SourceStatus {
  const at = isoTime(startedAt);
  const failures = failure === null ? 0 : before.consecutive_failures + 1;
  const retry = Math.min(everyMs, RETRY_MS * 2 ** Math.min(failures - 1, 20));
  const wait =
    failure === null ? everyMs : Math.max(retry, waitMs === null ? 0 : waitMs + SLACK_MS_MAX);
  return {
    last_attempt: at,
    last_success: failure === null ? at : before.last_success,
    last_change: isChanged ? at : before.last_change,
    next_due: isoTime(startedAt + wait),
    consecutive_failures: failures,
    last_error: failure,
    waiting,
    unread: unread ?? before.unread,
    resume_at: resumeAt,
  };
}

/** Days such as 2026-11-20, 11/20/2026 or 20261120, with a time or not, and years. */
const DATED =
  /\b(\d{1,2}\/\d{1,2}\/(19|20)\d{2}|(19|20)\d{6}|(19|20)\d{2}(-\d{2}(-\d{2}(T[\d:.]*Z?)?)?)?)\b/g;
/** A look that is older than this will not be compared with again. */
const LOOK_MS_MAX = 40 * DAY_MS;

/** Archives what came. Of a whole, either every part is noted or none. */
function noteAnswers(asked: Asked, run: SourceRun): Pick<FetchOutcome, 'fetched' | 'changed'> {
  const { failures, unasked } = asked;
  // A whole is one capture, so all of it has the time of its first part, also where midnight came between.
  const answered =
    run.row.is_whole === true
      ? asked.answered.map((one) => ({ ...one, at: asked.answered[0]?.at ?? one.at }))
      : asked.answered;
  const changed = answered.filter((one) => !isKnown(one, lookAt(one, run))).length;
  const isWhole = run.row.is_whole === true;
  const missing = failures.length + unasked;
  if (isWhole && missing > 0) {
    for (const one of answered) {
      // A part of a whole that did not come is kept, but never imported.
      const held = `${missing} of the addresses of the same whole did not answer`;
      if (isKnown(one, lookAt(one, run))) drop(one, run.by);
      else run.by.archive.note({ ...kept(one, run), held });
    }
    return { fetched: [], changed };
  }
  const isNewWhole = isWhole && answered.some((one) => isNoteDue(one, run));
  const fetched = answered.flatMap((one) => {
    if (isNewWhole || isNoteDue(one, run)) return [noted(one, run)];
    look(one, run);
    return [];
  });
  return { fetched, changed };
}

function lookAt({ url }: AgencyAnswer, { looks }: SourceRun): Look | undefined {
  return looks.get(withoutKeys(url));
}

function look(one: AgencyAnswer, run: SourceRun): void {
  drop(one, run.by);
  const last = lookAt(one, run);
  if (last !== undefined) run.looks.set(withoutKeys(one.url), { ...last, looked_at: one.at });
}

function isKnown({ answer }: AgencyAnswer, look: Look | undefined): look is Look {
  if (answer.kind === 'unchanged') return true;
  // What could not be read may be damaged in the archive, so it is kept again.
  return look !== undefined && look.refused !== true && look.sha256 === answer.incoming.sha256;
}

/** Whether a fetch is noted: it has news, or the agency was due to have some by now. */
function isNoteDue(one: AgencyAnswer, run: SourceRun): boolean {
  const look = lookAt(one, run);
  if (!isKnown(one, look)) return true;
  const isLaterHour = batchName(one.at) > batchName(look.noted_at);
  const age = Date.parse(one.at) - Date.parse(look.noted_at);
  return isLaterHour && age >= run.row.pace.every_minutes * 60_000 - HOUR_MS / 4;
}

function noted(one: AgencyAnswer, run: SourceRun): Archived {
  const archived = run.by.archive.note(kept(one, run));
  const { sha256, bytes, payload_day, etag, last_modified, url } = archived;
  run.looks.set(url, {
    sha256,
    bytes,
    payload_day,
    ...(etag === undefined ? {} : { etag }),
    ...(last_modified === undefined ? {} : { last_modified }),
    note: notePath(archived),
    noted_at: one.at,
    looked_at: one.at,
  });
  return archived;
}

/** The note of a fetch whose bytes are in the archive, where this puts them if they are new. */
function kept(one: AgencyAnswer, run: SourceRun): Archived {
  const { source, by } = run;
  const { url, answer, at } = one;
  const look = lookAt(one, run);
  const last = look ?? lastLike(url, run);
  const after = last === undefined ? {} : { after: last.note };
  const base = { source: source.id, url, fetched_at: at, ...after };
  if (isKnown(one, look)) {
    drop(one, by);
    const { sha256, bytes, payload_day, etag, last_modified } = look;
    const before = {
      ...(etag === undefined ? {} : { etag }),
      ...(last_modified === undefined ? {} : { last_modified }),
    };
    const http_status = answer.kind === 'unchanged' ? 304 : 200;
    return { ...base, sha256, bytes, payload_day, ...before, ...answer.headers, http_status };
  }
  if (answer.kind === 'unchanged') throw new TypeError(`Cannot archive "${url}": nothing came`);
  const { sha256, bytes } = answer.incoming;
  const payload_day = at.slice(0, 10);
  by.archive.keep(source.id, answer.incoming, payload_day);
  return { ...base, sha256, bytes, payload_day, ...answer.headers, http_status: 200 };
}

/** The last look at the same question, asked of other days: some addresses name the time at which they are asked. */
function lastLike(url: string, { looks }: SourceRun): Look | undefined {
  const question = undated(url);
  const same = [...looks].filter(([other]) => undated(other) === question);
  const newest = same.sort(([, a], [, b]) => Date.parse(b.noted_at) - Date.parse(a.noted_at));
  return newest[0]?.[1];
}

function undated(url: string): string {
  return withoutKeys(url).replaceAll(/%3A/gi, ':').replaceAll(/%2F/gi, '/').replaceAll(DATED, '');
}

function drop({ answer }: AgencyAnswer, { archive }: FetchBy): void {
  if (answer.kind === 'payload') archive.drop(answer.incoming);
}

/** The look of a fetch that no importer could read: its address is asked for whole again. */
export function refuseLook(archive: Archive, { source, url }: Archived): void {
  const looks = new Map(archive.looks(source));
  const look = looks.get(url);
  if (look === undefined) return;
  looks.set(url, { ...look, refused: true });
  archive.saveLooks(source, looks);
}

/**
 * One source, asked once: every address, page after page, politely.
 *
 *  1. `addressesOf()` says why it is not asked at all: no contact, no key, no entity.
 *  2. `askAll()` asks one address after the other. One that fails is left behind; an agency that turns us away, or fails at
 *     several addresses in a row, is asked nothing more.
 *  3. `noteAnswers()` archives what came. Bytes that came before, and a 304, are a look: it is remembered, and noted only once
 *     the agency was due to publish again.
 */

const FAILURES_SHOWN_MAX = 3;
/** A clock that is further off than this is worth a remark. */
const CLOCK_SKEW_MS_MAX = 300_000;

interface FetchOutcome {
  readonly source: string;
  /** Fetches to import, in order. */
  readonly fetched: readonly Archived[];
  readonly answered: number;
  /** Addresses that answered with other bytes than before. */
  readonly changed: number;
  /** Why it failed, wholly or in part; null when all is well. */
  readonly failure: string | null;
  /** It was cut short because this process is to end; nothing is wrong with the source. */
  readonly isCut: boolean;
  /** How long the agency asks to wait, in milliseconds. */
  readonly waitMs: number | null;
  readonly remarks: readonly string[];
  /** Where not all was asked: what the next step begins with. */
  readonly resumeAt: string | null;
  /** Entities by the address that is about them alone. */
  readonly abouts: ReadonlyMap<string, string>;
}

const NOTHING = {
  ...{ fetched: [], answered: 0, changed: 0, isCut: false, waitMs: null, remarks: [] },
  ...{ resumeAt: null, abouts: new Map<string, string>() },
};

/** Asks a source, from some address on. Never throws for what an agency does; a disk that fails throws. */
export async function fetchSource(
  source: Source,
  entities: readonly string[],
  by: FetchBy,
  resumeAt: string | null = null,
): Promise<FetchOutcome> {
  const { row } = source;
  const addresses = addressesOf(source, entities, { ...by, now: by.clock.now() });
  if (row === null || typeof addresses === 'string') {
    return { ...NOTHING, source: source.id, failure: String(addresses) };
  }
  const looks = new Map(by.archive.looks(source.id));
  const run = { source, row, looks, by };
  const first = Math.max(
    0,
    addresses.findIndex(([{ url }]) => undated(url) === resumeAt),
  );
  const asked = await askAll([...addresses.slice(first), ...addresses.slice(0, first)], run);
  const { fetched, changed } = noteAnswers(asked, run);
  // Forgets looks at addresses that are no longer asked; those that name a time would become more and more.
  const now = by.clock.now();
  for (const [url, { looked_at }] of looks) {
    if (Date.parse(looked_at) < now - LOOK_MS_MAX) looks.delete(url);
  }
  by.archive.saveLooks(source.id, looks);
  const passedOver = asked.passedOver.map(
    ({ message }) => `${message}; the next address answered in its place`,
  );
  const waits = asked.failures.flatMap(({ fault }) => fault.waitMs ?? []);
  return {
    source: source.id,
    fetched,
    changed,
    answered: asked.answered.length,
    failure: failureOf(asked),
    isCut: asked.isCut,
    waitMs: waits.length === 0 ? null : Math.max(...waits),
    remarks: [...passedOver, ...skewRemarks(asked)],
    resumeAt: asked.resumeAt === null ? null : undated(asked.resumeAt),
    abouts: new Map(
      asked.answered.flatMap(({ url, address: { about } }) =>
        about === undefined ? [] : [[withoutKeys(url), about] as const],
      ),
    ),
  };
}

/** What a source is asked with, or why it is not asked at all. */
export function addressesOf(
  source: Source,
  entities: readonly string[],
  { now, contact, keyOf }: Pick<FetchBy, 'contact' | 'keyOf'> & { readonly now: number },
): ReturnType<typeof addressesAt> | string {
  const { id, row } = source;
  if (row === null || Object.keys(row.addresses).length === 0) {
    return 'it cannot be fetched; import its files with "signalpress import"';
  }
  if (row.needs_contact === true && contact === null) {
    return 'it refuses requests that name no contact; set SIGNALPRESS_CONTACT to mailto:you@example.org';
  }
  const { key, terms } = row;
  if (key === undefined && !terms.may_be_sold) {
    return `its terms forbid sale (${terms.page}); give the addresses and the key of a paid plan`;
  }
  if (key !== undefined && key.is_optional !== true && (keyOf(key.variable) ?? '') === '') {
    const { variable, because = 'it needs a data key; get one from the agency' } = key;
    return `${because} and set ${variable}`;
  }
  try {
    const addresses = addressesAt(source, { entities, now });
    if (addresses.length > 0) return addresses;
  } catch (error) {
    return messageOf(error);
  }
  return `it does not know what to ask for; name entities, as in --entities or in the configuration of "${id}"`;
}

function failureOf({ answered, failures, unasked }: Asked): string | null {
  if (failures.length === 0) return null;
  const shown = failures.slice(0, FAILURES_SHOWN_MAX).map(({ message }) => message);
  const asked = answered.length + failures.length;
  const more = failures.length > shown.length ? [`${failures.length - shown.length} more`] : [];
  const rest = unasked === 0 ? [] : [`${unasked} more addresses were not asked`];
  const share = asked === 1 ? [] : [`${failures.length} of ${asked} addresses failed`];
  return [...shown, ...more, ...share, ...rest].join('; ');
}

/** The agency's clock does not decide anything here, but a wrong one explains odd times. */
function skewRemarks({ answered }: Asked): string[] {
  const skews = answered.flatMap(({ answer, at }) => {
    const skew = Date.parse(answer.headers.http_date ?? '') - Date.parse(at);
    return Math.abs(skew) > CLOCK_SKEW_MS_MAX ? [Math.round(skew / 60_000)] : [];
  });
  const [first] = skews;
  if (first === undefined) return [];
  const way = first > 0 ? 'ahead of' : 'behind';
  return [
    `its clock is ${Math.abs(first)} minutes ${way} this one; times of fetch are of this one`,
  ];
}

/**
 * One step of an unattended shop: fetch what is due, import it, publish it.
 *
 *  1. `resume()`, once: imports again what was fetched since the hour of the last step, so that a process that was cut short
 *     loses nothing, and so that revisions which wait for the next hour are known.
 *  2. `fetchDue()`: asks the sources that are due, a few at a time. Each is alone: whatever fails, fails that source.
 *  3. `importAll()`: turns what came into batches, in the order of the notes, whoever answered first. What had waited for an
 *     hour is stored when the first fetch of that hour is imported, not before: an earlier one may take it back.
 *  4. The status file is written, then a release is published if there is anything new, then the status is written again.
 *
 * A step in which nothing is due writes nothing.
 */

/** How many sources are asked at a time: one that is slow does not hold up the others. */
const SOURCES_AT_A_TIME = 6;
/** How soon a release that could not be published is tried again. */
const PUBLISH_AGAIN_MS = 300_000;

export interface WantedSource {
  readonly source: Source;
  readonly entities: readonly string[];
  /** Time from one fetch to the next, in milliseconds. */
  readonly everyMs: number;
}

interface RunBy extends FetchBy {
  readonly disk: BatchDisk;
  readonly statusFile: string;
  /** Publishes a release of what is stored and returns its number; null for who only fetches. */
  readonly publish: (() => Promise<number>) | null;
  readonly errorText: (error: unknown) => string;
}

interface StepOptions {
  readonly isForced?: boolean;
  /** Lets a job that is started from outside begin a little early. */
  readonly hasSlack?: boolean;
}

export interface SourceReport {
  readonly outcome: FetchOutcome;
  readonly taken: readonly TakenFetch[];
  readonly failure: string | null;
}

export interface StepReport {
  readonly sources: readonly SourceReport[];
  /** Rows that had waited for this hour. */
  readonly settled: number;
  /** Number of the release that was published; null where there was nothing new or it failed. */
  readonly release: number | null;
  /** What the register says of the sources, once a day: ends that come, and terms that forbid sale. */
  readonly warnings: readonly string[];
  readonly status: RunStatus;
}

export class SourcesRunner {
  readonly #wanted: readonly WantedSource[];
  readonly #by: RunBy;
  readonly #import: ArchiveImport;
  #hasWritten = false;
  #settled = 0;
  #isResumed = false;
  /** Unreadable entries of what a process that was cut short had fetched, by source: no status counts them yet. */
  readonly #unreadBefore = new Map<string, number>();

  constructor(wanted: readonly WantedSource[], by: RunBy) {
    this.#wanted = wanted;
    this.#by = by;
    const write: BatchDisk['write'] = (path, text) => {
      this.#hasWritten = true;
      by.disk.write(path, text);
    };
    const disk = { read: by.disk.read.bind(by.disk), write };
    const find = (id: string) => wanted.find(({ source }) => source.id === id)?.source ?? null;
    this.#import = new ArchiveImport({ archive: by.archive, disk, known: find });
  }

  async step(options: StepOptions = {}): Promise<StepReport> {
    const { clock, publish } = this.#by;
    const before = readStatus(this.#by.statusFile);
    this.#resume(before.imported_through);
    const startedAt = clock.now();
    const outcomes = await this.#fetchDue(before, options);
    const importedAt = clock.now();
    const sources = this.#importAll(outcomes);
    const settled = this.#settledBy(importedAt);
    const isPublishDue = publish !== null && (before.compile.is_due || this.#hasWritten);
    if (sources.length === 0 && !this.#hasWritten && !isPublishDue) {
      return { sources, settled, release: null, warnings: [], status: before };
    }
    const today = isoTime(startedAt).slice(0, 10);
    const warnings = before.warned_on === today ? [] : this.#warnings(startedAt);
    const status: RunStatus = {
      version: 1,
      updated_at: isoTime(importedAt),
      imported_through: isoTime(importedAt),
      compile: { ...before.compile, is_due: before.compile.is_due || this.#hasWritten },
      sources: this.#statusOf(before, sources, startedAt),
      warned_on: today,
    };
    writeStatus(this.#by.statusFile, status);
    this.#hasWritten = false;
    if (!isPublishDue) return { sources, settled, release: null, warnings, status };
    return { sources, settled, warnings, ...(await this.#publish(status)) };
  }

  #warnings(now: number): string[] {
    const rows = this.#wanted.flatMap(({ source: { row } }) => row ?? []);
    const told = rows.flatMap((row) => noticesOf(row, now)).filter(({ isPressing }) => isPressing);
    return told.map(({ id, text }) => `${id}: ${text}`);
  }

  /** When there is something to do again, in epoch milliseconds. */
  nextWake({ sources, compile }: RunStatus): number {
    const now = this.#by.clock.now();
    const due = this.#wanted.map(({ source }) => Date.parse(sources[source.id]?.next_due ?? ''));
    const hour = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
    const times = due.map((at) => (Number.isNaN(at) ? now : at));
    if (this.#import.waiting() > 0) times.push(hour);
    if (this.#by.publish !== null && compile.is_due) times.push(now + PUBLISH_AGAIN_MS);
    return Math.min(...times);
  }

  #resume(importedThrough: string | null): void {
    if (this.#isResumed) return;
    this.#isResumed = true;
    const through = importedThrough === null ? null : Date.parse(importedThrough);
    const since = through === null ? '' : isoTime(Math.floor(through / HOUR_MS) * HOUR_MS);
    for (const archived of this.#by.archive.fetches({ since })) {
      const found = this.#take(archived);
      // A fault was told when it came; what crashed before that is asked for again.
      if (found instanceof Error) refuseLook(this.#by.archive, archived);
      else if (through === null || Date.parse(archived.fetched_at) > through) {
        const { source } = archived;
        const unread = (this.#unreadBefore.get(source) ?? 0) + unreadIn([found]);
        this.#unreadBefore.set(source, unread);
      }
    }
  }

  async #fetchDue(status: RunStatus, { isForced, hasSlack }: StepOptions): Promise<FetchOutcome[]> {
    const now = this.#by.clock.now();
    const due = this.#wanted.filter(({ source, everyMs }) => {
      const { next_due } = status.sources[source.id] ?? NO_SOURCE_STATUS;
      const slackMs = hasSlack === true ? Math.min(everyMs / 10, SLACK_MS_MAX) : 0;
      return isForced === true || next_due === null || Date.parse(next_due) - slackMs <= now;
    });
    // Sources that share a host are asked one after the other.
    const queue: WantedSource[][] = [];
    for (const one of due) {
      const hosts = hostsOfWanted(one);
      const group = queue.find((own) =>
        own.flatMap(hostsOfWanted).some((host) => hosts.includes(host)),
      );
      if (group === undefined) queue.push([one]);
      else group.push(one);
    }
    const outcomes: FetchOutcome[] = [];
    const work = async (): Promise<void> => {
      for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
        for (const one of group) {
          if (this.#by.signal?.aborted === true) return;
          const { resume_at = null } = status.sources[one.source.id] ?? {};
          outcomes.push(await this.#fetch(one, resume_at));
        }
      }
    };
    await Promise.all(Array.from({ length: SOURCES_AT_A_TIME }, work));
    return outcomes.sort((a, b) => (a.source < b.source ? -1 : 1));
  }

  async #fetch({ source, entities }: WantedSource, resumeAt: string | null): Promise<FetchOutcome> {
    try {
      return await fetchSource(source, entities, this.#by, resumeAt);
    } catch (error) {
      return { ...NOTHING, source: source.id, failure: this.#by.errorText(error) };
    }
  }

  #importAll(outcomes: readonly FetchOutcome[]): SourceReport[] {
    const fetched = outcomes.flatMap((outcome) => outcome.fetched).sort(byFetch);
    const taken: TakenFetch[] = [];
    const faults = new Map<string, string[]>();
    for (const archived of fetched) {
      const found = this.#take(archived);
      if (!(found instanceof Error)) {
        taken.push(found);
        continue;
      }
      refuseLook(this.#by.archive, archived);
      const { source, url } = archived;
      const about = outcomes.find((one) => one.source === source)?.abouts.get(url);
      const from = `"${url}"${about === undefined ? '' : ` (${about})`}`;
      const text = `${this.#by.errorText(found)}; that is what ${from} answered`;
      faults.set(source, [...(faults.get(source) ?? []), text]);
    }
    const ended = new Map(
      this.#wanted.map(({ source: { id, row } }) => {
        const told = row === null ? [] : noticesOf(row, this.#by.clock.now());
        return [id, told.flatMap(({ about, text }) => (about === 'end' ? text : []))] as const;
      }),
    );
    return outcomes.map((outcome) => {
      const refused = faults.get(outcome.source) ?? [];
      // What was refused has nobody to ask in its place: the other addresses have ended.
      const why = refused.length === 0 ? [] : (ended.get(outcome.source) ?? []);
      const failures = [outcome.failure ?? [], refused, why].flat();
      const own = taken.filter(({ archived }) => archived.source === outcome.source);
      return { outcome, taken: own, failure: failures.length === 0 ? null : failures.join('; ') };
    });
  }

  /** An importer may fail in any way; it must not stop the others. */
  #take(archived: Archived): TakenFetch | Error {
    try {
      this.#settle(Date.parse(archived.fetched_at));
      return this.#import.take(archived);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #settle(now: number): void {
    this.#settled += this.#import.settle(now).rows;
  }

  /** Stores what waited until now; returns how many rows of this step had waited. */
  #settledBy(now: number): number {
    this.#settle(now);
    const settled = this.#settled;
    this.#settled = 0;
    return settled;
  }

  #statusOf(before: RunStatus, reports: readonly SourceReport[], startedAt: number) {
    const attempted = reports.filter(({ outcome }) => !outcome.isCut);
    const now = new Map(attempted.map((report) => [report.outcome.source, report] as const));
    const own = this.#wanted.map(({ source: { id }, everyMs }) => {
      const last = before.sources[id] ?? NO_SOURCE_STATUS;
      const waiting = this.#import.waiting((source) => source === id);
      const report = now.get(id);
      const left = this.#unreadBefore.get(id) ?? null;
      this.#unreadBefore.delete(id);
      if (report === undefined) {
        return [id, { ...last, waiting, unread: left ?? last.unread }] as const;
      }
      const { failure, outcome } = report;
      const { changed, waitMs, resumeAt } = outcome;
      const unread = report.taken.length === 0 ? left : unreadIn(report.taken);
      const isChanged = changed > 0;
      const came = { startedAt, failure, isChanged, waitMs, waiting, unread };
      const attempt: Attempt = { ...came, resumeAt };
      return [id, afterAttempt(last, attempt, everyMs)] as const;
    });
    const others = this.#by.publish === null ? before.sources : {};
    return { ...others, ...Object.fromEntries(own) };
  }

  async #publish(status: RunStatus): Promise<Pick<StepReport, 'release' | 'status'>> {
    const { publish, clock, statusFile, errorText } = this.#by;
    let compile: RunStatus['compile'] = status.compile;
    let release: number | null = null;
    try {
      release = (await publish?.()) ?? null;
      const last_success = isoTime(clock.now());
      compile = { is_due: false, last_success, last_error: null, release };
    } catch (error) {
      compile = { ...compile, is_due: true, last_error: errorText(error) };
    }
    const after = { ...status, updated_at: isoTime(clock.now()), compile };
    writeStatus(statusFile, after);
    return { release, status: after };
  }
}

/** How many entries of some fetches could not be read. */
export function unreadIn(taken: readonly Pick<TakenFetch, 'skipped'>[]): number {
  const unread = taken.flatMap(({ skipped }) => skipped.filter(({ isUnread }) => isUnread));
  return unread.reduce((sum, { count }) => sum + count, 0);
}

function hostsOfWanted({ source: { row } }: WantedSource): readonly string[] {
  return row === null ? [] : hostsOf(row);
}
