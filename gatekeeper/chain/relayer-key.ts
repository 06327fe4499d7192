import { readOwnFile } from '../system/plain-file.ts';
import { StartError } from '../system/start-error.ts';

const KEY = /^(0x)?[0-9a-fA-F]{64}$/;
/** Others than the owner may do nothing with the file. */
const OTHERS = 0o077;
/** A key file holds 64 digits and perhaps some white space. */
const KEY_BYTES_MAX = 4096;

/** The relayer's private key, from 64 hex digits or a file that holds them; its text appears in no error. */
export function relayerKey(setting: string): `0x${string}` {
  const text = KEY.test(setting) ? setting : keyFile(setting);
  return `0x${text.replace(/^0x/, '').toLowerCase()}`;
}

function keyFile(path: string): string {
  const file = readOrNull(path);
  if (file === null) {
    // The setting may be a mistyped key, so neither it nor the system's error is shown.
    throw new StartError(
      'Cannot read SIGNALPRESS_RELAYER_KEY: neither an existing file nor 64 hex digits; give a key file of mode 600',
    );
  }
  if ((file.mode & OTHERS) !== 0) {
    throw new StartError(
      'Cannot use the file of SIGNALPRESS_RELAYER_KEY: others may read it; set its mode to 600',
    );
  }
  if (KEY.test(file.text)) return file.text;
  throw new StartError(
    'Cannot use the file of SIGNALPRESS_RELAYER_KEY: not 64 hex digits; write the private key into it',
  );
}

function readOrNull(path: string): { readonly mode: number; readonly text: string } | null {
  try {
    const { mode, bytes } = readOwnFile(path, KEY_BYTES_MAX);
    return { mode, text: bytes.toString('utf8').trim() };
  } catch {
    return null;
  }
}
