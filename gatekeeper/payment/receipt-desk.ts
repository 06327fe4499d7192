import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { parseDidKey } from '../../compiler/contract/did-key.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import {
  type ParsedReceipt,
  parseReceipt,
  receiptAmount,
} from '../../compiler/contract/receipt.ts';
import type { Journal } from '../journal/journal.ts';
import { type Challenger, challengeReply } from '../offer/challenge.ts';
import { PRIVATE_NO_STORE, type Reply } from '../reply.ts';
import { type Delivery, failedReply, type UnpaidReply, undeliveredReply } from './payment-reply.ts';

/** A request that came with a receipt of the operator's payment processor. */
export interface ReceiptOrder {
  readonly endpoint: Endpoint;
  readonly target: string;
  readonly method: string;
  readonly header: string;
  /** Makes the complete 200 body; a throw spends nothing. */
  readonly deliver: () => Promise<Delivery>;
}

/** Takes receipts in place of payments; one journal belongs to one desk. */
export interface ReceiptDesk {
  redeem(order: ReceiptOrder): Promise<UnpaidReply>;
  /** The request that exactly this receipt was spent on, or is being spent on; else null. Never waits or throws. */
  boughtBy(header: string): string | null;
}

const KEY = 'receipt|';

/** Whether a key of the journal is that of a receipt. */
export function isReceiptKey(key: string): boolean {
  return key.startsWith(KEY);
}

/** What a crash left open was paid all the same: the processor had taken the money before the receipt existed. */
export async function concludeReceipt(key: string, journal: Journal): Promise<boolean> {
  await journal.conclude({ key, state: 'settled', transaction: key });
  return true;
}

export interface ReceiptDeskOptions {
  /** `did:key` of the processor. */
  readonly processor: string;
  readonly journal: Journal;
  readonly challenger: Challenger;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly report: (error: unknown) => void;
}

const SPKI_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

interface Flight {
  readonly text: string;
  readonly outcome: Promise<Outcome>;
}

type Outcome =
  | { readonly kind: 'paid'; readonly delivery: Delivery }
  | { readonly kind: 'refused'; readonly reason: string }
  /** There was no answer to sell; each request that shares this says why for itself. */
  | { readonly kind: 'undelivered' }
  | { readonly kind: 'failed'; readonly error: string };

interface Desk extends ReceiptDeskOptions {
  readonly key: KeyObject;
}

/**
 * The money has moved at the processor before a receipt exists, so a receipt is a payment that settles at once: it is
 * claimed in the journal with the bytes that it buys, and the same receipt for the same request gets them again.
 */
export function receiptDesk(options: ReceiptDeskOptions): ReceiptDesk {
  const raw = Buffer.from(parseDidKey(options.processor));
  const der = Buffer.concat([SPKI_ED25519, raw]);
  const desk: Desk = {
    ...options,
    key: createPublicKey({ key: der, format: 'der', type: 'spki' }),
  };
  const flights = new Map<string, Flight>();
  return {
    async redeem(order) {
      const parsed = parseReceipt(order.header);
      const isSigned = parsed !== null && verify(null, parsed.signed, desk.key, parsed.signature);
      if (parsed === null || !isSigned) return refusal(order, 'invalid_receipt', desk);
      // No await before this line: the id is bound before any other request can run.
      const outcome = await board(flights, { order, parsed }, desk);
      return replyOf(outcome, { order, id: parsed.receipt.id }, desk);
    },
    boughtBy(header) {
      const receipt = parseReceipt(header)?.receipt;
      if (receipt === undefined) return null;
      const spent = flights.get(receipt.id)?.text ?? spentText(receipt.id, desk);
      return spent === header ? receipt.resource : null;
    },
  };
}

/** The receipt that an id was spent with; null also where the journal cannot be read. */
function spentText(id: string, { journal, report }: Desk): string | null {
  try {
    return journal.bindingOf(KEY + id)?.signed ?? null;
  } catch (error) {
    report(error);
    return null;
  }
}

interface Task {
  readonly order: ReceiptOrder;
  readonly parsed: ParsedReceipt;
}

