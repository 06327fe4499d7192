import { hash } from 'node:crypto';
import type { Journal, JournalEntry, KnownPayment } from '../../settle/journal.ts';
import type { Network } from '../../settle/networks.ts';
import { isRefusal, type Refusal } from '../../settle/payment.ts';
import {
  type AskCode,
  type CodeSignature,
  placeFault,
  readSignIn,
  type SignIn,
  signInRefusal,
} from '../../settle/sign-in.ts';
import { MINT_PATH } from '../../settle/token.ts';
import type { SignInHeader } from '../../wire/header-facts.ts';
import { CallBudget } from '../../wire/limits/rate-limit.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { PRIVATE_NO_STORE, type Reply } from '../../wire/reply.ts';
import type { Challenger } from '../offer/challenge.ts';
import { type BuyerProof, type PurchaseRequest, targetOfResource } from '../payment/tender.ts';
import { NO_LONGER_KEPT_REFUSAL } from './purchase-reply.ts';

// Every member of a payment stands on the chain once it is settled, its signature too, and in a pending transaction before
// that. So a header names a payment and proves no buyer. What proves one is the name of the purchase, which is on no chain; a
// fresh message of the account that paid (`signIns()`); and for a short time the network address that brought it first.
// Everybody else gets one refusal, the same for every request and before anything of the request is looked at, so that
// nobody finds out what a payment bought by trying.

/** After its settlement was noted, the header alone is enough from where it came first. */
const HEADER_ALONE_MS = 600_000;
/** Requests with one payment of others than its buyer that are told why, in this time. */
const GUESSES_MAX = 10;
const GUESSES_MS = 60_000;
/** Payments whose guesses are counted; the oldest make room. */
const GUESSED_MAX = 10_000;

/** Whether a request comes from the buyer of a payment; null shows nothing and needs to show nothing. */
export function isBuyer(shown: BuyerProof | null, known: KnownPayment, nowMs: number): boolean {
  if (shown === null || shown.isSignedIn) return true;
  const { identifier, client } = shown;
  if (identifier !== null && identifier === known.identifier) return true;
  const { resource, settledMs } = known;
  // A token opens what it opens for whoever holds it, so it is never given for a header.
  if (targetOfResource(resource).split('?')[0] === MINT_PATH) return false;
  // A clock that was set back must not make the time longer.
  const isInTime = settledMs === null || Math.abs(nowMs - settledMs) <= HEADER_ALONE_MS;
  return client !== null && client === known.client && isInTime;
}

/** Counts the requests with a payment that do not come from its buyer. Whoever proves to be the buyer is never counted. */
export class Guesses {
  readonly #guessed = new BoundedMap<string, { sinceMs: number; count: number }>(GUESSED_MAX);

  /** Counts one; 0 while it is told why it is refused, else the seconds to wait. */
  waitS(key: string, nowMs: number): number {
    const before = this.#guessed.get(key);
    const isOver = before === undefined || Math.abs(nowMs - before.sinceMs) >= GUESSES_MS;
    const { sinceMs, count } = isOver ? { sinceMs: nowMs, count: 0 } : before;
    if (count >= GUESSES_MAX) {
      return Math.max(1, Math.ceil((GUESSES_MS - Math.abs(nowMs - sinceMs)) / 1000));
    }
    this.#guessed.set(key, { sinceMs, count: count + 1 });
    return 0;
  }
}

/** How long a used message is remembered: far longer than it is valid, for the clocks of several gatekeepers differ. */
const USED_MS = 3_600_000;

/** A request of an account that shows who it is. */
interface SignInRequest extends Pick<PurchaseRequest, 'endpoint' | 'target' | 'method' | 'trace'> {
  readonly paymentHeader: SignInHeader;
}

/** Takes messages of accounts that paid. Each works once, for all gatekeepers of a journal. */
export interface SignIns {
  /** Delivers again to an account what it paid for; sells nothing and asks nobody for money. */
  open(request: SignInRequest): Promise<Reply | { sell: () => Promise<Reply> }>;
  /** Why a message does not come from the payer of a payment; null where it does, and then it is used up. */
  fault(text: string, payment: { key: string; target: string }): Promise<Refusal | null>;
}

