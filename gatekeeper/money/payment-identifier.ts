import { z } from 'zod';

/** Name of the x402 extension by which a payer names a purchase. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';

const ID = /^[A-Za-z0-9_-]{16,128}$/;
const idSchema = z.object({
  info: z.object({ required: z.boolean(), id: z.string().regex(ID).optional() }),
});
const echoed = z.object({ extensions: z.object({ [PAYMENT_IDENTIFIER]: z.unknown() }) });

/** The name that a payment of version 2 carries: absent without one, '' for one that is malformed. */
export function paymentIdentifier(payment: unknown): string | undefined {
  const extension = echoed.safeParse(payment).data?.extensions[PAYMENT_IDENTIFIER];
  if (extension === undefined) return undefined;
  const parsed = idSchema.safeParse(extension);
  return parsed.success ? parsed.data.info.id : '';
}

/** How a challenge says that names are taken. */
export const IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
} as const;
