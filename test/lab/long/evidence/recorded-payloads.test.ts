import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replay } from '../../../../compiler/publish/evidence/replay.ts';
import { evidenceChecks } from '../../../../compiler/publish/evidence/verify-evidence.ts';
import { Archive, type Archived, keepPayload } from '../../../../compiler/sources/fetch/archive.ts';
import { ArchiveImport } from '../../../../compiler/sources/fetch/archive-import.ts';
import { importDisk } from '../../../../compiler/sources/import-command.ts';
import { ImportError } from '../../../../compiler/sources/kit/payload.ts';
import { SOURCES } from '../../../../compiler/sources/sources.ts';
import { compileFolder, filesBelow, makeFolder } from '../../../snapshot-folder.ts';
import { RECORDED } from '../../../sources/kit/recorded.ts';

/** Archives every recorded answer for each source that reads it, fetched at the end of the day in its name. */
async function archiveAll(archive: Archive): Promise<void> {
  for (const { file, url: asked, text } of RECORDED) {
    const bytes = Buffer.from(text);
    const day = /20\d\d-\d\d-\d\d/.exec(file)?.[0] ?? '2026-11-20';
    const url = URL.canParse(asked) ? asked : 'https://example.org/';
    const note = { url, fetched_at: `${day}T23:59:00Z`, http_status: 200 };
    for (const source of SOURCES) {
      try {
        source.read({ bytes, note, subject: file });
      } catch {
        continue;
      }
      await keepPayload(archive, source.id, { bytes, note });
    }
  }
}

/** Imports what is there; a payload that a compile would refuse is left out, as by `run`. */
function importAll(archive: Archive, snapshots: string): Archived[] {
  const importing = new ArchiveImport({ archive, disk: importDisk.snapshots(snapshots) });
  const imported = archive.fetches().filter((archived) => {
    try {
      return importing.take(archived).rows > 0;
    } catch (error) {
      if (error instanceof ImportError) return false;
      throw error;
    }
  });
  importing.settle(Number.POSITIVE_INFINITY);
  return imported;
}

describe('recorded answers', () => {
  it('I68: come out of the archive as they went in, and every record leads back to one', async () => {
    const folder = makeFolder();
    const archive = new Archive(join(folder, 'archive'));
    const snapshots = join(folder, 'snapshots');
    await archiveAll(archive);
    const imported = importAll(archive, snapshots);
    const report = replay({ snapshots, archive });
    expect(report).toMatchObject({ differs: [], unshown: [], damaged: [] });
    const compiled = await compileFolder(snapshots, { asOf: '2026-12-31T12:00:00Z' });
    const records = [...filesBelow(compiled.folder)].filter(([path]) => path.startsWith('record/'));
    const found = records.flatMap(([path, text]) => {
      const body = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
      return evidenceChecks(body, { archive }).map((check) => ({ path, ...check }));
    });
    expect(found.filter(({ verdict }) => verdict !== 'shown')).toEqual([]);
    expect(imported.length).toBeGreaterThan(50);
    expect(records.length).toBeGreaterThan(100);
    expect(new Set(found.map(({ detail }) => detail)).size).toBeGreaterThan(10);
  });
});
