import { describe, expect, it } from 'vitest';
import { facilitatorRefusal } from '../../../gatekeeper/payment/payment-check.ts';

const errorOf = (reason: string): string => facilitatorRefusal(reason).error;

describe('facilitatorRefusal()', () => {
  it.each([
    'nonce_already_used',
    'invalid_exact_evm_nonce_already_used',
    'invalid_exact_evm_payload_authorization_nonce',
    'authorization_used',
    'authorization_cancelled',
    'authorization_canceled',
    'invalid_transaction_state',
    'duplicate_settlement',
    'nonce used',
    'FiatTokenV2: authorization is used or canceled',
    'execution reverted: FiatTokenV2: authorization is used or canceled',
  ])('I9: never says of a burned nonce that it can be sent again: %s', (reason) => {
    const { error } = facilitatorRefusal(reason);
    expect(error).not.toMatch(/sen[dt] (it )?again/);
    expect(error).not.toMatch(/nothing was charged/);
    expect(error).toMatch(/check your wallet for the transfer before you sign a new one$/);
  });

  it.each([
    'insufficient_funds',
    'Insufficient USDC balance',
    'execution reverted: ERC20: transfer amount exceeds balance',
    'The contract function "transferWithAuthorization" reverted with the following reason:?ERC20: transfer amount ' +
      'exceeds balance??Contract Call:?  function:  transferWithAuthorization(bytes32 nonce)',
    'insufficient funds for gas * price + value: balance 0',
  ])('says of missing money that the same authorization can be sent again: %s', (reason) => {
    expect(errorOf(reason)).toMatch(
      /nothing was charged; add funds, then send the same authorization again/,
    );
  });

  it.each([
    ['payment_expired', /expired; nothing was charged; sign a new one$/],
    ['invalid_exact_evm_payload_authorization_valid_before', /has expired/],
    ['invalid_exact_evm_payload_authorization_valid_after', /not valid yet/],
    ['FiatTokenV2: authorization is not yet valid', /not valid yet/],
    ['invalid_payload', /plain externally-owned account/],
    ['payer_is_smart_account', /plain externally-owned account/],
    ['invalid_exact_evm_payload_undeployed_smart_wallet', /plain externally-owned account/],
    ['invalid_exact_evm_payload_signature', /plain externally-owned account/],
  ])('says what to do about %s', (reason, words) => {
    expect(facilitatorRefusal(reason)).toEqual({ reason, error: expect.stringMatching(words) });
  });

  it.each(['unspecified', 'execution_reverted', 'kyt_refused', 'an unused word'])(
    'promises nothing about a reason that says too little: %s',
    (reason) => {
      expect(errorOf(reason)).toBe('the facilitator refused the payment; nothing was charged');
    },
  );
});
