import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { issuerDid, signingKey } from '../stages/seal/sealer.ts';
import { readNamed } from '../verify/disk.ts';

/** Where the key that signs comes from. */
const KEY_OPTION = '--key or SIGNALPRESS_ISSUER_KEY';
/** A key file holds 64 digits and perhaps some white space. */
const KEY_BYTES_MAX = 4096;
const SEED_HEX = /^[0-9a-f]{64}$/;

/** A fault with the issuer key; the message says what to do. */
export class KeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyError';
  }
}

/**
 * Reads the issuer key: a path to a key file, or the 64 hex digits of the seed themselves. The
 * error names the option, and never repeats its value, since that may be the secret.
 */
export function readIssuerKey(setting: string | undefined, option = KEY_OPTION): Uint8Array {
  if (setting === undefined || setting === '') {
    throw new KeyError(
      'Cannot sign: no issuer key; make one with "signalpress keygen issuer.key" and pass it ' +
        'with --key issuer.key or SIGNALPRESS_ISSUER_KEY=issuer.key',
    );
  }
  const text = SEED_HEX.test(setting) ? setting : readKeyFile(setting, option);
  if (!SEED_HEX.test(text)) {
    throw new KeyError(
      `Cannot sign: the issuer key of ${option} is not 64 hex digits; make one with "signalpress keygen FILE"`,
    );
  }
  return new Uint8Array(Buffer.from(text, 'hex'));
}

function readKeyFile(path: string, option: string): string {
  const read = tryToRead(path);
  if (read.text !== null) return read.text.trim();
  throw new KeyError(
    `Cannot read the issuer key file of ${option}: ${read.state}; correct the path, or make one with "signalpress keygen FILE"`,
  );
}

const STATES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission',
  ENOTPLAIN: 'it is not a file, or it is a pipe without data',
};

/** What the code of a system error means: its message repeats the setting, which may be the secret. */
function tryToRead(path: string): { text: string } | { text: null; state: string } {
  try {
    return { text: Buffer.from(readNamed(path, KEY_BYTES_MAX)).toString('utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { text: null, state: STATES[code] ?? code };
  }
}

/** Writes a new key file, readable by its owner only; never replaces one. Returns the DID. */
export function writeIssuerKey(path: string): string {
  if (existsSync(path)) {
    throw new KeyError(
      `Cannot write key "${path}": the file exists and keys are never overwritten; name another file`,
    );
  }
  const seed = new Uint8Array(randomBytes(32));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${Buffer.from(seed).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
  chmodSync(path, 0o600);
  return issuerDid(signingKey(seed));
}
