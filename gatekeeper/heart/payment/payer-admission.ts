import { createHash } from 'node:crypto';
import type { AdmissionOutcome, Meters } from '../../settings/meters.ts';
import type { AccountStanding } from '../../settle/evidence.ts';
import { DEAD_AFTER_S, type Journal } from '../../settle/journal.ts';
import {
  type Authorization,
  type Payment,
  type Refusal,
  signedText,
} from '../../settle/payment.ts';
import { CallBudget, pairName } from '../../wire/limits/rate-limit.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { inTime } from '../../wire/slots.ts';
import { facilitatorRefusal, NOT_SIGNED } from './payment-check.ts';
import type { CheckResult, SettlementResult } from './tender.ts';

/**
 * Money before work: what a payment must show before it is written down and anybody is asked to settle it.
 *
 *  - Whoever paid here before is known. Everybody else is a stranger, and so is for a while a known payer whose last
 *    settlement was refused. To make up a key, or a payment in the name of an account with code, costs nothing.
 *  - With a chain node, it tells what a stranger's account has and whether the authorization is used: one call, in the share
 *    of its network address. What is under way of an account counts against its balance, known payers included.
 *  - Without a node, the facilitator's `/verify` is asked about a stranger, in the share of its address, while the facilitator
 *    takes calls. Of one stranger one payment is under way at a time; the others wait until it is known.
 *
 * Nothing of this is asked for a payment that the journal knows.
 */

/** Payers that are remembered; the others are looked up again. */
const PAYERS_MAX = 50_000;
/** How long a payer whose settlement was refused is a stranger. */
const DISTRUST_MS = 60_000;
/** How long a balance is believed without another question; a settlement ends it at once. */
const BALANCE_MS = 2000;
/** How long an account is taken for a plain one, or for one with code: either may change (EIP-7702). */
const CODE_MS = { plain: 5000, code: 60_000 };
/** Payments under way that are asked about where the balance does not cover all of them, and how soon again. */
const MOVED_MAX = 32;
const MOVED_MS = 500;
/** Longest wait of a stranger until the payment before it has ended. */
const TURN_MS = 15_000;
/** What strangers of one address may cause a second, for how many seconds at once, and all of them as many times that. */
const NODE_SHARE = { perSecond: 5, burstS: 4, factor: 20, flying: 16, flyingOfAll: 64 };
const VERIFY_SHARE = { perSecond: 1, burstS: 20, factor: 20, flying: 8, flyingOfAll: 64 };
/** Strangers of one address, and of all, who wait for their turn. */
const TURNS = { perSecond: 0, burstS: 0, factor: 0, flying: 64, flyingOfAll: 512 };

/** What is asked about an account: the node of its token, if there is one. */
export type AskStanding = (
  payment: Payment & { readonly asset: string },
  authorization: Pick<Authorization, 'from' | 'nonce'>,
  asksCode: boolean,
) => Promise<AccountStanding | null>;

interface AdmissionOptions {
  readonly journal: Pick<Journal, 'hasSettled'>;
  readonly clock: () => number;
  /** Null when the node gives no answer; absent where none is set. Never throws. */
  readonly standing?: AskStanding;
  /** Milliseconds until the facilitator takes calls again. */
  readonly busyMs?: () => number;
  readonly meters?: Pick<Meters, 'admitted' | 'askedOfStranger'> | undefined;
}

interface NewPayment {
  readonly key: string;
  readonly payment: Payment;
  readonly asset: string;
  /** Network address, '' where that is not known for sure. */
  readonly client: string;
  /** Whether the payer's own key signed; else its code may have. */
  readonly isByKey: boolean;
}

/** What became of one that was admitted; `dropped` before anybody was asked for its money. */
export type AdmittedEnd = SettlementResult['kind'] | 'dropped';

type Verify = () => Promise<CheckResult | null>;

/** Its outcome as metrics name it, and what is said of it; null for one that is admitted. */
interface Judgement {
  readonly outcome: AdmissionOutcome;
  readonly result: CheckResult | null;
}

interface UnderWay {
  readonly key: string;
  readonly value: bigint;
  /** From then on it cannot move any more, by the clock of the options. */
  readonly untilMs: number;
  isInDoubt: boolean;
}

