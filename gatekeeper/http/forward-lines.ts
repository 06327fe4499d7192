import type { Readable } from 'node:stream';

const NEWLINE = 0x0a;
const BREAK = Buffer.from([NEWLINE]);
/** Longest beginning of a line that is held back; whoever writes more is not writing lines. */
const HELD_BYTES_MAX = 1024 * 1024;

/** Passes a stream on in whole lines, so that those of several streams do not run into each other. */
export function forwardLines(from: Readable, write: (text: Buffer) => void): void {
  let held: Buffer = Buffer.alloc(0);
  from.on('data', (piece: Buffer) => {
    const text = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const end = text.length > HELD_BYTES_MAX ? text.length : text.lastIndexOf(NEWLINE) + 1;
    held = text.subarray(end);
    if (end > 0) write(text.subarray(0, end));
  });
  // Whoever was killed in the middle of a line must not spoil the next one.
  from.on('end', () => {
    if (held.length > 0) write(Buffer.concat([held, BREAK]));
  });
}
