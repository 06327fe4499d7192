import {
  BaseError,
  ExecutionRevertedError,
  encodeFunctionData,
  type Hex,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  parseSignature,
  toHex,
} from 'viem';
import { call, estimateGas, getBalance, getCode } from 'viem/actions';
import { BoundedMap } from '../../wire/maps.ts';
import { inTime } from '../../wire/slots.ts';
import type { ChainEvidence, ChainFinding } from '../evidence.ts';
import {
  authorizationKey,
  authorizationOf,
  exactKinds,
  type Facilitator,
  type FacilitatorRequest,
  isAwaited,
  type NoVerdict,
  provenBy,
  type SettleOutcome,
  type ValidityOutcome,
} from '../facilitator.ts';
import { isTokenOf, type Network, SETTLEMENT_MS_MAX } from '../networks.ts';
import { priceOf } from '../payment.ts';
import type { CodeSignature } from '../sign-in.ts';
import { signedBy } from '../signature.ts';
import { provesTransfer } from './chain-evidence.ts';
import { type ChainNode, TOKEN_ABI, type TransactionReceipt } from './chain-node.ts';
import type { Relayed, Relayer } from './relayer.ts';

/** Time between two looks at a transfer that is not deep enough yet. */
const DEPTH_POLL_MS = 1000;
/** Nothing is sent for an account for this time after a transaction for it reverted: its code may let each one do so. */
const REVERTED_MS = 600_000;
const REVERTED_MAX = 10_000;

