import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** Bytes that are worked on before others have their turn: some milliseconds of the serving thread. */
const TURN_BYTES = 1024 * 1024;

/** Goes through something long in stretches, each told from where up to where, with turns for others between them. */
export async function inTurns(
  length: number,
  use: (from: number, to: number) => void,
): Promise<void> {
  for (let from = 0; from < length; from += TURN_BYTES) {
    if (from > 0) await setImmediate();
    use(from, Math.min(from + TURN_BYTES, length));
  }
}

/** The SHA-256 of long bytes in hex. */
export async function hexInTurns(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  await inTurns(bytes.length, (from, to) => hash.update(bytes.subarray(from, to)));
  return hash.digest('hex');
}
