import secp256k1 from 'secp256k1';
import { checksumAddress } from '../money/address.ts';
import type { FacilitatorRequest } from '../money/facilitator.ts';
import { tokenOfTerms } from '../money/further-tokens.ts';
import { keccak256 } from '../money/keccak.ts';
import type { Authorization } from '../money/payment.ts';
import { priceOf } from '../money/requirements.ts';
import { transferDigest } from '../money/signature.ts';

/** Makes a request like one that failed, with a payment of our own in the place of the stranger's. */
export type Canary = (like: FacilitatorRequest) => FacilitatorRequest;

interface CanaryOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Uint8Array;
}

/** Seconds that its authorization is valid before and after now, as usual clients sign it. */
const WINDOW_S = [600, 300] as const;
const V_OFFSET = 27;

/**
 * A facilitator is asked to verify it, and never to settle it. Its payer is an account of one process that nobody ever
 * gave money to, so a service that works refuses it: the verdict is what counts.
 */
export function canary({ clock, random }: CanaryOptions): Canary {
  const key = keyFrom(random);
  const from = checksumAddress(addressOf(key));
  return (like) => {
    const { x402Version, paymentPayload, paymentRequirements } = like;
    const network = tokenOfTerms(paymentRequirements);
    if (network === undefined) throw new RangeError('Cannot make a canary: unknown network');
    const [before, after] = WINDOW_S;
    const now = Math.floor(clock() / 1000);
    const authorization: Authorization = {
      from,
      to: paymentRequirements.payTo,
      value: priceOf(paymentRequirements),
      validAfter: String(now - before),
      validBefore: String(now + after),
      nonce: hex(random(32)),
    };
    const signature = signed(transferDigest(network, authorization), key);
    const payload = { signature, authorization };
    // Not under the name of the request that it is like: it is another payment.
    return {
      x402Version,
      paymentPayload: { ...paymentPayload, payload },
      paymentRequirements,
    };
  };
}

/** Fewer than one in 2^128 random texts is an invalid key. */
function keyFrom(random: CanaryOptions['random']): Uint8Array {
  for (;;) {
    const key = Uint8Array.from(random(32));
    if (secp256k1.privateKeyVerify(key)) return key;
  }
}

function addressOf(key: Uint8Array): string {
  const publicKey = secp256k1.publicKeyCreate(key, false);
  return hex(keccak256(publicKey.subarray(1)).slice(12));
}

function signed(digest: Uint8Array, key: Uint8Array): string {
  const { signature, recid } = secp256k1.ecdsaSign(digest, key);
  return hex(Uint8Array.from([...signature, recid + V_OFFSET]));
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
