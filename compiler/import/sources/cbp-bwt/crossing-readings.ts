import { isoTime } from '../../../contract/iso-time.ts';
import { measuredBy, nameOf } from '../../measured.ts';
import type { ReadingList } from '../../reading-list.ts';
import { CBP, CBP_PAGE } from './cbp-words.ts';
import type { Crossing, Traffic } from './crossings.ts';
import { type Lane, type Lanes, lanesOf, portSchema } from './port-lanes.ts';

export const LANE_WAIT = 'border-wait.lane-wait';
export const COMMERCIAL_DELAY = 'border-wait.commercial-delay';

interface Found {
  readonly crossing: Crossing;
  readonly port: unknown;
  readonly fetched_at: string;
}

/** Adds the readings of one crossing, or why there are none. */
export function addCrossing(list: ReadingList, { crossing, port: value, fetched_at }: Found): void {
  const { entity, traffic } = crossing;
  const parsed = portSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    list.skips.add(entity, `${issue?.path.join('.')} cannot be read`);
    return;
  }
  try {
    const lanes = lanesOf(parsed.data, fetched_at);
    const { [traffic]: followed, commercial } = lanes;
    const facts = { entity, fetched_at, newest: newestOf([followed, commercial, lanes.passenger]) };
    if (followed.standard === null) throw new RangeError(`no ${traffic} lanes`);
    list.add(LANE_WAIT, readingOf(followed, { ...facts, metric: 'wait_standard_min', traffic }));
    if (commercial.standard === null) return;
    const freight = { metric: 'wait_commercial_min', traffic: 'commercial' } as const;
    list.add(COMMERCIAL_DELAY, readingOf(commercial, { ...facts, ...freight }));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    list.skips.add(entity, `${cause.message}; nothing of the crossing is used`);
  }
}

/** Newest time of the first traffic that names one. */
function newestOf(traffics: readonly Lanes[]): number | null {
  for (const lanes of traffics) {
    const times = lanesIn(lanes).flatMap(([, { updated }]) => (updated === null ? [] : [updated]));
    if (times.length > 0) return Math.max(...times);
  }
  return null;
}

function lanesIn({ standard, others }: Lanes): (readonly [string, Lane])[] {
  const all: Lanes['others'] = [['standard', standard], ...others];
  return all.flatMap(([name, lane]) => (lane === null ? [] : [[name, lane] as const]));
}

interface Facts {
  readonly entity: string;
  readonly fetched_at: string;
  /** Where the lanes themselves name no time, that of the port's other lanes stands for it. */
  readonly newest: number | null;
  readonly metric: string;
  readonly traffic: Traffic;
}

function readingOf(lanes: Lanes, { entity, fetched_at, metric, traffic, newest }: Facts) {
  const { standard, others, max } = lanes;
  const time = newestOf([lanes]) ?? newest;
  if (time === null) throw new RangeError('no lane names a time');
  const observed_at = isoTime(time);
  const waits = others.flatMap(([name, lane]) =>
    lane === null ? [] : [[`wait_${name}_min`, lane.wait] as const],
  );
  const borrowed = newestOf([lanes]) === null ? ['time of other lanes of the port'] : [];
  const older = lanesIn(lanes).flatMap(([name, { updated }]) =>
    updated === null || updated === time ? [] : [`${name} lanes updated ${isoTime(updated)}`],
  );
  const qualifiers = [...borrowed, ...older];
  const wait = standard?.wait ?? null;
  return {
    entity,
    ...nameOf('border-wait', entity),
    observed_at,
    collected_at: fetched_at,
    current: {
      [metric]: wait,
      lanes_open_count: standard?.open ?? null,
      ...(max === null ? {} : { lanes_max_count: max }),
      ...Object.fromEntries(waits),
      status: standard?.status ?? null,
    },
    sources: measuredBy(CBP, wait, observed_at),
    source_ref: CBP_PAGE,
    source_tier: 'T1',
    scope: `${traffic} lanes; open lanes and status are those of the standard lanes; closed lanes and a pending update have no wait`,
    validation_status: 'as published by CBP',
    uncertainty: 'waits are estimated by officers or by sensors and rounded',
    ...(qualifiers.length === 0 ? {} : { qualifiers }),
  };
}
