import { keccak256 } from '../address.ts';
import {
  exactKinds,
  type Facilitator,
  type FacilitatorRequest,
  type SettleOutcome,
  type ValidityOutcome,
} from '../facilitator.ts';
import { findNetwork, NETWORKS, tokenOfTerms } from '../networks.ts';
import { priceOf } from '../payment.ts';
import { signedBy } from '../signature.ts';

/** TEST-ONLY: settles in memory by the token's own rules, and a repeat with the same transaction. No money moves. */
export function localFacilitator({ clock }: { clock: () => number }): Facilitator {
  const used = new Map<string, string>();
  return {
    async verify(request): Promise<ValidityOutcome> {
      const transfer = checkedTransfer(request);
      if ('reason' in transfer) return { verdict: 'invalid', reason: transfer.reason };
      if (used.has(transfer.key)) return { verdict: 'invalid', reason: NONCE_USED };
      if (!isOpen(transfer, clock())) return { verdict: 'invalid', reason: WINDOW };
      return { verdict: 'valid' };
    },
    async settle(request): Promise<SettleOutcome> {
      const transfer = checkedTransfer(request);
      if ('reason' in transfer) return { verdict: 'refused', reason: transfer.reason };
      const { key, digest } = transfer;
      const transaction = `0x${Buffer.from(keccak256(digest)).toString('hex')}`;
      const booked = used.get(key);
      if (booked === undefined && !isOpen(transfer, clock())) {
        return { verdict: 'refused', reason: WINDOW };
      }
      if (booked !== undefined && booked !== transaction) {
        return { verdict: 'refused', reason: NONCE_USED };
      }
      used.set(key, transaction);
      return { verdict: 'settled', transaction };
    },
    async supported() {
      return { verdict: 'supported', kinds: KINDS };
    },
  };
}

/** Atomic units of USDC, a billion dollars: whoever signs more does not hold it. */
const VALUE_MAX = 10n ** 15n;
const NONCE_USED = 'invalid_exact_evm_nonce_already_used';
const WINDOW = 'invalid_exact_evm_payload_authorization_valid_before';
const KINDS = Object.values(NETWORKS).flatMap(exactKinds);

interface Transfer {
  readonly key: string;
  readonly payer: string;
  readonly digest: Uint8Array;
  readonly validAfter: string;
  readonly validBefore: string;
}

function checkedTransfer(request: FacilitatorRequest): Transfer | { reason: string } {
  const { paymentPayload, paymentRequirements } = request;
  const { authorization, signature } = paymentPayload.payload;
  const { validAfter, validBefore } = authorization;
  const network = tokenOfTerms(paymentRequirements);
  if (network === undefined) return { reason: 'invalid_network' };
  const payer = authorization.from.toLowerCase();
  const signed = signedBy(network, authorization, signature);
  if (signed.payer !== payer) {
    return { reason: 'invalid_exact_evm_payload_signature' };
  }
  if (authorization.to.toLowerCase() !== paymentRequirements.payTo.toLowerCase()) {
    return { reason: 'invalid_exact_evm_payload_recipient_mismatch' };
  }
  if (BigInt(authorization.value) < BigInt(priceOf(paymentRequirements))) {
    return { reason: 'invalid_exact_evm_payload_authorization_value' };
  }
  const isKnown = findNetwork(network.name) === network;
  if (isKnown && BigInt(authorization.value) > VALUE_MAX) return { reason: 'insufficient_funds' };
  const key = `${network.name}|${network.asset}|${payer}|${authorization.nonce}`.toLowerCase();
  return { key, payer, digest: signed.digest, validAfter, validBefore };
}

function isOpen({ validAfter, validBefore }: Transfer, nowMs: number): boolean {
  const now = BigInt(Math.floor(nowMs / 1000));
  return BigInt(validAfter) <= now && now < BigInt(validBefore);
}
