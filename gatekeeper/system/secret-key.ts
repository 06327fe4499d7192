import { readOwnFile } from './plain-file.ts';
import { StartError } from './start-error.ts';

const KEY = /^(0x)?[0-9a-fA-F]{64}$/;
/** Others than the owner may do nothing with the file. */
const OTHERS = 0o077;
/** A key file holds 64 digits and perhaps some white space. */
const KEY_BYTES_MAX = 4096;

/** The 64 hex digits of a private key, lower case, from a setting that holds them or names a file; its text appears in no error. */
export function secretKey(setting: string, variable: string): string {
  const text = KEY.test(setting) ? setting : keyFile(setting, variable);
  return text.replace(/^0x/, '').toLowerCase();
}

function keyFile(path: string, variable: string): string {
  const file = readOrNull(path);
  if (file === null) {
    // The setting may be a mistyped key, so neither it nor the system's error is shown.
    throw new StartError(
      `Cannot read ${variable}: neither an existing file nor 64 hex digits; give a key file of mode 600`,
    );
  }
  if ((file.mode & OTHERS) !== 0) {
    throw new StartError(
      `Cannot use the file of ${variable}: others may read it; set its mode to 600`,
    );
  }
  if (KEY.test(file.text)) return file.text;
  throw new StartError(
    `Cannot use the file of ${variable}: not 64 hex digits; write the private key into it`,
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
