import { describe, expect, it } from 'vitest';
import { KeyFilter } from '../../../gatekeeper/journal/sqlite-journal.ts';

const key = (nonce: number) => `base|0xa|0xb|0x${nonce.toString(16).padStart(64, '0')}`;

describe('KeyFilter', () => {
  it('never denies what was added, and denies nearly everything else', () => {
    const filter = new KeyFilter();
    for (let at = 0; at < 10_000; at++) filter.add(key(at * 7919));
    for (let at = 0; at < 10_000; at++) expect(filter.mayHave(key(at * 7919))).toBe(true);
    const wrong = Array.from({ length: 10_000 }, (_, at) => filter.mayHave(key(at * 7919 + 1)));
    expect(wrong.filter(Boolean).length).toBeLessThan(10);
  });

  it('holds keys without a nonce to be possible once one of them was added', () => {
    const filter = new KeyFilter();
    expect(filter.mayHave('none|zz')).toBe(false);
    filter.add('other|zz');
    expect(filter.mayHave('none|zz')).toBe(true);
  });
});
