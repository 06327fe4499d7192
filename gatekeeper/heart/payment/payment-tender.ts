import { createHmac } from 'node:crypto';
import { clientKey } from '../../../compiler/format/addresses.ts';
import { defined } from '../../../compiler/format/errors.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { checksumAddress } from '../../settle/address.ts';
import { identifierHash, namedBy } from '../../settle/extensions.ts';
import { facilitatorRequest } from '../../settle/facilitator.ts';
import type { Journal, JournalEntry } from '../../settle/journal.ts';
import { type Network, usdWorth } from '../../settle/networks.ts';
import {
  isRefusal,
  type Listing,
  type Payment,
  parseSignedText,
  priceOf,
  type Refusal,
  type Requirements,
  signedText,
  type X402Version,
} from '../../settle/payment.ts';
import type { X402Header } from '../../wire/header-facts.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { RequestTrace } from '../../wire/request.ts';
import type { Challenger } from '../offer/challenge.ts';
import {
  candidatesOf,
  checkPayment,
  checkSigner,
  isSignedByKey,
  judgedToken,
  type Terms,
  unofferedTokens,
} from './payment-check.ts';
import { decodePayment } from './payment-header.ts';
import { PaymentSettlement, type SettlementContext } from './settlement.ts';
import type { SignaturePool } from './signature-pool.ts';
import {
  type BuyerProof,
  formerEndpoint,
  readOnce,
  soldEndpoint,
  type Tender,
  type TenderReader,
  targetOfResource,
  Waiters,
} from './tender.ts';

/** Requirements that are kept ready, so that they are written out once for all payments of one request. */
const TERMS_CACHE_MAX = 4096;

export interface PaymentReaderOptions extends SettlementContext {
  readonly journal: Pick<Journal, 'tokens' | 'takeTransaction' | 'secret'>;
  readonly challenger: Challenger;
  /** Recovers signers beside this thread; without it this thread does. */
  readonly signatures?: Pick<SignaturePool, 'judge'>;
}

/** What a payment says that it moves: atomic units of one of the tokens that are offered. */
export interface SignedTransfer {
  readonly value: string;
  readonly token: Network;
}

interface PaymentReader extends TenderReader<X402Header> {
  /** What a payment moves, before anything else of it is checked; or why it cannot be read. Never throws. */
  transferOf(header: X402Header): Promise<SignedTransfer | Refusal>;
}

export function paymentReader(options: PaymentReaderOptions): PaymentReader {
  const { challenger, journal, clock, signatures, accounts } = options;
  const { networks } = challenger;
  const termsOf = cachedTerms(challenger);
  const paymentIn = readOnce(({ text, version }: X402Header) => decodePayment(text, version));
  const offered = (
    { endpoint, target }: { endpoint: Endpoint; target: string },
    version: X402Version,
    network: Network,
  ): ListedTerms => {
    const { accepts, listing } = termsOf(endpoint, target, version);
    const requirements = defined(accepts[networks.indexOf(network)], 'the terms of the token');
    return { network, requirements, listing, asksAccounts: accounts !== undefined };
  };
  return {
    async read({ endpoint, target, method, trace, isSignedIn = false }, header) {
      const payment = paymentIn(header);
      if (isRefusal(payment)) return payment;
      const network = await judgedToken(payment, networks, signatures);
      const terms = offered({ endpoint, target }, payment.version, network);
      const named = namedBy(payment.identifier, header.identifier);
      const refusal =
        checkPayment(payment, terms, clock() / 1000) ?? (named === '' ? MISNAMED : null);
      // What is settled is delivered again after its window closed and its price changed; only a true signature gets to ask.
      const mayBeKnown =
        payment.network === terms.requirements.network && checkSigner(payment, terms) === null;
      if (refusal !== null && !mayBeKnown) return refusal;
      const resource = `${method} ${target}`;
      const shownFor = shownBy(payment, named, trace?.client ?? null, journal);
      const shown = { ...shownFor(paymentKey(payment, network)), isSignedIn };
      return tenderOf(payment, terms, { resource, refusal, trace, shown }, options);
    },
    async transferOf(header) {
      const payment = paymentIn(header);
      if (isRefusal(payment)) return payment;
      const [first, ...others] = candidatesOf(payment, networks);
      // Only between several tokens does the signer tell.
      const token = others.length === 0 ? first : await judgedToken(payment, networks, signatures);
      return { value: payment.authorization.value, token };
    },
    identify(header, client) {
      const payment = paymentIn(header);
      if (isRefusal(payment)) return null;
      const former = unofferedTokens(payment, networks, journal.tokens);
      const tokens = [...candidatesOf(payment, networks), ...former];
      const keys = tokens.map((token) => paymentKey(payment, token));
      const named = namedBy(payment.identifier, header.identifier);
      const shownFor = shownBy(payment, named, client, journal);
      return { keys, signed: signedText(payment), shownFor, ...paidTo(payment) };
    },
    recall(entry, trace) {
      const paid = paymentOf(entry, networks);
      if (paid === null) return null;
      const { payment, network } = paid;
      const target = targetOfResource(entry.resource);
      // A release may have taken away what was paid for: its money is asked about all the same.
      const endpoint = soldEndpoint(target, challenger.catalog()) ?? formerEndpoint(entry);
      const terms = offered({ endpoint, target }, payment.version, network);
      const { resource } = entry;
      return tenderOf(payment, terms, { resource, refusal: ONLY_KNOWN, trace }, options);
    },
  };
}