/** Decides whether a new payment may cost anything. */
export class PayerAdmission {
  readonly #by: AdmissionOptions;
  readonly #known = new BoundedMap<string, true>({ entries: PAYERS_MAX, isByUse: true });
  readonly #refusedMs = new BoundedMap<string, number>(PAYERS_MAX);
  readonly #balances = new BoundedMap<string, { readonly balance: bigint; readonly atMs: number }>(
    PAYERS_MAX,
  );
  readonly #codes = new BoundedMap<string, { readonly hasCode: boolean; readonly atMs: number }>(
    PAYERS_MAX,
  );
  readonly #settledMs = new BoundedMap<string, number>(PAYERS_MAX);
  readonly #movedMs = new BoundedMap<string, number>(PAYERS_MAX);
  readonly #asking = new Map<string, Promise<AccountStanding | null>>();
  /** By account; what is in doubt stays until its end is known. */
  readonly #underWay = new BoundedMap<string, readonly UnderWay[]>(PAYERS_MAX);
  /** Those who wait for the end of a payment of the same account. */
  readonly #waiting = new Map<string, readonly (() => void)[]>();
  readonly #nodeShare: CallBudget;
  readonly #verifyShare: CallBudget;
  readonly #turns: CallBudget;

  constructor(by: AdmissionOptions) {
    const { clock } = by;
    this.#by = by;
    this.#nodeShare = new CallBudget({ ...NODE_SHARE, clock });
    this.#verifyShare = new CallBudget({ ...VERIFY_SHARE, clock });
    this.#turns = new CallBudget({ ...TURNS, clock });
  }

  /**
   * Null for a payment that may go on: it counts as under way until `ended` is told. `verify` asks whether it is valid: the
   * facilitator about a stranger, or an account with code whether it signed.
   */
  async admit(due: NewPayment, verify: Verify): Promise<CheckResult | null> {
    const { standing } = this.#by;
    const { outcome, result } = due.isByKey
      ? await this.#byKey(due, verify)
      : await (standing === undefined ? verified(verify) : this.#byCode(due, standing, verify));
    this.#by.meters?.admitted(outcome);
    return result;
  }

  /** Whether the account of a key ever paid here. */
  async hasPaid(key: string): Promise<boolean> {
    const account = accountOf(key);
    if (this.#known.get(account) !== undefined) return true;
    const hasSettled = await this.#by.journal.hasSettled(account);
    if (hasSettled) this.#known.set(account, true);
    return hasSettled;
  }

  ended(key: string, end: AdmittedEnd): void {
    const account = accountOf(key);
    if (end === 'unknown') {
      for (const one of this.#of(account)) one.isInDoubt ||= one.key === key;
    } else {
      const left = this.#of(account).filter((one) => one.key !== key);
      if (left.length === 0) this.#underWay.delete(account);
      else this.#underWay.set(account, left);
    }
    if (end === 'settled') {
      this.#known.set(account, true);
      this.#refusedMs.delete(account);
      this.#balances.delete(account);
      this.#settledMs.set(account, this.#by.clock());
    }
    if (end === 'refused') this.#refusedMs.set(account, this.#by.clock());
    const waiting = this.#waiting.get(account) ?? [];
    this.#waiting.delete(account);
    for (const goOn of waiting) goOn();
  }

  async #byKey(due: NewPayment, verify: Verify): Promise<Judgement> {
    const { standing } = this.#by;
    const isKnown = (await this.hasPaid(due.key)) && !this.#isDistrusted(due.key);
    if (standing !== undefined) return this.#withNode(due, isKnown, standing);
    return isKnown ? KNOWN : this.#withoutNode(due, verify);
  }

  /** Anybody can make up a payment of an account with code, so it counts for that account only once it has signed. */
  async #byCode(due: NewPayment, ask: AskStanding, verify: Verify): Promise<Judgement> {
    if (this.#isUnsigned(due)) return UNSIGNED;
    const standing = await this.#inShare(due, ask);
    if (standing === null) return NO_ANSWER;
    if ('result' in standing) return standing;
    if (this.#isUnsigned(due)) return UNSIGNED;
    if (standing.isUsed) return USED;
    if (standing.balance < BigInt(due.payment.authorization.value)) return INSUFFICIENT;
    const judged = await verified(verify);
    return judged.result === null ? this.#covered(due, standing, { ask, judged }) : judged;
  }

  async #withNode(due: NewPayment, isKnown: boolean, ask: AskStanding): Promise<Judgement> {
    const judged = this.#withoutAsking(due, isKnown);
    if (judged !== null) return judged;
    const standing = isKnown ? await this.#shared(due, ask) : await this.#inShare(due, ask);
    if (standing === null) return NO_ANSWER;
    if ('result' in standing) return standing;
    if (!isKnown && standing.isUsed) return USED;
    return this.#covered(due, standing, { ask, judged: isKnown ? KNOWN : STRANGER });
  }

  async #covered(
    due: NewPayment,
    { balance }: AccountStanding,
    { ask, judged }: { readonly ask: AskStanding; readonly judged: Judgement },
  ): Promise<Judgement> {
    if (!this.#covers(balance, due)) await this.#dropMoved(due, ask);
    return this.#covers(balance, due) ? this.#begun(due, judged) : INSUFFICIENT;
  }

  /** Only an account with code, or one that is not deployed yet, signs with anything but its key. */
  #isUnsigned({ key, payment, isByKey }: NewPayment): boolean {
    // ERC-6492: the signature says how the account would be deployed.
    const bringsDeployment = payment.signature.endsWith('6492'.repeat(16));
    return !isByKey && this.#hasCode(key) === false && !bringsDeployment;
  }

  /** Undefined where it has to be asked. */
  #hasCode(key: string): boolean | undefined {
    const known = this.#codes.get(accountOf(key));
    const ms = known?.hasCode === true ? CODE_MS.code : CODE_MS.plain;
    return this.#isWithin(ms, known?.atMs) ? known?.hasCode : undefined;
  }

  /** What a known payer has is asked only where other payments of it may use it up. */
  #withoutAsking(due: NewPayment, isKnown: boolean): Judgement | null {
    const isAlone = this.#others(due).length === 0;
    if (isKnown && isAlone) return this.#begun(due, KNOWN);
    const cached = this.#cached(accountOf(due.key));
    if (cached === null) return null;
    const covers = this.#covers(cached, due);
    if (isKnown && covers) return this.#begun(due, KNOWN);
    return isAlone && !covers ? INSUFFICIENT : null;
  }

  /** Those who ask about one account at once share an answer. */
  async #shared(due: NewPayment, ask: AskStanding): Promise<AccountStanding | null> {
    const account = accountOf(due.key);
    const asking = this.#asking.get(account) ?? this.#asked(due, ask);
    this.#asking.set(account, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(account);
    }
  }

  async #inShare(due: NewPayment, ask: AskStanding): Promise<AccountStanding | Judgement | null> {
    const retryS = this.#nodeShare.take(due.client);
    if (retryS > 0) return limited(retryS);
    this.#by.meters?.askedOfStranger('node');
    try {
      return await this.#asked(due, ask);
    } finally {
      this.#nodeShare.giveBack(due.client);
    }
  }

  async #asked(due: NewPayment, ask: AskStanding): Promise<AccountStanding | null> {
    const { payment, asset, isByKey } = due;
    const account = accountOf(due.key);
    const atMs = this.#by.clock();
    const asksCode = !isByKey && this.#hasCode(due.key) === undefined;
    const standing = await ask({ ...payment, asset }, payment.authorization, asksCode);
    if (standing === null) return null;
    const { balance, hasCode } = standing;
    if (hasCode !== null) this.#codes.set(account, { hasCode, atMs });
    // A settlement meanwhile may be in it or not.
    const isSure = (this.#settledMs.get(account) ?? 0) < atMs;
    if (isSure) this.#balances.set(account, { balance, atMs });
    return standing;
  }

  /** What has moved already is no longer in the balance: it must not count twice while its end is waited for. */
  async #dropMoved(due: NewPayment, ask: AskStanding): Promise<void> {
    const { payment, asset } = due;
    const { from } = payment.authorization;
    const account = accountOf(due.key);
    if (this.#isWithin(MOVED_MS, this.#movedMs.get(account))) return;
    this.#movedMs.set(account, this.#by.clock());
    const others = this.#others(due).slice(0, MOVED_MAX);
    const standings = await Promise.all(
      others.map(({ key }) =>
        ask({ ...payment, asset }, { from, nonce: key.slice(-NONCE_CHARS) }, false),
      ),
    );
    const moved = others.filter((_, at) => standings[at]?.isUsed === true);
    this.#underWay.set(
      account,
      this.#of(account).filter((one) => !moved.includes(one)),
    );
  }

  async #withoutNode(due: NewPayment, verify: Verify): Promise<Judgement> {
    const retryS = Math.ceil((this.#by.busyMs?.() ?? 0) / 1000);
    if (retryS > 0) return limited(retryS);
    const turn = await this.#turn(due);
    if (turn !== null) return turn;
    const waitS = this.#verifyShare.take(due.client);
    if (waitS > 0) return this.#left(due, limited(waitS));
    this.#by.meters?.askedOfStranger('facilitator');
    try {
      const judged = await verified(verify);
      return judged.result === null ? judged : this.#left(due, judged);
    } catch (error) {
      this.ended(due.key, 'dropped');
      throw error;
    } finally {
      this.#verifyShare.giveBack(due.client);
    }
  }

  /** Null once the payment is the only one of its account under way; a judgement where it needs not or must not be. */
  async #turn(due: NewPayment): Promise<Judgement | null> {
    const account = accountOf(due.key);
    const isAlone = (): boolean => this.#others(due).length === 0;
    if (isAlone()) return this.#begun(due, null);
    if (this.#turns.take(due.client) > 0) return limited(TURN_RETRY_S);
    const endMs = performance.now() + TURN_MS;
    try {
      while (!isAlone()) {
        const leftMs = endMs - performance.now();
        if (leftMs <= 0 || this.#of(account).some(({ isInDoubt }) => isInDoubt))
          return limited(TURN_RETRY_S);
        await inTime(this.#nextEnd(account), leftMs);
        if (this.#known.has(account) && !this.#isDistrusted(due.key)) return KNOWN;
      }
      return this.#begun(due, null);
    } finally {
      this.#turns.giveBack(due.client);
    }
  }

  #nextEnd(account: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(account, [...(this.#waiting.get(account) ?? []), resolve]);
    });
  }

  #begun<T>(due: NewPayment, judgement: T): T {
    const { key, payment } = due;
    const { value, validBefore } = payment.authorization;
    const untilMs = (Number(validBefore) + DEAD_AFTER_S) * 1000;
    const one = { key, value: BigInt(value), untilMs, isInDoubt: false };
    this.#underWay.set(accountOf(key), [...this.#others(due), one]);
    return judgement;
  }

  #left(due: NewPayment, judgement: Judgement): Judgement {
    this.ended(due.key, 'dropped');
    return judgement;
  }

  #of(account: string): readonly UnderWay[] {
    const underWay = this.#underWay.get(account) ?? [];
    return underWay.filter(({ untilMs }) => this.#by.clock() < untilMs);
  }

  #others({ key }: NewPayment): readonly UnderWay[] {
    return this.#of(accountOf(key)).filter((one) => one.key !== key);
  }

  #covers(balance: bigint, due: NewPayment): boolean {
    const others = this.#others(due).reduce((sum, { value }) => sum + value, 0n);
    return balance - others >= BigInt(due.payment.authorization.value);
  }

  #cached(account: string): bigint | null {
    const cached = this.#balances.get(account);
    return this.#isWithin(BALANCE_MS, cached?.atMs) ? (cached?.balance ?? null) : null;
  }

  #isDistrusted(key: string): boolean {
    return this.#isWithin(DISTRUST_MS, this.#refusedMs.get(accountOf(key)));
  }

  /** A clock that was set back must not make anything last longer. */
  #isWithin(ms: number, sinceMs: number | undefined): boolean {
    return sinceMs !== undefined && Math.abs(this.#by.clock() - sinceMs) < ms;
  }
}

