import { afterAll, describe, expect, it } from 'vitest';
import { HeaderFaults } from '../../../compiler/stages/intake/read-lines.ts';
import { serverRow } from '../../roster-rows.ts';
import {
  compileFaults,
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const MCP = '2026-11-20/mcp.server.ndjson';
const SPOT = '2026-11-20/crypto.spot.ndjson';
const { observed_at, collected_at, ...OWN } = reading('btc', { price_usd: 1 });
const LATE = { code: 'bad_field', field: 'observed_at', message: 'after collected_at' } as const;

describe('HeaderFaults', () => {
  it.each([
    [{}, true],
    [{ entity: 'btc' }, true],
    [{ observed_at }, false],
    [{ collected_at }, false],
  ])('blames a time of the header for the line %j: %s', (line, isOfHeader) => {
    const header = new HeaderFaults({ observed_at, collected_at });
    const reported = { ...LATE, field: 'header.observed_at', line: 1 };
    expect(header.placed([LATE], line)).toEqual([isOfHeader ? reported : LATE]);
    expect(header.placed([LATE], line)).toEqual(isOfHeader ? [] : [LATE]);
  });

  it('leaves a row its own time of collection beside a day of capture in the header', async () => {
    const row = (id: string, more: object) => {
      const { capture_date, ...own } = serverRow(id, '2026-11-20', more);
      return own;
    };
    const early = { observed_at: '2026-11-19T01:00:00Z', collected_at: '2026-11-19T23:56:00Z' };
    const rows = [row('a-mcp', {}), row('b-mcp', early), row('c-mcp', early)];
    const header = { capture_date: '2026-11-20' };
    const faults = await compileFaults({ [MCP]: ndjson([{ header }, ...rows]) });
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [3, 'capture_date'],
      [4, 'capture_date'],
    ]);
    expect(await compileFaults({ [MCP]: ndjson([{ header }, row('a-mcp', {})]) })).toEqual([]);
    const bad = { [MCP]: ndjson([{ header: { capture_date: '20 November' } }, ...rows]) };
    const reported = await compileFaults(bad);
    expect(reported.map(({ line, field }) => [line, field])).toEqual([[1, 'header.capture_date']]);
  });

  const lines = Array.from({ length: 20 }, (_, at) => ({
    ...OWN,
    entity: `coin-${at}`,
    collected_at: at === 7 || at === 9 ? '2026-11-20T09:00:00Z' : collected_at,
  }));
  const files = { [SPOT]: ndjson([{ header: { observed_at } }, ...lines]) };

  it('leaves a line its own time of collection, wherever the other time stands', async () => {
    const faults = await compileFaults(files);
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [9, 'observed_at'],
      [11, 'observed_at'],
    ]);
    const { release } = await compileFolder(writeSnapshots(files), { maxRejectsPpm: 200_000 });
    expect(release.counts.readings).toBe(18);
  });
});
