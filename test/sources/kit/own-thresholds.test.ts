import { afterAll, describe, expect, it } from 'vitest';
import type { Reading } from '../../../compiler/readings/reading.ts';
import type { Imported } from '../../../compiler/sources/kit/payload.ts';
import { mergeBatch } from '../../../compiler/sources/merge-batch.ts';
import {
  compileFolder,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const SIGNAL = 'hydrology.river-level';
const AGENCY = 'National Weather Service';

/** The record of a gauge whose importer supplies heights; the gauge beside it has none. */
async function recordWith(more: object) {
  const rows = [
    reading('06714000', { stage_ft: 12.5 }, more),
    reading('07010000', { stage_ft: 20 }),
  ] as unknown as Reading[];
  const imported: Imported = { readings: new Map([[SIGNAL, rows]]), skipped: [], remarks: [] };
  const files: Record<string, string> = {};
  const disk = {
    read: () => null,
    write: (path: string, text: string) => {
      files[path] = text;
    },
  };
  mergeBatch(imported, '2026-11-20T11:00:00Z', disk);
  const { folder } = await compileFolder(writeSnapshots(files));
  const at = (entity: string) => readJson(folder, `record/${SIGNAL}/${entity}.json`);
  return { own: at('06714000').standard_ruler, other: at('07010000').standard_ruler };
}

describe('heights that an importer supplies', () => {
  it('become the ruler of that gauge alone, in the name of their agency', async () => {
    const thresholds = { action: 9, minor: 10, moderate: 12, major: 14 };
    const { own, other } = await recordWith({ thresholds, thresholds_agency: AGENCY });
    expect(own).toMatchObject({
      band: 'moderate',
      distance_to_action: -3.5,
      provenance: `thresholds of South Platte River at Denver, CO; ${AGENCY}, as stored with the reading`,
    });
    expect(other).toBeNull();
  });

  it('say no more than flood where only the flood stage is known', async () => {
    const { own } = await recordWith({ thresholds: { flood: 10 }, thresholds_agency: AGENCY });
    expect(own).toMatchObject({ band: 'flood', thresholds: [{ band: 'flood', at: 10 }] });
  });

  it('are refused where a worse class begins below a milder one', async () => {
    const thresholds = { flood: 10, moderate: 8 };
    await expect(recordWith({ thresholds, thresholds_agency: AGENCY })).rejects.toThrow(
      /thresholds\.moderate/,
    );
  });
});
