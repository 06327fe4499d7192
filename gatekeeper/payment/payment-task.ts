import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { findRow } from '../../compiler/contract/route.ts';
import { facilitatorRequest } from '../facilitator/facilitator.ts';
import type { JournalEntry } from '../journal/journal.ts';
import { type Challenger, listingOf, type Requirements } from '../offer/challenge.ts';
import type { Binding } from './flights.ts';
import type { Network } from './networks.ts';
import type { Order } from './payment.ts';
import { checkPayment, checkSignature, priceOf, type Terms } from './payment-check.ts';
import type { Payment, Refusal, X402Version } from './payment-header.ts';
import type { Delivery } from './payment-reply.ts';
import type { Claim } from './settlement.ts';
import { checksumAddress } from './signature.ts';
import { parseSignedText, signedText } from './signed-text.ts';

/** One payment on its way: everything is decided from these, never from header bytes. */
export interface Task extends Claim, Binding {
  /** Why a payment that the journal does not know is refused; null when nothing speaks against it. */
  readonly refusal: Refusal | null;
  readonly deliver: Order['deliver'];
}

/** Requirements that are kept ready, so that they are written out once for all payments of one request. */
export const TERMS_CACHE_MAX = 4096;

/** Reads payments against the terms of one seller. */
export interface TaskReader {
  /** Checks a payment without asking anybody; never waits. */
  read(payment: Payment, order: Order, nowMs: number): Task | Refusal;
  /** A payment out of the journal, to learn what became of it; null when it is not on our network. */
  recall(entry: JournalEntry): Task | null;
}

export function taskReader(challenger: Challenger): TaskReader {
  const { network } = challenger;
  const termsOf = cachedTerms(challenger);
  return {
    read(payment, order, nowMs) {
      const requirements = termsOf(order.endpoint, order.target, order.version);
      const terms: Terms = { network, requirements };
      const refusal = checkPayment(payment, terms, nowMs / 1000);
      if (refusal !== null && !mayBeKnown(payment, terms)) return refusal;
      const resource = `${order.method} ${order.target}`;
      const { deliver } = order;
      return taskOf({ payment, network, resource, requirements, refusal, deliver });
    },
    recall(entry) {
      const payment = paymentOf(entry, network);
      const target = entry.resource.slice(entry.resource.indexOf(' ') + 1);
      const row = findRow(target.split('?')[0] ?? '')?.row;
      if (payment === null || row === undefined || row.priceUsd === null) return null;
      const requirements = termsOf(row, target, entry.version);
      const { resource } = entry;
      const [refusal, deliver] = [ONLY_KNOWN, nothing];
      return taskOf({ payment, network, resource, requirements, refusal, deliver });
    },
  };
}

type TermsOf = (endpoint: Endpoint, target: string, version: X402Version) => Requirements;

function cachedTerms(challenger: Challenger): TermsOf {
  const known = new Map<string, Requirements>();
  return (endpoint, target, version) => {
    const key = `${version} ${endpoint.path} ${target}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = challenger.requirements(endpoint, target, version);
    if (known.size >= TERMS_CACHE_MAX) known.clear();
    known.set(key, made);
    return made;
  };
}

interface Parts extends Pick<Task, 'payment' | 'resource' | 'refusal' | 'deliver'> {
  readonly network: Network;
  readonly requirements: Requirements;
}

function taskOf({ payment, network, resource, requirements, refusal, deliver }: Parts): Task {
  return {
    key: paymentKey(payment, network),
    payer: payment.authorization.from.toLowerCase(),
    resource,
    signed: signedText(payment),
    payment,
    request: facilitatorRequest(payment, asSigned(requirements, payment), listingOf(requirements)),
    refusal,
    deliver,
  };
}

/** What is settled is delivered again after its window closed and its price changed; only a true signature gets to ask. */
function mayBeKnown(payment: Payment, { network, requirements }: Terms): boolean {
  return payment.network === requirements.network && checkSignature(payment, network) === null;
}

/** What the token itself allows once: never the bytes of the header, which have many spellings. */
export function paymentKey(payment: Payment, network: Network): string {
  const { from, nonce } = payment.authorization;
  return `${network.name}|${network.asset}|${from}|${nonce}`.toLowerCase();
}

/**
 * The terms that an old payment met when it was taken: a price or payee that changed since would make
 * the facilitator refuse what may already have been settled.
 */
function asSigned(requirements: Requirements, { authorization }: Payment): Requirements {
  const { to, value } = authorization;
  const samePayee = to.toLowerCase() === requirements.payTo.toLowerCase();
  const price = priceOf(requirements);
  const enough = value.length > price.length || BigInt(value) >= BigInt(price);
  if (samePayee && enough) return requirements;
  const payTo = samePayee ? requirements.payTo : checksumAddress(to);
  const amount = enough ? price : value;
  return 'amount' in requirements
    ? { ...requirements, payTo, amount }
    : { ...requirements, payTo, maxAmountRequired: amount };
}

function paymentOf({ key, signed, version }: JournalEntry, network: Network): Payment | null {
  const payment: Payment = {
    version,
    scheme: 'exact',
    network: version === 1 ? network.name : network.caip2,
    accepted: null,
    ...parseSignedText(signed),
  };
  return paymentKey(payment, network) === key ? payment : null;
}

const ONLY_KNOWN: Refusal = {
  reason: 'payment_unknown',
  error: 'the payment is not in the journal any more',
};

function nothing(): Promise<Delivery> {
  return Promise.reject(new Error('Cannot deliver what is only recalled: ask for it again'));
}
