import { describe, expect, it } from 'vitest';
import { isDefinite } from '../../../gatekeeper/payment/definite-refusal.ts';

const refused = (reason: string) => ({ verdict: 'refused', reason }) as const;

/** What published facilitators say before they send anything, and the token's words for it. */
const DEFINITE = [
  'insufficient_funds',
  'invalid_network',
  'invalid_payload',
  'invalid_payment',
  'invalid_payment_requirements',
  'invalid_scheme',
  'invalid_x402_version',
  'payment_expired',
  'unsupported_scheme',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_undeployed_smart_wallet',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_token_name_mismatch',
  'FiatTokenV2: authorization is expired',
  'FiatTokenV2: invalid signature',
  'ERC20: transfer amount exceeds balance',
];
/** What may be said of a transfer that was sent, and what nobody has explained. */
const DOUBTFUL = [
  'unspecified',
  'internal_error',
  'server_error',
  'settle_error',
  'rpc_error',
  'receipt_not_found',
  'failed to fetch receipt',
  'unexpected_settle_error',
  'settlement_pending',
  'duplicate_settlement',
  'transaction_failed',
  'execution_reverted',
  'invalid_transaction_state',
  'invalid_exact_evm_transaction_failed',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_exact_evm_transfer_event_mismatch',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_payload_authorization_nonce',
  'FiatTokenV2: authorization is used or canceled',
  'insufficient_funds after timeout',
  'not insufficient_funds',
  'refused',
];

describe('isDefinite()', () => {
  it('I9: isDefinite() is true of what is said before anything is sent', () => {
    for (const reason of DEFINITE)
      expect([reason, isDefinite(refused(reason))]).toEqual([reason, true]);
  });

  it('I9: isDefinite() is false of every other reason, known or not', () => {
    for (const reason of DOUBTFUL)
      expect([reason, isDefinite(refused(reason))]).toEqual([reason, false]);
  });

  it('I9: isDefinite() is false beside a transaction, whatever the reason', () => {
    for (const reason of DEFINITE) {
      expect(isDefinite({ ...refused(reason), namesTransaction: true })).toBe(false);
    }
  });

  it('isDefinite() believes the chain', () => {
    expect(isDefinite({ ...refused('execution_reverted'), isProven: true })).toBe(true);
    expect(isDefinite(refused('execution_reverted'))).toBe(false);
  });
});
