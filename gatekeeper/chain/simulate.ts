import { BaseError, ExecutionRevertedError, type Hex } from 'viem';
import { estimateGas } from 'viem/actions';
import type { FacilitatorRequest } from '../money/facilitator.ts';
import type { ChainNode } from './chain-node.ts';
import type { Relayer } from './relayer.ts';
import { transferCall } from './transfer-call.ts';

/** Gas beyond the estimate, because the chain may have moved on; and what no transfer of USDC needs. */
const GAS_PERCENT = 125n;
const SETTLEMENT_GAS_MAX = 300_000n;

interface TrialOptions {
  readonly node: ChainNode;
  readonly relayer: Relayer;
  /** Told about answers that the node did not give; must not throw. */
  readonly report: (error: unknown) => void;
}

type Trial =
  | { readonly state: 'takes'; readonly gas: bigint }
  | { readonly state: 'reverts' }
  | { readonly state: 'unknown' };

/** Tries a transfer without sending it, as of a block or of the newest one. */
export async function simulate(
  { node, relayer, report }: TrialOptions,
  request: FacilitatorRequest,
  blockNumber?: bigint,
): Promise<Trial> {
  const to = node.network.asset as Hex;
  const data = transferCall(node.network, request);
  if (data === null) return { state: 'reverts' };
  try {
    await node.check();
    // Without a cap the code of a payer could keep the node busy for as long as it likes.
    const call = { account: relayer.address, to, data, blockNumber, gas: SETTLEMENT_GAS_MAX };
    const estimate = await estimateGas(node.client, call);
    const gas = (estimate * GAS_PERCENT) / 100n;
    return gas > SETTLEMENT_GAS_MAX ? { state: 'reverts' } : { state: 'takes', gas };
  } catch (error) {
    if (isRevert(error)) return { state: 'reverts' };
    report(error);
    return { state: 'unknown' };
  }
}

/** Whether the chain itself refused a call. */
export function isRevert(error: unknown): boolean {
  return (
    error instanceof BaseError &&
    error.walk((cause) => cause instanceof ExecutionRevertedError) !== null
  );
}
