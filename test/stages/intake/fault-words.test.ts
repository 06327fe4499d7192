import { afterAll, describe, expect, it } from 'vitest';
import { listingRow } from '../../filing-rows.ts';
import { serverRow } from '../../roster-rows.ts';
import {
  AS_OF,
  compileFaults,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const GOOD = reading('07010000', { stage_ft: 13.6 });
const SOURCE = { name: 'a', weight: 1, independent: true };
const TEXT = JSON.stringify(GOOD);

/** What is said of the second line of a file, as `field: message`. */
async function stated(files: SnapshotFiles): Promise<string[]> {
  const faults = await compileFaults(files, { asOf: AS_OF });
  expect(faults.every(({ line }) => line === 2)).toBe(true);
  return faults.map(({ field, message }) => `${field}: ${message}`);
}

const ofReading = (text: string) =>
  stated({ '2026-11-20/hydrology.river-level.ndjson': `${TEXT}\n${text}\n` });
const ofRow = (collection: string, good: { collected_at: string }, bad: object) =>
  stated({ [`${good.collected_at.slice(0, 10)}/${collection}.ndjson`]: ndjson([good, bad]) });

const NO_METRIC = 'a metric is a number, text, true, false, null or a flat list';

describe('what is said of a bad line', () => {
  it.each(['[{}]', '5', '"text"', 'null'])(
    'tells how a line is written where it is %s',
    async (line) => {
      const words = 'line: not an object; write one reading or row per line, each as a JSON object';
      expect(await ofReading(line)).toEqual([words]);
    },
  );

  it.each<[object, string]>([
    [
      { current: { stage_ft: 1, Band: 1 } },
      'current.Band: a metric name is lower snake case; write "band"',
    ],
    [
      { current: { stage_ft: 1, gageHeight: 1 } },
      'current.gageHeight: a metric name is lower snake case; write "gage_height"',
    ],
    [
      { current: { stage_ft: 1, '24h_rain': 1 } },
      'current.24h_rain: a metric name is lower snake case',
    ],
    [{ foo: 1 }, 'line: unknown member "foo"; remove it, or see "signalpress lines"'],
    [
      { a: 1, b: 1, c: 1, d: 1, e: 1 },
      'line: unknown members "a", "b", "c", "d", …; remove them, or see "signalpress lines"',
    ],
    [
      { sources: [{ ...SOURCE, x: 1 }] },
      'sources.0: unknown member "x"; remove it, or see "signalpress lines"',
    ],
    [{ current: { stage_ft: { a: 1 } } }, `current.stage_ft: ${NO_METRIC}`],
    [{ current: { stage_ft: [[1]] } }, `current.stage_ft: ${NO_METRIC}`],
    [
      { sources: [{ name: 'a', independent: true }] },
      'sources.0.weight: missing; give it in the line or in the header',
    ],
    [{ source_ref: 'example.org' }, 'source_ref: not an address such as https://…, or null'],
    [
      { observed_at: '2026-11-20T10:45Z' },
      'observed_at: "2026-11-20T10:45Z" has no seconds; write them, as in 2026-11-20T10:45:00Z',
    ],
    [
      { observed_at: '2026-02-30T10:45:00Z' },
      'observed_at: there is no day 2026-02-30; correct it',
    ],
    [
      { observed_at: '0000-12-31T10:45:00Z' },
      'observed_at: there is no day 0000-12-31; correct it',
    ],
    [
      { observed_at: '2026-11-20' },
      'observed_at: not an ISO-8601 UTC time such as 2026-11-20T10:45:00Z',
    ],
    [{ observed_at: 5 }, 'observed_at: not an ISO-8601 UTC time such as 2026-11-20T10:45:00Z'],
  ])('%j', async (change, message) => {
    expect(await ofReading(JSON.stringify({ ...GOOD, ...change }))).toEqual([message]);
  });

  it('names a missing member, a number beyond all, and a second header', async () => {
    const { source_tier, ...rest } = GOOD;
    expect(await ofReading(JSON.stringify(rest))).toEqual([
      'source_tier: missing; give it in the line or in the header',
    ]);
    expect(await ofReading(TEXT.replace('13.6', '1e400'))).toEqual([
      'current.stage_ft: too large for a number; correct it, or store null',
    ]);
    expect(await ofReading('{"header":{"grade":"A"}}')).toEqual([
      'header: a header may only be the first line; start another file; the lines after it were not read',
    ]);
  });

  it('is the same of rows of collections', async () => {
    const good = serverRow('a', '2026-11-19');
    const bad = serverRow('b', '2026-11-19');
    expect(await ofRow('mcp.server', good, { ...bad, foo: 1 })).toEqual([
      'line: unknown member "foo"; remove it, or see "signalpress lines"',
    ]);
    expect(await ofRow('mcp.server', good, { ...bad, capture_date: '2026-02-30' })).toEqual([
      'capture_date: there is no day 2026-02-30; correct it',
    ]);
    expect(await ofRow('mcp.server', good, { ...bad, capture_date: '0000-12-31' })).toEqual([
      'capture_date: there is no day 0000-12-31; correct it',
    ]);
    expect(await ofRow('mcp.server', good, { ...bad, capture_date: undefined })).toEqual([
      'capture_date: missing; give it in the line or in the header',
    ]);
    expect(await ofRow('mcp.server', good, { header: { grade: 'A' } })).toEqual([
      'header: a header may only be the first line; start another file; the lines after it were not read',
    ]);
    const late = listingRow({ collected_at: '2026-11-20T11:00Z' });
    expect(await ofRow('filing.submission', listingRow(), late)).toEqual([
      'collected_at: "2026-11-20T11:00Z" has no seconds; write them, as in 2026-11-20T10:45:00Z',
    ]);
  });

  it('is nothing of a good one', async () => {
    expect(await ofReading(TEXT)).toEqual([]);
    const rows = [serverRow('a', '2026-11-19'), serverRow('b', '2026-11-19')] as const;
    expect(await ofRow('mcp.server', ...rows)).toEqual([]);
  });
});
