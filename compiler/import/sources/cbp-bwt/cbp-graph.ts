import { z } from 'zod';
import { HOUR_MS } from '../../../contract/iso-time.ts';
import { usInstant } from '../../local-time.ts';
import { ImportError, type Imported, type Payload, shaped } from '../../payload.ts';
import { measuredBy, nameOf, observedAt, ReadingList } from '../../readings.ts';
import { CBP, CBP_PAGE, type Crossing, crossingAt, zoneOf } from './crossings.ts';

export const UPSTREAM_PRESSURE = 'border-wait.upstream-pressure';
const wait = z.string().regex(/^\d{0,3}$/);
const slotSchema = z.looseObject({
  time: z.string().regex(/^\d{1,2}$/),
  standard_lane_today_wait: wait,
  standard_lane_average_wait: wait,
});
const hours = z
  .array(slotSchema)
  .length(24)
  .refine((slots) => slots.every(({ time }, hour) => Number(time) === hour), 'hours out of order');
const graphSchema = z.tuple([
  z.looseObject({
    port_number: z.string().regex(/^\d{6}$/),
    date: z.iso.date(),
    commercial_time_slots: z.looseObject({ commercial_slot: hours }),
    private_time_slots: z.looseObject({ private_slot: hours }),
  }),
]);
const ADDRESS = /\/bwtwaittimegraph\/\d{2}(\d{6})\/(\d{4}-\d{2}-\d{2})$/;
const SCOPE =
  'wait in standard lanes against the average that the agency publishes for the same crossing and hour; an hour with a wait of 0 is left out, since closed lanes are drawn as 0 too';

/** Today's waits of one crossing by the hour, each against the agency's own average of that hour. */
export function readGraph(value: unknown, payload: Payload): Imported {
  const { subject, note } = payload;
  const is = 'a graph of waiting times';
  const [graph] = shaped(graphSchema, value, { subject, is });
  const [, port = graph.port_number, date = graph.date] = ADDRESS.exec(note.url) ?? [];
  if (port !== graph.port_number || date !== graph.date) {
    const state = `it is about port ${graph.port_number} on ${graph.date}, which its address does not ask for; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  const crossing = crossingAt(port);
  const list = new ReadingList();
  if (crossing === undefined) {
    list.skips.add(port, 'not a crossing of this line');
    return list.imported();
  }
  const slots =
    crossing.traffic === 'commercial'
      ? graph.commercial_time_slots.commercial_slot
      : graph.private_time_slots.private_slot;
  for (const [hour, slot] of slots.entries()) {
    const today = slot.standard_lane_today_wait;
    const average = Number(slot.standard_lane_average_wait);
    if (today === '') continue;
    const time = usInstant(Date.parse(date) + hour * HOUR_MS, zoneOf(crossing));
    const observed_at = observedAt(time, payload);
    if (Number(today) === 0 || average === 0) {
      list.skips.add(crossing.entity, 'an hour with a wait or an average of 0');
    } else {
      const waits = { today: Number(today), average, observed_at };
      list.add(UPSTREAM_PRESSURE, readingOf(crossing, waits, note.fetched_at));
    }
  }
  // Before the first wait of a day a graph says nothing yet.
  return list.imported();
}

interface Waits {
  readonly today: number;
  readonly average: number;
  readonly observed_at: string;
}

function readingOf(
  { entity, traffic }: Crossing,
  { today, average, observed_at }: Waits,
  collected_at: string,
) {
  const wait_vs_average_pct = Math.round((today * 100) / average);
  return {
    entity,
    ...nameOf('border-wait', entity),
    observed_at,
    collected_at,
    current: { wait_vs_average_pct, wait_today_min: today, wait_average_min: average },
    sources: measuredBy(CBP, wait_vs_average_pct, observed_at),
    source_ref: CBP_PAGE,
    source_tier: 'T1',
    scope: `${traffic} lanes; ${SCOPE}`,
    validation_status: 'as published by CBP',
    uncertainty:
      'waits are estimated by officers or by sensors, and the share is rounded to whole percent',
  };
}
