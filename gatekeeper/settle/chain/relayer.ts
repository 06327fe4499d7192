import { BaseError, type Hex, keccak256, type LocalAccount, RpcRequestError } from 'viem';
import { estimateFeesPerGas, getTransactionCount, sendRawTransaction } from 'viem/actions';
import type { ChainNode, TransactionReceipt } from './chain-node.ts';

/** Transactions on their way at once: nodes hold back more of one account. */
const TRANSACTIONS_MAX = 16;
const RECEIPT_POLL_MS = 1000;
/** A transaction that is not mined after this time is sent again, for a better fee where the cap allows. */
const RESEND_AFTER_MS = 15_000;
/** Time for a node to show the receipt of a transaction whose account nonce is used. */
const RECEIPT_GRACE_MS = 30_000;
const NONCE_ATTEMPTS_MAX = 5;
const EMPTY_TRANSFER_GAS = 21_000n;
const NOTHING: Hex = '0x';
const ABOVE_CAP = 'gas costs more than the cap allows';

/** `unsent` for sure (`declined` where the cap or the node said no), or on its way until `receipt` resolves: null when its nonce went to something else. */
export type Relayed =
  | { readonly state: 'unsent'; readonly detail: string; readonly declined?: true }
  | { readonly state: 'sent'; readonly receipt: Promise<TransactionReceipt | null> };

/** The account that pays for gas; no other program may use it. */
export interface Relayer {
  readonly address: Hex;
  /** A call that nobody waits for is not sent; if it was, an empty transaction replaces it where that still works. */
  send(call: RelayedCall, isWanted?: () => boolean): Promise<Relayed>;
  close(): void;
}

interface RelayerOptions {
  readonly node: ChainNode;
  readonly account: LocalAccount;
  /** Wei for one unit of gas; never exceeded. */
  readonly maxFeePerGas: bigint;
  readonly clock: () => number;
  readonly report: (error: unknown) => void;
  readonly pollMs?: number;
  readonly resendAfterMs?: number;
}

interface SentCall {
  readonly nonce: number;
  call: RelayedCall;
  readonly isWanted: () => boolean;
  readonly forms: SignedTransaction[];
  readonly resolve: (receipt: TransactionReceipt | null) => void;
  sentAtMs: number;
  /** When its nonce was first seen to be used without a receipt of ours. */
  usedAtMs: number | null;
}

interface RelayerState extends RelayerOptions {
  readonly nonces: ReturnType<typeof accountNonces>;
  readonly wire: Broadcast;
  readonly sent: Map<number, SentCall>;
  timer: NodeJS.Timeout | null;
  closed: boolean;
}

/**
 * Sends calls from one account, many at once. What was sent is sent again until its account nonce is used,
 * because a later transaction waits for every earlier one; a nonce that came back is filled for the same
 * reason, and so is that of a call which nobody waits for any more: money moves while somebody does.
 * After a restart the node's own count of what waits is where it goes on.
 */
export function relayer(options: RelayerOptions): Relayer {
  const { node, account } = options;
  const { client } = node;
  const { address } = account;
  const state: RelayerState = {
    ...options,
    nonces: accountNonces({
      max: TRANSACTIONS_MAX,
      onChain: () => getTransactionCount(client, { address, blockTag: 'pending' }),
    }),
    wire: broadcaster(options),
    sent: new Map(),
    timer: null,
    closed: false,
  };
  return {
    address,
    send: (call, isWanted = () => true) => send(state, call, isWanted),
    close() {
      state.closed = true;
      if (state.timer !== null) clearTimeout(state.timer);
      for (const one of state.sent.values()) one.resolve(null);
    },
  };
}

async function send(
  state: RelayerState,
  call: RelayedCall,
  isWanted: () => boolean,
): Promise<Relayed> {
  const { nonces, wire } = state;
  let detail = '';
  for (let attempt = 0; attempt < NONCE_ATTEMPTS_MAX && !state.closed; attempt++) {
    const fees = await wire.fees();
    if (fees === null) return { state: 'unsent', detail: ABOVE_CAP, declined: true };
    const nonce = await nonces.take();
    const form = await wire.sign(call, { nonce, fees }).catch((error: unknown) => {
      nonces.giveBack(nonce);
      throw error;
    });
    // No await from here to the submission: who gave up meanwhile must not be charged.
    if (!isWanted()) {
      nonces.giveBack(nonce);
      return { state: 'unsent', detail: 'nobody waits for it any more' };
    }
    const answer = await wire.submit(form);
    if (answer.state === 'taken')
      return { state: 'sent', receipt: watch(state, { nonce, call, isWanted, form }) };
    detail = answer.detail;
    if (answer.state === 'rejected') {
      nonces.giveBack(nonce);
      return { state: 'unsent', detail, declined: true };
    }
    nonces.skip(nonce);
  }
  return { state: 'unsent', detail };
}

