import { createPublicKey, verify } from 'node:crypto';
import { ed25519Spki, parseDidKey } from '../../../compiler/format/did-key.ts';
import { priceOf } from '../../../compiler/products/shapes/price.ts';
import { parseReceipt, receiptAmount } from '../../../compiler/products/shapes/receipt.ts';
import type { Refusal } from '../../settle/payment.ts';
import type { ReceiptHeader } from '../../wire/header-facts.ts';
import type { Header } from '../../wire/reply.ts';
import {
  readOnce,
  type SettlementResult,
  type Tender,
  type TenderBinding,
  type TenderReader,
  Waiters,
} from './tender.ts';

const KEY = 'receipt|';

export function isReceiptKey(key: string): boolean {
  return key.startsWith(KEY);
}

/** Reads receipts of the operator's processor: the money moved there before, so each settles at once. */
export function receiptReader(by: {
  processor: string | null;
  clock: () => number;
}): TenderReader<ReceiptHeader> {
  const { processor, clock } = by;
  const receiptIn = readOnce(({ text }: ReceiptHeader) => parseReceipt(text));
  const der = processor === null ? null : Buffer.from(ed25519Spki(parseDidKey(processor)));
  const processorKey =
    der === null ? null : createPublicKey({ key: der, format: 'der', type: 'spki' });
  return {
    async read({ endpoint, method, target, trace }, header) {
      if (processorKey === null) return NO_PROCESSOR;
      const parsed = receiptIn(header);
      if (parsed === null || !verify(null, parsed.signed, processorKey, parsed.signature))
        return refusalFor('invalid_receipt');
      const { id, resource, amount: value, expires: validBefore } = parsed.receipt;
      if (resource !== `${method} ${target}`) return refusalFor('other_request');
      const isShort = BigInt(value) < BigInt(receiptAmount(priceOf(endpoint)));
      const isLate = clock() >= validBefore * 1000;
      return tenderOf({
        ...{ key: KEY + id, resource, signed: header.text, value, validBefore },
        refusal: isLate
          ? refusalFor('receipt_expired')
          : isShort
            ? refusalFor('amount_too_low')
            : null,
        waiters: new Waiters(trace?.isAwaited),
      });
    },
    identify(header) {
      const receipt = receiptIn(header)?.receipt;
      if (receipt === undefined) return null;
      const key = KEY + receipt.id;
      return { keys: [key], signed: header.text, shownFor: () => null, ...paidTo(key) };
    },
    recall({ key, resource, signed, value, validBefore }) {
      const waiters = new Waiters(() => false);
      return tenderOf({ key, resource, signed, value, validBefore, refusal: null, waiters });
    },
  };
}

function tenderOf(
  terms: Omit<TenderBinding, 'payer'> &
    Pick<Tender, 'value' | 'validBefore' | 'refusal' | 'waiters'>,
): Tender {
  const { key } = terms;
  const settled = async (): Promise<SettlementResult> => ({ kind: 'settled', transaction: key });
  return {
    ...terms,
    version: 1,
    // A receipt names nobody, so all of them share the room of one payer.
    payer: KEY,
    identifier: null,
    shown: null,
    // Nobody is asked: the processor had taken the money before the receipt existed.
    settlement: {
      head: async () => 'none',
      check: async () => null,
      drop: () => {},
      settle: settled,
      resume: settled,
      look: settled,
      watch: async () => ({ state: 'final' }),
    },
    ...paidTo(key),
  };
}

function paidTo(key: string): Pick<Tender, 'paidHeader' | 'paidBy'> {
  const words = JSON.stringify({ success: true, receipt: key.slice(KEY.length) });
  const header: Header = ['x-receipt-response', Buffer.from(words).toString('base64')];
  return { paidHeader: () => header, paidBy: null };
}

const REASONS = {
  invalid_receipt:
    "not a receipt from this service's payment processor; ask the processor for a new one",
  other_request:
    'the receipt is for another request: method, path and sorted query must be the same',
  receipt_expired: 'the receipt expired before it was used; ask the processor for a new one',
  amount_too_low:
    "the receipt is for less than the price plus this channel's fee; ask the processor for the full amount",
} as const;

function refusalFor(reason: keyof typeof REASONS): Refusal {
  return { reason, error: REASONS[reason] };
}

const NO_PROCESSOR: Refusal = {
  reason: 'invalid_receipt',
  error: 'this service does not accept receipts; pay with X-PAYMENT',
};
