import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runImport } from '../../../compiler/import/import-command.ts';
import { importDisk } from '../../../compiler/import/import-disk.ts';
import { compileFolder, readJson, removeFolders } from '../../snapshot-folder.ts';
import { TRAVEL_AND_DRUGS } from '../travel-and-drugs.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalpress-travel-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeFolders);

describe('payloads about travel and drugs', () => {
  it('become records under their own names', async () => {
    const out = join(folder, 'snapshots');
    const kinds = Object.values(TRAVEL_AND_DRUGS).filter(
      ({ source, payload }) => source !== 'mcp-registry' && !String(payload).startsWith('769'),
    );
    for (const [at, { source, payload, note }] of kinds.entries()) {
      const file = join(folder, `${at}.payload`);
      writeFileSync(file, typeof payload === 'string' ? payload : JSON.stringify(payload));
      writeFileSync(`${file}.note`, JSON.stringify(note));
      runImport({ source, file, note: `${file}.note`, out }, importDisk);
    }
    const { data } = await compileFolder(out, { asOf: '2026-11-20T19:00:00Z' });
    const record = (signal: string, entity: string) =>
      readJson(join(data, 'current'), `record/${signal}/${entity}.json`);
    expect(record('nas.ground_ops', 'bos')).toMatchObject({
      entity_name: expect.stringContaining('Boston'),
      current: { avg_delay_min: 65, band: 'gdp' },
    });
    expect(record('nas.aviation_wx', 'atl').current).toMatchObject({ wind_kt: 14 });
    expect(record('border-wait.lane-wait', 'hidalgo').current).toMatchObject({
      wait_standard_min: 20,
    });
    expect(record('border-wait.commercial-delay', 'el-paso-bota').current).toMatchObject({
      wait_commercial_min: null,
      status: 'closed',
    });
    expect(record('border-wait.upstream-pressure', 'laredo-world-trade').current).toMatchObject({
      wait_vs_average_pct: 78,
    });
    expect(record('drug-detail.status', 'heparin').current.band).toBe('severe-shortage');
    expect(record('drug-shortage.new-incidence', 'hematology').current.new_90d_count).toBe(1);
  });
});
