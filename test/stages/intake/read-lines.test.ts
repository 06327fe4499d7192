import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { LINE_BYTES_MAX, readLines } from '../../../compiler/stages/intake/read-lines.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);
const path = join(makeFolder(), 'lines');

function linesOf(text: string, bytesMax?: number): (string | null)[] {
  writeFileSync(path, text);
  const lines: (string | null)[] = [];
  for (const line of readLines(path, bytesMax === undefined ? {} : { bytesMax })) {
    expect(line.number).toBe(lines.length + 1);
    lines.push(line.bytes === null ? null : Buffer.from(line.bytes).toString());
  }
  return lines;
}

describe('readLines()', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['\n', ['']],
    ['a\n\nb', ['a', '', 'b']],
    ['a\r\nb\n', ['a\r', 'b']],
  ])('splits %j at line feeds alone', (text, want) => {
    expect(linesOf(text)).toEqual(want);
  });

  it('equals a split of the whole text, whatever the lengths', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.integer({ min: 1, max: 90_000 }).map((n) => 'y'.repeat(n)),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.map((line) => `${line.replaceAll('\n', ' ')}\n`).join('');
        expect(linesOf(text)).toEqual(text.split('\n').slice(0, -1));
      }),
      { numRuns: 60 },
    );
  });

  it('gives a line of the limit and withholds one that is a byte longer', () => {
    const long = 'x'.repeat(LINE_BYTES_MAX);
    expect(linesOf(`a\n${long}\nb\n`)).toEqual(['a', long, 'b']);
    expect(linesOf(`a\n${long}x\nb\n`)).toEqual(['a', null, 'b']);
    expect(linesOf(`${long}x`)).toEqual([null]);
  });

  it('I34: holds no more of an endless line than the limit, and finds the next line behind it', () => {
    expect(linesOf(`${'x'.repeat(3_000_000)}\nb`, 1000)).toEqual([null, 'b']);
    expect(linesOf('x'.repeat(3_000_000), 1000)).toEqual([null]);
  });
});
