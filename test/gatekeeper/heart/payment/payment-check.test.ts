import { describe, expect, it } from 'vitest';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import {
  checkPayment,
  facilitatorRefusal,
  isDefinite,
} from '../../../../gatekeeper/heart/payment/payment-check.ts';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import {
  type Authorization,
  isRefusal,
  type Payment,
  type Requirements,
} from '../../../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { headerOf, NOW_S, payer } from '../../payer.ts';

const VALUE_FACTOR_MAX = 2;
const VALID_BEFORE_EXTRA_S = 3600;
const VALID_BEFORE_MARGIN_S = 6;
const PAY_TO = `0x${'ab'.repeat(20)}`;
const network = NETWORKS.base;
const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network,
  serviceName: 'Example',
});
const gauge = builtinOperation('/gauge');
const v1 = shop.terms(gauge, '/gauge', 1)[0];
const v2 = shop.terms(gauge, '/gauge', 2)[0];
const alice = payer(network);

async function payment(of: Requirements, overrides: Partial<Authorization> = {}): Promise<Payment> {
  const signed = await alice.sign(overrides.to ?? PAY_TO, '10000', overrides);
  const decoded = decodePayment(headerOf(of, signed), 'amount' in of ? 2 : 1);
  if (isRefusal(decoded)) throw new Error(decoded.error);
  return decoded;
}
const check = (paid: Payment, requirements: Requirements = v1) =>
  checkPayment(paid, { network, requirements }, NOW_S)?.reason ?? null;

describe('checkPayment()', () => {
  it('checkPayment() takes the price and more, in both versions', async () => {
    for (const value of ['10000', '10001', String(10_000 * VALUE_FACTOR_MAX)]) {
      expect(check(await payment(v1, { value }))).toBeNull();
      expect(check(await payment(v2, { value }), v2)).toBeNull();
    }
  });

  it('I3: checkPayment() refuses a value so far above the price that it must be a mistake, with words', async () => {
    for (const value of [String(10_000 * VALUE_FACTOR_MAX + 1), String(2n ** 256n - 1n)]) {
      const refusal = checkPayment(
        await payment(v1, { value }),
        { network, requirements: v1 },
        NOW_S,
      );
      expect(refusal?.reason).toBe('invalid_exact_evm_payload_authorization_value');
      expect(refusal?.error).toBe(
        '"authorization.value" is more than twice the price of 10000; sign for 10000',
      );
    }
  });

  it('I13: checkPayment() refuses one unit less than the price', async () => {
    for (const value of ['9999', '0']) {
      expect(check(await payment(v1, { value }))).toBe(
        'invalid_exact_evm_payload_authorization_value',
      );
    }
  });

  it('checkPayment() refuses another scheme, network, payee and accepted terms', async () => {
    const one = await payment(v1);
    const two = await payment(v2);
    const accepted = two.accepted ?? { amount: '', asset: '', payTo: '' };
    const other = `0x${'cd'.repeat(20)}`;
    expect(check({ ...one, scheme: 'upto' })).toBe('invalid_scheme');
    expect(check({ ...one, network: 'base-sepolia' })).toBe('invalid_network');
    expect(check({ ...one, network: 'eip155:8453' })).toBe('invalid_network');
    expect(check({ ...two, network: 'base' }, v2)).toBe('invalid_network');
    expect(check(await payment(v1, { to: other }))).toBe(
      'invalid_exact_evm_payload_recipient_mismatch',
    );
    for (const part of [{ amount: '1' }, { asset: other }, { payTo: other }]) {
      const wrong = { ...two, accepted: { ...accepted, ...part } };
      expect(check(wrong, v2)).toBe('invalid_payment_requirements');
    }
    expect(check(two, v2)).toBeNull();
  });

  it('I33: checkPayment() takes a window that is open now and 6 seconds on', async () => {
    const last = String(NOW_S + VALID_BEFORE_MARGIN_S);
    expect(check(await payment(v1, { validAfter: String(NOW_S), validBefore: last }))).toBeNull();
    const early = await payment(v1, { validAfter: String(NOW_S + 1) });
    expect(check(early)).toBe('invalid_exact_evm_payload_authorization_valid_after');
    const late = await payment(v1, { validBefore: String(NOW_S + VALID_BEFORE_MARGIN_S - 1) });
    expect(check(late)).toBe('invalid_exact_evm_payload_authorization_valid_before');
  });

  it('I9: checkPayment() refuses a window that ends more than an hour after it has to', async () => {
    const reason = 'invalid_exact_evm_payload_authorization_valid_before';
    const last = NOW_S + v1.maxTimeoutSeconds + VALID_BEFORE_EXTRA_S;
    expect(check(await payment(v1, { validBefore: String(last) }))).toBeNull();
    for (const validBefore of [String(last + 1), String(2n ** 256n - 1n)]) {
      expect(check(await payment(v1, { validBefore }))).toBe(reason);
    }
  });

  it('checkPayment() refuses a signature over anything else', async () => {
    const good = await payment(v1);
    const { authorization } = good;
    const nonce = `0x${'1'.repeat(64)}`;
    const reason = 'invalid_exact_evm_payload_signature';
    expect(check({ ...good, authorization: { ...authorization, nonce } })).toBe(reason);
    expect(check({ ...good, authorization: { ...authorization, value: '10001' } })).toBe(reason);
    expect(check({ ...good, authorization: { ...authorization, from: PAY_TO } })).toBe(reason);
    const shouted = { ...authorization, from: `0x${authorization.from.slice(2).toUpperCase()}` };
    expect(check({ ...good, authorization: shouted })).toBeNull();
  });
});

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
/** A library's error as it travels in one line, with the call behind it. */
const viem = (words: string): string =>
  `The contract function "transferWithAuthorization" reverted with the following reason:?${words}??Contract Call:?` +
  '  address:   0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913?  function:  transferWithAuthorization(bytes32 nonce)';
