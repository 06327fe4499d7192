import { BaseError, type Hex, keccak256, type LocalAccount, RpcRequestError } from 'viem';
import { estimateFeesPerGas, sendRawTransaction } from 'viem/actions';
import type { ChainNode } from './chain-node.ts';

/** Nodes replace a waiting transaction for a tenth more. */
const BETTER_PERCENT = 112n;

/** A call that the account makes. */
export interface RelayedCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}
interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}
/** A transaction in the one form in which it may be sent again and again. */
export interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly fees: Fees;
}
/**
 * `taken` also when the node gave no clear answer: it may have the transaction. `stale` means that the
 * account nonce belongs to another one.
 */
type Submitted =
  | { readonly state: 'taken' }
  | { readonly state: 'stale' | 'rejected'; readonly detail: string };

interface BroadcastOptions {
  readonly node: ChainNode;
  readonly account: LocalAccount;
  readonly maxFeePerGas: bigint;
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
  submit(form: SignedTransaction): Promise<Submitted>;
}

export function broadcaster({ node, account, maxFeePerGas: cap }: BroadcastOptions): Broadcast {
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
        return submitted(refusalText(error));
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

/** What the node answered; null when it did not, so that it may have taken the transaction. */
function refusalText(error: unknown): string | null {
  if (!(error instanceof BaseError)) return null;
  const answer = error.walk((cause) => cause instanceof RpcRequestError);
  return answer instanceof RpcRequestError ? answer.details : null;
}

const KNOWN = /already known|already imported|known transaction/i;
const STALE = /nonce too low|nonce is too low|invalid nonce|replacement transaction underpriced/i;
/** Messages of a node that certainly did not accept a transaction; all others are unclear. */
const REJECTED =
  /insufficient funds|underpriced|fee cap|max fee per gas less|gas limit|intrinsic gas|invalid sender|invalid chain|nonce too high|txpool is full/i;

function submitted(text: string | null): Submitted {
  if (text === null || KNOWN.test(text)) return { state: 'taken' };
  if (STALE.test(text)) return { state: 'stale', detail: 'the account nonce is used' };
  // The node's words may speak of the account's money; which of ours it was is enough.
  const [reason] = REJECTED.exec(text) ?? [];
  return reason === undefined ? { state: 'taken' } : { state: 'rejected', detail: reason };
}
