import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Archive, type Archived, notePath } from '../../compiler/sources/fetch/archive.ts';
import { ArchiveImport } from '../../compiler/sources/fetch/archive-import.ts';
import { importDisk } from '../../compiler/sources/import-command.ts';
import { makeFolder } from '../snapshot-folder.ts';
import { gaugeAnswer, type Stages } from '../sources/fetch/agency-payloads.ts';

export const RIVER = '07010000';
const NWIS = 'https://waterservices.usgs.gov/nwis/iv/?format=json';

/** A folder of snapshots with the archive that they were imported from. */
export interface ArchivedShop {
  readonly snapshots: string;
  readonly archive: Archive;
  /** Archives an answer about some sites, fetched at a time of 2026-11-20, and imports it. */
  take(time: string, stages: Stages): Promise<Archived>;
  /** Path of the stored payload of a fetch. */
  payload(archived: Archived): string;
}

export function archivedShop(): ArchivedShop {
  const snapshots = join(makeFolder(), 'snapshots');
  const archive = new Archive(join(snapshots, 'archive'));
  const importing = new ArchiveImport({ archive, disk: importDisk.snapshots(snapshots) });
  let last: Archived | null = null;
  return {
    snapshots,
    archive,
    async take(time, stages) {
      const incoming = await archive.receive('usgs-nwis', chunksOf(gaugeAnswer(stages)));
      const { sha256, bytes } = incoming;
      archive.keep('usgs-nwis', incoming, '2026-11-20');
      const base = { source: 'usgs-nwis', sha256, bytes, payload_day: '2026-11-20', url: NWIS };
      const after = last === null ? {} : { after: notePath(last) };
      const fetched_at = `2026-11-20T${time}Z`;
      last = archive.note({ ...base, ...after, fetched_at, http_status: 200 });
      importing.take(last);
      return last;
    },
    payload: ({ source, payload_day, sha256 }) =>
      join(archive.folder, source, payload_day, `${sha256}.gz`),
  };
}

async function* chunksOf(text: string) {
  yield Buffer.from(text);
}

/** Writes a stored payload again with one text replaced by another. */
export function alterPayload(path: string, from: string, to: string): void {
  const text = gunzipSync(readFileSync(path)).toString('utf8');
  if (!text.includes(from)) throw new RangeError(`Cannot alter a payload: no ${from} in it`);
  writeFileSync(path, gzipSync(text.replace(from, to)));
}
