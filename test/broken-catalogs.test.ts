import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check } from '../compiler/cli/check.ts';
import { defined } from '../compiler/format/errors.ts';
import { currentName } from '../compiler/release/release-folders.ts';
import { CompileError, faultText } from '../compiler/system/compile-error.ts';
import { BROKEN_SALES, FORMAT_FAULTS, HARMLESS, MISFITS } from './broken-catalog-rows.ts';
import { type Edit, editedFiles } from './harbour-catalog.ts';
import {
  AS_OF,
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from './snapshot-folder.ts';

const ANOTHER_MEANING = defined(
  BROKEN_SALES.find(([what]) => what === 'another meaning'),
  'that breakage',
);

const REMEDY = 'put the old row back, or compile with --accept-catalog-changes';
const BATCH = '2026-11-20';
const READINGS = {
  [`${BATCH}/tides.level.ndjson`]: ndjson([
    reading('pier-one', { level_m: 3.4, surge_cm: 1 }),
    reading('quay-two', { level_m: 0.4, surge_cm: 1 }),
    reading('lock-three', { level_m: 2.6, surge_cm: 1 }),
  ]),
  [`${BATCH}/tides.waves.ndjson`]: ndjson([
    reading('buoy-9', { height_m: 2, band: 'rough' }),
    reading('quay-two', { height_m: 1, band: 'calm' }),
    reading('far-out', { height_m: 1, band: 'calm' }),
  ]),
  [`${BATCH}/tides.gate.ndjson`]: ndjson([reading('pier-one', { gate_m: 3 })]),
  [`${BATCH}/berth.lifecycle.ndjson`]: ndjson([
    reading(
      'berth-one',
      { state: 'operating', age_days: 9 },
      {
        lifecycle: {
          state: 'operating',
          birth_at: '2026-11-11',
          end_at: null,
          death_type: null,
          context: null,
        },
      },
    ),
  ]),
};

function snapshotsOf(edits: readonly Edit[]): string {
  const files = Object.entries(editedFiles(edits));
  const named = files.map(([name, text]) => [`catalog/${name}`, text]);
  return writeSnapshots({ ...READINGS, ...Object.fromEntries(named) });
}

async function messagesOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error === null) return [];
  if (error instanceof CompileError) return error.faults.map(faultText);
  throw error;
}

let data: string;
beforeAll(async () => {
  ({ data } = await compileFolder(snapshotsOf([]), { asOf: AS_OF }));
});
afterAll(removeFolders);

describe('a broken catalogue', () => {
  it.each([...FORMAT_FAULTS, ...MISFITS])('with %s is refused', async (_, edits, messages) => {
    const folder = join(makeFolder(), 'data');
    const work = compileFolder(snapshotsOf(edits), { data: folder });
    expect(await messagesOf(work)).toEqual(messages);
    expect(existsSync(folder)).toBe(false);
  });
});

describe('a catalogue that breaks what was sold', () => {
  it.each(BROKEN_SALES)('by %s is refused, by a check too', async (_, edits, messages) => {
    const before = currentName(data);
    const snapshots = snapshotsOf(edits);
    const refused = messages.map((message) => `${message}; ${REMEDY}`);
    expect(await messagesOf(compileFolder(snapshots, { data }))).toEqual(refused);
    expect(currentName(data)).toBe(before);
    const checked = check({ snapshots, data, asOf: AS_OF, scratch: makeFolder() });
    expect(await messagesOf(checked)).toEqual(refused);
  });

  it('is published where it is told, and says what it changed', async () => {
    const [, edits, messages] = ANOTHER_MEANING;
    const first = await compileFolder(snapshotsOf([]), { asOf: AS_OF });
    const reported = { data: first.data, acceptCatalogChanges: true };
    const { catalogChanges, release } = await compileFolder(snapshotsOf(edits), reported);
    expect([release.sequence, catalogChanges.length]).toEqual([2, 1]);
    expect(catalogChanges).toEqual(messages);
    // Once published it is what is sold.
    expect(await messagesOf(compileFolder(snapshotsOf(edits), { data: first.data }))).toEqual([]);
    expect(await messagesOf(compileFolder(snapshotsOf([]), { data: first.data }))).toHaveLength(1);
  });

  it.each(HARMLESS)('is not one with %s', async (_, edits) => {
    const checked = check({
      snapshots: snapshotsOf(edits),
      data,
      asOf: AS_OF,
      scratch: makeFolder(),
    });
    expect(await messagesOf(checked)).toEqual([]);
  });

  it('is one where a parameter no longer takes any case, and not where it begins to', async () => {
    const small = snapshotsOf([]);
    const large = snapshotsOf([
      ['tides.json', '/lines/1/upperCase', true],
      ['tides.json', '/lines/1/entities', ['BERTH-ONE']],
    ]);
    const lifecycle = `${BATCH}/berth.lifecycle.ndjson`;
    writeSnapshots({ [lifecycle]: READINGS[lifecycle].replace('berth-one', 'BERTH-ONE') }, large);
    const first = await compileFolder(large, { asOf: AS_OF });
    const judge = (snapshots: string, sold: string) =>
      messagesOf(check({ snapshots, data: sold, asOf: AS_OF, scratch: makeFolder() }));
    expect(await judge(small, first.data)).toEqual([
      `catalog/tides.json /lines/1: "upperCase" was true, and is gone; ${REMEDY}`,
    ]);
    expect(await judge(large, data)).toEqual([]);
  });

  it('is not judged without a data folder', async () => {
    const [, edits] = ANOTHER_MEANING;
    const options = { snapshots: snapshotsOf(edits), asOf: AS_OF, scratch: makeFolder() };
    expect(await messagesOf(check({ ...options, data: null }))).toEqual([]);
    expect(await messagesOf(check({ ...options, data: makeFolder() }))).toEqual([]);
  });

  it('cannot be judged where what was sold is damaged', async () => {
    const first = await compileFolder(snapshotsOf([]), { asOf: AS_OF });
    rmSync(fileOf(join(first.data, 'current'), 'catalog.json'));
    const [, edits] = ANOTHER_MEANING;
    const [message, ...more] = await messagesOf(
      compileFolder(snapshotsOf(edits), { data: first.data }),
    );
    expect(more).toEqual([]);
    expect(message).toContain('what the current release sells cannot be read');
  });
});

it('is held by a list of more than sixty', () => {
  const names = [...FORMAT_FAULTS, ...MISFITS, ...BROKEN_SALES].map(([what]) => what);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(60);
});
