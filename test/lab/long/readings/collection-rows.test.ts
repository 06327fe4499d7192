import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import {
  documentRowSchema,
  memberNames,
  readCollection,
  someMembers,
  storedFilingRowSchema,
} from '../../../../compiler/readings/collection-rows.ts';
import { mcpServerRowSchema } from '../../../../compiler/readings/roster-rows.ts';
import { articleRow, legsRow } from '../../../roster-rows.ts';
import { AS_OF, removeFolders, writeSnapshots } from '../../../snapshot-folder.ts';

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

describe('memberNames()', () => {
  it('names the members of every form once', () => {
    const names = memberNames(storedFilingRowSchema);
    for (const name of ['cik', 'kind', 'accession', 'tickers', 'count']) {
      expect(names.filter((each) => each === name)).toEqual([name]);
    }
  });
});

describe('someMembers()', () => {
  it.each([
    [{}, null],
    [{ status: 'active' }, null],
    [{ status: 7 }, ['status']],
    [{ capture_date: '2026-02-30' }, ['capture_date']],
    [{ stauts: 'active' }, []],
  ])('judges in %j only what it holds: %j', (members, path) => {
    const issues = someMembers(mcpServerRowSchema).safeParse(members).error?.issues ?? [];
    expect(issues.map((issue) => issue.path)).toEqual(path === null ? [] : [path]);
  });

  it('leaves open what the forms of a row judge otherwise', () => {
    const read = (members: object) => someMembers(storedFilingRowSchema).safeParse(members).success;
    expect(read({ from: null, kind: 'listing', cik: '0000320193' })).toBe(true);
    expect(read({ from: '2026-01-05', kind: 'page' })).toBe(true);
    expect(read({ from: null, kind: 'page', cik: '320193' })).toBe(false);
  });
});

function faults(row: object): string[] {
  return (documentRowSchema(BUILTIN).safeParse(row).error?.issues ?? []).map((issue) =>
    issue.path.join('.'),
  );
}
const [leg] = legsRow('/gauge/taiwan-region').legs;

describe('documentRowSchema()', () => {
  it.each([
    legsRow('/gauge/taiwan-region'),
    legsRow('/gauge/chokepoint-region', { loc: 'anywhere at all' }),
    legsRow('/shadow/region-plus', { loc: 'us-denver', topic: 'energy' }),
    articleRow('/pay/tier2'),
    articleRow('/shadow/signal-plus', {
      signal_id: 'airquality.aqi',
      entity: 'us-denver',
      topic: 'energy',
    }),
    articleRow('/pay/tier3', {}, { text: null, rows: [] }),
  ])('takes $form of $operation', (row) => {
    expect(faults(row)).toEqual([]);
  });

  it.each([
    [articleRow('/gauge/taiwan-region'), 'form'],
    [legsRow('/pay/tier2'), 'form'],
    [articleRow('/gauge'), 'operation'],
    [legsRow('/gauge/chokepoint-region'), 'params'],
    [legsRow('/gauge/taiwan-region', { loc: 'x' }), 'params'],
    [legsRow('/shadow/region-plus', { loc: 'nowhere', topic: 'energy' }), 'params'],
    [articleRow('/shadow/chatter', { topic: 'x'.repeat(300) }), 'params'],
    [articleRow('/shadow/chatter', { topic: '' }), 'params'],
    [legsRow('/gauge/taiwan-region', {}, { legs: [] }), 'legs'],
    [legsRow('/gauge/taiwan-region', {}, { legs: [leg, leg] }), 'legs'],
    [
      legsRow('/gauge/taiwan-region', {}, { legs: [{ ...leg, signal_id: 'airquality.aqi' }] }),
      'legs',
    ],
    [
      legsRow(
        '/gauge/taiwan-region',
        {},
        {
          legs: [{ ...leg, observed_at: '2026-11-20T00:00:00Z' }],
        },
      ),
      'legs',
    ],
    [articleRow('/pay/tier2', {}, { cadence: 'sometimes' }), 'cadence'],
    [articleRow('/pay/tier2', {}, { rows: [{ provenance: 1 }] }), 'rows.0.provenance'],
    [articleRow('/pay/tier2', {}, { rows: [{ office_a_pct: '4.1' }] }), 'rows.0.office_a_pct'],
    [
      legsRow('/gauge/taiwan-region', {}, { legs: [{ ...leg, current: { notices_count: '3' } }] }),
      'legs.0.current.notices_count',
    ],
  ])('refuses $operation #%#', (row, field) => {
    expect(faults(row)).toContain(field);
  });
});
