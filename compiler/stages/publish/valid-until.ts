import type { Catalog } from '../../contract/catalog/catalog.ts';
import type { Cadence } from '../../contract/freshness.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../contract/iso-time.ts';

/** Says that the time until which a release is valid follows from what changed. */
export const BY_CADENCE = 'by-cadence';

const WEEK_MS = 7 * DAY_MS;
/** Between two readings; what is rarer than once a week counts as weekly. */
const CADENCE_MS: Partial<Record<Cadence, number>> = { hourly: HOUR_MS, daily: DAY_MS };

interface Publication {
  readonly catalog: Catalog;
  /** ISO-8601 UTC. */
  readonly asOf: string;
  /** Signals of the release, and those with new readings; all of them count where none has any. */
  readonly signals: readonly string[];
  readonly changed: readonly string[];
}

/** Twice the longest cadence of what changed, at most a week from now: whoever gets no newer release by then sees a freeze. */
export function validUntilByCadence({ catalog, asOf, signals, changed }: Publication): string {
  const known = changed.filter((id) => signals.includes(id));
  const counted = known.length > 0 ? known : signals;
  const cadences = counted.map((id) => {
    const cadence = catalog.entryById.get(id)?.signal.cadence;
    return (cadence === undefined ? undefined : CADENCE_MS[cadence]) ?? WEEK_MS;
  });
  const longest = cadences.length === 0 ? WEEK_MS : Math.max(...cadences);
  return isoTime(Date.parse(asOf) + Math.min(2 * longest, WEEK_MS));
}