interface DirectSettlementOptions {
  readonly node: ChainNode;
  readonly evidence: Pick<ChainEvidence, 'find' | 'confirm'>;
  readonly relayer: Relayer;
  readonly report: (error: unknown) => void;
  /** Longest wait for a transaction to be tried, sent, mined and deep enough before the buyer is told to ask again. */
  readonly minedTimeoutMs?: number;
  readonly depthPollMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** The operator's relayer submits the authorization itself: it simulates first, and the receipt must hold the transfer. */
export function directSettlement(options: DirectSettlementOptions): Facilitator {
  const { node } = options;
  const pending = new Map<string, PendingSettlement>();
  /** When a transaction for an account reverted, by the clock of the options. */
  const reverted = new BoundedMap<string, number>(REVERTED_MAX);
  return {
    verify: (request) => verify(options, request),
    async settle(request) {
      const reason = localRefusal(node, request);
      if (reason !== null) return { verdict: 'refused', reason };
      return settle(options, request, { pending, reverted });
    },
    async supported() {
      try {
        await node.check();
        const { address } = options.relayer;
        const gasMoney = await getBalance(node.client, { address });
        if (gasMoney > 0n) return { verdict: 'supported', kinds: exactKinds(node.network) };
        return { verdict: 'none', detail: `the relayer "${address}" has no money for gas` };
      } catch (error) {
        options.report(error);
        return NO_ANSWER;
      }
    },
  };
}

async function verify(
  options: DirectSettlementOptions,
  request: FacilitatorRequest,
): Promise<ValidityOutcome> {
  const reason = localRefusal(options.node, request) ?? (await undeployed(options, request));
  if (reason === 'unknown') return NO_ANSWER;
  if (reason !== null) return { verdict: 'invalid', reason };
  const trial = await simulate(options, request);
  if (trial.state === 'takes') return { verdict: 'valid' };
  if (trial.state === 'unknown') return NO_ANSWER;
  const outcome = await judged(options, request);
  if (outcome.verdict === 'settled') return { verdict: 'valid' };
  return outcome.verdict === 'none' ? outcome : { verdict: 'invalid', reason: outcome.reason };
}

/** What is to be settled, and one deadline for all that is waited for: a chain that stands still must not hold buyers without a word. */
interface TimedRequest {
  readonly request: FacilitatorRequest;
  readonly noteRevert: () => void;
  readonly leftMs: () => number;
}
interface PendingSettlement {
  readonly sending: Promise<Relayed>;
  readonly waiting: Set<() => boolean>;
}
/** A transaction that is still on its way is waited for again; it is not sent twice. */
async function settle(
  options: DirectSettlementOptions,
  request: FacilitatorRequest,
  { pending, reverted }: { pending: Map<string, PendingSettlement>; reverted: Map<string, number> },
): Promise<SettleOutcome> {
  const { now = () => performance.now(), minedTimeoutMs = SETTLEMENT_MS_MAX } = options;
  const endMs = now() + minedTimeoutMs;
  const payer = authorizationOf(request).from.toLowerCase();
  const noteRevert = (): void => void reverted.set(payer, now());
  const asked = { request, leftMs: () => Math.max(0, endMs - now()), noteRevert };
  const key = authorizationKey(request);
  const known = pending.get(key);
  if (known !== undefined) return awaited(options, asked, known);
  const revertedAt = reverted.get(payer);
  if (revertedAt !== undefined && now() - revertedAt < REVERTED_MS) {
    // Nothing is sent, but what somebody else submitted is taken.
    const finding = await options.evidence.find(authorizationOf(request));
    return finding.state === 'paid' ? provenBy(finding) : REVERTED;
  }
  const trial = await simulate(options, request);
  if (trial.state === 'unknown') return { ...NO_ANSWER, unsent: true };
  if (trial.state === 'reverts') return judged(options, request);
  const settlement = send(options, request, trial.gas);
  pending.set(key, settlement);
  const forget = (): void => void pending.delete(key);
  settlement.sending
    .then((relayed) => (relayed.state === 'sent' ? relayed.receipt : null))
    .then(forget, forget);
  return awaited(options, asked, settlement);
}

function send(
  options: DirectSettlementOptions,
  request: FacilitatorRequest,
  gas: bigint,
): PendingSettlement {
  const { node, relayer, report } = options;
  const data = transferCall(node.network, request);
  if (data === null) throw new RangeError('Cannot send a transfer: its signature is unreadable');
  const call = { to: node.network.asset as Hex, data, gas };
  const waiting: PendingSettlement['waiting'] = new Set();
  const sending = relayer
    .send(call, () => [...waiting].some((isWaiting) => isWaiting()))
    .catch((error: unknown): Relayed => {
      report(error);
      return { state: 'unsent', detail: 'the node gave no answer' };
    });
  return { sending, waiting };
}

async function awaited(
  options: DirectSettlementOptions,
  asked: TimedRequest,
  { sending, waiting }: PendingSettlement,
): Promise<SettleOutcome> {
  const isWaiting = (): boolean => isAwaited(asked.request);
  waiting.add(isWaiting);
  try {
    const relayed = await inTime(sending, asked.leftMs());
    if (relayed === null) return { verdict: 'none', detail: 'not sent in time' };
    if (relayed.state === 'unsent') {
      const { state, ...why } = relayed;
      return { verdict: 'none', ...why, unsent: true };
    }
    const receipt = await inTime(relayed.receipt, asked.leftMs());
    if (receipt === null) return { verdict: 'none', detail: 'not mined in time' };
    return await confirmed(options, asked, receipt);
  } finally {
    waiting.delete(isWaiting);
  }
}

/** Waits for the depth that the operator asked for; a transaction that moved nothing is judged by the chain. */
async function confirmed(
  options: DirectSettlementOptions,
  { request, leftMs, noteRevert }: TimedRequest,
  receipt: TransactionReceipt,
): Promise<SettleOutcome> {
  const { evidence, depthPollMs = DEPTH_POLL_MS } = options;
  const authorization = authorizationOf(request);
  // The receipt in hand counts: another machine of the same node may be a block behind and know nothing of it.
  const isMoved = provesTransfer(receipt, authorization, options.node.network);
  while (leftMs() > 0) {
    const asking = evidence.confirm(authorization, receipt.transactionHash);
    const finding = await inTime(asking, leftMs());
    if (finding?.state === 'paid') return provenBy(finding);
    if (finding?.state === 'unused' && !isMoved) {
      if (receipt.succeeded) return GIVEN_UP;
      const outcome = await judged(options, request, receipt.blockNumber);
      // What somebody else submitted first reverts too, and is paid.
      if (outcome.verdict !== 'settled') noteRevert();
      return outcome;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(depthPollMs, leftMs())));
  }
  return { verdict: 'none', detail: 'not confirmed in time' };
}

/** The nonce went to an empty transaction, because nobody waited: the next repeat sends it again. */
const GIVEN_UP: NoVerdict = { verdict: 'none', detail: 'given up before it was mined' };

/** What to make of an authorization that the token does not take now, or did not take in a block. */
async function judged(
  options: DirectSettlementOptions,
  request: FacilitatorRequest,
  since = 0n,
): Promise<SettleOutcome> {
  const finding: ChainFinding = await options.evidence.find(authorizationOf(request));
  if (finding.state === 'paid') return provenBy(finding);
  if (finding.state === 'cancelled')
    return { verdict: 'refused', reason: 'authorization_cancelled', isProven: true };
  if (finding.state !== 'unused') return NO_ANSWER;
  try {
    const reason = await refusalReason(options, request, since);
    return reason === null ? CONTRADICTED : { verdict: 'refused', reason, isProven: true };
  } catch (error) {
    options.report(error);
    return NO_ANSWER;
  }
}

/**
 * What keeps the token from taking an authorization that nobody used, all of it as of one block: of two machines behind
 * one address the one that lags does not know the use yet, while the other one shows that the money is gone. Null when
 * that block explains nothing.
 */
