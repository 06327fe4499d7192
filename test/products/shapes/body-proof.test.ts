import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, it } from 'vitest';
import { completeLevels, rangeHash } from '../../../compiler/format/merkle.ts';
import {
  parseReleaseEntry,
  releaseEntryBytes,
  treeHead,
} from '../../../compiler/format/release-entry.ts';
import {
  BLOCK_LEAVES,
  blockBytes,
  blockLevels,
  blockWidth,
  statementLeaf,
  statementPath,
} from '../../../compiler/format/statement-tree.ts';
import {
  formatProofExtra,
  isStatementProven,
  parseProofExtra,
} from '../../../compiler/products/shapes/body-proof.ts';

const hashOf = (digit: string): string => `sha256:${digit.repeat(64)}`;
const statementOf = (at: number): string => `sha256:${String(at).padStart(64, '0')}`;

function entryOf(all: { count: number; root: string }) {
  const none = treeHead(0, [], sha256);
  const as_of = '2026-11-20T12:00:00Z';
  return { all, as_of, head: hashOf('a'), new: none, sequence: 7, valid_until: null };
}

/** A tree of statements, by its blocks as they are stored. */
function treeOf(count: number) {
  const target = (at: number): string => `/gauge?entity=${at}&signal_id=a.b`;
  const leaves = Array.from({ length: count }, (_, at) =>
    statementLeaf(target(at), statementOf(at), sha256),
  );
  const levels = completeLevels(leaves, sha256);
  const blocks = Array.from({ length: Math.ceil(count / BLOCK_LEAVES) }, (_, number) => {
    const start = number * BLOCK_LEAVES;
    const width = blockWidth(number, count);
    const stored = blockBytes(leaves.slice(start, start + width), sha256);
    const root = rangeHash({ start, end: start + width }, levels, sha256);
    return { levels: blockLevels(stored, width), root };
  });
  const upper = completeLevels(
    blocks.map(({ root }) => root),
    sha256,
  );
  const root = rangeHash({ start: 0, end: count }, levels, sha256);
  const entry = entryOf(treeHead(count, [root], sha256));
  const proofOf = (index: number) => {
    const block = blocks[Math.floor(index / BLOCK_LEAVES)]?.levels ?? [];
    const hashes = statementPath({ index, count }, block, upper, sha256);
    return { entry, index, hashes };
  };
  return { entry, target, proofOf };
}

describe('the path of a statement', () => {
  it('leads to the root from the stored blocks of trees of any size, and from no other statement', () => {
    for (const count of [1, 2, 3, 255, 256, 257, 511, 512, 513, 700, 1000, 1025]) {
      const { target, proofOf } = treeOf(count);
      for (const index of [0, 1, 254, 255, 256, 511, 512, 699, count - 1]) {
        if (index >= count) continue;
        const proof = proofOf(index);
        const own = { target: target(index), statement: statementOf(index) };
        expect(isStatementProven(proof, own, sha256), `${index} of ${count}`).toBe(true);
        const moved = { ...own, target: target(index + 1) };
        expect(isStatementProven(proof, moved, sha256)).toBe(false);
        const other = { ...own, statement: statementOf(index + 1) };
        expect(isStatementProven(proof, other, sha256)).toBe(false);
      }
    }
  });

  it('survives its spelling in a proof, and any other spelling is refused', () => {
    const { entry, target, proofOf } = treeOf(300);
    const { index, hashes } = proofOf(270);
    const bytes = formatProofExtra({ entryBytes: releaseEntryBytes(entry), index, hashes });
    const read = parseProofExtra(bytes);
    expect(read.entry).toEqual(entry);
    const own = { target: target(270), statement: statementOf(270) };
    expect(isStatementProven(read, own, sha256)).toBe(true);
    expect(() => parseProofExtra(bytes.subarray(1))).toThrow('entry of a release');
    expect(() => parseProofExtra(bytes.subarray(0, -1))).toThrow('its path has');
    const text = new TextDecoder('latin1').decode(bytes);
    const far = text.replace('\n270\n', '\n300\n');
    expect(() => parseProofExtra(Buffer.from(far, 'latin1'))).toThrow('no position below 300');
    const spaced = text.replace('\n270\n', '\n0270\n');
    expect(() => parseProofExtra(Buffer.from(spaced, 'latin1'))).toThrow('no position');
  });
});

describe('an entry', () => {
  it('has one spelling', () => {
    const entry = entryOf(treeHead(0, [], sha256));
    const bytes = releaseEntryBytes(entry);
    expect(parseReleaseEntry(bytes)).toEqual(entry);
    const text = new TextDecoder().decode(bytes);
    for (const other of [
      text.replace(',', ', '),
      text.replace('"sequence":7', '"sequence":0'),
      text.replace('"sequence":7', '"more":1,"sequence":7'),
      text.replace(',"valid_until":null', ''),
      hashOf('b'),
    ]) {
      expect(parseReleaseEntry(Buffer.from(other))).toBeNull();
    }
  });

  it('states SHA-256 of nothing as the root of an empty tree', () => {
    const none = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(treeHead(0, [], sha256)).toEqual({ count: 0, root: none });
  });
});