function watch(
  state: RelayerState,
  { form, ...one }: Pick<SentCall, 'nonce' | 'call' | 'isWanted'> & { form: SignedTransaction },
): Promise<TransactionReceipt | null> {
  return new Promise((resolve) => {
    const sentAtMs = state.clock();
    state.sent.set(one.nonce, { ...one, forms: [form], resolve, sentAtMs, usedAtMs: null });
    schedule(state);
  });
}

function schedule(state: RelayerState): void {
  if (state.timer !== null || state.closed) return;
  const { pollMs = RECEIPT_POLL_MS } = state;
  state.timer = setTimeout(() => {
    look(state)
      .catch(state.report)
      .finally(() => {
        state.timer = null;
        if (state.sent.size > 0) schedule(state);
      });
  }, pollMs);
  state.timer.unref();
}

async function look(state: RelayerState): Promise<void> {
  const { node, account, nonces } = state;
  const { address } = account;
  const used = await getTransactionCount(node.client, { address, blockTag: 'latest' });
  await Promise.all(
    [...state.sent.values()].map((one) =>
      one.nonce < used ? conclude(state, one) : resend(state, one),
    ),
  );
  const last = Math.max(-1, ...state.sent.keys());
  for (const nonce of nonces.takeGaps({ used, below: last })) await fill(state, nonce);
}

async function conclude(state: RelayerState, one: SentCall): Promise<void> {
  const { node, clock, nonces, sent } = state;
  for (const { hash } of one.forms) {
    const receipt = await node.receipt(hash);
    if (receipt === null) continue;
    sent.delete(one.nonce);
    nonces.done(one.nonce);
    one.resolve(receipt);
    return;
  }
  one.usedAtMs ??= clock();
  if (clock() - one.usedAtMs < RECEIPT_GRACE_MS) return;
  sent.delete(one.nonce);
  nonces.done(one.nonce);
  one.resolve(null);
}

async function resend(state: RelayerState, one: SentCall): Promise<void> {
  const { wire, clock, resendAfterMs = RESEND_AFTER_MS } = state;
  if (clock() - one.sentAtMs < resendAfterMs) return;
  one.sentAtMs = clock();
  const last = one.forms.at(-1);
  if (last === undefined) return;
  const isGivenUp = !one.isWanted() && one.call.data !== NOTHING;
  if (isGivenUp) one.call = emptyTransfer(state);
  const better = isGivenUp ? await wire.replacing(last.fees) : await wire.better(last.fees);
  if (better === null && !isGivenUp) {
    await wire.submit(last);
    return;
  }
  // Above the cap it takes the place of what the node lost, and not of what it still has.
  const form = await wire.sign(one.call, { nonce: one.nonce, fees: better ?? last.fees });
  // Noted before it leaves: a node that gives no answer may have taken it.
  one.forms.push(form);
  await wire.submit(form);
}

/** A call that does nothing but use up a nonce. */
function emptyTransfer({ account }: RelayerState): RelayedCall {
  return { to: account.address, data: NOTHING, gas: EMPTY_TRANSFER_GAS };
}

/** Uses up a nonce that was given back while later ones are on their way; it is given back again where that fails. */
async function fill(state: RelayerState, nonce: number): Promise<void> {
  const { wire, nonces, report } = state;
  const call = emptyTransfer(state);
  try {
    const fees = await wire.fees();
    const form = fees === null ? null : await wire.sign(call, { nonce, fees });
    const isTaken = form !== null && (await wire.submit(form)).state === 'taken';
    if (isTaken) watch(state, { nonce, call, isWanted: () => true, form }).catch(report);
    else nonces.giveBack(nonce);
  } catch (error) {
    report(error);
    nonces.giveBack(nonce);
  }
}

