import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { factsText } from '../../compiler/format/hash-index.ts';
import { formatLeaf, type Leaf, leafStore } from '../../compiler/release/leaf-store.ts';
import { formatStatement, StatementList } from '../../compiler/release/statement-list.ts';
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

const hex = (digit: string): string => digit.repeat(64);
const line = (target: string, digit: string): string => `${target} ${hex(digit)}\n`;
const added = (target: string, digit: string, isReplaced = false): string =>
  formatStatement({ target, hex: hex(digit) }, isReplaced);

/** A release of the statements of /a, /b and /d, and what the next one says. */
function listed(edit: (list: StatementList) => void): string {
  const list = new StatementList(Buffer.from(line('/a', '1') + line('/b', '2') + line('/d', '4')));
  edit(list);
  return list.lines().toString('latin1');
}

describe('StatementList', () => {
  it('keeps what is not spoken of, in the order of the targets', () => {
    expect(listed((list) => list.add(added('/c', '3')))).toBe(
      line('/a', '1') + line('/b', '2') + line('/c', '3') + line('/d', '4'),
    );
  });

  it('takes one away and adds the one behind it', () => {
    const edited = listed((list) => {
      list.remove('/b');
      list.add(added('/c', '3'));
    });
    expect(edited).toBe(line('/a', '1') + line('/c', '3') + line('/d', '4'));
  });

  it('replaces one that is taken away and added again, or said to be replaced', () => {
    const edited = listed((list) => {
      list.remove('/b');
      list.add(added('/b', '5') + added('/d', '6', true));
    });
    expect(edited).toBe(line('/a', '1') + line('/b', '5') + line('/d', '6'));
  });

  it('refuses two bodies for one target, in one compile or over two', () => {
    const within = (list: StatementList) => list.add(added('/c', '3') + added('/c', '5'));
    expect(() => listed(within)).toThrow('two bodies answer the same request');
    const again = (list: StatementList) => list.add(added('/b', '5'));
    expect(() => listed(again)).toThrow('two bodies answer the same request');
  });

  it('forgets the release before where that lacks what is replaced or taken away', () => {
    expect(() => listed((list) => list.add(added('/c', '3', true)))).toThrow('one is not there');
    expect(() => listed((list) => list.remove('/c'))).toThrow('one is not there');
  });
});
