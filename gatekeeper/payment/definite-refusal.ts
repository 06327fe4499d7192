import type { SettleOutcome } from '../facilitator/facilitator.ts';

/**
 * The only reasons that can mean nothing but "no transfer was sent": the checks that published facilitators
 * make before they send, and the token's own words for them. Whatever speaks of a nonce, a transaction or
 * an inner failure is left out on purpose, and so is every reason that nobody has heard of yet.
 */
const NOTHING_SENT: readonly RegExp[] = [
  /^insufficient_(funds|balance)$/,
  /^((payment|authorization)_)?expired$/,
  /^unsupported_(scheme|network|payload_type)$/,
  /^invalid_(network|payload|payment|payment_requirements|scheme|signature|x402_version)$/,
  /^invalid_exact_evm_payload_authorization_(valid_(after|before)|value(_mismatch|_too_low)?)$/,
  /^invalid_exact_evm_payload_authorization_(typed_data_message|(from|to)_address_kyt)$/,
  /^invalid_exact_evm_payload_(signature(_address)?|recipient_mismatch|undeployed_smart_wallet)$/,
  /^invalid_exact_evm_(scheme|(failed_to_parse_)?signature|authorization_value|insufficient_balance)$/,
  /^invalid_exact_evm_((network|recipient|token_name|token_version)_mismatch|missing_eip712_domain)$/,
  /^(FiatTokenV2: )?(invalid signature|authorization is (expired|not yet valid))$/,
  /^(ERC20: )?transfer amount exceeds balance$/,
];

/** Whether a refusal proves that nothing was charged; every other one may hide a success. */
export function isDefinite(refused: Extract<SettleOutcome, { verdict: 'refused' }>): boolean {
  const { reason, isProven = false, namesTransaction = false } = refused;
  if (isProven) return true;
  return !namesTransaction && NOTHING_SENT.some((pattern) => pattern.test(reason));
}
