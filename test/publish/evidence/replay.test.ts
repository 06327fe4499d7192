import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { replay, replayExit, replayText } from '../../../compiler/publish/evidence/replay.ts';
import { type Archived, notePath } from '../../../compiler/sources/fetch/archive.ts';
import type { Source } from '../../../compiler/sources/kit/source.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import {
  type ArchivedShop,
  alterPayload,
  archivedShop,
  RIVER,
} from '../../evidence/archived-shop.ts';
import { ndjson, reading, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';

type ReplayOptions = Parameters<typeof replay>[0];

const RIVERS = 'hydrology.river-level.ndjson';
const FIRST = `2026-11-20T11Z/${RIVERS}`;
const SECOND = `2026-11-20T12Z/${RIVERS}`;

let shop: ArchivedShop;
let fetched: readonly Archived[];
beforeEach(async () => {
  shop = archivedShop();
  fetched = [
    await shop.take('11:05:00', { [RIVER]: { '10:30': 13.1, '10:45': 13.6 } }),
    // A revision within the hour waits for the next batch.
    await shop.take('11:35:00', { [RIVER]: { '10:30': 13.1, '10:45': 13.7 } }),
    await shop.take('12:05:00', { [RIVER]: { '10:45': 13.7, '11:45': 14 } }),
  ];
});
afterAll(removeFolders);

const nth = (index: number): Archived => fetched[index] as Archived;
const found = (more: Partial<ReplayOptions> = {}) => {
  const { snapshots, archive } = shop;
  const report = replay({ snapshots, archive, ...more });
  return { report, exit: replayExit(report), text: replayText(report) };
};
const alter = (path: string, from: string, to: string) => {
  const file = join(shop.snapshots, path);
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new RangeError(`Cannot alter "${path}": no ${from} in it`);
  writeFileSync(file, text.replace(from, to));
};
const byHand = (path: string) =>
  writeSnapshots({ [path]: ndjson([reading('btc', { price_usd: 1 })]) }, shop.snapshots);
const changed =
  (version: number, add: number) =>
  (id: string): Source => {
    const source = sourceOf(id);
    return {
      ...source,
      version,
      read: (payload) => {
        const imported = source.read(payload);
        const readings = [...imported.readings].map(
          ([signal, list]) =>
            [
              signal,
              list.map((one) => {
                return { ...one, current: { stage_ft: Number(one.current.stage_ft) + add } };
              }),
            ] as const,
        );
        return { ...imported, readings: new Map(readings) };
      },
    };
  };

describe('replay()', () => {
  it('I68: gives every file again, byte for byte', () => {
    const { report, exit, text } = found();
    expect([exit, report.fetches, report.equal]).toEqual([0, 3, 2]);
    expect(text).toBe('replay equal: 3 fetches imported again, 2 files the same\n');
    expect(found({ known: changed(2, 0) }).exit).toBe(0);
  });

  it('names the file and the line that was altered', () => {
    alter(FIRST, '"stage_ft":13.6', '"stage_ft":13.8');
    const { exit, text } = found();
    expect(exit).toBe(1);
    expect(text).toContain('replay DIFFERS: 3 fetches imported again, 1 files the same');
    expect(text).toContain(`DIFFERS  ${FIRST}:3  the archive gives no such line`);
  });

  it('notices a line that is gone, and one that only looks another', () => {
    const lines = readFileSync(join(shop.snapshots, FIRST), 'utf8').split('\n');
    writeFileSync(join(shop.snapshots, FIRST), [lines[0], ...lines.slice(2)].join('\n'));
    alter(SECOND, '{"entity"', '{ "entity"');
    expect(found().report.differs).toMatchObject([
      { path: FIRST, line: 2, reason: expect.stringContaining('the archive gives {"entity"') },
      { path: SECOND, line: 3 },
    ]);
  });

  it('notices a file that is gone', () => {
    rmSync(join(shop.snapshots, FIRST));
    const { exit, text } = found();
    expect(exit).toBe(1);
    expect(text).toContain(`${FIRST}:1  the archive gives it, and it is not stored`);
  });

  it('fails for a payload of which one byte is another', () => {
    alterPayload(shop.payload(nth(0)), '13.6', '13.9');
    const { exit, text } = found();
    expect(exit).toBe(1);
    expect(text).toContain('DAMAGED  Cannot use archived payload');
    expect(text).toContain('its bytes are not those of its name');
  });

  it('fails for a payload that is gone while its note is there', () => {
    rmSync(shop.payload(nth(2)));
    expect(found().report.damaged).toMatchObject([expect.stringContaining('ENOENT')]);
    expect(found().exit).toBe(1);
  });

  it('I68: does not call equal what it has no payload of', () => {
    rmSync(join(shop.archive.folder, notePath(nth(2))));
    const { exit, report, text } = found();
    expect([exit, report.equal]).toEqual([2, 1]);
    expect(text).toContain('replay equal as far as the archive goes');
    expect(text).toContain(`the archive lacks payload ${nth(2).sha256} of usgs-nwis`);
  });

  it('does not call equal what was written by hand, and still looks at the lines beside it', () => {
    byHand('2026-11-20T11Z/crypto.spot.ndjson');
    byHand('2026-11-20T12Z/crypto.spot.ndjson');
    const { exit, report, text } = found();
    expect([exit, report.equal]).toEqual([2, 2]);
    expect(text).toContain(
      '2026-11-20T11Z/crypto.spot.ndjson:1 and 1 more files  names no payload: written by hand',
    );
    const hand = JSON.stringify({ ...reading('07020000', { stage_ft: 1 }), evidence: undefined });
    const file = join(shop.snapshots, FIRST);
    const [header = '', ...lines] = readFileSync(file, 'utf8').split('\n');
    const { evidence, ...shared } = JSON.parse(header).header;
    const named = lines
      .filter((line) => line !== '')
      .map((line) => JSON.stringify({ ...shared, ...JSON.parse(line), evidence }));
    writeFileSync(file, `${[...named, hand].join('\n')}\n`);
    expect(found().report.unshown).toMatchObject([{ path: FIRST, line: 3 }, {}, {}]);
    expect(found().exit).toBe(2);
    alter(FIRST, '"stage_ft":13.6', '"stage_ft":13.8');
    expect(found().report.differs).toMatchObject([{ path: FIRST, line: 2 }]);
  });

  it('does not call equal what another version of an importer read', () => {
    const { exit, report, text } = found({ known: changed(3, 0) });
    expect([exit, report.equal]).toEqual([2, 0]);
    expect(text).toContain('imported by usgs-nwis v2; this program has v3');
  });

  it('does not call equal what no importer of this program reads', () => {
    const known = (): Source => {
      throw new RangeError('no such source');
    };
    const { exit, report } = found({ known });
    expect([exit, report.equal, report.refused.length]).toEqual([2, 0, 3]);
    expect(report.unshown[0]?.reason).toContain('this program has no such importer');
  });

  it('fails when the rules of an importer changed and its version did not', () => {
    const { exit, report } = found({ known: changed(2, 1) });
    expect([exit, report.equal]).toEqual([1, 0]);
    expect(report.differs.map(({ path }) => path)).toEqual([FIRST, SECOND]);
  });

  it('names what waits for an hour that had not begun at the last fetch', async () => {
    await shop.take('12:40:00', { [RIVER]: { '11:45': 15 } });
    const { exit, report } = found();
    expect([exit, report.equal]).toEqual([0, 2]);
    expect(report.waiting).toEqual([`2026-11-20T13Z/${RIVERS}`]);
  });

  it('names a payload that its importer refuses, and goes on', async () => {
    await expect(shop.take('12:40:00', {})).rejects.toThrow('it gives no reading');
    const { exit, text } = found();
    expect(exit).toBe(0);
    expect(text).toContain('refused  Cannot import');
  });

  it('refuses an archive that is not there', () => {
    rmSync(shop.archive.folder, { recursive: true });
    expect(() => found()).toThrow('there is no such folder; name the archive with --archive');
  });
});
