import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readCollection } from '../../../compiler/stages/intake/collection-rows.ts';
import { AS_OF, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';

const COLLECTION_ROWS_MAX = 500_000;

afterAll(removeFolders);

const rowSchema = z.object({ collected_at: z.string() });

/** Reads batches that hold so many rows each. */
function readRows(...counts: readonly number[]) {
  const line = `${JSON.stringify({ collected_at: '2026-11-11T00:00:00Z' })}\n`;
  const names = counts.map((_, at) => `2026-11-1${at}/rows.ndjson`);
  const root = writeSnapshots(
    Object.fromEntries(names.map((name, at) => [name, line.repeat(counts[at] ?? 0)])),
  );
  const files = names.map((name) => ({
    id: 'test',
    name,
    path: join(root, name),
    batch: name.slice(0, 10),
    bytes: 0,
    stamp: '',
    changedMs: 0,
  }));
  return readCollection({ files, asOf: AS_OF }, rowSchema);
}

describe('readCollection()', () => {
  it('I43: takes as many rows as a collection may hold, and names the file in which one more stands', () => {
    const { faults } = readRows(COLLECTION_ROWS_MAX, 1);
    expect(faults).toEqual([
      {
        code: 'too_many_readings',
        file: '2026-11-11/rows.ndjson',
        message: `more than ${COLLECTION_ROWS_MAX} rows in all batches; drop the oldest batches`,
      },
    ]);
  });

  it('gives every row of all batches', () => {
    const { rows, faults } = readRows(2, 1);
    expect([rows.map(({ file, line }) => `${file}:${line}`), faults]).toEqual([
      ['2026-11-10/rows.ndjson:1', '2026-11-10/rows.ndjson:2', '2026-11-11/rows.ndjson:1'],
      [],
    ]);
  });
});
