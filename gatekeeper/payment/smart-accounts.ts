import { createHash } from 'node:crypto';
import { CallBudget, pairName } from '../limits/call-budget.ts';
import type { Payment, Refusal } from '../money/payment.ts';
import { signedText } from '../money/payment.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import type { CheckResult } from './tender.ts';

/** Checks of one account that one address brings, a second and in flight: a wallet may let whoever asks it wait. */
const OF_PAIR = { perSecond: 1, burstS: 5, factor: 1_000_000, flying: 2, flyingOfAll: 16 };
/** Of one account, whoever brings them, and of all of them as many times that. */
const OF_ACCOUNT = { perSecond: 4, burstS: 5, factor: 5, flying: 4, flyingOfAll: 16 };
/** Of one account from an address whose payment of it settled before: apart from what others bring in its name. */
const OF_PROVEN = { perSecond: 2, burstS: 5, factor: 20, flying: 4, flyingOfAll: 16 };
/** Such pairs that are remembered. */
const PROVEN_MAX = 10_000;
/** Refused payments that are remembered, and for how long: a wallet may be deployed or filled meanwhile. */
const REFUSALS_MAX = 1000;
const REFUSAL_MS = 10_000;
/** How long an account is refused whose payment passed its check and then did not settle. */
const FAILED_MS = 600_000;
/** So many accounts that did so in that time, and none that never paid is taken until some of it is over. */
const FAILED_MAX = 10;

type Signed = Pick<Payment, 'authorization' | 'signature'>;
interface DueCheck {
  /** Of the journal: the same text means another transfer on another token. */
  readonly key: string;
  readonly payment: Signed;
  /** Network address that brings it, '' where that is not known for sure. */
  readonly client: string;
  /** Whether the account ever paid here. */
  readonly hasPaid: () => Promise<boolean>;
}
interface Remembered {
  readonly result: CheckResult;
  readonly sinceMs: number;
}

/**
 * Bounds what payments of accounts with code may cost. Whether such an account signed, only its code can say, and making
 * up such a payment costs nothing: not even a signature. So they share few calls, apart from those of plain accounts. Code
 * may also answer a check in one way and the settlement in another, at the cost of whoever settles: an account that did
 * is not asked again for a while.
 */
export class SmartAccounts {
  /** Milliseconds since the epoch. */
  readonly #clock: () => number;
  readonly #ofPair: CallBudget;
  readonly #ofAccount: CallBudget;
  readonly #ofProven: CallBudget;
  readonly #proven = new BoundedMap<string, true>({ entries: PROVEN_MAX, isByUse: true });
  readonly #refusals = new BoundedMap<string, Remembered>(REFUSALS_MAX);
  /** When each account failed, the latest last. */
  readonly #failedMs = new BoundedMap<string, number>(FAILED_MAX);

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#ofPair = new CallBudget({ ...OF_PAIR, clock });
    this.#ofAccount = new CallBudget({ ...OF_ACCOUNT, clock });
    this.#ofProven = new CallBudget({ ...OF_PROVEN, clock });
  }

  /** What `ask` has against a payment, or why it is not asked; null if the payment is valid. */
  async check(
    { key, payment, client, hasPaid }: DueCheck,
    ask: () => Promise<CheckResult | null>,
  ): Promise<CheckResult | null> {
    const id = createHash('sha256')
      .update(`${key}|${signedText(payment)}`)
      .digest('base64');
    const known = this.#refusals.get(id);
    if (known !== undefined && this.#isWithin(REFUSAL_MS, known.sinceMs)) return known.result;
    const payer = payerOf(payment);
    if (this.#hasFailed(payer)) return { kind: 'refused', refusal: DID_NOT_SETTLE };
    if (this.#haveFailed() && !(await hasPaid())) return BUSY;
    const giveBack = this.#take(payer, pairName(client, payer));
    if (giveBack === null) return BUSY;
    try {
      const result = await ask();
      const sinceMs = this.#clock();
      if (result?.kind === 'refused') this.#refusals.set(id, { result, sinceMs });
      return result;
    } finally {
      giveBack();
    }
  }

  /** A payment passed its check and may have cost a transaction all the same. */
  failed(payment: Signed): void {
    this.#failedMs.set(payerOf(payment), this.#clock());
  }

  /** It settled in the end. */
  settled(payment: Signed, client: string): void {
    const payer = payerOf(payment);
    this.#failedMs.delete(payer);
    this.#proven.set(pairName(client, payer), true);
  }

  /** Null for one check too many: the share of the pair is asked first, so that nobody takes what all of them share. */
  #take(payer: string, pair: string): (() => void) | null {
    if (this.#proven.get(pair) === true) {
      return this.#ofProven.take(pair) > 0 ? null : () => this.#ofProven.giveBack(pair);
    }
    if (this.#ofPair.take(pair) > 0) return null;
    if (this.#ofAccount.take(payer) > 0) {
      this.#ofPair.giveBack(pair);
      return null;
    }
    return () => {
      this.#ofPair.giveBack(pair);
      this.#ofAccount.giveBack(payer);
    };
  }

  /** Whether so many accounts failed that none is taken which never paid. */
  #haveFailed(): boolean {
    const [oldestMs] = this.#failedMs.values();
    const isFull = this.#failedMs.size >= FAILED_MAX;
    return isFull && oldestMs !== undefined && this.#isWithin(FAILED_MS, oldestMs);
  }

  #hasFailed(payer: string): boolean {
    const failedMs = this.#failedMs.get(payer);
    return failedMs !== undefined && this.#isWithin(FAILED_MS, failedMs);
  }

  /** A clock that was set back must not keep anybody out for longer. */
  #isWithin(ms: number, sinceMs: number): boolean {
    return Math.abs(this.#clock() - sinceMs) < ms;
  }
}

function payerOf({ authorization }: Signed): string {
  return authorization.from.toLowerCase();
}

const BUSY: CheckResult = {
  kind: 'held',
  error:
    'Too many payments by smart accounts at once. Send the same payment again, or pay from a plain account.',
  limit: 'smart_accounts',
};
const DID_NOT_SETTLE: Refusal = {
  reason: 'smart_account_did_not_settle',
  error:
    'a payment of this account passed its check a moment ago and then did not settle; nothing was charged for this one; ' +
    'send the earlier one again until it ends, or pay from a plain externally-owned account',
};
