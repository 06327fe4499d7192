import { createKeccak } from 'hash-wasm';
import { secretKey } from '../wire/plain-file.ts';

export function checksumAddress(address: string): string {
  const hex = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak256(Buffer.from(hex, 'utf8'))).toString('hex');
  let out = '0x';
  for (let at = 0; at < hex.length; at++) {
    const char = hex.charAt(at);
    out += Number.parseInt(hash.charAt(at), 16) >= 8 ? char.toUpperCase() : char;
  }
  return out;
}

/** One case throughout is converted; a mixed case that does not check is a typing error in somebody's address. */
export function payeeAddress(payTo: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(payTo)) {
    throw new RangeError(`Cannot be paid at "${payTo}": not an address of 40 hex digits`);
  }
  const checksummed = checksumAddress(payTo);
  const digits = payTo.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (oneCase || payTo === checksummed) return checksummed;
  throw new RangeError(`Cannot be paid at "${payTo}": checksum does not match; copy it again`);
}

const hasher = await createKeccak(256);

/** Keccak-256 as Ethereum uses it; in WebAssembly, because the fastest in JavaScript takes seven times as long. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  hasher.init();
  hasher.update(bytes);
  return hasher.digest('binary');
}

/** The relayer's private key, from 64 hex digits or a file that holds them; its text appears in no error. */
export function relayerKey(setting: string): `0x${string}` {
  return `0x${secretKey(setting, 'SIGNALPRESS_RELAYER_KEY')}`;
}
