import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { issuerDid, signingKey } from '../stages/seal/sealer.ts';

const SEED_HEX = /^[0-9a-f]{64}$/;

/** Trouble with the issuer key, in words that say what to do. */
export class KeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyError';
  }
}

/**
 * Reads the issuer key: a path to a key file, or the 64 hex digits of the seed themselves. The
 * error never repeats the setting, since it may be the secret.
 */
export function readIssuerKey(setting: string | undefined): Uint8Array {
  if (setting === undefined || setting === '') {
    throw new KeyError(
      'Cannot sign: no issuer key; make one with "signalpress keygen issuer.key" and pass it ' +
        'with --key issuer.key or SIGNALPRESS_ISSUER_KEY=issuer.key',
    );
  }
  const text = SEED_HEX.test(setting) ? setting : readKeyFile(setting);
  if (!SEED_HEX.test(text)) {
    throw new KeyError('Cannot sign: the issuer key is not 64 hex digits; make one with keygen');
  }
  return new Uint8Array(Buffer.from(text, 'hex'));
}

function readKeyFile(path: string): string {
  const read = tryToRead(path);
  if (read.text !== null) return read.text.trim();
  throw new KeyError(
    `Cannot read the issuer key file: ${read.code}; make one with "signalpress keygen FILE"`,
  );
}

/** The code of a system error alone: its message repeats the setting, which may be the secret. */
function tryToRead(path: string): { text: string } | { text: null; code: string } {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    const known = error instanceof Error && 'code' in error;
    return { text: null, code: known ? String(error.code) : 'unreadable' };
  }
}

/** Writes a new key file, readable by its owner only; never replaces one. Returns the DID. */
export function writeIssuerKey(path: string): string {
  if (existsSync(path)) {
    throw new KeyError(`Cannot write key "${path}": the file exists; keys are never overwritten`);
  }
  const seed = new Uint8Array(randomBytes(32));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${Buffer.from(seed).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
  chmodSync(path, 0o600);
  return issuerDid(signingKey(seed));
}
