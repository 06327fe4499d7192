import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { factsText } from '../../../compiler/contract/hash-index.ts';
import type { Leaf } from '../../../compiler/contract/release.ts';
import { formatLeaf, parseLeaf } from '../../../compiler/stages/publish/leaf-lines.ts';
import { leafStore } from '../../../compiler/stages/publish/leaf-store.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

const hash = (byte: string): string => `sha256:${byte.repeat(32)}`;
const FACTS = {
  kind: 'row',
  signal_id: null,
  entity: 'a "b",\tc\n 1 é\ud800',
  observed_at: '2026-11-20T10:00:00Z',
} as const;
const leaf = (batch: string, byte: string): Leaf => ({ ...FACTS, batch, record_hash: hash(byte) });
const emptyStore = () => leafStore(join(makeFolder(), 'leaves'));
const linesOf = (bytes: Buffer): string[] => bytes.toString('utf8').split('\n').slice(0, -1);

describe('formatLeaf(), parseLeaf()', () => {
  it.each([{}, { isNew: true }] as const)('undo each other: %j', (more) => {
    const line = formatLeaf({ ...leaf('2026-11-20T06Z', '0a'), ...more });
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(parseLeaf(line.slice(0, -1))).toEqual({
      hex: '0a'.repeat(32),
      batch: '2026-11-20T06Z',
      isNew: 'isNew' in more,
      facts: factsText(FACTS),
    });
  });

  it.each(['', `${hash('01')}0`, 'sha256:xyz', hash('0g'), `sha512:${'01'.repeat(32)}`])(
    'refuse %j',
    (record_hash) => {
      expect(() => formatLeaf({ ...FACTS, batch: '2026-11-20', record_hash })).toThrow(RangeError);
    },
  );
});

describe('leafStore()', () => {
  it('gives the leaves of each first byte, however they came', () => {
    const store = emptyStore();
    const [first, second] = [leaf('2026-11-20', 'ff'), leaf('2026-11-21', '0a')];
    store.add(first);
    const lines = Buffer.from(formatLeaf(second) + formatLeaf(leaf('2026-11-20', '01')));
    store.addLines({ batches: ['2026-11-21', '2026-11-20'], lines });
    store.add(leaf('2026-11-21', 'ff'));
    expect([...store.batches()].sort()).toEqual(['2026-11-20', '2026-11-21']);
    expect(linesOf(store.startingWith(255)).map((line) => parseLeaf(line).batch)).toEqual([
      '2026-11-20',
      '2026-11-21',
    ]);
    expect(linesOf(store.startingWith(10)).map((line) => `${line}\n`)).toEqual([
      formatLeaf(second),
    ]);
    expect(linesOf(store.startingWith(1))).toHaveLength(1);
    expect(linesOf(store.startingWith(2))).toEqual([]);
  });
});