async function verified(verify: Verify): Promise<Judgement> {
  const result = await verify();
  if (result === null) return STRANGER;
  if (result.kind === 'refused') return { outcome: 'invalid', result };
  return { outcome: result.limit === undefined ? 'no_answer' : 'limited', result };
}

/** Of `0x` and 64 hex digits. */
const NONCE_CHARS = 66;

/** `network|asset|payer`. */
function accountOf(key: string): string {
  return key.slice(0, -NONCE_CHARS - 1);
}

/** Seconds after which the payment before it has mostly ended. */
const TURN_RETRY_S = 5;

function limited(retryS: number): Judgement {
  const error =
    'New payers have to wait at this moment. Send the same payment again after Retry-After.';
  return { outcome: 'limited', result: { kind: 'held', error, retryS, limit: 'strangers' } };
}

const KNOWN: Judgement = { outcome: 'known', result: null };
const STRANGER: Judgement = { outcome: 'stranger', result: null };
const NO_ANSWER: Judgement = {
  outcome: 'no_answer',
  result: {
    kind: 'held',
    error: 'The chain cannot be asked at this moment. Send the same payment again.',
  },
};
const INSUFFICIENT = refusedAs('insufficient', facilitatorRefusal('insufficient_funds'));
const UNSIGNED = refusedAs('not_signed', NOT_SIGNED);
const USED = refusedAs('used', {
  reason: 'authorization_already_used',
  error:
    'the chain shows that the authorization was used before it came here, so it pays for nothing here; nothing was charged now; sign a new one',
});

