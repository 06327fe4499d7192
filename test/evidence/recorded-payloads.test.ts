import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepPayload } from '../../compiler/evidence/keep-payload.ts';
import { replay } from '../../compiler/evidence/replay.ts';
import { evidenceChecks, evidenceVerdict } from '../../compiler/evidence/verify-evidence.ts';
import { openArchive } from '../../compiler/fetch/archive.ts';
import { givenPayload, runImport } from '../../compiler/import/import-command.ts';
import { importDisk } from '../../compiler/import/import-disk.ts';
import { compileFolder, filesBelow, makeFolder } from '../snapshot-folder.ts';

const SHARED = new URL('../../../shared/official-payloads/', import.meta.url).pathname;
const PAYLOADS: readonly (readonly [source: string, file: string, fetchedAt?: string])[] = [
  ['usgs-nwis', 'usgs-nwis/iv_03336645_03336890_03336900_2026-09-15.json', '2026-09-15T11:00:00Z'],
  ['usgs-nwis', 'usgs-nwis/ogc_latest-continuous_2026-08.json', '2026-08-31T23:00:00Z'],
  ['usgs-earthquakes', 'usgs-earthquake/feed_2.5_week_2016-04-12.json'],
  ['sec-edgar', 'sec-edgar/submissions_AAPL_2026-03-05.json', '2026-03-05T23:00:00Z'],
  ['sec-edgar', 'sec-edgar/submissions_TSLA_2026-03-05.json', '2026-03-05T23:01:00Z'],
];

describe.skipIf(!existsSync(SHARED))('recorded answers (skipped without ../shared)', () => {
  it('I59: come out of the archive as they went in, and every record leads back to one', async () => {
    const folder = makeFolder();
    const archive = openArchive(join(folder, 'archive'));
    const out = join(folder, 'snapshots');
    for (const [source, name, fetchedAt] of PAYLOADS) {
      const options = { source, file: join(SHARED, name), fetchedAt, out };
      runImport(options, importDisk);
      await keepPayload(archive, source, givenPayload(options, importDisk));
    }
    const report = replay({ snapshots: out, archive });
    expect(report).toMatchObject({ fetches: PAYLOADS.length, differs: [], unshown: [] });
    expect(report.equal).toBeGreaterThan(5);
    const compiled = await compileFolder(out, { asOf: '2026-09-15T12:00:00Z' });
    const records = [...filesBelow(compiled.folder)].filter(([path]) => path.startsWith('record/'));
    const importers = records.map(([path, text]) => {
      const checks = evidenceChecks(JSON.parse(Buffer.from(text, 'latin1').toString('utf8')), {
        archive,
      });
      expect([path, evidenceVerdict(checks), checks]).toEqual([path, 'shown', checks]);
      return checks[0]?.detail;
    });
    expect(records.length).toBeGreaterThan(60);
    expect(new Set(importers).size).toBe(3);
  }, 60_000);
});
