import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { PendingPayment } from '../client/client-error.ts';
import { parseJson } from '../contract/strict-json.ts';
import { syncFolder } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';

const PAYMENT_BYTES_MAX = 65_536;

const kept = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  header: z.enum(['x-payment', 'payment-signature']),
  value: z.string().regex(/^[A-Za-z0-9+/]+=*$/),
  identifier: z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,128}$/)
    .exactOptional(),
});

/** The payment that a file keeps; null where there is no file yet. Throws for a file that holds none. */
export function readPayment(file: string): PendingPayment | null {
  if (!existsSync(file)) return null;
  try {
    return kept.parse(parseJson(readPlain(file, PAYMENT_BYTES_MAX).toString()));
  } catch (cause) {
    throw new RangeError(
      `Cannot read "${file}" of --payment: it holds no payment, so none of it was sent; name another file`,
      { cause },
    );
  }
}

/** Keeps a payment before it is sent, so that a power cut cannot lose it. No other payment is ever overwritten. */
export function keepPayment(file: string, payment: PendingPayment): void {
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(handle, `${JSON.stringify(payment, null, 2)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  syncFolder(dirname(file));
}

/** Throws where a kept payment is for something else than the address that is to be bought. */
export function requireSameRequest(payment: PendingPayment, url: string, file: string): void {
  if (spelled(payment.url) === spelled(url)) return;
  throw new RangeError(
    `Cannot send the payment of "${file}" for "${url}": it is for "${payment.url}"; name another file`,
  );
}

/** One spelling of an address, whatever the order of its parameters. */
function spelled(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  searchParams.sort();
  return `${origin}${pathname}?${searchParams}`;
}