/** The same said at length: nothing was sent, because a simulation failed or a node did not take the transaction. */
const DEFINITE_IN_WORDS = [
  viem('ERC20: transfer amount exceeds balance'),
  viem('FiatTokenV2: invalid signature'),
  `ContractFunctionExecutionError: ${viem('FiatTokenV2_2: authorization is expired')}`,
  'execution reverted: ERC20: transfer amount exceeds balance',
  'Execution reverted with reason: ERC20: transfer amount exceeds balance.',
  "VM Exception while processing transaction: reverted with reason string 'ERC20: transfer amount exceeds balance'",
  'execution reverted: FiatTokenV2: authorization is not yet valid',
  'execution reverted: FiatToken: invalid signature',
  'execution reverted: Blacklistable: account is blacklisted',
  'unexpected_settle_error: execution reverted: ERC20: transfer amount exceeds balance',
  'Insufficient funds',
  'Insufficient USDC balance',
  'insufficient_balance: the payer holds 0, 10000 are needed',
  'Payer has insufficient balance: 0 of 10000',
  'The payer does not have enough USDC.',
  'insufficient funds for gas * price + value: balance 0, tx cost 2100, overshot 2100',
  `err: insufficient funds for gas * price + value: address 0x${'ab'.repeat(20)} have 0 want 2 (supplied gas 9)`,
  'insufficient funds for transfer',
  'TransactionExecutionError: The total cost (gas * gas fee + value) of executing this transaction exceeds the balance ' +
    'of the account.??This error could arise when the account does not have enough funds to:? - pay for the total',
  'gas required exceeds allowance (0)',
  'max fee per gas less than block base fee: address 0xab, maxFeePerGas: 1, baseFee: 2',
  'The fee cap (`maxFeePerGas` = 1 gwei) cannot be lower than the block base fee.',
  'gas costs more than the cap allows',
  'gas price 12 gwei is above the cap of 2 gwei',
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
  viem('FiatTokenV2: authorization is used or canceled'),
  'The contract function "transferWithAuthorization" reverted.',
  'execution reverted',
  'execution reverted: EIP3009: nothing that we know',
  'execution reverted: FiatTokenV2: authorization is used or canceled',
  'insufficient funds for gas, after the nonce was taken',
  'insufficient funds: attempt 2 after a timeout',
  `insufficient funds; transaction 0x${'12'.repeat(32)}`,
  `insufficient funds 0x${'12'.repeat(32)}`,
  'timed out; insufficient funds for gas * price + value',
  'transaction failed: insufficient funds',
  'transaction reverted: ERC20: transfer amount exceeds balance',
  'insufficient funds, the transfer was sent already',
  'insufficient funds: internal error',
  'insufficient confirmations',
  'could not tell whether the payer has insufficient funds',
  'nonce too low',
  'replacement transaction underpriced',
  'gas price above the cap, replaced transaction still pending',
];

describe('isDefinite()', () => {
  it('I9: isDefinite() is true of what is said before anything is sent', () => {
    for (const reason of [...DEFINITE, ...DEFINITE_IN_WORDS])
      expect([reason, isDefinite(refused(reason))]).toEqual([reason, true]);
  });

  it('I9: isDefinite() is false of every other reason, known or not', () => {
    for (const reason of DOUBTFUL)
      expect([reason, isDefinite(refused(reason))]).toEqual([reason, false]);
  });

  it('I9: isDefinite() is false beside a transaction, whatever the reason', () => {
    for (const reason of [...DEFINITE, ...DEFINITE_IN_WORDS]) {
      expect(isDefinite({ ...refused(reason), namesTransaction: true })).toBe(false);
    }
  });

  it('I9: isDefinite() reads the words of a library as they are cut, too', () => {
    for (const reason of DEFINITE_IN_WORDS)
      expect(isDefinite(refused(reason.slice(0, 200)))).toBe(true);
    for (const reason of DOUBTFUL) expect(isDefinite(refused(reason.slice(0, 200)))).toBe(false);
  });

  it('isDefinite() believes the chain', () => {
    expect(isDefinite({ ...refused('execution_reverted'), isProven: true })).toBe(true);
    expect(isDefinite(refused('execution_reverted'))).toBe(false);
  });
});
