import { createHash } from 'node:crypto';
import { rateLimit } from '../limits/rate-limit.ts';
import type { Payment, Refusal } from '../money/payment.ts';
import { signedText } from '../money/payment.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import type { CheckResult } from './tender.ts';

/** Checks a second: of one account, and of all of them as many times that. */
const CHECKS_PER_ACCOUNT_S = 2;
const ACCOUNTS_FACTOR = 5;
/** Seconds of these rates that may be used at once. */
const CHECKS_BURST_S = 5;
/** Checks in flight, of all accounts and of one: a wallet may let whoever asks it wait. */
const CHECKS_MAX = 16;
const CHECKS_PER_ACCOUNT_MAX = 4;
/** Refused payments that are remembered, and for how long: a wallet may be deployed or filled meanwhile. */
const REFUSALS_MAX = 1000;
const REFUSAL_MS = 10_000;
/** How long an account is refused whose payment passed its check and then did not settle. */
const FAILED_MS = 600_000;
/** So many accounts that did so in that time, and none is taken until some of it is over. */
const FAILED_MAX = 10;

type Signed = Pick<Payment, 'authorization' | 'signature'>;
interface DueCheck {
  /** Of the journal: the same text means another transfer on another token. */
  readonly key: string;
  readonly payment: Signed;
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
  readonly #rate = rateLimit(CHECKS_PER_ACCOUNT_S, CHECKS_BURST_S, ACCOUNTS_FACTOR);
  readonly #refusals = new BoundedMap<string, Remembered>(REFUSALS_MAX);
  readonly #checking = new Map<string, number>();
  /** When each account failed, the latest last. */
  readonly #failedMs = new BoundedMap<string, number>(FAILED_MAX);
  #checks = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** What `ask` has against a payment, or why it is not asked; null if the payment is valid. */
  async check(
    { key, payment }: DueCheck,
    ask: () => Promise<CheckResult | null>,
  ): Promise<CheckResult | null> {
    const id = createHash('sha256')
      .update(`${key}|${signedText(payment)}`)
      .digest('base64');
    const known = this.#refusals.get(id);
    if (known !== undefined && this.#isWithin(REFUSAL_MS, known.sinceMs)) return known.result;
    const payer = payerOf(payment);
    if (this.#hasFailed(payer)) return { kind: 'refused', refusal: DID_NOT_SETTLE };
    if (!this.#mayAsk(payer)) return { kind: 'busy' };
    this.#count(payer, 1);
    try {
      const result = await ask();
      const sinceMs = this.#clock();
      if (result?.kind === 'refused') this.#refusals.set(id, { result, sinceMs });
      return result;
    } finally {
      this.#count(payer, -1);
    }
  }

  /** A payment passed its check and may have cost a transaction all the same. */
  failed(payment: Signed): void {
    this.#failedMs.set(payerOf(payment), this.#clock());
  }

  /** It settled in the end. */
  settled(payment: Signed): void {
    this.#failedMs.delete(payerOf(payment));
  }

  #mayAsk(payer: string): boolean {
    const [oldestMs] = this.#failedMs.values();
    const isFull = this.#failedMs.size >= FAILED_MAX;
    if (isFull && oldestMs !== undefined && this.#isWithin(FAILED_MS, oldestMs)) return false;
    const own = this.#checking.get(payer) ?? 0;
    if (this.#checks >= CHECKS_MAX || own >= CHECKS_PER_ACCOUNT_MAX) return false;
    return this.#rate.account(payer).take(1, this.#clock()) === 0;
  }

  #hasFailed(payer: string): boolean {
    const failedMs = this.#failedMs.get(payer);
    return failedMs !== undefined && this.#isWithin(FAILED_MS, failedMs);
  }

  #count(payer: string, change: 1 | -1): void {
    this.#checks += change;
    const own = (this.#checking.get(payer) ?? 0) + change;
    if (own === 0) this.#checking.delete(payer);
    else this.#checking.set(payer, own);
  }

  /** A clock that was set back must not keep anybody out for longer. */
  #isWithin(ms: number, sinceMs: number): boolean {
    return Math.abs(this.#clock() - sinceMs) < ms;
  }
}

function payerOf({ authorization }: Signed): string {
  return authorization.from.toLowerCase();
}

const DID_NOT_SETTLE: Refusal = {
  reason: 'smart_account_did_not_settle',
  error:
    'a payment of this account passed its check a moment ago and then did not settle; nothing was charged for this one; ' +
    'send the earlier one again until it ends, or pay from a plain externally-owned account',
};
