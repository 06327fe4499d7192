import {
  encodeFunctionData,
  type Hex,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  parseSignature,
} from 'viem';
import { authorizationOf, type FacilitatorRequest } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import { signedBy } from '../money/signature.ts';
import { TOKEN_ABI } from './chain-node.ts';

/** For accounts with code (FiatToken 2.2): the token asks the account whether it signed. */
const BYTES_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** Whether the payer's own key signed; else its code may have. */
export function isSignedByKey(network: Network, { paymentPayload }: FacilitatorRequest): boolean {
  const { authorization, signature } = paymentPayload.payload;
  return signedBy(network, authorization, signature).payer === authorization.from.toLowerCase();
}

/** Whether the signature brings along how its account would be deployed (ERC-6492). */
export function bringsDeployment({ paymentPayload }: FacilitatorRequest): boolean {
  return isErc6492Signature(paymentPayload.payload.signature as Hex);
}

/** The call that moves the money; null for a signature that is wrapped in a way that nobody can read. */
export function transferCall(network: Network, request: FacilitatorRequest): Hex | null {
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
  const inner = innerSignature(signature);
  if (inner === null) return null;
  return encodeFunctionData({ abi: BYTES_ABI, functionName, args: [...fields, inner] });
}

/** What the account itself gets to see. The call to its factory is left out: nothing that a payer wrote is called. */
function innerSignature(signature: Hex): Hex | null {
  if (!isErc6492Signature(signature)) return signature;
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    return null;
  }
}
