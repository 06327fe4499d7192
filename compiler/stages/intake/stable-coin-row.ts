import { z } from 'zod';
import { captureFields, checkTimes, facts, refusals, rowId, text } from './row-origin.ts';

const price = z.number().min(0).nullable();

const rowSchema = z.strictObject({
  ...captureFields,
  coin_id: rowId,
  symbol: z
    .string()
    .max(40)
    .regex(/^[A-Z0-9][A-Z0-9._+-]*$/, 'a symbol is upper case, without spaces'),
  name: text.nullable().optional(),
  current: facts,
});
export type StableCoinRow = z.infer<typeof rowSchema>;

/** What the roster reads out of `current`; other members are served as they are. */
const readSchema = z.looseObject({
  /** Price in units of the currency it is pegged to: 1 is on peg, whatever the currency is. */
  price_in_peg: price,
  market_cap_usd: price,
  peg: z.string().nullable(),
  lifespan_days: z.int().min(0).optional(),
});

/** One stablecoin on one capture day. */
export const stableCoinRowSchema = rowSchema.superRefine((row, context) => {
  checkTimes(row, refusals(context));
  for (const { path, message } of readSchema.safeParse(row.current).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: ['current', ...path], message });
  }
});

/** The figures that membership, flags and rank rest on; of a row that intake has accepted. */
export function coinFigures({ current }: StableCoinRow): z.infer<typeof readSchema> {
  return readSchema.parse(current);
}
