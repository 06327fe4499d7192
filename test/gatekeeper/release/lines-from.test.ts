import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesFrom } from '../../../gatekeeper/release/log-index.ts';

describe('linesFrom()', () => {
  it('finds what reading every line finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), word, (words, opening) => {
        const lines = [...new Set(words)].sort();
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const want = lines.filter((line) => line.startsWith(opening) && line !== '');
        const found = linesFrom(bytes, opening).filter((line) => line !== '');
        expect(found).toEqual(want.slice(0, found.length));
        expect(found.length).toBe(Math.min(want.length, 64));
      }),
    );
  });

  it('gives a bounded number of them', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `x${1000 + at}\n`);
    expect(linesFrom(Buffer.from(lines.join('')), 'x')).toHaveLength(64);
  });

  it('finds nothing in nothing, and nothing that is not there', () => {
    expect(linesFrom(Buffer.alloc(0), 'x')).toEqual([]);
    expect(linesFrom(Buffer.from('a\nc\n'), 'b')).toEqual([]);
    expect(linesFrom(Buffer.from('a\nc\n'), 'd')).toEqual([]);
  });
});
