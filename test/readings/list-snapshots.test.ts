import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { batchTimes, listSnapshots } from '../../compiler/readings/list-snapshots.ts';
import { grouping, SIGNAL_BYTES_IN_MEMORY } from '../../compiler/readings/partition.ts';
import type { StoredReading } from '../../compiler/readings/read-signal.ts';
import type { Reading } from '../../compiler/readings/reading.ts';
import { ENTITY_READINGS_MAX } from '../../compiler/readings/timeline.ts';
import { CompileError } from '../../compiler/system/compile-error.ts';
import { makeFolder, reading, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

afterAll(removeFolders);

function faultsOf(root: string) {
  try {
    listSnapshots(root, BUILTIN);
  } catch (error) {
    if (error instanceof CompileError) return error.faults;
    throw error;
  }
  return [];
}

describe('listSnapshots()', () => {
  it('lists signals in the order of the table and their files oldest batch first', () => {
    const root = writeSnapshots({
      '2026-11-20T06Z/crypto.spot.ndjson': 'x',
      '2026-11-20/crypto.spot.ndjson': 'xy',
      '2026-11-19T23Z/crypto.spot.ndjson': 'xyz',
      '2026-11-20T00Z/crypto.spot.ndjson': '',
      '2026-11-20/airquality.aqi.ndjson': '',
      'README.md': 'not a batch',
      '.hidden': '',
    });
    const listed = listSnapshots(root, BUILTIN).signals;
    expect(listed.map((signal) => signal.signal_id)).toEqual(['airquality.aqi', 'crypto.spot']);
    expect(listed[1]?.files.map((file) => file.batch)).toEqual([
      '2026-11-19T23Z',
      '2026-11-20',
      '2026-11-20T00Z',
      '2026-11-20T06Z',
    ]);
    expect(listed[1]?.bytes).toBe(6);
  });

  it('leaves the archive of payloads alone, and only that folder', () => {
    const root = writeSnapshots({
      '2026-11-20/crypto.spot.ndjson': 'x',
      'archive/usgs-nwis/2026-11-20/payload.gz': 'x',
    });
    expect(listSnapshots(root, BUILTIN).batches.map(({ batch }) => batch)).toEqual(['2026-11-20']);
    mkdirSync(join(root, 'archives'));
    expect(faultsOf(root)).toMatchObject([{ code: 'bad_name', file: 'archives' }]);
    const flat = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': 'x', archive: 'a file' });
    expect(faultsOf(flat)).toMatchObject([{ code: 'bad_name', file: 'archive' }]);
  });

  it.each([
    ['2026-11-20T24Z', 'an hour that no day has'],
    ['2026-02-30', 'a day that no month has'],
    ['2026-13-01', 'a month that no year has'],
    ['2026-11-20T6Z', 'an hour of one digit'],
    ['2026-11-20T06', 'an hour without its zone'],
    ['20261120', 'a day without dashes'],
    ['latest', 'a word'],
    ['2026-11-20 ', 'a blank'],
    ['2026-11-20\n', 'a line feed'],
  ])('refuses the batch %j: %s', (batch) => {
    const root = writeSnapshots({ [`${batch}/crypto.spot.ndjson`]: '' });
    expect(faultsOf(root)).toMatchObject([{ code: 'bad_name', file: batch }]);
  });

  it.each([
    'crypto.spot',
    'crypto.spot.json',
    'crypto.Spot.ndjson',
    'unknown.signal.ndjson',
    '.ndjson',
    '__proto__.ndjson',
    'crypto.spot.ndjson.bak',
  ])('refuses the file %s', (name) => {
    const root = writeSnapshots({ [`2026-11-20/${name}`]: '' });
    expect(faultsOf(root)).toMatchObject([{ code: 'bad_name', file: `2026-11-20/${name}` }]);
  });

  it('I38: follows no symlink, to a file, to a batch or out of the folder', () => {
    const root = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': '' });
    const other = writeSnapshots({ '2026-11-19/crypto.spot.ndjson': '' });
    symlinkSync(join(other, '2026-11-19'), join(root, '2026-11-19'));
    symlinkSync(
      join(other, '2026-11-19/crypto.spot.ndjson'),
      join(root, '2026-11-20/macro.unemployment.ndjson'),
    );
    symlinkSync('/nowhere', join(root, '2026-11-20/airquality.aqi.ndjson'));
    const refused = faultsOf(root).map((fault) => fault.file);
    expect(refused.sort()).toEqual([
      '2026-11-19',
      '2026-11-20/airquality.aqi.ndjson',
      '2026-11-20/macro.unemployment.ndjson',
    ]);
  });

  it('refuses folders in place of files and files in place of folders, all at once', () => {
    const root = writeSnapshots({ 'loose.ndjson': '' });
    mkdirSync(join(root, '2026-11-20/crypto.spot.ndjson'), { recursive: true });
    writeFileSync(join(root, '2026-11-19'), '');
    expect(faultsOf(root)).toHaveLength(3);
  });

  it('says what to do where nothing is stored', () => {
    for (const root of [join(makeFolder(), 'absent'), makeFolder()]) {
      expect(faultsOf(root)).toMatchObject([{ code: 'no_snapshots', file: root }]);
    }
  });
});

const AS_OF = '2026-11-20T13:00:00Z';

describe('batchTimes()', () => {
  it.each([
    ['2026-11-20T12Z', '2026-11-20T11:00:00Z', '2026-11-20T10:59:59Z'],
    ['2026-11-20', '2026-11-19T23:55:00Z', '2026-11-19T23:54:59Z'],
  ])('lets a line of %s be collected at %s, and no earlier', (batch, first, before) => {
    const judge = batchTimes(AS_OF, batch);
    expect(judge(first)).toBeNull();
    expect(judge(before)).toMatchObject({ stops: null });
  });
});

function grouped(bytes: number, items: readonly StoredReading[]) {
  const folder = join(makeFolder(), 'partitions');
  const groups = grouping(bytes, folder);
  for (const item of items) groups.add(item);
  const onDisk = existsSync(folder);
  const all = [...groups.groups()].flatMap((group) => [...group]);
  groups.dispose();
  return { all: new Map(all), count: all.length, onDisk, left: existsSync(folder) };
}

const item = (entity: string, index: number, more: object = {}): StoredReading => ({
  reading: reading(entity, { price_usd: index }, more) as Reading,
  batch: index % 3,
  file: `file-${index % 2}`,
  line: index,
  at: 100 * index,
  size: 90 + index,
});

describe('grouping()', () => {
  it('I34: gives the same groups through the disk as in memory', () => {
    const entity = fc.oneof(
      fc.constantFrom('a', 'b', '__proto__', '0'),
      fc.string({ minLength: 1 }),
    );
    const name = fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.tuple(entity, name), { maxLength: 60 }), (rows) => {
        const items = rows.map(([id, entity_name], index) =>
          item(id, index, entity_name === undefined ? {} : { entity_name }),
        );
        const memory = grouped(0, items);
        const disk = grouped(SIGNAL_BYTES_IN_MEMORY + 1, items);
        expect([memory.onDisk, disk.onDisk, disk.left]).toEqual([false, true, false]);
        expect(disk.count).toBe(disk.all.size);
        expect([...disk.all].sort()).toEqual([...memory.all].sort());
      }),
      { numRuns: 40 },
    );
  });

  it('reads a spilled line that is far longer than an input line', () => {
    const long = item('a', 1, { entity_name: 'x'.repeat(3_000_000) });
    expect(grouped(SIGNAL_BYTES_IN_MEMORY + 1, [long]).all.get('a')).toEqual([long]);
  });

  it('I34: keeps no more readings of one entity than are needed to refuse it', () => {
    const groups = grouping(0, '');
    const one = item('a', 1);
    for (let count = 0; count < ENTITY_READINGS_MAX + 500; count++) groups.add(one);
    const [group] = groups.groups();
    expect(group?.get('a')).toHaveLength(ENTITY_READINGS_MAX + 1);
  });
});
