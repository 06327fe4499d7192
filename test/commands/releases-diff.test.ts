import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { filesDiffText, readingsDiffText } from '../../compiler/commands/releases-command.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

/** A reading of one hour, collected in that hour or another. */
const river = (entity: string, stage_ft: number | null, hours: number | [number, number]) => {
  const [hour, seen] = typeof hours === 'number' ? [hours, hours] : hours;
  return reading(
    entity,
    { stage_ft, flow_cfs: 7 },
    { observed_at: `2026-11-20T0${hour}:00:00Z`, collected_at: `2026-11-20T0${seen}:30:00Z` },
  );
};
const BATCH = (hour: number) => `2026-11-20T0${hour}Z/hydrology.river-level.ndjson`;

/** Two releases of these batches, the second with `allowShrink`. */
async function releasesOf(first: readonly object[], second: readonly object[]) {
  const { data } = await compileFolder(writeSnapshots({ [BATCH(1)]: ndjson(first) }));
  const files = { [BATCH(1)]: ndjson(first), [BATCH(2)]: ndjson(second) };
  await compileFolder(writeSnapshots(files), { data });
  const [one = '', two = ''] = readdirSync(`${data}/releases`).sort();
  return { data, one, two };
}

/** The stored files of a record. */
function recordsOf(data: string, entity: string): string[] {
  const folder = join(data, 'files/record/hydrology.river-level');
  const names = readdirSync(folder).filter((name) => name.startsWith(`${entity}.`));
  return names.map((name) => join(folder, name));
}

describe('readingsDiffText()', () => {
  const first = [river('a', 1, 1), river('b', 13.6, 1), river('c', 3, 1)];
  const second = [river('a', 1.5, [1, 2]), river('b', 13.9, 2), river('d', null, 2)];

  it('says by entity what was read, and marks what is new, gone, revised or an earlier reading', async () => {
    const { data, one, two } = await releasesOf(first, second);
    expect(readingsDiffText(data, [one, two]).split('\n')).toEqual([
      `${one} -> ${two}: 1 record new, 1 with a new reading, 1 revised`,
      '+ d hydrology.river-level stage_ft null',
      '  a hydrology.river-level stage_ft 1 -> 1.5 (revised)',
      '  b hydrology.river-level stage_ft 13.6 -> 13.9',
    ]);
    expect(readingsDiffText(data, [two, one]).split('\n')).toEqual([
      `${two} -> ${one}: 1 record revised, 1 back at an earlier reading, 1 gone`,
      '- d hydrology.river-level stage_ft null',
      '  a hydrology.river-level stage_ft 1.5 -> 1 (revised)',
      '  b hydrology.river-level stage_ft 13.9 -> 13.6 (an earlier reading)',
    ]);
    expect(readingsDiffText(data, [one, one])).toBe(`${one} -> ${one}: no record changed`);
    expect(() => readingsDiffText(data, [one, 'none'])).toThrow('Cannot find release "none"');
  });

  it('shows so many lines and counts the rest, the rarest kind first', async () => {
    const many = Array.from({ length: 25 }, (_, at) => `e${at + 10}`);
    const { data, one, two } = await releasesOf(
      many.map((entity) => river(entity, 1, 1)),
      [...many.map((entity) => river(entity, 2, 2)), river('z', 1, 2)],
    );
    const lines = readingsDiffText(data, [one, two]).split('\n');
    expect(lines).toHaveLength(22);
    expect(lines[1]).toBe('+ z hydrology.river-level stage_ft 1');
    expect(lines.at(-1)).toBe('  … and 6 more');
  });

  it('shows no value of a record that is damaged, and refuses a damaged catalog', async () => {
    const { data, one, two } = await releasesOf(first, second);
    for (const path of recordsOf(data, 'b')) writeFileSync(path, '{"current":{"stage_ft":99}}');
    const text = readingsDiffText(data, [one, two]);
    expect(text).toContain('  b hydrology.river-level unreadable -> unreadable');
    expect(text).not.toContain('99');
    const folder = join(data, 'files/index');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '');
    const damaged = () => readingsDiffText(data, [one, two]);
    expect(damaged).toThrow(`Cannot compare release "${one}": its catalog is damaged or gone`);
    expect(damaged).toThrow('compare the files with --files');
  });
});

describe('filesDiffText()', () => {
  it('names the paths that two releases list differently', async () => {
    const { data, one, two } = await releasesOf([river('a', 1, 1)], [river('b', 2, 2)]);
    const text = filesDiffText(data, [one, two]);
    expect(text).toContain('+ record/hydrology.river-level/b.json');
    expect(text).toContain('~ index/catalog.txt');
    expect(filesDiffText(data, [two, one])).toContain('- record/hydrology.river-level/b.json');
    expect(filesDiffText(data, [one, one])).toContain('0 added, 0 changed, 0 gone');
    expect(() => filesDiffText(data, [one, 'none'])).toThrow('Cannot find release "none"');
  });
});