export function signIns(options: {
  journal: Pick<Journal, 'findOnDisk' | 'soldTo' | 'useOnce' | 'delivered'>;
  challenger: Challenger;
  clock: () => number;
  asksCode?: AskCode;
}): SignIns {
  const { journal, challenger, clock, asksCode } = options;
  const { networks, baseUrl } = challenger;
  const codes = asksCode === undefined ? null : new CodeSignatures(asksCode, clock);
  const read = (text: string): SignIn | Refusal => readSignIn(text, { networks, nowMs: clock() });
  const unsigned = async (signIn: SignIn): Promise<Refusal | null> => {
    if (signIn.isByKey) return null;
    if (codes === null) return NOT_SIGNED;
    const isTaken = await codes.isTaken(signIn);
    return isTaken === null ? NOT_ASKED : isTaken ? null : NOT_SIGNED;
  };
  const isUsed = async ({ address, nonce }: SignIn): Promise<boolean> =>
    !(await journal.useOnce(`${address}|${nonce}`, clock() + USED_MS));
  const sale = async (signIn: SignIn, resource: string): Promise<JournalEntry | null> => {
    const accounts = networks
      .filter((network) => mayHavePaid(signIn, network))
      .map((network) => accountOf(network, signIn.address));
    const key = await journal.soldTo(accounts, resource);
    return key === null ? null : journal.findOnDisk(key);
  };
  const fetched = async (request: SignInRequest): Promise<Reply | Refusal> => {
    const { target, method, paymentHeader } = request;
    const signIn = read(paymentHeader.text);
    if (isRefusal(signIn)) return signIn;
    const refusal = placeFault(signIn, baseUrl + target) ?? (await unsigned(signIn));
    if (refusal !== null) return refusal;
    const sold = await sale(signIn, `${method} ${target}`);
    const bought = delivered(sold);
    if (isRefusal(bought)) return bought;
    if (await isUsed(signIn)) return USED;
    // A failure only means that the answer counts as owed.
    if (sold?.isWaiting === true) await journal.delivered(sold.key).catch(() => {});
    return { ...bought, payer: signIn.address };
  };
  return {
    async open(request) {
      const reply = await fetched(request);
      if (!isRefusal(reply)) return reply;
      const { endpoint, target } = request;
      const refusal = challenger.challenge(endpoint, target, `${reply.reason}: ${reply.error}`);
      return { sell: async () => refusal };
    },
    async fault(text, { key, target }) {
      const signIn = read(text);
      if (isRefusal(signIn)) return signIn;
      const isPayer = networks.some(
        (network) =>
          mayHavePaid(signIn, network) && key.startsWith(`${accountOf(network, signIn.address)}|`),
      );
      // The URL last: it may be that of what was bought, which only the payer may find out.
      const refusal = isPayer ? await unsigned(signIn) : NOT_PAYER;
      const fault = refusal ?? placeFault(signIn, baseUrl + target);
      return fault ?? ((await isUsed(signIn)) ? USED : null);
    },
  };
}

function delivered(sale: JournalEntry | null): Reply | Refusal {
  if (sale === null) return NOT_PAID;
  const { body, contentType } = sale;
  if (body === null) return NO_LONGER_KEPT_REFUSAL;
  return { status: 200, headers: [['content-type', contentType], PRIVATE_NO_STORE], body };
}

/** A key has one account everywhere; at the address of an account with code, somebody else's may stand on another chain. */
function mayHavePaid({ isByKey, network }: SignIn, { caip2 }: Network): boolean {
  return isByKey || network.caip2 === caip2;
}

/** What stands before the nonce in the keys of its payments. */
function accountOf({ name, asset }: Network, address: string): string {
  return `${name}|${asset}|${address}`.toLowerCase();
}

const NOT_SIGNED = signInRefusal(
  'signature',
  'the signature is not that of "address"; an account with code must be deployed, and the service needs a chain node to ask it',
);
const NOT_ASKED = signInRefusal(
  'account_not_asked',
  'nobody could ask the account whether it signed; send the request again',
);
const NOT_PAYER = signInRefusal('payer', '"address" is not the account that paid');
const USED = signInRefusal('nonce', 'this message was used already; sign another one');
const NOT_PAID: Refusal = {
  reason: 'siwx_not_paid',
  error:
    'no settled payment of this account for this request is known; if you sent one, send the same payment again, else pay for it',
};

/** Questions about one account, and about all of them; an account may let whoever asks it wait. */
const ASKS = { perSecond: 2, factor: 5, burstS: 5, flying: 8, flyingOfAll: 16 };
/** Signatures that were not taken and are remembered, and for how long. */
const REFUSALS_MAX = 1000;
const REFUSAL_MS = 10_000;

/** Bounds what strangers can make us ask, apart from payments: a made-up message costs nothing. */
class CodeSignatures {
  readonly #ask: AskCode;
  readonly #clock: () => number;
  readonly #budget: CallBudget;
  readonly #refusedMs = new BoundedMap<string, number>(REFUSALS_MAX);

  constructor(ask: AskCode, clock: () => number) {
    this.#ask = ask;
    this.#clock = clock;
    this.#budget = new CallBudget({ ...ASKS, clock });
  }

  /** Null where nobody says at this moment. */
  async isTaken(of: CodeSignature): Promise<boolean | null> {
    const { network, address, digest, signature } = of;
    const name = `${network.name}|${address}|${Buffer.from(digest).toString('hex')}|${signature}`;
    const id = hash('sha256', name, 'hex');
    const refusedMs = this.#refusedMs.get(id);
    if (refusedMs !== undefined && Math.abs(this.#clock() - refusedMs) < REFUSAL_MS) return false;
    if (this.#budget.take(address) > 0) return null;
    try {
      const isTaken = await this.#ask(of);
      if (!isTaken) this.#refusedMs.set(id, this.#clock());
      return isTaken;
    } catch {
      return null;
    } finally {
      this.#budget.giveBack(address);
    }
  }
}
