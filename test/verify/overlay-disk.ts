import type { Disk } from '../../compiler/system/disk.ts';
import { nodeDisk } from '../../compiler/system/disk.ts';

/** A disk on which some files hold other bytes than they do. */
export function overlayDisk(bytesOf: (path: string, bytes: Uint8Array) => Uint8Array): Disk {
  const read = (path: string): Uint8Array => bytesOf(path, Buffer.concat([...chunksOf(path)]));
  return {
    ...nodeDisk,
    entry(path) {
      const entry = nodeDisk.entry(path);
      return entry?.kind === 'file' ? { kind: 'file', size: read(path).length } : entry;
    },
    chunks: (path) => [read(path)],
  };
}

function* chunksOf(path: string): Generator<Uint8Array> {
  for (const chunk of nodeDisk.chunks(path)) yield chunk.slice();
}

/** The same bytes with one bit the other way round. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}

/** Numbers from 0 up to a limit, the same ones for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
