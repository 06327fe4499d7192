import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  figuresOf,
  figuresText,
  kindOf,
  type Measured,
  statsText,
} from '../../compiler/cli/stats-command.ts';
import { DAY_MS, HOUR_MS } from '../../compiler/format/iso-time.ts';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { compiledSample } from '../shop.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

const DAY = (day: number) => `2026-11-${day}T12:00:00Z`;

/** Releases of these days in November, one reading more each time. */
async function releasesOf(...days: readonly [number, ...number[]]) {
  const snapshots = writeSnapshots({});
  const data = join(makeFolder(), 'data');
  for (const day of days) {
    writeSnapshots(spotPrices(`2026-11-${day}`, 1, day), snapshots);
    await compileFolder(snapshots, { data, asOf: DAY(day) });
  }
  return { data, names: readdirSync(join(data, 'releases')).sort() };
}

/** Bytes of all plain files below a folder. */
function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
}

/** The numbers of the row with this title. */
function rowOf(text: string, title: string): number[] {
  const line = text.split('\n').find((each) => each.startsWith(`${title} `));
  const cells = line?.slice(title.length).trim().split(/ {2,}/) ?? [];
  return cells.map((cell) => Number(cell.replaceAll(',', '')));
}

describe('statsText()', () => {
  it('adds up to what stands in the folder, and tells what came with each release', async () => {
    const { data, names } = await releasesOf(18, 19, 20);
    const text = statsText(data);
    const [one = '', two = '', three = ''] = names;
    expect(text).toContain(`3 releases in "${data}", the current one ${three}, as of ${DAY(20)}`);
    const [currentFiles = 0, , , all] = rowOf(text, 'total');
    expect(all).toBe(bytesBelow(data));
    expect(rowOf(text, 'state')[3]).toBe(bytesBelow(join(data, 'state')));
    // A record and its short form.
    expect(rowOf(text, 'records')[0]).toBe(2);
    expect(rowOf(text, 'records')[2]).toBe(6);
    const [, came = 0] = rowOf(text, three);
    const [files = 0, before = 0] = rowOf(text, two);
    expect(files).toBeLessThan(currentFiles);
    expect(rowOf(text, 'a day, on average')).toEqual([Math.round((came + before) / 2)]);
    expect(text).not.toContain(`\n${one}`);
  });

  it('looks at what each release adds: files, its head and its list', async () => {
    const { data, names } = await releasesOf(19, 20);
    const [one = '', two = ''] = names;
    const [, , , all = 0] = rowOf(statsText(data), 'total');
    const rest = bytesBelow(join(data, 'state'));
    const single = await releasesOf(19);
    const first = bytesBelow(join(single.data, 'files')) + bytesBelow(join(data, 'releases', one));
    const own = bytesBelow(join(data, 'log'));
    expect(rowOf(statsText(data), two)[1]).toBe(all - rest - own - first);
  });

  it('knows no growth of a single release, nor across one that is damaged', async () => {
    const { data, names } = await releasesOf(18, 19, 20);
    const [one = '', two = '', three = ''] = names;
    writeFileSync(join(data, 'releases', one, 'files.txt'), 'damaged\n');
    const text = statsText(data);
    expect(text).not.toContain(`\n${two}`);
    expect(rowOf(text, three)).toHaveLength(2);
    const single = await releasesOf(20);
    expect(statsText(single.data)).toContain('known once there are two');
    expect(statsText(single.data)).toContain('1 release in ');
  });

  it('refuses a folder without a release', () => {
    const folder = makeFolder();
    for (const data of [folder, join(folder, 'typo')]) {
      expect(() => statsText(data)).toThrow(`Cannot measure "${data}": no release there`);
    }
  });
});

describe('figuresText()', () => {
  it('aligns numbers on the right, and says what is not known', () => {
    const amount = { files: 1, bytes: 1_234_567 };
    const none = { files: 0, bytes: 0 };
    const lines = figuresText({
      kinds: [
        { kind: 'records', current: amount, all: amount },
        { kind: 'state', current: none, all: { files: 12, bytes: 3 } },
      ],
      arrivals: [{ name: '000002-x', amount, spanMs: 0 }],
      bytesPerDay: null,
    });
    expect(lines).toEqual([
      '',
      '         current files      bytes  all files      bytes',
      'records              1  1,234,567          1  1,234,567',
      'state                –          –         12          3',
      'total                1  1,234,567         13  1,234,570',
      '',
      'came with          files      bytes',
      '000002-x               1  1,234,567',
      'a day, on average         not known',
    ]);
  });
});

describe('stats figures', () => {
  afterAll(removeFolders);

  const sized = (...files: readonly (readonly [string, number])[]) =>
    files.map(([path, size]) => ({ path, size }));
  const measured = (more: Partial<Measured> = {}): Measured => ({
    current: sized(['files/record/a/x.json', 5], ['files/thin/bundle/a/x.json', 7]),
    stored: sized(['files/record/a/x.json', 5], ['files/record/a/y.json', 6], ['state/s', 1]),
    arrivals: [],
    ...more,
  });
  const arrival = (bytes: number, spanMs: number) => ({
    name: `r${bytes}`,
    added: sized(['files/record/a/x.json', bytes]),
    spanMs,
  });

  describe('figuresOf()', () => {
    it('adds up files by kind, of the current release and of everything', () => {
      const { kinds, bytesPerDay } = figuresOf(measured());
      expect(kinds).toEqual([
        { kind: 'records', current: { files: 1, bytes: 5 }, all: { files: 2, bytes: 11 } },
        { kind: 'bundles', current: { files: 1, bytes: 7 }, all: { files: 0, bytes: 0 } },
        { kind: 'state', current: { files: 0, bytes: 0 }, all: { files: 1, bytes: 1 } },
      ]);
      expect(bytesPerDay).toBeNull();
    });

    it.each([
      [[arrival(10, HOUR_MS), arrival(20, 2 * HOUR_MS)], 240],
      [[arrival(10, DAY_MS), arrival(20, 0)], 30],
      [[arrival(10, DAY_MS), arrival(20, -DAY_MS)], 10],
      [[arrival(10, 0)], null],
      [[arrival(10, -HOUR_MS)], null],
    ])('averages what came in a day: case %#', (arrivals, bytesPerDay) => {
      const figures = figuresOf(measured({ arrivals }));
      expect(figures.bytesPerDay).toBe(bytesPerDay);
      expect(figures.arrivals[0]?.amount).toEqual({ files: 1, bytes: 10 });
    });
  });

  describe('kindOf()', () => {
    it('knows every file that a compile writes', async () => {
      const { paths } = await compiledSample();
      const unknown = paths.filter((path) => kindOf(storedPath(path, 'f'.repeat(64))) === 'other');
      expect(unknown).toEqual([]);
    });

    it.each([
      ['files/bundle/hurricane/record.json', 'bundles'],
      ['files/mcp/well-known/x.json', 'descriptions'],
      ['files/catalog.c0f82f680b2b.json', 'descriptions'],
      ['files/catalog.json.c0f82f680b2b.br', 'descriptions'],
      ['files/nothing/such.json', 'other'],
      ['record/a/b.json', 'records'],
      ['log-checkpoint', 'other'],
    ])('takes %s for one of %s', (path, kind) => {
      expect(kindOf(path)).toBe(kind);
    });
  });
});
