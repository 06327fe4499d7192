import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importSummaryText, runImport } from '../../compiler/import/import-command.ts';
import { importDisk } from '../../compiler/import/import-disk.ts';
import { bytesOf, feed, quake } from './feed.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalpress-import-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const gauges = JSON.stringify({
  value: {
    timeSeries: [
      {
        sourceInfo: { siteName: 'RIVER', siteCode: [{ value: '07010000' }] },
        variable: {
          variableCode: [{ value: '00065' }],
          noDataValue: -999999,
          options: { option: [{ optionCode: '00000' }] },
        },
        values: [{ method: [], value: [{ value: '13.6', dateTime: '2026-11-20T04:45:00-06:00' }] }],
      },
    ],
  },
});

describe('runImport()', () => {
  it('writes a feed as a batch of its own time, and the same bytes again change nothing', () => {
    const file = put('feed.json', bytesOf(feed([quake('a'), quake('b', { type: 'explosion' })])));
    const options = { source: 'usgs-earthquakes', file, out: join(folder, 'quakes') } as const;
    const summary = runImport(options, importDisk);
    expect(summary).toMatchObject({ batch: '2026-11-20T11Z', entities: 18, readings: 54 });
    expect(readdirSync(join(folder, 'quakes'))).toEqual(['2026-11-20T11Z']);
    expect(importSummaryText(summary)).toContain('from metadata.generated of the payload');
    expect(importSummaryText(summary)).toContain('1 × feature: type "explosion"');
    const again = runImport(options, importDisk);
    expect(again.files.every(({ written }) => !written)).toBe(true);
  });

  it('takes the time of a fetch from a note, without the key in its address', () => {
    const url = 'https://waterservices.usgs.gov/nwis/iv/?sites=07010000&api_key=SECRET';
    const fetched_at = '2026-11-20T11:02:00Z';
    const note = put('note.json', JSON.stringify({ url, fetched_at, http_status: 200 }));
    const file = put('iv.json', gauges);
    const out = join(folder, 'noted');
    const summary = runImport({ source: 'usgs-nwis', file, note, out }, importDisk);
    expect(summary).toMatchObject({ fetchedAt: fetched_at, entities: 1, readings: 1 });
    const text = readFileSync(join(out, summary.files[0]?.path ?? ''), 'utf8');
    expect(text).toContain('"stage_ft":13.6');
    expect(text).not.toContain('SECRET');
  });

  it('takes --fetched-at in place of a note', () => {
    const file = put('iv.json', gauges);
    const fetchedAt = '2026-11-20T11:02:00Z';
    const options = { source: 'usgs-nwis', file, fetchedAt, out: join(folder, 'given') } as const;
    expect(runImport(options, importDisk)).toMatchObject({ fetchedAt, noteFrom: '--fetched-at' });
  });

  it.each([
    ['no time of the fetch', {}, 'give --note FILE or --fetched-at TIME'],
    ['two of them', { note: 'n.json', fetchedAt: '2026-11-20T11:02:00Z' }, 'keep one'],
    ['a local time', { fetchedAt: 'yesterday' }, 'is not a time'],
    ['a note that is not there', { note: '/nowhere/n.json' }, 'cannot be read'],
    ['a file that is not there', { file: '/nowhere/iv.json' }, 'cannot be read'],
  ])('refuses %s and writes nothing', (_name, over, message) => {
    const file = put('iv.json', gauges);
    const out = join(folder, 'refused');
    const options = { source: 'usgs-nwis', file, out, ...over } as const;
    expect(() => runImport(options, importDisk)).toThrow(message);
    expect(existsSync(out)).toBe(false);
  });

  it('refuses an error page and names the file', () => {
    const file = put('page.json', '<html></html>');
    const options = { source: 'usgs-earthquakes', file, out: join(folder, 'page') } as const;
    expect(() => runImport(options, importDisk)).toThrow(`Cannot import "${file}": an HTML`);
    expect(existsSync(join(folder, 'page'))).toBe(false);
  });
});
