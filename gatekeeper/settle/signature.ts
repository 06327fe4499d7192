import { BoundedMap } from '../wire/maps.ts';
import { keccak256 } from './address.ts';
import { CURVE, type Curve } from './curve.ts';
import type { Network } from './networks.ts';
import type { Authorization } from './payment.ts';

/** Hex characters of a plain 65-byte signature with its `0x`; wallets with code may send more. */
export const SIGNATURE_CHARS = 132;
/** Of the longest one: a passkey of an account that is not deployed yet takes some 1,300 bytes. */
export const SIGNATURE_CHARS_MAX = 2 + 2 * 2048;

const UINT256_BYTES = 32;
/** Decimal digits that always fit into 48 bits, the most that a buffer writes from a number. */
const UINT48_DIGITS = 14;
const UINT48_BYTES = 6;
/** Half the order of the curve: the token refuses a greater `s`, because it would be a second signature of the same text. */
const HALF_ORDER_HEX = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0';
const HALF_ORDER = Buffer.from(HALF_ORDER_HEX, 'hex');

const DOMAIN_TYPE = hashText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const TRANSFER_TYPE = hashText(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
);

/** Who signed an authorization, and what exactly was signed. */
interface SignedTransfer {
  readonly digest: Uint8Array;
  /** Lower case; null when the signature is not one that the token takes. */
  readonly payer: string | null;
}

/** For one token; `earlier` for those that it was tried for before. */
interface JudgedTransfer extends SignedTransfer {
  readonly network: Network;
  readonly signature: string;
  readonly earlier?: JudgedTransfer | undefined;
}

const judged = new WeakMap<Authorization, JudgedTransfer>();

/** Recovers the signer once for each authorization and token, whoever asks: it is the dearest step of a payment. */
export function signedBy(
  network: Network,
  authorization: Authorization,
  signature: string,
): SignedTransfer {
  const known = judgement(network, authorization, signature);
  if (known !== undefined) return known;
  const digest = transferDigest(network, authorization);
  const signed = { network, signature, digest, payer: recoverPayer(digest, signature) };
  noteSigner(authorization, signed);
  return signed;
}

/** Whether signedBy() knows without recovering anything. */
export function isJudged(
  network: Network,
  authorization: Authorization,
  signature: string,
): boolean {
  return judgement(network, authorization, signature) !== undefined;
}

function judgement(network: Network, authorization: Authorization, signature: string) {
  for (let known = judged.get(authorization); known !== undefined; known = known.earlier) {
    if (known.network === network && known.signature === signature) return known;
  }
  return undefined;
}

/** Notes what another thread recovered, so that signedBy() need not. */
export function noteSigner(
  authorization: Authorization,
  signed: Omit<JudgedTransfer, 'earlier'>,
): void {
  judged.set(authorization, { ...signed, earlier: judged.get(authorization) });
}

/** The 32 bytes that a payer signs for a transfer on a network (EIP-712); fields must be well-formed already. */
export function transferDigest(network: Network, authorization: Authorization): Uint8Array {
  const struct = Buffer.alloc(7 * UINT256_BYTES);
  struct.set(TRANSFER_TYPE, 0);
  writeHex(struct, 1, authorization.from);
  writeHex(struct, 2, authorization.to);
  writeUint(struct, 3, authorization.value);
  writeUint(struct, 4, authorization.validAfter);
  writeUint(struct, 5, authorization.validBefore);
  writeHex(struct, 6, authorization.nonce);
  const signed = Buffer.alloc(2 + 2 * UINT256_BYTES);
  signed[0] = 0x19;
  signed[1] = 0x01;
  signed.set(domainSeparator(network), 2);
  signed.set(keccak256(struct), 2 + UINT256_BYTES);
  return keccak256(signed);
}

/**
 * The lower-case address that signed a digest, or null. As strict as the token contract: 65 bytes,
 * v 27 or 28, s in the lower half.
 */
export function recoverPayer(digest: Uint8Array, signature: string): string | null {
  if (signature.length !== SIGNATURE_CHARS) return null;
  return recoverSigner(digest, Buffer.from(signature.slice(2), 'hex'));
}

/** The same for a signature in bytes. */
export function recoverSigner(digest: Uint8Array, bytes: Buffer, curve = CURVE): string | null {
  const v = bytes[64];
  if (bytes.length !== 65 || (v !== 27 && v !== 28)) return null;
  if (bytes.compare(HALF_ORDER, 0, 32, 32, 64) > 0) return null;
  try {
    const publicKey = curve.recover(bytes.subarray(0, 64), v - 27, digest);
    const hash = keccak256(publicKey.subarray(1));
    return `0x${Buffer.from(hash.buffer, hash.byteOffset + 12, 20).toString('hex')}`;
  } catch {
    // r or s is zero or beyond the order, or r is on no point: there is no signer.
    return null;
  }
}

/** Of the tokens that payments are made in. */
const separators = new BoundedMap<string, Uint8Array>(64);

function domainSeparator(network: Network): Uint8Array {
  const { extra, chainId, asset } = network;
  const key = `${chainId} ${asset} ${extra.version} ${extra.name}`;
  const known = separators.get(key);
  if (known !== undefined) return known;
  const domain = Buffer.alloc(5 * UINT256_BYTES);
  domain.set(DOMAIN_TYPE, 0);
  domain.set(hashText(network.extra.name), UINT256_BYTES);
  domain.set(hashText(network.extra.version), 2 * UINT256_BYTES);
  writeUint(domain, 3, String(network.chainId));
  writeHex(domain, 4, network.asset);
  const separator = keccak256(domain);
  separators.set(key, separator);
  return separator;
}

/** Writes `0x…` right-aligned into a word. */
function writeHex(words: Buffer, index: number, hex: string): void {
  const bytes = (hex.length - 2) / 2;
  words.write(hex.slice(2), (index + 1) * UINT256_BYTES - bytes, 'hex');
}

function writeUint(words: Buffer, index: number, decimal: string): void {
  if (decimal.length <= UINT48_DIGITS) {
    words.writeUIntBE(Number(decimal), (index + 1) * UINT256_BYTES - UINT48_BYTES, UINT48_BYTES);
    return;
  }
  writeHex(words, index, `0x${BigInt(decimal).toString(16).padStart(64, '0')}`);
}

function hashText(text: string): Uint8Array {
  return keccak256(Buffer.from(text, 'utf8'));
}

/** What the operator should know where signatures are checked without native code; null where they are not. */
export function slowSignatures({ isNative }: Pick<Curve, 'isNative'> = CURVE): string | null {
  if (isNative) return null;
  const system = `${process.platform}-${process.arch}`;
  return (
    `Payments are checked more than 20 times slower than they could be: the package secp256k1 has no native part for ${system}. ` +
    'Install a C++ compiler and run "npm rebuild secp256k1"'
  );
}
