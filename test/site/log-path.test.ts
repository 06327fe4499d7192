import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashOfSubtrees, inclusionRanges, nodeHash } from '../../compiler/contract/merkle.ts';
import { logPath, rangeText } from '../../compiler/site/shapes.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The root of the entries `start` up to `end`, each of which is its own number as one byte. */
function rootOf(start: number, end: number): Uint8Array {
  if (end - start === 1) return sha256(Uint8Array.of(0, start));
  let half = 1;
  while (half * 2 < end - start) half *= 2;
  return nodeHash(rootOf(start, start + half), rootOf(start + half, end), sha256);
}

describe('logPath()', () => {
  it.each([
    [0, 1],
    [0, 2],
    [6, 7],
    [3, 13],
    [12, 13],
    [100, 200],
  ])('leads from entry %i of %i to the root', (index, size) => {
    const proof = inclusionRanges(index, size).map(({ start, end }) => hex(rootOf(start, end)));
    const steps = logPath(index, size, proof);
    let node = rootOf(index, index + 1);
    for (const { side, siblingHash } of steps) {
      const sibling = Buffer.from(siblingHash, 'hex');
      node = side === 'left' ? nodeHash(sibling, node, sha256) : nodeHash(node, sibling, sha256);
    }
    expect(hex(node)).toBe(hex(rootOf(0, size)));
    expect(steps.at(-1)?.joined ?? { start: 0, end: 1 }).toEqual({ start: 0, end: size });
    expect(hashOfSubtrees([rootOf(0, size)], sha256)).toEqual(rootOf(0, size));
  });

  it.each([
    [5, 5],
    [-1, 5],
    [1, 4],
  ])('draws nothing for a proof that is not of this tree: %i of %i', (index, size) => {
    expect(logPath(index, size, ['aa'])).toEqual([]);
  });

  it('names ranges', () => {
    expect([rangeText({ start: 4, end: 5 }), rangeText({ start: 0, end: 8192 })]).toEqual([
      'entry 4',
      'entries 0 to 8,191',
    ]);
  });
});