/** Copies of a receipt on its way share its outcome; it is bound to one request, so they are the same request. */
function board(flights: Map<string, Flight>, task: Task, desk: Desk): Promise<Outcome> {
  const { receipt } = task.parsed;
  if (receipt.resource !== resourceOf(task.order)) return Promise.resolve(refused('other_request'));
  const flight = flights.get(receipt.id);
  if (flight !== undefined) {
    const isSame = flight.text === task.order.header;
    return isSame ? flight.outcome : Promise.resolve(refused('receipt_already_used'));
  }
  const outcome = carry(task, desk)
    .catch((error: unknown): Outcome => {
      desk.report(error);
      return { kind: 'failed', error: 'The receipt could not be recorded. Send it again.' };
    })
    .finally(() => flights.delete(receipt.id));
  flights.set(receipt.id, { text: task.order.header, outcome });
  return outcome;
}

async function carry({ order, parsed }: Task, desk: Desk): Promise<Outcome> {
  const { journal, clock } = desk;
  const { receipt } = parsed;
  const key = KEY + receipt.id;
  // Also what a process beside this one took: before anything is refused.
  const known = (await journal.find(key)) ?? (await journal.findOnDisk(key));
  if (known !== null) {
    if (known.signed !== order.header || known.body === null)
      return refused('receipt_already_used');
    if (known.state !== 'settled') await concludeReceipt(key, journal);
    return { kind: 'paid', delivery: { body: known.body, contentType: known.contentType } };
  }
  if (clock() >= receipt.expires * 1000) return refused('receipt_expired');
  const price = receiptAmount(order.endpoint.priceUsd ?? '0');
  if (BigInt(receipt.amount) < BigInt(price)) return refused('amount_too_low');
  const delivery = await delivered(order, desk);
  if (delivery === null) return { kind: 'undelivered' };
  const { body, contentType } = delivery;
  const bought = { key, resource: receipt.resource, signed: order.header, body, contentType };
  const terms = { version: 1, value: receipt.amount, validBefore: receipt.expires } as const;
  if (!(await journal.claim({ ...bought, ...terms }))) {
    return { kind: 'failed', error: 'The receipt is being spent. Send it again.' };
  }
  await concludeReceipt(key, journal);
  return { kind: 'paid', delivery };
}

async function delivered({ deliver }: ReceiptOrder, { report }: Desk): Promise<Delivery | null> {
  try {
    return await deliver();
  } catch (error) {
    report(error);
    return null;
  }
}

function resourceOf({ method, target }: ReceiptOrder): string {
  return `${method} ${target}`;
}

function refused(reason: string): Outcome {
  return { kind: 'refused', reason };
}

const REASONS: Readonly<Record<string, string>> = {
  invalid_receipt: 'not a receipt of the payment processor of this service',
  other_request:
    'the receipt is for another request: method, path and sorted query must be the same',
  receipt_already_used: 'the receipt was spent',
  receipt_expired: 'the receipt has expired unspent; ask the processor for a new one',
  amount_too_low: 'the receipt is for less than the price with the fee of this channel',
};

function refusal(order: ReceiptOrder, reason: string, { challenger }: Desk): Reply {
  const error = `${reason}: ${REASONS[reason] ?? reason}`;
  return challengeReply(challenger.challenge(order.endpoint, order.target, error));
}

function replyOf(
  outcome: Outcome,
  { order, id }: { order: ReceiptOrder; id: string },
  desk: Desk,
): UnpaidReply {
  switch (outcome.kind) {
    case 'refused':
      return refusal(order, outcome.reason, desk);
    case 'undelivered':
      return undeliveredReply();
    case 'failed':
      return failedReply(outcome.error);
    case 'paid': {
      const { body, contentType } = outcome.delivery;
      const words = Buffer.from(JSON.stringify({ success: true, receipt: id })).toString('base64');
      const headers = [
        ['content-type', contentType],
        PRIVATE_NO_STORE,
        ['x-receipt-response', words],
      ] as const;
      return { status: 200, headers, body };
    }
  }
}
