import { describe, expect, it } from 'vitest';
import { isDefinite } from '../../../gatekeeper/payment/payment-check.ts';

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
