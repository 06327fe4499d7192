import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import type { RunStatus } from '../contract/run-status.ts';
import type { BatchDisk } from '../import/merge-batch.ts';
import { type Archived, byFetch } from './archive.ts';
import { ArchiveImport, type TakenFetch } from './archive-import.ts';
import type { FetchBy } from './ask-agency.ts';
import { type FetchOutcome, fetchSource } from './fetch-source.ts';
import { refuseLook } from './note-answers.ts';
import {
  type Attempt,
  afterAttempt,
  isDue,
  NO_SOURCE_STATUS,
  readStatus,
  slackOf,
  writeStatus,
} from './run-status.ts';
import type { WantedSource } from './sources-config.ts';

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

interface RunBy extends FetchBy {
  /** The folder of batches. */
  readonly disk: BatchDisk;
  readonly statusFile: string;
  /** Publishes a release of what is stored and returns its number; null for who only fetches. */
  readonly publish: (() => Promise<number>) | null;
  /** Text of an error for a person. */
  readonly errorText: (error: unknown) => string;
}

interface StepOptions {
  /** Fetches every source, due or not. */
  readonly isForced?: boolean;
  /** Lets a job that is started from outside begin a little early. */
  readonly hasSlack?: boolean;
}

/** What came of one source in a step. */
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
  readonly status: RunStatus;
}

export class SourcesRunner {
  readonly #wanted: readonly WantedSource[];
  readonly #by: RunBy;
  readonly #import: ArchiveImport;
  #hasWritten = false;
  #settled = 0;
  #isResumed = false;

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
      return { sources, settled, release: null, status: before };
    }
    const status: RunStatus = {
      version: 1,
      updated_at: isoTime(importedAt),
      imported_through: isoTime(importedAt),
      compile: { ...before.compile, is_due: before.compile.is_due || this.#hasWritten },
      sources: this.#statusOf(before, sources, startedAt),
    };
    writeStatus(this.#by.statusFile, status);
    this.#hasWritten = false;
    if (!isPublishDue) return { sources, settled, release: null, status };
    return { sources, settled, ...(await this.#publish(status)) };
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
      // A fault was told when it came; what crashed before that is asked for again.
      if (this.#take(archived) instanceof Error) refuseLook(this.#by.archive, archived);
    }
  }

  async #fetchDue(status: RunStatus, { isForced, hasSlack }: StepOptions): Promise<FetchOutcome[]> {
    const now = this.#by.clock.now();
    const due = this.#wanted.filter(({ source, everyMs }) => {
      const own = status.sources[source.id] ?? NO_SOURCE_STATUS;
      return isForced === true || isDue(own, now, hasSlack === true ? slackOf(everyMs) : 0);
    });
    const queue = byHost(due);
    const outcomes: FetchOutcome[] = [];
    const work = async (): Promise<void> => {
      for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
        for (const one of group) {
          if (this.#by.signal?.aborted === true) return;
          outcomes.push(await this.#fetch(one));
        }
      }
    };
    await Promise.all(Array.from({ length: SOURCES_AT_A_TIME }, work));
    return outcomes.sort((a, b) => (a.source < b.source ? -1 : 1));
  }

  async #fetch({ source, entities }: WantedSource): Promise<FetchOutcome> {
    try {
      return await fetchSource(source, entities, this.#by);
    } catch (error) {
      const failure = this.#by.errorText(error);
      const none = { fetched: [], answered: 0, changed: 0, waitMs: null, remarks: [] };
      return { source: source.id, failure, isCut: false, ...none };
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
      const { source } = archived;
      faults.set(source, [...(faults.get(source) ?? []), this.#by.errorText(found)]);
    }
    return outcomes.map((outcome) => {
      const failures = [outcome.failure ?? [], faults.get(outcome.source) ?? []].flat();
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
      if (report === undefined) return [id, { ...last, waiting }] as const;
      const { failure, outcome } = report;
      const { changed, waitMs } = outcome;
      const attempt: Attempt = { startedAt, failure, isChanged: changed > 0, waitMs, waiting };
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

/** Sources that share a host are asked one after the other. */
function byHost(wanted: readonly WantedSource[]): WantedSource[][] {
  const groups: WantedSource[][] = [];
  for (const one of wanted) {
    const hosts = hostsOf(one);
    const group = groups.find((own) => own.flatMap(hostsOf).some((host) => hosts.includes(host)));
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

function hostsOf({ source }: WantedSource): readonly string[] {
  return source.fetch?.hosts ?? [];
}
