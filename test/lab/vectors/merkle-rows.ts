import { createHash } from 'node:crypto';
import { defined } from '../../../compiler/contract/defined.ts';
import type { Vector } from './vector.ts';

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const ENTRIES = Array.from({ length: 9 }, (_, at) => {
  return `sha256:${createHash('sha256').update(`entry ${at}`).digest('hex')}`;
});
const PLACES = [
  [0, 1],
  [0, 2],
  [1, 2],
  [2, 3],
  [0, 5],
  [4, 5],
  [3, 8],
  [7, 8],
  [8, 9],
] as const;

/** The tree hash of RFC 6962 §2.1, as it is written there. */
export function treeHash(entries: readonly string[]): Buffer {
  const [only] = entries;
  if (only === undefined) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), Buffer.from(only));
  const cut = splitOf(entries.length);
  return sha256(Buffer.of(1), treeHash(entries.slice(0, cut)), treeHash(entries.slice(cut)));
}

/** The audit path of RFC 6962 §2.1.1. */
function pathOf(index: number, entries: readonly string[]): string[] {
  if (entries.length <= 1) return [];
  const cut = splitOf(entries.length);
  const [left, right] = [entries.slice(0, cut), entries.slice(cut)];
  return index < cut
    ? [...pathOf(index, left), treeHash(right).toString('hex')]
    : [...pathOf(index - cut, right), treeHash(left).toString('hex')];
}

function splitOf(size: number): number {
  return 2 ** Math.floor(Math.log2(size - 1));
}

/** `input` is an entry, its place, a proof and a root, `want` the leaf hash where the proof holds; hashes in hex. */
export function merkleVectors(): readonly Vector[] {
  const proofs = PLACES.map(([index, size]) => proofOf(index, size));
  return [...proofs.map(({ comment, input, want }) => ({ comment, input, want })), ...refused()];
}

function proofOf(index: number, size: number) {
  const entries = ENTRIES.slice(0, size);
  const entry = defined(ENTRIES[index], 'the entry');
  const proof = pathOf(index, entries);
  const input = { entry, index, size, proof, root: treeHash(entries).toString('hex') };
  const leaf = sha256(Buffer.of(0), Buffer.from(entry)).toString('hex');
  return { comment: `entry ${index} of ${size}`, input, want: { leaf } };
}

function refused(): Vector[] {
  const { input } = proofOf(3, 8);
  const [first = '', ...rest] = input.proof;
  const changes: readonly (readonly [string, object])[] = [
    ['another entry', { entry: ENTRIES[4] }],
    ['another index', { index: 2 }],
    ['an index outside', { index: 8 }],
    ['a negative index', { index: -1 }],
    ['another size', { size: 9 }],
    ['an empty proof', { proof: [] }],
    ['a proof that is too short', { proof: rest }],
    ['a proof that is too long', { proof: [...input.proof, first] }],
    ['a proof in another order', { proof: [...input.proof].reverse() }],
    ['another root', { root: treeHash(ENTRIES).toString('hex') }],
  ];
  return changes.map(([comment, change]) => {
    return { comment: `refused: ${comment}`, input: { ...input, ...change }, error: 'inclusion' };
  });
}
