import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { byteAt, sortedLines, textLines } from '../../compiler/release/hash-lines.ts';
import { LineSpill } from '../../compiler/release/line-spill.ts';
import { listedFiles, onlyIn } from '../../compiler/release/release-list.ts';
import { ReusedBytes } from '../../compiler/release/reused-bytes.ts';
import { editLines, findLine, GatheredLines, lineAt } from '../../compiler/release/sorted-lines.ts';
import { makeFolder, removeFolders, sha256Text } from '../snapshot-folder.ts';

const order = (bytes: Buffer, start: number, key: string) => {
  const [here = ''] = lineAt(bytes, start).split('=');
  return here < key ? -1 : here > key ? 1 : 0;
};
const bytesOf = (lines: ReadonlyMap<string, string>) =>
  Buffer.from(
    [...lines]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => `${k}=${v}\n`)
      .join(''),
  );
const lines = fc
  .array(fc.tuple(fc.stringMatching(/^[a-e]{1,3}$/), fc.stringMatching(/^[x-zü]{0,9}$/)), {
    maxLength: 40,
  })
  .map((pairs) => new Map(pairs));

describe('editLines()', () => {
  it('gives what sorting everything again gives', () => {
    fc.assert(
      fc.property(lines, lines, fc.nat(), (before, added, pick) => {
        const gone = [...before.keys()].filter(
          (key, at) => (at + pick) % 3 === 0 && !added.has(key),
        );
        const edits = [
          ...[...added].map(([key, value]) => ({ key, line: `${key}=${value}\n` })),
          ...gone.map((key) => ({ key, line: null })),
        ].sort((a, b) => (a.key < b.key ? -1 : 1));
        const want = new Map([...before, ...added]);
        for (const key of gone) want.delete(key);
        const gathered = new GatheredLines('utf8');
        editLines({ bytes: bytesOf(before), order }, edits, gathered);
        expect(gathered.take().toString()).toBe(bytesOf(want).toString());
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses to take away what is not there', () => {
    const bytes = Buffer.from('a=1\nc=1\n');
    for (const key of ['', 'b', 'd']) {
      const edit = () =>
        editLines({ bytes, order }, [{ key, line: null }], new GatheredLines('utf8'));
      expect(edit).toThrow('not there');
    }
  });
});

describe('findLine()', () => {
  it('finds every line, and the place of every other', () => {
    fc.assert(
      fc.property(lines, fc.stringMatching(/^[a-e]{1,3}$/), (all, key) => {
        const bytes = bytesOf(all);
        const { start, found } = findLine({ bytes, order }, key);
        const smaller = [...all].filter(([other]) => other < key);
        expect([start, found]).toEqual([bytesOf(new Map(smaller)).length, all.has(key)]);
      }),
      { numRuns: 2000 },
    );
  });
});

const list = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[a-d]{1,4}$/), fc.constantFrom('0', '1')), {
    selector: ([path]) => path,
    maxLength: 60,
  })
  .map((files) => files.sort(([a], [b]) => (a < b ? -1 : 1)));
const textOf = (files: readonly (readonly [string, string])[]) =>
  Buffer.from(files.map(([path, digit]) => `${digit.repeat(64)} 1 ${path}\n`).join(''));

describe('onlyIn()', () => {
  it('I19: names the entries that the other list does not have, and no other', () => {
    fc.assert(
      fc.property(list, list, (one, other) => {
        const known = new Set(other.map((entry) => entry.join()));
        const want = one.filter((entry) => !known.has(entry.join())).map(([path]) => path);
        expect([...onlyIn(textOf(one), textOf(other))].map(({ path }) => path)).toEqual(want);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('listedFiles()', () => {
  it('finds files by path and by the beginning of their path', () => {
    const listed = listedFiles(
      textOf([
        ['a', '0'],
        ['b', '1'],
        ['ba', '0'],
        ['c', '1'],
      ]),
    );
    expect(listed.find('ba')).toEqual({ path: 'ba', size: 1, sha256: '0'.repeat(64) });
    expect([listed.find('bb'), listed.find('')]).toEqual([null, null]);
    expect(listed.has({ path: 'ba', size: 1, sha256: '1'.repeat(64) })).toBe(false);
    expect([...listed.under('b')]).toEqual(['b', 'ba']);
    expect([...listed.under('x')]).toEqual([]);
  });
});

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
