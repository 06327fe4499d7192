import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { findRow } from '../../compiler/contract/route.ts';
import type { Header } from '../http/reply.ts';
import type { RequestTrace } from '../http/request-id.ts';
import { checksumAddress } from '../money/address.ts';
import { facilitatorRequest } from '../money/facilitator.ts';
import type { JournalEntry } from '../money/journal.ts';
import type { Network } from '../money/networks.ts';
import {
  isRefusal,
  type Payment,
  parseSignedText,
  type Refusal,
  signedText,
  type X402Version,
} from '../money/payment.ts';
import type { Requirements } from '../money/requirements.ts';
import { priceOf } from '../money/requirements.ts';
import { type Challenger, listingOf } from '../offer/challenge.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { oncePer } from '../system/once-per.ts';
import { checkPayment, checkSignature, type Terms } from './payment-check.ts';
import { decodePayment } from './payment-header.ts';
import { check, look, resume, type SettlementContext, settle } from './settlement.ts';
import type { SignaturePool } from './signature-pool.ts';
import type { PaymentHeaderOf, Tender, TenderReader, TenderSettlement } from './tender.ts';
import { Waiters } from './tender.ts';

/** Requirements that are kept ready, so that they are written out once for all payments of one request. */
export const TERMS_CACHE_MAX = 4096;

export interface PaymentReaderOptions extends SettlementContext {
  readonly challenger: Challenger;
  /** Asks `/verify` before the claim; without it the facilitator checks when it settles. */
  readonly verifyFirst?: boolean;
  /** Recovers signers beside this thread; without it this thread does. */
  readonly signatures?: Pick<SignaturePool, 'judge'>;
}

/** Reads x402 payments against the terms of one seller. */
interface PaymentReader extends TenderReader<'payment'> {
  /** A payment out of the journal, to learn what became of it; null when it is not on our network. */
  recall(entry: JournalEntry): Tender | null;
}

export function paymentReader(options: PaymentReaderOptions): PaymentReader {
  const { challenger, clock, signatures } = options;
  const { network } = challenger;
  const termsOf = cachedTerms(challenger);
  return {
    async read({ endpoint, target, method, paymentHeader, trace }) {
      const payment = paymentIn(paymentHeader);
      if (isRefusal(payment)) return payment;
      await signatures?.judge(payment, network);
      const requirements = termsOf(endpoint, target, paymentHeader.version);
      const terms: Terms = { network, requirements };
      const refusal = checkPayment(payment, terms, clock() / 1000);
      if (refusal !== null && !mayBeKnown(payment, terms)) return refusal;
      const resource = `${method} ${target}`;
      const parts = { payment, resource, requirements, refusal };
      return trace === undefined
        ? tenderOf(parts, options)
        : tenderOf({ ...parts, trace }, reportingFor(trace, options));
    },
    identify(paymentHeader) {
      const payment = paymentIn(paymentHeader);
      if (isRefusal(payment)) return null;
      return { key: paymentKey(payment, network), signed: signedText(payment) };
    },
    recall(entry) {
      const payment = paymentOf(entry, network);
      const target = entry.resource.slice(entry.resource.indexOf(' ') + 1);
      const row = findRow(target.split('?')[0] ?? '')?.row;
      if (payment === null || row === undefined || row.priceUsd === null) return null;
      const requirements = termsOf(row, target, entry.version);
      const { resource } = entry;
      return tenderOf({ payment, resource, requirements, refusal: ONLY_KNOWN }, options);
    },
  };
}

const paymentIn = oncePer(({ text, version }: PaymentHeaderOf<'payment'>) =>
  decodePayment(text, version),
);

type TermsOf = (endpoint: Endpoint, target: string, version: X402Version) => Requirements;

function cachedTerms(challenger: Challenger): TermsOf {
  const known = new BoundedMap<string, Requirements>(TERMS_CACHE_MAX);
  return (endpoint, target, version) => {
    const key = `${version} ${endpoint.path} ${target}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = challenger.requirements(endpoint, target, version);
    known.set(key, made);
    return made;
  };
}

interface TenderParts extends Pick<Tender, 'resource' | 'refusal'> {
  readonly payment: Payment;
  readonly requirements: Requirements;
  readonly trace?: RequestTrace;
}

/** What fails for one request is reported under its name. */
function reportingFor({ id }: RequestTrace, options: PaymentReaderOptions): PaymentReaderOptions {
  return { ...options, report: (error) => options.report(error, id) };
}

function tenderOf(parts: TenderParts, options: PaymentReaderOptions): Tender {
  const { payment, resource, refusal } = parts;
  const waiters = new Waiters(parts.trace?.isAwaited);
  const { network } = options.challenger;
  const { from, value, validBefore } = payment.authorization;
  return {
    key: paymentKey(payment, network),
    payer: from.toLowerCase(),
    resource,
    signed: signedText(payment),
    version: payment.version,
    value,
    validBefore: Number(validBefore),
    refusal,
    waiters,
    settlement: tenderSettlement(parts, { waiters, options }),
    paidHeader: (transaction) => paidHeader(payment, network, transaction),
    paidBy: from,
  };
}

/** The settler gets the terms that the payer signed for. */
function tenderSettlement(
  { payment, requirements, trace }: TenderParts,
  { waiters, options }: { readonly waiters: Waiters; readonly options: PaymentReaderOptions },
): TenderSettlement {
  const { verifyFirst = false } = options;
  const terms = asSigned(requirements, payment);
  const made = facilitatorRequest(payment, terms, listingOf(requirements));
  const request =
    trace === undefined ? made : { ...made, trace: { ...trace, isAwaited: waiters.isWaiting } };
  const validBefore = Number(payment.authorization.validBefore);
  const key = paymentKey(payment, options.challenger.network);
  const due = { key, payment, request, validBefore };
  return {
    check: async () => (verifyFirst ? check(due, options) : null),
    settle: () => settle(due, options),
    resume: () => resume(due, options),
    look: (isKept) => look(due, options, isKept),
  };
}

/** Copies of one payment may spell the payer differently; each receipt spells it as its request did. */
function paidHeader(
  { version, authorization }: Payment,
  network: Network,
  transaction: string,
): Header {
  const v1 = version === 1;
  const name = v1 ? network.name : network.caip2;
  const receipt = { success: true, transaction, network: name, payer: authorization.from };
  const text = Buffer.from(JSON.stringify(receipt), 'utf8').toString('base64');
  return [v1 ? 'x-payment-response' : 'payment-response', text];
}

/** What is settled is delivered again after its window closed and its price changed; only a true signature gets to ask. */
function mayBeKnown(payment: Payment, { network, requirements }: Terms): boolean {
  return payment.network === requirements.network && checkSignature(payment, network) === null;
}

/** What the token itself allows once: never the bytes of the header, which have many spellings. */
function paymentKey(payment: Payment, network: Network): string {
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
  error: 'the payment is no longer in the journal',
};
