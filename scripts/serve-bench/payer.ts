import { randomBytes } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { checksumAddress, keccak256 } from '../../gatekeeper/money/address.ts';
import { findNetwork } from '../../gatekeeper/money/networks.ts';
import type { Authorization, RequirementsV1 } from '../../gatekeeper/money/payment.ts';
import { transferDigest } from '../../gatekeeper/money/signature.ts';

/** Long enough to sign thousands of payments before the first one is sent. */
const VALID_S = 3600;
/** Clients sign from a while ago, so that a late chain clock does not refuse them. */
const BACK_S = 600;

/** A throw-away wallet: its key is random, holds nothing and is never stored. */
export interface Payer {
  readonly address: string;
  /** The value of `X-PAYMENT` that meets one `accepts[]` entry; every call has its own nonce. */
  signPayment(requirements: PayableTerms): string;
}
type PayableTerms = Pick<RequirementsV1, 'network' | 'payTo' | 'maxAmountRequired'>;

/** Signs with the native library: a bench needs thousands, and viem takes a millisecond for each. */
export function throwAwayPayer(nowMs: number): Payer {
  const key = randomBytes(32);
  const address = addressOf(key);
  return {
    address,
    signPayment(terms) {
      const { network, payTo: to, maxAmountRequired: value } = terms;
      const now = Math.floor(nowMs / 1000);
      const authorization: Authorization = {
        from: address,
        to,
        value,
        validAfter: String(now - BACK_S),
        validBefore: String(now + VALID_S),
        nonce: `0x${randomBytes(32).toString('hex')}`,
      };
      const payload = { signature: signed(key, network, authorization), authorization };
      const payment = { x402Version: 1, scheme: 'exact', network, payload };
      return Buffer.from(JSON.stringify(payment), 'utf8').toString('base64');
    },
  };
}

function addressOf(key: Uint8Array): string {
  const hash = keccak256(secp256k1.publicKeyCreate(key, false).subarray(1));
  return checksumAddress(`0x${Buffer.from(hash.subarray(12)).toString('hex')}`);
}

function signed(key: Uint8Array, name: string, authorization: Authorization): string {
  const network = findNetwork(name);
  if (network === undefined) {
    throw new RangeError(`Cannot pay on "${name}": not a network of this product`);
  }
  const { signature, recid } = secp256k1.ecdsaSign(transferDigest(network, authorization), key);
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
}

/** Whom both sellers are paid to. Any address will do: nothing is ever settled. */
export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