/** Hands out the account nonces of one account, each to one transaction at a time; at most `max` are out at once. */
export function accountNonces({ max, onChain }: { max: number; onChain: () => Promise<number> }) {
  const out = new Set<number>();
  const gaps = new Set<number>();
  const waiting: (() => void)[] = [];
  let next: number | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const allot = async (): Promise<number> => {
    while (out.size >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    if (out.size === 0) {
      // Nobody is on the way, so the chain knows best.
      gaps.clear();
      next = null;
    }
    const [gap] = [...gaps].sort((left, right) => left - right);
    const nonce = gap ?? next ?? Math.max(await onChain(), ...[...out].map((used) => used + 1));
    if (gap === undefined) next = nonce + 1;
    else gaps.delete(gap);
    out.add(nonce);
    return nonce;
  };
  const release = (nonce: number): void => {
    out.delete(nonce);
    waiting.shift()?.();
  };
  return {
    /** The lowest free nonce; waits while too many are in use. */
    take(): Promise<number> {
      // One after another: two must not find the same nonce free.
      const taken = last.then(allot);
      last = taken.catch(() => {});
      return taken;
    },
    /** The nonce was not used: somebody else may have it. */
    giveBack(nonce: number): void {
      if (next === nonce + 1) next = nonce;
      else gaps.add(nonce);
      release(nonce);
    },
    /** The nonce is used by something that is not ours: the chain must be asked where to go on. */
    skip(nonce: number): void {
      next = null;
      release(nonce);
    },
    done: release,
    /** Takes the nonces that were given back below one that is out; those already used are forgotten. */
    takeGaps({ used, below }: { used: number; below: number }): readonly number[] {
      const taken = [...gaps].filter((nonce) => nonce < below);
      for (const nonce of taken) gaps.delete(nonce);
      const open = taken.filter((nonce) => nonce >= used);
      for (const nonce of open) out.add(nonce);
      return open;
    },
  };
}

/** Nodes replace a waiting transaction for a tenth more. */
const BETTER_PERCENT = 112n;

interface RelayedCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}
interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}
/** A transaction in the one form in which it may be sent again and again. */
interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly fees: Fees;
}

/** Signs and sends transactions of one account, never above the cap. */
export interface Broadcast {
  /** What the chain asks now; null above the cap. */
  fees(): Promise<Fees | null>;
  /** Fees that replace these; null where that is not needed or above the cap. */
  better(fees: Fees): Promise<Fees | null>;
  /** Fees that replace these in any case; null above the cap. */
  replacing(fees: Fees): Promise<Fees | null>;
  sign(
    call: RelayedCall,
    terms: { readonly nonce: number; readonly fees: Fees },
  ): Promise<SignedTransaction>;
  /** `taken` also when the answer was unclear; `stale`: the account nonce belongs to another transaction. */
  submit(
    form: SignedTransaction,
  ): Promise<{ state: 'taken' } | { state: 'stale' | 'rejected'; detail: string }>;
}

export function broadcaster(by: {
  node: ChainNode;
  account: LocalAccount;
  maxFeePerGas: bigint;
}): Broadcast {
  const { node, account, maxFeePerGas: cap } = by;
  const { client, network } = node;
  const capped = (fees: Fees): Fees | null => (fees.maxFeePerGas > cap ? null : fees);
  return {
    async fees() {
      return capped(await estimateFeesPerGas(client));
    },
    async better(fees) {
      const asked = await estimateFeesPerGas(client);
      return asked.maxFeePerGas <= fees.maxFeePerGas ? null : capped(above(asked, fees));
    },
    async replacing(fees) {
      return capped(above(await estimateFeesPerGas(client), fees));
    },
    async sign(call, { nonce, fees }) {
      const raw = await account.signTransaction({
        ...call,
        ...fees,
        type: 'eip1559',
        chainId: network.chainId,
        nonce,
      });
      return { raw, hash: keccak256(raw), fees };
    },
    async submit({ raw }) {
      try {
        await sendRawTransaction(client, { serializedTransaction: raw });
        return { state: 'taken' };
      } catch (error) {
        const answer =
          error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError);
        // Without an answer of the node, it may have taken the transaction.
        if (!(answer instanceof RpcRequestError) || KNOWN.test(answer.details))
          return { state: 'taken' };
        const text = answer.details;
        if (STALE.test(text)) return { state: 'stale', detail: 'the account nonce is used' };
        // The node's words may speak of the account's money; which of ours it was is enough.
        const [detail] = REJECTED.exec(text) ?? [];
        return detail === undefined ? { state: 'taken' } : { state: 'rejected', detail };
      }
    },
  };
}

/** What is asked, or as much more than before as nodes want for a replacement. */
function above(asked: Fees, before: Fees): Fees {
  return {
    maxFeePerGas: higher(asked.maxFeePerGas, before.maxFeePerGas),
    maxPriorityFeePerGas: higher(asked.maxPriorityFeePerGas, before.maxPriorityFeePerGas),
  };
}

function higher(asked: bigint, before: bigint): bigint {
  const least = (before * BETTER_PERCENT) / 100n + 1n;
  return asked > least ? asked : least;
}

const KNOWN = /already known|already imported|known transaction/i;
const STALE = /nonce too low|nonce is too low|invalid nonce|replacement transaction underpriced/i;
/** Messages of a node that certainly did not accept a transaction; all others are unclear. */
const REJECTED =
  /insufficient funds|underpriced|fee cap|max fee per gas less|gas limit|intrinsic gas|invalid sender|invalid chain|nonce too high|txpool is full/i;
