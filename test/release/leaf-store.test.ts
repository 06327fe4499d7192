import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { factsText } from '../../compiler/format/hash-index.ts';
import { formatLeaf, type Leaf } from '../../compiler/release/leaf-lines.ts';
import { leafStore } from '../../compiler/release/leaf-store.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

const hash = (byte: string): string => `sha256:${byte.repeat(32)}`;
const FACTS = {
  kind: 'row',
  signal_id: null,
  entity: 'a "b",\tc\n 1 é\ud800',
  observed_at: '2026-11-20T10:00:00Z',
} as const;
const leaf = (byte: string): Leaf => ({ ...FACTS, record_hash: hash(byte) });
const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString('utf8')
    .split(/(?<=\n)/)
    .filter(Boolean);

describe('formatLeaf()', () => {
  it('makes one line of the hash and of what it stands for', () => {
    expect(formatLeaf(leaf('0a'))).toBe(`${'0a'.repeat(32)} ${factsText(FACTS)}\n`);
    expect(formatLeaf(leaf('0a')).split('\n')).toHaveLength(2);
  });

  it.each(['', `${hash('01')}0`, 'sha256:xyz', hash('0g'), `sha512:${'01'.repeat(32)}`])(
    'refuses %j',
    (record_hash) => {
      expect(() => formatLeaf({ ...FACTS, record_hash })).toThrow(RangeError);
    },
  );
});

describe('leafStore()', () => {
  it('gives the leaves of each first byte, however they came', () => {
    const store = leafStore(join(makeFolder(), 'leaves'));
    store.add(leaf('ff'));
    store.addLines(Buffer.from(formatLeaf(leaf('0a')) + formatLeaf(leaf('01'))));
    store.add(leaf('ff'));
    expect(linesOf(store.startingWith(255))).toEqual([
      formatLeaf(leaf('ff')),
      formatLeaf(leaf('ff')),
    ]);
    expect(linesOf(store.startingWith(10))).toEqual([formatLeaf(leaf('0a'))]);
    expect(linesOf(store.startingWith(1))).toEqual([formatLeaf(leaf('01'))]);
    expect(linesOf(store.startingWith(2))).toEqual([]);
  });
});
