import { HOUR_MS } from '../../compiler/contract/iso-time.ts';
import {
  type RunStatus,
  runStatusSchema,
  type SourceStatus,
} from '../../compiler/contract/run-status.ts';
import { decodeUtf8, parseJson } from '../../compiler/contract/strict-json.ts';
import { messageOf } from '../system/message-of.ts';
import { readOwnFile } from '../system/plain-file.ts';
import { StartError } from '../system/start-error.ts';

const STATUS_BYTES_MAX = 16 << 20;
/** A job of cron that runs every hour fetches what is due up to an hour late. */
const LATE_MS = 2 * HOUR_MS;

/** Reads the status file of `signalpress run`; throws a StartError for anything else. */
export function readRunStatus(path: string): RunStatus {
  try {
    const { bytes } = readOwnFile(path, STATUS_BYTES_MAX);
    const parsed = runStatusSchema.safeParse(parseJson(decodeUtf8(bytes)));
    if (parsed.success) return parsed.data;
  } catch (cause) {
    throw new StartError(`Cannot read status file "${path}": ${messageOf(cause)}; ${SEE}`, {
      cause,
    });
  }
  throw new StartError(`Cannot read status file "${path}": not written by signalpress run; ${SEE}`);
}

const SEE = 'name the status.json beside its archive, or leave --status out';

/** How a source does, in one word; the worst first. */
export const HEALTH_WORDS = ['failing', 'late', 'never asked', 'healthy'] as const;
export type HealthWord = (typeof HEALTH_WORDS)[number];

/** `late`: it should have been asked long ago, so nothing runs. */
export function healthOf(source: SourceStatus, nowMs: number): HealthWord {
  const { consecutive_failures, last_attempt, next_due } = source;
  if (consecutive_failures > 0) return 'failing';
  if (next_due !== null && nowMs - Date.parse(next_due) > LATE_MS) return 'late';
  return last_attempt === null ? 'never asked' : 'healthy';
}
