import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Archive, type Archived, notePath } from '../../../compiler/sources/fetch/archive.ts';
import { ArchiveImport } from '../../../compiler/sources/fetch/archive-import.ts';
import type { Source } from '../../../compiler/sources/kit/source.ts';
import type { BatchDisk } from '../../../compiler/sources/merge-batch.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { gaugeAnswer } from './agency-payloads.ts';

afterAll(removeFolders);

const URL = 'https://waterservices.usgs.gov/nwis/iv/?format=json';
const RIVERS = 'hydrology.river-level.ndjson';

let archive: Archive;
let files: Map<string, string>;
let disk: BatchDisk;
let last: Archived | null = null;
beforeEach(() => {
  archive = new Archive(makeFolder());
  files = new Map();
  disk = {
    read: (path) => files.get(path) ?? null,
    write: (path, text) => files.set(path, text),
  };
  last = null;
});

type Points = Parameters<typeof gaugeAnswer>[0];

/** Archives an answer about some sites, fetched at a time of 2026-11-20. */
async function answered(time: string, points: Points | string, url = URL): Promise<Archived> {
  const text = typeof points === 'string' ? points : gaugeAnswer(points);
  const chunks = async function* () {
    yield Buffer.from(text);
  };
  const incoming = await archive.receive('usgs-nwis', chunks());
  const { sha256, bytes } = incoming;
  archive.keep('usgs-nwis', incoming, '2026-11-20');
  const base = { source: 'usgs-nwis', sha256, bytes, payload_day: '2026-11-20', url };
  const after = last === null ? {} : { after: notePath(last) };
  last = archive.note({ ...base, ...after, fetched_at: `2026-11-20T${time}Z`, http_status: 200 });
  return last;
}

/** Values of a site and minute by batch. */
function reported(): string[] {
  return [...files].sort().flatMap(([path, text]) =>
    text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line))
      .map(
        (row) =>
          `${path.slice(11, 14)} ${row.entity} ${row.observed_at.slice(11, 16)} ${row.current.stage_ft}`,
      ),
  );
}

