import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { leafLines } from '../../../compiler/stages/publish/leaf-lines.ts';
import { leafStore } from '../../../compiler/stages/publish/leaf-store.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

const hash = (byte: string): string => `sha256:${byte.repeat(32)}`;
const leaf = (batch: string, byte: string) => ({ batch, record_hash: hash(byte) });
const emptyStore = () => leafStore(join(makeFolder(), 'leaves'));

describe('leafStore()', () => {
  it('gives the digests of each first byte with the number of their batch, however they came', () => {
    const store = emptyStore();
    store.add(leaf('2026-11-20', 'ff'));
    store.addLines(leafLines([leaf('2026-11-21', '0a'), leaf('2026-11-20', '01')]));
    store.add(leaf('2026-11-21', 'ff'));
    expect(store.batches()).toEqual(['2026-11-20', '2026-11-21']);
    expect(store.startingWith(255).toString('hex')).toBe(
      `${'ff'.repeat(32)}00000000${'ff'.repeat(32)}00000001`,
    );
    expect(store.startingWith(10).toString('hex')).toBe(`${'0a'.repeat(32)}00000001`);
    expect(store.startingWith(1).toString('hex')).toBe(`${'01'.repeat(32)}00000000`);
    expect(store.startingWith(2)).toHaveLength(0);
  });

  it.each(['', `${hash('01')}0`, 'sha256:xyz', hash('0g'), `sha512:${'01'.repeat(32)}`])(
    'refuses %j',
    (record_hash) => {
      expect(() => emptyStore().add({ batch: '2026-11-20', record_hash })).toThrow(RangeError);
    },
  );

  it('refuses a digest of a batch that is not named', () => {
    const { lines } = leafLines([leaf('2026-11-20', '01')]);
    expect(() => emptyStore().addLines({ batches: [], lines })).toThrow(RangeError);
  });
});
