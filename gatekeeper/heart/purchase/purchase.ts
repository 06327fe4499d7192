import { clockFailure, type OutsideTime } from '../../settle/clock-guard.ts';
import type { ChainHead } from '../../settle/evidence.ts';
import type {
  Claim,
  Conclusion,
  Journal,
  JournalEntry,
  PaymentBinding,
} from '../../settle/journal.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { SettlementResult, Tender, TenderBinding, Waiters } from '../payment/tender.ts';
import { type Guesses, isBuyer } from './buyer-proof.ts';
import {
  ABANDONED,
  ALREADY_USED,
  type Delivery,
  failed,
  NO_LONGER_KEPT,
  type PurchaseOutcome,
  paid,
  refused,
  UNKNOWN,
  UNKNOWN_RETRY_S,
} from './purchase-reply.ts';

/** What makes a purchase wait until others are done. */
export type PurchaseLimit = 'purchases' | 'waiting_bytes' | 'smart_accounts' | 'strangers';

export interface PurchaseContext {
  readonly journal: Journal;
  readonly clock: () => number;
  /** The time as something outside tells it; absent where no money moves. */
  readonly outside?: OutsideTime | undefined;
  readonly report: (error: unknown) => void;
  /** Told of a purchase that has to wait until others are done. */
  readonly limited: (limit: PurchaseLimit) => void;
  readonly inFlight: InFlight;
  /** Of those who are not the buyer of a payment that they send. */
  readonly guesses: Guesses;
}

export function isSameBinding(left: PaymentBinding, right: PaymentBinding): boolean {
  return left.resource === right.resource && left.signed === right.signed;
}

/** Null while the clock may be right. */
export function clockOutcome(context: PurchaseContext): PurchaseOutcome | null {
  const { clock, journal, outside, report } = context;
  const failure = clockFailure(clock(), journal.newestMs()) ?? outside?.fault() ?? null;
  if (failure === null) return null;
  report(failure);
  return failed("The server's clock is wrong. Send the same payment or receipt again later.");
}

/** What is done for one tender, whose key is bound to its request: claim, settlement and conclusion. */
export class Purchase {
  readonly #tender: Tender;
  readonly #context: PurchaseContext;

  constructor(tender: Tender, context: PurchaseContext) {
    this.#tender = tender;
    this.#context = context;
  }

