import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { replay } from '../../compiler/publish/evidence/replay.ts';
import { Archive, keepPayload } from '../../compiler/sources/fetch/archive.ts';
import { givenPayload, importDisk, runImport } from '../../compiler/sources/import-command.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';
import { gaugeAnswer } from '../sources/fetch/agency-payloads.ts';
import { RIVER } from './archived-shop.ts';

afterAll(removeFolders);

describe('keepPayload()', () => {
  const take = async (folder: string, fetchedAt: string, isKept = true) => {
    const file = join(folder, 'iv.json');
    writeFileSync(file, gaugeAnswer({ [RIVER]: { '10:30': 13.1, '10:45': 13.6 } }));
    const options = { source: 'usgs-nwis', file, fetchedAt, out: join(folder, 'snapshots') };
    runImport(options, importDisk);
    const archive = new Archive(join(folder, 'archive'));
    if (isKept) await keepPayload(archive, options.source, givenPayload(options, importDisk));
    return { archive, snapshots: options.out };
  };

  it('lets what was imported by hand be imported again to the same bytes', async () => {
    const folder = makeFolder();
    await take(folder, '2026-11-20T11:05:00Z');
    const report = replay(await take(folder, '2026-11-20T12:05:00.500Z'));
    expect(report).toMatchObject({ fetches: 2, equal: 2, differs: [], unshown: [] });
    const { archive } = await take(folder, '2026-11-20T12:05:00.500Z');
    expect(archive.fetches().map(({ payload_day }) => payload_day)).toHaveLength(2);
  });

  it('is what makes the difference', async () => {
    const folder = makeFolder();
    await take(folder, '2026-11-20T11:05:00Z');
    const report = replay(await take(folder, '2026-11-20T12:05:00Z', false));
    expect(report).toMatchObject({ fetches: 1, equal: 1, unshown: [{ line: 2 }] });
    expect(report.unshown[0]?.reason).toContain('the archive lacks payload');
  });
});
