import { DAY_MS, HOUR_MS, isoTime } from '../../contract/iso-time.ts';
import type { InputFault } from './compile-error.ts';
import type { Snapshots } from './list-snapshots.ts';
import { isAfter } from './reading.ts';

/** Clocks differ: a time may be this much later than the time of the compile. */
export const CLOCK_ALLOWANCE_MS = 300_000;
/** A batch is named when its fetch begins; the fetch may continue this long after the day or hour. */
const FETCH_MS_MAX = HOUR_MS;
/** What an hour says otherwise than its own batch waits for the next hour's, so that it is a revision there. */
const WAIT_MS_MAX = HOUR_MS;

/** What is wrong with a time of collection, and whether a line with it may be left out. */
interface TimeFault {
  readonly message: string;
  /** Null for a line that may be left out. */
  readonly stops: string | null;
}
export type JudgeTime = (collectedAt: string) => TimeFault | null;

const TAKEN_LATER =
  'a line from the future is never left out, because a later compile would accept it';

/**
 * Judges times of collection in a batch, for a compile that speaks about an instant. A line from the future would be the
 * latest one for as long as its time has not come; one of another day would be revised by, or revise, the wrong batch.
 */
export function batchTimes(asOf: string, batch: string): JudgeTime {
  const { start, end, isHour } = spanOf(batch);
  const now = isoTime(Date.parse(asOf) + CLOCK_ALLOWANCE_MS);
  const first = isoTime(start - (isHour ? WAIT_MS_MAX : CLOCK_ALLOWANCE_MS));
  const last = isoTime(end + FETCH_MS_MAX);
  return (collectedAt) => {
    if (isAfter(collectedAt, now)) {
      const message = `"${collectedAt}" is later than this compile, as of ${asOf}; correct it, the clock or --as-of`;
      return { message, stops: TAKEN_LATER };
    }
    if (!isAfter(first, collectedAt) && !isAfter(collectedAt, last)) return null;
    const kind = isHour ? 'hour' : 'day';
    const message = `"${collectedAt}" is outside the ${kind} of its batch "${batch}"; correct it, or store the line in the batch of its ${kind}`;
    return { message, stops: null };
  };
}

/** A fault for each batch that is named after a time in the future of this compile. */
export function futureBatches({ batches }: Pick<Snapshots, 'batches'>, asOf: string): InputFault[] {
  const limit = Date.parse(asOf) + CLOCK_ALLOWANCE_MS;
  return batches
    .filter(({ batch, files }) => files?.length !== 0 && spanOf(batch).start > limit)
    .map(({ batch: file }) => ({
      code: 'bad_name',
      file,
      message: `the batch is in the future: this compile is as of ${asOf}; name the folder after the time of its fetch, or correct the clock or --as-of`,
    }));
}

/** When the day or hour of a batch begins and ends. */
function spanOf(batch: string) {
  const isHour = batch.includes('T');
  const start = Date.parse(isHour ? batch.replace(/Z$/, ':00:00Z') : `${batch}T00:00:00Z`);
  return { start, end: start + (isHour ? HOUR_MS : DAY_MS), isHour };
}
