import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LineSpill } from '../../compiler/release/line-spill.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

type LineForm = ConstructorParameters<typeof LineSpill>[1];

afterAll(removeFolders);

/** Lines of text, in the group of their first digit. */
const FORM: LineForm = {
  endOf: (bytes, start) => bytes.indexOf('\n', start) + 1,
  groupOf: (bytes, start) => (bytes[start] ?? 0) - 0x30,
  groups: 3,
};

function groupsOf(spill: LineSpill): string[] {
  return [0, 1, 2].map((group) => `${spill.take(group)}`);
}

describe('LineSpill', () => {
  it.each([1_000_000, 100, 1])(
    'I34: gives the lines of each group in the order in which they came, with %i bytes in memory',
    (bytesMax) => {
      const folder = join(makeFolder(), 'spill');
      const spill = new LineSpill(folder, FORM, bytesMax);
      const want = ['', '', ''];
      for (let at = 0; at < 60; at += 1) {
        const line = `${at % 7 > 3 ? 2 : 0} line ${'x'.repeat(at)}\n`;
        want[Number(line[0])] += line + line;
        spill.add(Buffer.from(line + line));
        if (at === 30) spill.take(0);
      }
      expect(groupsOf(spill)).toEqual(want);
      expect(existsSync(folder)).toBe(bytesMax < 1_000_000);
    },
  );

  it('takes a piece that is longer than what stays in memory', () => {
    const spill = new LineSpill(join(makeFolder(), 'spill'), FORM, 10);
    const long = `1${'y'.repeat(100_000)}\n`;
    for (const line of ['1a\n', long, '1b\n']) spill.add(Buffer.from(line));
    expect(groupsOf(spill)).toEqual(['', `1a\n${long}1b\n`, '']);
  });

  it.each([1_000_000_000, 1_000_000])(
    'I34: gives a long group whole lines at a time, with %i bytes in memory',
    (bytesMax) => {
      const spill = new LineSpill(join(makeFolder(), 'spill'), FORM, bytesMax);
      const lines = Array.from(
        { length: 5000 },
        (_, at) => `${at % 2} ${'x'.repeat(1000)} ${at}\n`,
      );
      for (const line of lines) spill.add(Buffer.from(line));
      const pieces = Array.from(spill.pieces(1), (piece) => Buffer.from(piece));
      expect(pieces.every((piece) => piece.length === 0 || piece.at(-1) === 0x0a)).toBe(true);
      expect(pieces.length > 2).toBe(bytesMax === 1_000_000);
      expect(Buffer.concat(pieces).toString()).toBe(
        lines.filter((line) => line.startsWith('1')).join(''),
      );
      expect([...spill.pieces(2)].every((piece) => piece.length === 0)).toBe(true);
    },
  );

  it('refuses a line of no group', () => {
    const spill = new LineSpill(join(makeFolder(), 'spill'), FORM, 10);
    spill.add(Buffer.from('3 beyond\n'));
    expect(() => spill.take(0)).toThrow(RangeError);
  });
});
