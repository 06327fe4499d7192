import { z } from 'zod';
import { isAfter } from './reading.ts';
import { checkTimes, facts, originFields, refusals, text, wholeNumber } from './row-origin.ts';
import { utcTime } from './times.ts';

const measured = z.union([z.number(), z.string().max(200), facts]).nullable();

const rowSchema = z.strictObject({
  ...originFields,
  symbol: text,
  name: text,
  /** An algorithmic label, not an adjudication. */
  death_type: text,
  confirmed_dead_at: utcTime,
  pre_death_observed_at: utcTime,
  first_distress_at: utcTime.nullable(),
  lifespan_days: wholeNumber.optional(),
  pre_death_payload: z.strictObject({
    price: measured,
    supply: measured,
    collateral: measured,
    redemption: measured,
    per_chain: measured,
  }),
  death_context: facts.nullable(),
  imported: z.boolean().optional(),
  source_note: text.optional(),
});
export type StablecoinDeathRow = z.infer<typeof rowSchema>;

/** One stablecoin that died. */
export const stablecoinDeathRowSchema = rowSchema.superRefine((row, context) => {
  const refuse = refusals(context);
  checkTimes(row, refuse);
  const { confirmed_dead_at: dead } = row;
  if (isAfter(dead, row.collected_at)) {
    refuse('confirmed_dead_at', `"${dead}" is after collected_at; a death is never in the future`);
  }
  for (const name of ['pre_death_observed_at', 'first_distress_at'] as const) {
    const before = row[name];
    if (before !== null && isAfter(before, dead)) refuse(name, `"${before}" is after the death`);
  }
});