  /** The answer is in hand, the claim is durable before the money is asked for, the end is noted before the 200. */
  async sell(delivery: Delivery): Promise<PurchaseOutcome> {
    // What is told outside is asked anew for the claim.
    const failure = clockOutcome({ ...this.#context, outside: undefined });
    if (failure !== null) return failure;
    const { refusal } = this.#tender;
    if (refusal !== null) return this.#unlessTaken(refused(refusal));
    const { inFlight, limited } = this.#context;
    const bytes = delivery.body.length;
    if (!inFlight.hold(bytes)) {
      limited('waiting_bytes');
      return failed(
        'Too many answers are waiting to be paid for. Send the same payment or receipt again.',
      );
    }
    try {
      const claimed = await this.#claim(delivery);
      return 'kind' in claimed ? claimed : await this.#settle(delivery, claimed);
    } finally {
      this.#tender.settlement.drop();
      inFlight.release(bytes);
    }
  }

  /** A tender that the journal holds. A throw means that it could not be read: it may be paid already. */
  async repeat(): Promise<PurchaseOutcome> {
    const entry = await this.#context.journal.find(this.#tender.key);
    // Another gatekeeper may have noted a refusal a moment ago: the next repeat is a new purchase.
    return entry === null || entry.state === 'refused' ? UNKNOWN : this.#recorded(entry);
  }

  /** For the background: nobody waits for an answer, so nobody is asked for money. */
  async look(entry: JournalEntry): Promise<PurchaseOutcome> {
    const result = await this.#tender.settlement.look(entry);
    return this.#concluded(result, entry, { isAwaited: false });
  }

  /** The claim once it is durable; until then nobody was asked for money, so a failure charges nobody. */
  async #claim(delivery: Delivery): Promise<PurchaseOutcome | Claim> {
    const { settlement, waiters } = this.#tender;
    try {
      const [head, checked] = await Promise.all([settlement.head(), settlement.check()]);
      if (checked?.kind === 'refused') {
        return await this.#unlessTaken(refused(checked.refusal));
      }
      if (checked !== null) {
        if (checked.limit !== undefined) this.#context.limited(checked.limit);
        return failed(checked.error, checked.retryS);
      }
      if (head === null) {
        return failed('The chain cannot be asked at this moment. Send the same payment again.');
      }
      const failure = clockOutcome(this.#context);
      if (failure !== null) return failure;
      if (!waiters.isWaiting()) return ABANDONED;
      const claim = claimOf(this.#tender, delivery, head === 'none' ? undefined : head);
      if (await this.#context.journal.claim(claim)) return claim;
      // Another process holds the claim, or a payment of the same name: the outcome will be in the journal.
      return await this.#unlessTaken(UNKNOWN);
    } catch (error) {
      this.#context.report(error);
      return failed('The payment could not be recorded. Send the same payment or receipt again.');
    }
  }

  async #settle(delivery: Delivery, { claimBlock }: Claim): Promise<PurchaseOutcome> {
    const { key, settlement } = this.#tender;
    const result = await settlement.settle(claimBlock);
    const outcome = await this.#concluded(result, delivery, { isFirst: true });
    if (result.kind === 'unknown') {
      await this.#note({ key, state: 'unknown', detail: result.detail });
    }
    return outcome;
  }

  /** What is in the journal: its end, or else the money is asked for again by whoever may. */
  async #recorded(entry: JournalEntry): Promise<PurchaseOutcome> {
    const end = endOf(this.#tender, entry);
    if (end !== null) {
      await noteDelivery(entry, end, this.#context);
      return end;
    }
    const { journal } = this.#context;
    if (journal.shared === undefined) return this.#resume(entry);
    const { key } = this.#tender;
    if (await journal.shared.take(key, this.#tender)) return this.#resume(entry);
    const now = await journal.findOnDisk(key);
    return (now === null || now.state === 'refused' ? null : endOf(this.#tender, now)) ?? UNKNOWN;
  }

  async #resume(entry: JournalEntry): Promise<PurchaseOutcome> {
    const { key, settlement } = this.#tender;
    const result = await settlement.resume(entry);
    if (result.kind === 'unknown' && this.#context.journal.shared !== undefined) {
      await this.#note({ key, state: 'unknown', detail: result.detail });
    }
    return this.#concluded(result, entry);
  }

  /** Notes how the money ended; a doubt stays as open as it was. */
  async #concluded(
    result: SettlementResult,
    { body, contentType }: Pick<JournalEntry, 'body' | 'contentType'>,
    { isFirst = false, isAwaited = this.#tender.waiters.isWaiting() } = {},
  ): Promise<PurchaseOutcome> {
    switch (result.kind) {
      case 'settled': {
        const noted = { transaction: result.transaction, settledMs: this.#context.clock() };
        const isWaiting = body === null || !isAwaited;
        await this.#note({ key: this.#tender.key, state: 'settled', ...noted, isWaiting });
        return body === null ? NO_LONGER_KEPT : paid({ body, contentType }, noted);
      }
      case 'refused':
        return (await this.#isClosed(result.refusal.reason, isFirst))
          ? refused(result.refusal)
          : UNKNOWN;
      case 'unsent':
        return (await this.#isClosed(result.detail, isFirst))
          ? failed('The payment could not be sent for settlement. Send the same payment again.')
          : UNKNOWN;
      case 'unknown':
        return UNKNOWN;
    }
  }

  /** Notes that no money moved; false where another gatekeeper may ask for it, since ours had no session for a while. */
  async #isClosed(detail: string, isFirst: boolean): Promise<boolean> {
    const { key } = this.#tender;
    const isNoted = await this.#note({ key, state: 'refused', detail, isFirst });
    return isNoted || this.#context.journal.shared === undefined;
  }

  /** Whether it is noted; a row that stays open only means that a repeat asks again. */
  async #note(conclusion: Conclusion): Promise<boolean> {
    try {
      await this.#context.journal.conclude(conclusion);
      return true;
    } catch (error) {
      this.#context.report(error);
      return false;
    }
  }

  /** A process beside this one, such as the one that it takes over from, may have sold under the key: that is delivered. */
  async #unlessTaken(otherwise: PurchaseOutcome): Promise<PurchaseOutcome> {
    const entry = await this.#readFromDisk();
    if (entry === undefined) return UNKNOWN;
    if (entry === null || entry.state === 'refused') return otherwise;
    const { clock, guesses } = this.#context;
    const { key, shown } = this.#tender;
    if (!isBuyer(shown, entry, clock()))
      return { kind: 'unproven', waitS: guesses.waitS(key, clock()) };
    const isElsewhere = otherwise.kind === 'unknown' && entry.state !== 'settled';
    return isElsewhere && this.#context.journal.shared === undefined
      ? otherwise
      : this.#recorded(entry);
  }

  async #readFromDisk(): Promise<JournalEntry | null | undefined> {
    try {
      return await this.#context.journal.findOnDisk(this.#tender.key);
    } catch (error) {
      this.#context.report(error);
      return undefined;
    }
  }
}

function claimOf(
  tender: Tender,
  { body, contentType }: Delivery,
  claimBlock: ChainHead | undefined,
): Claim {
  const { key, resource, version, signed, value, validBefore, shown, usd } = tender;
  const { identifier = null, client = null } = shown ?? {};
  const terms = { key, resource, version, signed, value, validBefore, identifier, client };
  const known = claimBlock === undefined ? terms : { ...terms, claimBlock };
  return { ...known, body, contentType, ...(usd == null ? {} : { usd }) };
}

/** Notes that an answer was delivered which its buyer had not got before; a failure only means that it counts as owed. */
export async function noteDelivery(
  { key, isWaiting }: Pick<JournalEntry, 'key' | 'isWaiting'>,
  outcome: PurchaseOutcome,
  { journal, report }: Pick<PurchaseContext, 'journal' | 'report'>,
): Promise<void> {
  if (isWaiting !== true || outcome.kind !== 'paid') return;
  await journal.delivered(key).catch(report);
}

/** What a repeat is answered without asking anybody; null when the end of the payment is not known. */
export function endOf(tender: PaymentBinding, entry: JournalEntry): PurchaseOutcome | null {
  if (!isSameBinding(entry, tender)) return ALREADY_USED;
  const { body, contentType, state, transaction, settledMs } = entry;
  if (body === null) return NO_LONGER_KEPT;
  const isPaid = state === 'settled' && transaction !== null;
  return isPaid ? paid({ body, contentType }, { transaction, settledMs }) : null;
}

/** Most purchases in flight at once; the next one is told to try again. */
const PURCHASES_IN_FLIGHT_MAX = 10_000;
/** Of one payer, so that nobody takes all places; far more than an agent that buys in parallel needs. */
const PURCHASES_PER_PAYER_MAX = 2000;
/** Bytes of answers that wait for their settlement, so that a slow facilitator cannot fill the memory. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;

interface RunningPurchase {
  readonly binding: TenderBinding & { readonly waiters?: Waiters } & Pick<Tender, 'shown'>;
  readonly outcome: Promise<PurchaseOutcome>;
}

/** Purchases under way in this process: the first one of a key binds it, and copies share its outcome. */
export class InFlight {
  readonly #running = new Map<string, RunningPurchase>();
  readonly #ofPayer = new Map<string, number>();
  #waitingBytes = 0;

  get(key: string): RunningPurchase | undefined {
    return this.#running.get(key);
  }

  isFull(payer: string): boolean {
    const own = this.#ofPayer.get(payer) ?? 0;
    return this.#running.size >= PURCHASES_IN_FLIGHT_MAX || own >= PURCHASES_PER_PAYER_MAX;
  }

  /** Binds the key at once and frees it when the outcome is there; `run` must not throw synchronously. */
  start(
    binding: RunningPurchase['binding'],
    run: () => Promise<PurchaseOutcome>,
  ): Promise<PurchaseOutcome> {
    const { key, payer } = binding;
    this.#ofPayer.set(payer, (this.#ofPayer.get(payer) ?? 0) + 1);
    const outcome = run().finally(() => this.#free(binding));
    this.#running.set(key, { binding, outcome });
    return outcome;
  }

  /** Reserves room for this many bytes; false if there is none. The caller must give it back with release(). */
  hold(bytes: number): boolean {
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  /** A later purchase of the same key stays. */
  #free(binding: TenderBinding): void {
    const { key, payer } = binding;
    if (this.#running.get(key)?.binding === binding) this.#running.delete(key);
    const left = (this.#ofPayer.get(payer) ?? 1) - 1;
    if (left === 0) this.#ofPayer.delete(payer);
    else this.#ofPayer.set(payer, left);
  }
}

/** Doubts that are remembered; the oldest make room, which only means that somebody is asked earlier. */
const DOUBTS_MAX = 20_000;

/** Milliseconds in which nobody is asked again about the same doubt: the Retry-After of its answer. */
const DOUBT_REST_MS = UNKNOWN_RETRY_S * 1000;

/** Settlements still in doubt that were asked about a moment ago: each is asked about once per Retry-After. */
export class Doubts {
  readonly #doubts = new BoundedMap<string, PaymentBinding & { askedMs: number }>(DOUBTS_MAX);

  /** Milliseconds until the key may be asked about again; 0 when it may be now. */
  waitMs({ key, resource, signed }: TenderBinding, nowMs: number): number {
    const doubt = this.#doubts.get(key);
    if (doubt === undefined) return 0;
    const { askedMs } = doubt;
    // A clock that was set back must not make the wait longer.
    const restMs = DOUBT_REST_MS - Math.abs(nowMs - askedMs);
    if (restMs <= 0) this.#doubts.delete(key);
    const isSame = doubt.resource === resource && doubt.signed === signed;
    return isSame ? Math.max(0, restMs) : 0;
  }

  note({ key, resource, signed }: TenderBinding, askedMs: number): void {
    this.#doubts.set(key, { resource, signed, askedMs });
  }
}
