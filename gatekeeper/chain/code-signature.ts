import { encodeFunctionData, type Hex, parseAbi, toHex } from 'viem';
import { call } from 'viem/actions';
import type { CodeSignature } from '../money/sign-in.ts';
import type { ChainNode } from './chain-node.ts';
import { isRevert } from './simulate.ts';

/** EIP-1271. */
const ABI = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
/** What it returns for a signature that it takes, as a word. */
const TAKEN = `0x1626ba7e${'00'.repeat(28)}`;
/** What checking a passkey takes without help of the chain; without a cap, code could keep the node busy. */
const CHECK_GAS_MAX = 1_000_000n;

/** Whether the code of an account takes a signature now; throws when the node does not say. */
export async function isTakenByCode(
  node: ChainNode,
  { address, digest, signature }: CodeSignature,
): Promise<boolean> {
  const args = [toHex(digest), signature as Hex] as const;
  const data = encodeFunctionData({ abi: ABI, functionName: 'isValidSignature', args });
  await node.check();
  try {
    const asked = await call(node.client, { to: address as Hex, data, gas: CHECK_GAS_MAX });
    return asked.data?.slice(0, TAKEN.length) === TAKEN;
  } catch (error) {
    if (isRevert(error)) return false;
    throw error;
  }
}