async function refusalReason(
  options: DirectSettlementOptions,
  request: FacilitatorRequest,
  since: bigint,
): Promise<string | null> {
  const { node } = options;
  const authorization = authorizationOf(request);
  const { from, value } = authorization;
  const { number: block } = await node.block('latest');
  if (block < since) return null;
  const [isUsed, trial, balance, code] = await Promise.all([
    node.isUsed(authorization, block),
    simulate(options, request, block),
    node.balanceOf(from, block),
    getCode(node.client, { address: from as Hex, blockNumber: block }),
  ]);
  if (isUsed || trial.state !== 'reverts') return null;
  if (balance < BigInt(value)) return 'insufficient_funds';
  return code === undefined ? 'execution_reverted' : 'payer_is_smart_account';
}

/** What can be judged without the chain, so that it costs no gas and no request. */
function localRefusal({ network }: ChainNode, request: FacilitatorRequest): string | null {
  const { paymentRequirements } = request;
  const authorization = authorizationOf(request);
  if (!isTokenOf(paymentRequirements, network)) return 'invalid_network';
  if (authorization.to.toLowerCase() !== paymentRequirements.payTo.toLowerCase()) {
    return 'invalid_exact_evm_payload_recipient_mismatch';
  }
  const isShort = BigInt(authorization.value) < BigInt(priceOf(paymentRequirements));
  return isShort ? 'invalid_exact_evm_payload_authorization_value' : null;
}

/** Why an account without code cannot have signed; null where it has code, or its key signed. Ends most made-up payments. */
async function undeployed(
  { node, report }: DirectSettlementOptions,
  request: FacilitatorRequest,
): Promise<string | null> {
  if (isSignedByKey(node.network, request)) return null;
  try {
    await node.check();
    const address = authorizationOf(request).from as Hex;
    if ((await getCode(node.client, { address })) !== undefined) return null;
    // ERC-6492: it brings along how the account would be deployed.
    return isErc6492Signature(request.paymentPayload.payload.signature as Hex)
      ? 'invalid_exact_evm_payload_undeployed_smart_wallet'
      : 'invalid_exact_evm_payload_signature';
  } catch (error) {
    report(error);
    return 'unknown';
  }
}

const REVERTED: NoVerdict = {
  verdict: 'none',
  detail: 'a transaction for this payer reverted a moment ago',
  unsent: true,
  declined: true,
};
const CONTRADICTED: NoVerdict = {
  verdict: 'none',
  detail: 'the token does not take it, and the chain node does not show why',
};
const NO_ANSWER: NoVerdict = { verdict: 'none', detail: 'the chain node gave no answer' };

/** Gas beyond the estimate, because the chain may have moved on; and what no transfer of USDC needs. */
const GAS_PERCENT = 125n;
const SETTLEMENT_GAS_MAX = 300_000n;

type Trial =
  | { readonly state: 'takes'; readonly gas: bigint }
  | { readonly state: 'reverts' }
  | { readonly state: 'unknown' };

/** Tries a transfer without sending it, as of a block or of the newest one. */
async function simulate(
  by: { node: ChainNode; relayer: Relayer; report: (error: unknown) => void },
  request: FacilitatorRequest,
  blockNumber?: bigint,
): Promise<Trial> {
  const { node, relayer, report } = by;
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

function isRevert(error: unknown): boolean {
  return (
    error instanceof BaseError &&
    error.walk((cause) => cause instanceof ExecutionRevertedError) !== null
  );
}

/** For accounts with code (FiatToken 2.2): the token asks the account whether it signed. */
const BYTES_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** Whether the payer's own key signed; else its code may have. */
function isSignedByKey(network: Network, { paymentPayload }: FacilitatorRequest): boolean {
  const { authorization, signature } = paymentPayload.payload;
  return signedBy(network, authorization, signature).payer === authorization.from.toLowerCase();
}

/** The call that moves the money; null for a signature that is wrapped in a way that nobody can read. */
function transferCall(network: Network, request: FacilitatorRequest): Hex | null {
  const { from, to, value, validAfter, validBefore, nonce } = authorizationOf(request);
  const fields = [
    from as Hex,
    to as Hex,
    BigInt(value),
    BigInt(validAfter),
    BigInt(validBefore),
    nonce as Hex,
  ] as const;
  const signature = request.paymentPayload.payload.signature as Hex;
  const functionName = 'transferWithAuthorization';
  if (isSignedByKey(network, request)) {
    const { r, s, yParity } = parseSignature(signature);
    const args = [...fields, 27 + yParity, r, s] as const;
    return encodeFunctionData({ abi: TOKEN_ABI, functionName, args });
  }
  try {
    // The account sees what is inside. The call to its factory is left out: nothing that a payer wrote is called.
    const isWrapped = isErc6492Signature(signature);
    const inner = isWrapped ? parseErc6492Signature(signature).signature : signature;
    return encodeFunctionData({ abi: BYTES_ABI, functionName, args: [...fields, inner] });
  } catch {
    return null;
  }
}

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
