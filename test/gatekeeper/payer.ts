import { createHash } from 'node:crypto';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  firstHistory,
  type KeyHistory,
  type ReceiptKey,
  statementBytes,
  withReceiptKeys,
} from '../../compiler/format/key-history.ts';
import { signBytes } from '../../compiler/system/sealer.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { decodePayment } from '../../gatekeeper/heart/payment/payment-header.ts';
import { type ServiceSigner, serviceSigner } from '../../gatekeeper/settle/extensions.ts';
import {
  type FacilitatorRequest,
  facilitatorRequest,
} from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS, type Network } from '../../gatekeeper/settle/networks.ts';
import {
  type Authorization,
  isRefusal,
  priceOf,
  type Requirements,
} from '../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { tinyKey } from './tiny-release.ts';

/** The one instant of payment tests, in milliseconds. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
export const NOW_S = NOW_MS / 1000;

/** A signed payment with the parts that a test may want to change. */
export interface SignedPayment {
  readonly authorization: Authorization;
  readonly signature: `0x${string}`;
}

/** A plain account that pays; the same name is always the same account. */
export interface Payer {
  readonly address: `0x${string}`;
  /** Signs a transfer; what is left out is what a usual client would send. */
  sign(to: string, value: string, overrides?: Partial<Authorization>): Promise<SignedPayment>;
  /** A header value that meets the requirements, of the version that they have. */
  header(requirements: Requirements, overrides?: Partial<Authorization>): Promise<string>;
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

let nonces = 0;

/** A 32-byte nonce that no other call returns. */
export function freshNonce(): `0x${string}` {
  nonces += 1;
  return `0x${createHash('sha256').update(`nonce ${nonces}`).digest('hex')}`;
}

/** Private key of the account of this name. */
export function payerKey(name: string): `0x${string}` {
  return `0x${createHash('sha256').update(name).digest('hex')}`;
}

/** Accounts by name: deriving one takes milliseconds, and thousands of purchases are signed by a few. */
const accounts = new Map<string, PrivateKeyAccount>();

export function payer(network: Network, name = 'payer'): Payer {
  const account = accounts.get(name) ?? privateKeyToAccount(payerKey(name));
  accounts.set(name, account);
  const sign: Payer['sign'] = async (to, value, overrides = {}) => {
    const authorization: Authorization = {
      from: account.address,
      to,
      value,
      validAfter: String(NOW_S - 600),
      validBefore: String(NOW_S + 300),
      nonce: freshNonce(),
      ...overrides,
    };
    const signature = await account.signTypedData(typedTransfer(network, authorization));
    return { authorization, signature };
  };
  return {
    address: account.address,
    sign,
    async header(requirements, overrides) {
      const payment = await sign(requirements.payTo, priceOf(requirements), overrides);
      return headerOf(requirements, payment);
    },
  };
}

/** The times of a payment that is signed at an instant. */
export function windowAt(ms = Date.now()) {
  const now = Math.floor(ms / 1000);
  return { validAfter: String(now - 600), validBefore: String(now + 300) };
}

/** The argument of viem's signTypedData and hashTypedData for a transfer. */
export function typedTransfer(network: Network, authorization: Authorization) {
  return {
    domain: {
      ...network.extra,
      chainId: network.chainId,
      verifyingContract: network.asset as `0x${string}`,
    },
    types: TYPES,
    primaryType: 'TransferWithAuthorization' as const,
    message: {
      from: authorization.from as `0x${string}`,
      to: authorization.to as `0x${string}`,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as `0x${string}`,
    },
  };
}

/** The payment object of either version. */
export function paymentObject(requirements: Requirements, payment: SignedPayment): object {
  const payload = { signature: payment.signature, authorization: payment.authorization };
  if ('amount' in requirements) return { x402Version: 2, accepted: requirements, payload };
  const { scheme, network } = requirements;
  return { x402Version: 1, scheme, network, payload };
}

/** Base64 of the JSON of any value, as clients put it into a header. */
export function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64');
}

/** The header value of a signed payment. */
export function headerOf(requirements: Requirements, payment: SignedPayment): string {
  return encoded(paymentObject(requirements, payment));
}

/** The seed of the key that signs offers and receipts in tests, 64 hex digits. */
export const SIGNER_SEED = '07'.repeat(32);
export const SIGNER_DID = tinyKey(7).did;

/** The keys of the issuer of tiny releases, with statements about the receipt key. */
export function listingKeys(...changes: readonly Partial<ReceiptKey>[]): KeyHistory {
  const statements = changes.length === 0 ? [statementOf()] : changes.map(statementOf);
  return withReceiptKeys(firstHistory(tinyKey(1).did), statements);
}

function statementOf(change: Partial<ReceiptKey> = {}): ReceiptKey {
  const issuer = tinyKey(1);
  const statement = {
    ...{ type: 'receipt_key' as const, did: SIGNER_DID, since: '2026-11-01T00:00:00Z' },
    ...{ until: null, stated_at: '2026-11-01T00:00:00Z', signed_by: issuer.did, signature: '' },
    ...change,
  };
  return { ...statement, signature: signBytes(statementBytes(statement), issuer.key) };
}

/** A signer whose key these keys list, or do not list. */
export function listedSigner(keys = listingKeys(), seed = SIGNER_SEED): ServiceSigner {
  const signer = serviceSigner({ seed, clock: () => NOW_MS });
  signer.show(keys);
  return signer;
}

/** Who is paid in the examples. */
export const PAY_TO = `0x${'ab'.repeat(20)}`;

/** The challenger of an example shop on the main network. */
export const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network: NETWORKS.base,
  serviceName: 'Example',
});

const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];

/** A request to a facilitator with a payment that no other call returns. */
export async function paymentRequest(
  by: Payer = payer(NETWORKS.base),
): Promise<FacilitatorRequest> {
  const payment = decodePayment(await by.header(terms), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, terms);
}