describe('ArchiveImport', () => {
  it('stores of an answer only what the one before did not say, and the newest reading', async () => {
    const taker = new ArchiveImport({ archive, disk });
    taker.take(await answered('11:05:00', { '07010000': { '10:30': 1, '10:45': 2 } }));
    taker.take(await answered('12:05:00', { '07010000': { '10:30': 1, '10:45': 2, '11:45': 3 } }));
    taker.take(await answered('13:05:00', { '07010000': { '10:30': 1, '10:45': 2, '11:45': 3 } }));
    expect(reported()).toEqual([
      '11Z 07010000 10:30 1',
      '11Z 07010000 10:45 2',
      '12Z 07010000 11:45 3',
      '13Z 07010000 11:45 3',
    ]);
  });

  it('tells nothing twice in one batch, and the same fetch again changes nothing', async () => {
    const taker = new ArchiveImport({ archive, disk });
    const first = await answered('11:05:00', { '07010000': { '10:45': 2 } });
    taker.take(first);
    const before = files.get(`2026-11-20T11Z/${RIVERS}`);
    const again = taker.take(await answered('11:20:00', { '07010000': { '10:45': 2 } }));
    expect(again.files).toEqual([{ path: `2026-11-20T11Z/${RIVERS}`, written: false }]);
    taker.take(first);
    expect(files.get(`2026-11-20T11Z/${RIVERS}`)).toBe(before);
  });

  it('lets a revision of the same hour wait for the batch of the next, where it is a revision', async () => {
    const taker = new ArchiveImport({ archive, disk });
    taker.take(
      await answered('11:05:00', { '07010000': { '10:45': 2 }, '07020000': { '10:45': 7 } }),
    );
    const revised = { '07010000': { '10:45': 2.5 }, '07020000': { '10:45': 7, '11:00': 8 } };
    expect(taker.take(await answered('11:40:00', revised)).waiting).toBe(1);
    expect(taker.settle(Date.parse('2026-11-20T11:59:00Z')).rows).toBe(0);
    expect(taker.waiting()).toBe(1);
    expect(taker.settle(Date.parse('2026-11-20T12:00:00Z'))).toMatchObject({ rows: 1, dropped: 0 });
    expect(reported()).toEqual([
      '11Z 07010000 10:45 2',
      '11Z 07020000 10:45 7',
      '11Z 07020000 11:00 8',
      '12Z 07010000 10:45 2.5',
    ]);
    const snapshots = writeSnapshots(Object.fromEntries(files));
    const { release } = await compileFolder(snapshots, { asOf: '2026-11-20T12:01:00Z' });
    expect(release.counts).toMatchObject({ revisions: 1, entities: 2 });
  });

  it('lets the same value of another origin wait too: intake takes two facts of no batch', async () => {
    const rivers = sourceOf('usgs-nwis');
    const moved: Source = {
      ...rivers,
      read: (payload) => {
        const imported = rivers.read(payload);
        if (payload.note.fetched_at < '2026-11-20T11:30') return imported;
        const readings = [...imported.readings].map(([id, list]) => {
          const elsewhere = list.map((one) => ({ ...one, source_ref: 'https://example.gov/' }));
          return [id, elsewhere] as const;
        });
        return { ...imported, readings: new Map(readings) };
      },
    };
    const taker = new ArchiveImport({ archive, disk, known: () => moved });
    const points = { '07010000': { '10:45': 2 } };
    expect(taker.take(await answered('11:05:00', points)).waiting).toBe(0);
    expect(taker.take(await answered('11:40:00', points)).waiting).toBe(1);
    taker.settle(Date.parse('2026-11-20T12:00:00Z'));
    expect(reported()).toEqual(['11Z 07010000 10:45 2', '12Z 07010000 10:45 2']);
  });

  it('keeps the last of several revisions, and none that was taken back', async () => {
    const taker = new ArchiveImport({ archive, disk });
    taker.take(
      await answered('11:05:00', { '07010000': { '10:45': 2 }, '07020000': { '10:45': 7 } }),
    );
    taker.take(
      await answered('11:20:00', { '07010000': { '10:45': 3 }, '07020000': { '10:45': 9 } }),
    );
    taker.take(
      await answered('11:40:00', { '07010000': { '10:45': 4 }, '07020000': { '10:45': 7 } }),
    );
    taker.settle(Date.parse('2026-11-20T12:00:00Z'));
    expect(reported()).toEqual([
      '11Z 07010000 10:45 2',
      '11Z 07020000 10:45 7',
      '12Z 07010000 10:45 4',
    ]);
  });

  it('takes a revision back also where the address names the time of asking', async () => {
    const taker = new ArchiveImport({ archive, disk });
    const asked = (minute: string) => `${URL}&until=2026-11-20T11:${minute}Z`;
    taker.take(await answered('11:05:00', { '07010000': { '10:45': 2 } }, asked('05')));
    taker.take(await answered('11:20:00', { '07010000': { '10:45': 3 } }, asked('20')));
    taker.take(await answered('11:40:00', { '07010000': { '10:45': 2 } }, asked('40')));
    taker.settle(Date.parse('2026-11-20T12:00:00Z'));
    expect(reported()).toEqual(['11Z 07010000 10:45 2']);
  });

  it('does not lose a revision of what the next answer no longer holds', async () => {
    const taker = new ArchiveImport({ archive, disk });
    taker.take(await answered('11:05:00', { '07010000': { '10:45': 2 } }));
    taker.take(await answered('11:40:00', { '07010000': { '10:45': 3 } }));
    taker.take(await answered('12:05:00', { '07010000': { '11:45': 5 } }));
    expect(reported()).toEqual([
      '11Z 07010000 10:45 2',
      '12Z 07010000 10:45 3',
      '12Z 07010000 11:45 5',
    ]);
  });

  it('writes the same bytes from the archive alone, in the order of its fetches', async () => {
    const taker = new ArchiveImport({ archive, disk });
    taker.take(await answered('11:05:00', { '07010000': { '10:45': 2 } }));
    taker.take(await answered('11:40:00', { '07010000': { '10:45': 3 } }));
    taker.take(await answered('12:05:00', { '07010000': { '10:45': 4, '11:45': 5 } }));
    taker.settle(Date.parse('2026-11-20T13:00:00Z'));
    const first = new Map(files);
    files.clear();
    const again = new ArchiveImport({ archive, disk });
    for (const archived of archive.fetches()) again.take(archived);
    again.settle(Date.parse('2026-11-20T13:00:00Z'));
    expect(files).toEqual(first);
    expect(reported()).toContain('13Z 07010000 10:45 4');
  });

  it('refuses what its importer refuses, and then wrote nothing', async () => {
    const taker = new ArchiveImport({ archive, disk });
    const broken = await answered('11:05:00', '{"value":{"timeSeries":[');
    expect(() => taker.take(broken)).toThrow('not whole JSON');
    expect(files.size).toBe(0);
    // The next answer has nothing to be compared with, and is told whole.
    taker.take(await answered('11:20:00', { '07010000': { '10:30': 1, '10:45': 2 } }));
    expect(reported()).toHaveLength(2);
  });

  it('holds back what is part of a whole that did not come', async () => {
    const taker = new ArchiveImport({ archive, disk });
    const archived = await answered('11:05:00', { '07010000': { '10:45': 2 } });
    const held = archive.note({ ...archived, held: '1 of 2 addresses failed' });
    expect(taker.take(held).remarks).toEqual(['held back: 1 of 2 addresses failed']);
    expect(files.size).toBe(0);
  });

  it('keeps what waits until the disk has stored it', async () => {
    let isFull = false;
    const write: BatchDisk['write'] = (path, text) => {
      if (isFull) throw new Error('no space left');
      files.set(path, text);
    };
    const taker = new ArchiveImport({ archive, disk: { ...disk, write } });
    taker.take(await answered('11:05:00', { '07010000': { '10:45': 2 } }));
    taker.take(await answered('11:40:00', { '07010000': { '10:45': 3 } }));
    isFull = true;
    const noon = Date.parse('2026-11-20T12:00:00Z');
    expect(() => taker.settle(noon)).toThrow('no space left');
    expect(taker.waiting()).toBe(1);
    isFull = false;
    expect(taker.settle(noon)).toMatchObject({ rows: 1, dropped: 0 });
    expect(taker.waiting()).toBe(0);
    expect(reported()).toEqual(['11Z 07010000 10:45 2', '12Z 07010000 10:45 3']);
  });

  it('hands back what a stored batch says otherwise for another reason', async () => {
    const taker = new ArchiveImport({ archive, disk });
    taker.take(await answered('11:05:00', { '07010000': { '10:45': 2 } }));
    taker.take(await answered('11:40:00', { '07010000': { '10:45': 3 } }));
    const stored = files.get(`2026-11-20T11Z/${RIVERS}`) ?? '';
    files.set(`2026-11-20T12Z/${RIVERS}`, stored.replace('"stage_ft":2', '"stage_ft":9'));
    expect(taker.settle(Date.parse('2026-11-20T12:00:00Z'))).toMatchObject({ rows: 0, dropped: 1 });
  });
});
