import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { grouping, SIGNAL_BYTES_IN_MEMORY } from '../../compiler/readings/partition.ts';
import type { StoredReading } from '../../compiler/readings/read-signal.ts';
import type { Reading } from '../../compiler/readings/reading.ts';
import { ENTITY_READINGS_MAX } from '../../compiler/readings/timeline.ts';
import { makeFolder, reading, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

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
