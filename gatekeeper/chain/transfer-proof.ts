import { isAddressEqual, type Log, parseEventLogs } from 'viem';
import type { Network } from '../money/networks.ts';
import type { Authorization } from '../money/payment.ts';
import { TOKEN_ABI, type TransactionReceipt } from './chain-node.ts';

/**
 * Whether a mined transaction used exactly this authorization and moved its value to its payee. The token
 * logs `AuthorizationUsed` and, directly after it, the `Transfer`: a transfer further on belongs to another
 * authorization of the same transaction and must not pay for two.
 */
export function provesTransfer(
  receipt: TransactionReceipt,
  authorization: Authorization,
  { asset }: Network,
): boolean {
  if (!receipt.succeeded) return false;
  const ours = receipt.logs.filter(({ address }) =>
    isAddressEqual(address, asset as `0x${string}`),
  );
  const used = parseEventLogs({ abi: TOKEN_ABI, eventName: 'AuthorizationUsed', logs: [...ours] });
  const mark = used.find(({ args }) => isOf(authorization, args));
  const next = ours.find(({ logIndex }) => mark !== undefined && logIndex === mark.logIndex + 1);
  return next !== undefined && isTransfer(next, authorization);
}

/** Whether an event speaks of this authorization. */
export function isOf(
  { from, nonce }: Authorization,
  { authorizer, nonce: logged }: { readonly authorizer: string; readonly nonce: string },
): boolean {
  return isSame(authorizer, from) && isSame(logged, nonce);
}

function isTransfer(log: Log, authorization: Authorization): boolean {
  const [transfer] = parseEventLogs({ abi: TOKEN_ABI, eventName: 'Transfer', logs: [log] });
  if (transfer === undefined) return false;
  const { from, to, value } = transfer.args;
  return (
    isSame(from, authorization.from) &&
    isSame(to, authorization.to) &&
    value === BigInt(authorization.value)
  );
}

function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
