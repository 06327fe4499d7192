import { describe, expect, it } from 'vitest';
import { byteAt, sortedLines, textLines } from '../../compiler/release/hash-lines.ts';
import { ReusedBytes } from '../../compiler/release/reused-bytes.ts';
import { sha256Text } from '../sha256-text.ts';

const LINES = Array.from({ length: 500 }, (_, at) => `["${sha256Text(`${at % 400}`)}" ${at} é\n`);

describe('byteAt()', () => {
  it('reads two hex digits at a place', () => {
    expect([byteAt(Buffer.from('x00'), 1), byteAt(Buffer.from('a9ff'), 0)]).toEqual([0, 0xa9]);
    expect(byteAt(Buffer.from('a9ff'), 2)).toBe(255);
  });
});

describe('sortedLines()', () => {
  it('sorts by bytes, also lines of one hash, whatever their order', () => {
    const want = [...LINES].sort().join('');
    for (const lines of [LINES, LINES.toReversed()]) {
      const sorted = sortedLines(Buffer.from(lines.join('')), 2, new ReusedBytes());
      expect(sorted.toString('utf8')).toBe(want);
    }
    expect(sortedLines(Buffer.alloc(0), 2, new ReusedBytes())).toHaveLength(0);
  });
});

describe('textLines()', () => {
  it('gives each line without its end', () => {
    expect([...textLines(Buffer.from(LINES.join('')))].map((line) => `${line}\n`)).toEqual(LINES);
    expect([...textLines(Buffer.alloc(0))]).toEqual([]);
  });
});