/** What a payment must meet, and what v2 says beside it. */
interface ListedTerms extends Terms {
  readonly listing: Listing | undefined;
}

function cachedTerms(challenger: Challenger) {
  const known = new BoundedMap<
    string,
    Pick<ListedTerms, 'listing'> & { readonly accepts: ReturnType<Challenger['terms']> }
  >(TERMS_CACHE_MAX);
  return (endpoint: Endpoint, target: string, version: X402Version) => {
    // A release may change the price of a request, take it away and bring it back.
    const key = `${version} ${endpoint.path} ${endpoint.priceUsd} ${endpoint.summary} ${target}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const accepts = challenger.terms(endpoint, target, version);
    const listing = version === 2 ? challenger.listing(endpoint, target) : undefined;
    const made = { accepts, listing };
    known.set(key, made);
    return made;
  };
}

function tenderOf(
  payment: Payment,
  { network, requirements, listing }: ListedTerms,
  of: {
    resource: string;
    refusal: Refusal | null;
    trace?: RequestTrace | undefined;
    shown?: BuyerProof;
  },
  options: PaymentReaderOptions,
): Tender {
  const { resource, refusal, trace, shown = null } = of;
  const { from, value, validBefore } = payment.authorization;
  const key = paymentKey(payment, network);
  const usd = usdWorth(value, network);
  const waiters = new Waiters(trace?.isAwaited);
  const byKey = (): boolean => isSignedByKey(payment, network);
  // The settler gets the terms that the payer signed for.
  const signedTerms = asSigned(requirements, payment);
  const made = facilitatorRequest(payment, signedTerms, listing);
  const request =
    trace === undefined ? made : { ...made, trace: { ...trace, isAwaited: waiters.isWaiting } };
  return {
    key,
    payer: from.toLowerCase(),
    resource,
    signed: signedText(payment),
    version: payment.version,
    value,
    ...(usd === null ? {} : { usd }),
    validBefore: Number(validBefore),
    refusal,
    waiters,
    identifier: shown?.identifier == null ? null : { text: shown.identifier, isSignedByKey: byKey },
    shown,
    settlement: new PaymentSettlement({ key, payment, request, isSignedByKey: byKey }, options),
    ...paidTo(payment),
  };
}

/** Copies of one payment may spell the payer differently; each receipt spells it as its request did. */
function paidTo(payment: Payment): Pick<Tender, 'paidHeader' | 'paidBy'> {
  const { version, network } = payment;
  const payer = payment.authorization.from;
  return {
    paidBy: payer,
    paidHeader(transaction, extensions) {
      const settled = { success: true, transaction, network, payer };
      const isPlain = version === 1 || extensions === undefined;
      const receipt = isPlain ? settled : { ...settled, extensions };
      const text = Buffer.from(JSON.stringify(receipt), 'utf8').toString('base64');
      return [version === 1 ? 'x-payment-response' : 'payment-response', text];
    },
  };
}

/** What came with a payment, for one of its keys; `named` is what the payment is called, '' for what cannot be a name. */
function shownBy(
  payment: Payment,
  named: string | undefined,
  address: string | null,
  { secret }: Pick<Journal, 'secret'>,
) {
  const identifier = named ? identifierHash(payment.authorization.from, named) : null;
  return (key: string): BuyerProof => {
    if (address === null) return { identifier, client: null, isSignedIn: false };
    // Of an address, or of an IPv6 /64, for one payment: two payments do not tell whether one client brought both.
    const mac = createHmac('sha256', secret).update(`${key}|${clientKey(address)}`);
    return { identifier, client: mac.digest('base64url'), isSignedIn: false };
  };
}

/** What the token itself allows once: never the bytes of the header, which have many spellings. */
function paymentKey(payment: Payment, network: Pick<Network, 'name' | 'asset'>): string {
  const { from, nonce } = payment.authorization;
  return `${network.name}|${network.asset}|${from}|${nonce}`.toLowerCase();
}

/** The terms of the time when it was taken: by a newer price or payee, what may be settled would be refused. */
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

function paymentOf(
  { key, signed, version }: JournalEntry,
  networks: readonly Network[],
): { readonly payment: Payment; readonly network: Network } | null {
  const network = networks.find(({ name, asset }) =>
    key.startsWith(`${name}|${asset}|`.toLowerCase()),
  );
  if (network === undefined) return null;
  const payment: Payment = {
    version,
    scheme: 'exact',
    network: version === 1 ? network.name : network.caip2,
    accepted: null,
    ...parseSignedText(signed),
  };
  return paymentKey(payment, network) === key ? { payment, network } : null;
}

const ONLY_KNOWN: Refusal = {
  reason: 'payment_unknown',
  error: 'the payment is no longer in the journal',
};

const MISNAMED: Refusal = {
  reason: 'invalid_payment_identifier',
  error:
    '"extensions.payment-identifier" must hold "info" with "required" and an "id" of 16 to 128 letters, digits, "-" or "_", ' +
    'and the header PAYMENT-IDENTIFIER the same id; nothing was charged',
};
