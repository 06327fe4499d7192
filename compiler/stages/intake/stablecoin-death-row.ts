import { z } from 'zod';
import { figureFault, isNumberText } from './figures.ts';
import { isAfter } from './reading.ts';
import { checkTimes, facts, originFields, refusals, text, wholeNumber } from './row-origin.ts';
import { utcTime } from './times.ts';

/** A price, a supply or what a chain holds is a figure; of collateral and redemption a source may have a word only. */
const figures = facts.superRefine((values, context) => {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string' && isNumberText(value)) {
      context.addIssue({ code: 'custom', path: [name], message: figureFault(value) });
    }
  }
});
const figure = z.union([z.number(), figures], {
  error: ({ input }) => (typeof input === 'string' ? figureFault(input) : undefined),
});
const described = z.union([
  z.number(),
  z
    .string()
    .max(200)
    .refine((text) => !isNumberText(text), { error: ({ input }) => figureFault(input) }),
  figures,
]);

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
    price: figure.nullable(),
    supply: figure.nullable(),
    collateral: described.nullable(),
    redemption: described.nullable(),
    per_chain: figure.nullable(),
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
