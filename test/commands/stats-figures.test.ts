import { afterAll, describe, expect, it } from 'vitest';
import { figuresOf, kindOf, type Measured } from '../../compiler/commands/stats-command.ts';
import { DAY_MS, HOUR_MS } from '../../compiler/contract/iso-time.ts';
import { storedPath } from '../../compiler/contract/path.ts';
import { compiledSample } from '../compiled-sample.ts';
import { removeFolders } from '../snapshot-folder.ts';

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
