import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const HEADER_BYTES = 80;
const ROOT_AT = 36;
const BITS_AT = 72;
/** Compact form of the easiest target that the Bitcoin main chain ever allowed. */
const MAIN_CHAIN_LIMIT = 0x1d00ffff;

/** A block header whose work was checked; whether it is in the chain is for its supplier to know. */
export interface BlockHeader {
  /** As block explorers show it. */
  readonly hash: string;
  /** The 32 bytes that a timestamp ends in. */
  readonly merkleRoot: Uint8Array;
}

/** Reads a header of 80 bytes, or its 160 hex digits; throws a RangeError unless its hash shows the work that it claims. */
export function blockHeader(bytes: Uint8Array, limit = MAIN_CHAIN_LIMIT): BlockHeader {
  const header = rawHeader(bytes);
  const hash = bytesToHex(sha256(sha256(header)).toReversed());
  const bits = new DataView(header.buffer, header.byteOffset).getUint32(BITS_AT, true);
  const target = targetOf(bits);
  if (target > targetOf(limit)) refuse(`block "${hash}" claims less work than the chain allows`);
  if (BigInt(`0x${hash}`) > target) refuse(`block "${hash}" does not show the work that it claims`);
  return { hash, merkleRoot: header.slice(ROOT_AT, ROOT_AT + 32) };
}

function rawHeader(bytes: Uint8Array): Uint8Array {
  if (bytes.length === HEADER_BYTES) return bytes;
  const text = new TextDecoder('latin1').decode(bytes).trim();
  if (!/^[0-9a-fA-F]{160}$/.test(text)) refuse('not 80 bytes, nor 160 hex digits');
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

/** The compact form of a target: an exponent and 23 bits. */
function targetOf(bits: number): bigint {
  const exponent = BigInt(bits >>> 24);
  const mantissa = BigInt(bits & 0x7fffff);
  return exponent <= 3n ? mantissa >> (8n * (3n - exponent)) : mantissa << (8n * (exponent - 3n));
}

function refuse(state: string): never {
  throw new RangeError(`Cannot use the block header: ${state}; take it from a node that you trust`);
}
