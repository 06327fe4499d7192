import { hash } from 'node:crypto';
import { z } from 'zod';

/** Name of the x402 extension by which a payer names a purchase; version 1 has a header of this name. */
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

/** The name that a request gives its payment, in its version or in the header; '' for one that is malformed, or two that differ. */
export function namedBy(
  inPayment: string | undefined,
  inHeader: string | undefined,
): string | undefined {
  if (inHeader === undefined) return inPayment;
  const isOne = inPayment === undefined || inPayment === inHeader;
  return isOne && ID.test(inHeader) ? inHeader : '';
}

/** What is kept of a name: whoever reads the journal cannot show it. */
export function identifierHash(payer: string, id: string): string {
  return hashedIdentifier(`${payer.toLowerCase()}|${id}`);
}

/** The same of `payer|id`. */
export function hashedIdentifier(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
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
