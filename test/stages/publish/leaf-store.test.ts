import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatLeaf } from '../../../compiler/contract/release.ts';
import { leafStore } from '../../../compiler/stages/publish/leaf-store.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

const hash = (byte: string): string => `sha256:${byte.repeat(32)}`;
const leaf = (batch: string, byte: string): string =>
  formatLeaf({ batch, record_hash: hash(byte) });

describe('leafStore()', () => {
  it('gives the digests of each first byte with the number of their batch', () => {
    const store = leafStore(join(makeFolder(), 'leaves'));
    store.add(leaf('2026-11-20', 'ff') + leaf('2026-11-21', '0a'));
    store.add(leaf('2026-11-20', '01') + leaf('2026-11-21', 'ff'));
    expect(store.batches()).toEqual(['2026-11-20', '2026-11-21']);
    expect(store.startingWith(255).toString('hex')).toBe(
      `${'ff'.repeat(32)}00000000${'ff'.repeat(32)}00000001`,
    );
    expect(store.startingWith(10).toString('hex')).toBe(`${'0a'.repeat(32)}00000001`);
    expect(store.startingWith(2)).toHaveLength(0);
  });

  it.each([
    '2026-11-20',
    ` ${hash('01')}`,
    `2026-11-20 ${hash('01')}0`,
    '2026-11-20 sha256:xyz',
    `2026-11-20 ${hash('0g')}`,
    `2026-11-20 sha512:${'01'.repeat(32)}`,
  ])('refuses %j', (line) => {
    const store = leafStore(join(makeFolder(), 'leaves'));
    expect(() => store.add(line)).toThrow(RangeError);
  });
});
