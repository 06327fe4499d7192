// C2SP tlog-cosignature, the Ed25519 form: a witness states that a checkpoint is the newest of its log that it saw, and when.

import { linesOf, type SignedNote } from './checkpoint.ts';
import type { Sha256 } from './merkle.ts';
import { keyHashOf, type VerifierKey } from './verifier-key.ts';

const TIME_BYTES = 8;
const SIGNATURE_BYTES = 64;
/** The last second of the year 9999: times beyond have no ISO-8601 form. */
const SECONDS_MAX = 253_402_300_799;

/** What a witness signs: when, and the text of the checkpoint; throws a RangeError for a time that cannot be stated. */
export function cosignedBytes(checkpointText: string, seconds: number): Uint8Array {
  if (!isStatedTime(seconds)) {
    throw new RangeError(
      `Cannot cosign at ${seconds}: not a whole second of the years 1970 to 9999`,
    );
  }
  return new TextEncoder().encode(`cosignature/v1\ntime ${seconds}\n${checkpointText}`);
}

/**
 * The cosignatures that stand under the key of a witness in a note, as they stand, each with its seconds since 1970; null for
 * each that is malformed. No signature is checked yet.
 */
export function cosignaturesOf(
  note: Pick<SignedNote, 'signatures'>,
  witness: VerifierKey,
  sha256: Sha256,
) {
  const lines = linesOf(note, witness.name, keyHashOf(witness, sha256));
  return lines.map(({ signature }) => {
    if (signature.length !== TIME_BYTES + SIGNATURE_BYTES) return null;
    const seconds = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0));
    return isStatedTime(seconds) ? { seconds, signature: signature.slice(TIME_BYTES) } : null;
  });
}

function isStatedTime(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= SECONDS_MAX;
}
