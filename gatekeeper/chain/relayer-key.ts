import { secretKey } from '../system/plain-file.ts';

/** The relayer's private key, from 64 hex digits or a file that holds them; its text appears in no error. */
export function relayerKey(setting: string): `0x${string}` {
  return `0x${secretKey(setting, 'SIGNALPRESS_RELAYER_KEY')}`;
}