function refusedAs(outcome: Judgement['outcome'], refusal: Refusal): Judgement {
  return { outcome, result: { kind: 'refused', refusal } };
}

/** Checks of one account that one address brings, a second and in flight: a wallet may let whoever asks it wait. */
const OF_PAIR = { perSecond: 1, burstS: 5, factor: 1_000_000, flying: 2, flyingOfAll: 16 };
/** Of one account, whoever brings them, and of all of them as many times that. */
const OF_ACCOUNT = { perSecond: 4, burstS: 5, factor: 5, flying: 4, flyingOfAll: 16 };
/** Of one account from an address whose payment of it settled before: apart from what others bring in its name. */
const OF_PROVEN = { perSecond: 2, burstS: 5, factor: 20, flying: 4, flyingOfAll: 16 };
const PROVEN_MAX = 10_000;
/** Refused payments that are remembered, and for how long: a wallet may be deployed or filled meanwhile. */
const REFUSALS_MAX = 1000;
const REFUSAL_MS = 10_000;
/** How long an account is refused whose payment passed its check and then did not settle. */
const FAILED_MS = 600_000;
/** So many accounts that did so in that time, and none that never paid is taken until some of it is over. */
const FAILED_MAX = 10;

type Signed = Pick<Payment, 'authorization' | 'signature'>;
/**
 * Bounds what payments of accounts with code may cost. Whether such an account signed, only its code can say, and making
 * up such a payment costs nothing: not even a signature. So they share few calls, apart from those of plain accounts. Code
 * may also answer a check in one way and the settlement in another, at the cost of whoever settles: an account that did
 * is not asked again for a while.
 */
export class SmartAccounts {
  readonly #clock: () => number;
  readonly #ofPair: CallBudget;
  readonly #ofAccount: CallBudget;
  readonly #ofProven: CallBudget;
  readonly #proven = new BoundedMap<string, true>({ entries: PROVEN_MAX, isByUse: true });
  readonly #refusals = new BoundedMap<string, { result: CheckResult; sinceMs: number }>(
    REFUSALS_MAX,
  );
  readonly #failedMs = new BoundedMap<string, number>(FAILED_MAX);

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#ofPair = new CallBudget({ ...OF_PAIR, clock });
    this.#ofAccount = new CallBudget({ ...OF_ACCOUNT, clock });
    this.#ofProven = new CallBudget({ ...OF_PROVEN, clock });
  }

  /** What `ask` has against a payment, or why it is not asked; null if the payment is valid. */
  async check(
    due: { key: string; payment: Signed; client: string; hasPaid: () => Promise<boolean> },
    ask: () => Promise<CheckResult | null>,
  ): Promise<CheckResult | null> {
    const { key, payment, client, hasPaid } = due;
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
