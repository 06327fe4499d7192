import { z } from 'zod';
import { member, orNull } from '../../format/members.ts';
import { isObject, type JsonObject, type JsonValue } from '../../format/strict-json.ts';
import { bandOfRecord } from './bundle.ts';
import { NO_VALUE } from './reading-text.ts';
import type { SignalRecord } from './record.ts';

// The fact of a record, for a model that pays for each word it reads. Nobody signs it: it follows from the signed body that
// was sold, so whoever holds that makes it again, and the payment that bought it gets the body free.

/** Where the signed body is. */
const WHOLE = 'signed, free with the same payment: leave out format=fact';

export const factSchema = z.strictObject({
  subject: z.string().meta({
    description: 'what is measured, and where',
    examples: ['US air quality index at Denver, CO'],
  }),
  value: z
    .union([z.number(), z.string()])
    .nullable()
    .describe('the main metric; null where the source has none'),
  unit: z.string().nullable().describe('unit of the value; null for a count, an index or a word'),
  class: orNull(member.band),
  observed_at: member.observed_at,
  age_hours: member.age_hours_now,
  freshness: member.freshness,
  source: z.string().nullable().describe('who measured; null where unknown'),
  record_hash: member.record_hash,
  price_usd: member.price_usd,
  whole: z.literal(WHOLE).describe('how to get the signed body'),
});
export type Fact = z.infer<typeof factSchema>;

/** The fact of a record as it was delivered, at the price of its request; null for a body that is no such record. */
export function factOf(whole: JsonValue, priceUsd: string): Fact | null {
  if (!isObject(whole) || !isObject(whole._citation) || !isObject(whole.provenance)) return null;
  const { claim, fact } = whole._citation;
  const { age_hours_now, freshness, data_lineage } = whole.provenance;
  const { observed_at, record_hash } = whole;
  const reading = readingIn(whole, fact);
  const [lineage = null] = Array.isArray(data_lineage) ? data_lineage : [];
  const made = {
    subject: claim,
    ...reading,
    class: bandOfRecord(whole as unknown as SignalRecord),
    observed_at,
    age_hours: age_hours_now,
    freshness,
    source: isObject(lineage) ? lineage.traceable_to : null,
    record_hash,
    price_usd: priceUsd,
    whole: WHOLE,
  };
  return factSchema.safeParse(made).data ?? null;
}

/**
 * The main metric and its unit. The order of metrics is not signed: the citation says which one it is, in words such as
 * `hydrology.river-level of 07010000 read 13.6 ft at 2026-11-20T10:45:00Z`.
 */
function readingIn({ signal_id, entity, observed_at, current }: JsonObject, fact: unknown) {
  const [start, end] = [`${signal_id} of ${entity} read `, ` at ${observed_at}`];
  if (typeof fact !== 'string' || !fact.startsWith(start) || !fact.endsWith(end)) return {};
  const text = fact.slice(start.length, -end.length);
  const fitting = Object.values(isObject(current) ? current : {}).filter(
    (value) => value !== null && (text === String(value) || text.startsWith(`${value} `)),
  );
  const [value = null] = fitting.sort((a, b) => String(b).length - String(a).length);
  if (value === null && text !== NO_VALUE) return {};
  const unit = value === null ? '' : text.slice(String(value).length + 1);
  return { value, unit: unit === '' ? null : unit };
}
