import { existsSync } from 'node:fs';
import { isoTime } from '../contract/iso-time.ts';
import { type RunStatus, runStatusSchema, type SourceStatus } from '../contract/run-status.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';

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
};

export const NO_SOURCE_STATUS: SourceStatus = {
  last_attempt: null,
  last_success: null,
  last_change: null,
  next_due: null,
  consecutive_failures: 0,
  last_error: null,
  waiting: 0,
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

export function writeStatus(path: string, status: RunStatus): void {
  replaceFile(path, `${JSON.stringify(status, null, 2)}\n`);
}

/** Whether a source is to be fetched; `slackMs` early is not too early. */
export function isDue({ next_due }: SourceStatus, now: number, slackMs: number): boolean {
  return next_due === null || Date.parse(next_due) - slackMs <= now;
}

/** How early a job that is started from outside may find a source due. */
export function slackOf(everyMs: number): number {
  return Math.min(everyMs / 10, SLACK_MS_MAX);
}

/** One attempt at a source. */
export interface Attempt {
  readonly startedAt: number;
  readonly failure: string | null;
  readonly isChanged: boolean;
  /** How long the agency asks to wait, in milliseconds. */
  readonly waitMs: number | null;
  readonly waiting: number;
}

/** How a source stands after an attempt. */
export function afterAttempt(
  before: SourceStatus,
  { startedAt, failure, isChanged, waitMs, waiting }: Attempt,
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
  };
}
