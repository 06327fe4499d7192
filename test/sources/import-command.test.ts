import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import type { CollectionId } from '../../compiler/products/collections.ts';
import { loadCatalog } from '../../compiler/readings/load-catalog.ts';
import type { Reading } from '../../compiler/readings/reading.ts';
import {
  importDisk,
  importSummaryText,
  readPayload,
  runImport,
} from '../../compiler/sources/import-command.ts';
import type { Imported } from '../../compiler/sources/kit/payload.ts';
import type { Source } from '../../compiler/sources/kit/source.ts';
import { tableSource } from '../../compiler/sources/kit/table-source.ts';
import { sourceOf } from '../../compiler/sources/sources.ts';
import { compileFolder, readJson, removeFolders } from '../snapshot-folder.ts';
import { tideCatalog } from '../tide-shop.ts';
import { playedPayloads } from './kit/cases.ts';
import { bytesOf, feed, quake, registryPage, server } from './kit/recorded.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalpress-import-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeFolders);

function put(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** An answer about the stage of one site; a point is its value and the minute past 04:00. */
function gaugesOf(site: string, ...points: readonly (readonly [string, string])[]): string {
  const series = {
    sourceInfo: { siteName: 'RIVER', siteCode: [{ value: site }] },
    variable: {
      variableCode: [{ value: '00065' }],
      noDataValue: -999999,
      options: { option: [{ optionCode: '00000' }] },
    },
    values: [
      {
        method: [],
        value: points.map(([value, minute]) => {
          return { value, dateTime: `2026-11-20T04:${minute}:00-06:00` };
        }),
      },
    ],
  };
  return JSON.stringify({ value: { timeSeries: [series] } });
}

const gauges = gaugesOf('07010000', ['13.6', '45']);

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

  it('writes a table by a map of its columns, and asks for the time of its fetch', () => {
    const map = {
      signal: 'hydrology.river-level',
      entity: { constant: '07010000' },
      time: { column: 'at', format: 'iso' },
      metrics: [{ name: 'stage_ft', column: 'stage', unit: 'ft' }],
      sources: [{ name: 'Example Rivers', weight: 1, independent: true }],
      source_ref: 'https://rivers.example.org/',
      source_tier: 'T1',
    };
    const source = tableSource('csv', { bytes: bytesOf(map), file: 'map.json' });
    const file = put('stages.csv', 'at,stage\n2026-11-20T10:30:00Z,13.6\n');
    const options = { source, file, out: join(folder, 'table') };
    expect(() => runImport(options, importDisk)).toThrow('give --note FILE or --fetched-at TIME');
    const summary = runImport({ ...options, fetchedAt: '2026-11-20T11:05:00Z' }, importDisk);
    expect(summary).toMatchObject({ source: source.id, batch: '2026-11-20T11Z', readings: 1 });
    const stored = join(folder, 'table', '2026-11-20T11Z', 'hydrology.river-level.ndjson');
    expect(readFileSync(stored, 'utf8')).toContain('"current":{"stage_ft":13.6}');
  });

  it('imports a table of a signal of the own catalogue, which stands beside the batches', () => {
    const out = join(folder, 'tides');
    mkdirSync(join(out, 'catalog'), { recursive: true });
    writeFileSync(join(out, 'catalog', 'tides.json'), JSON.stringify(tideCatalog()));
    const map = {
      signal: 'tides.level',
      entity: { column: 'gauge' },
      time: { column: 'at', format: 'iso' },
      metrics: [{ name: 'level_m', column: 'level', unit: 'm' }],
      sources: [{ name: 'Harbour', weight: 1, independent: true }],
      source_ref: 'https://harbour.example.org/',
      source_tier: 'T1',
    };
    const { catalog } = loadCatalog(out);
    const source = tableSource('csv', { bytes: bytesOf(map), file: 'map.json', catalog });
    const file = put('tides.csv', 'at,gauge,level\n2026-11-20T10:30:00Z,pier-one,3.4\n');
    const options = { source, file, out, fetchedAt: '2026-11-20T11:05:00Z', catalog };
    expect(runImport(options, importDisk)).toMatchObject({ readings: 1 });
    // By the built-in catalogue nobody knows the signal, and the own one knows no river.
    expect(() => tableSource('csv', { bytes: bytesOf(map), file: 'map.json' })).toThrow(
      '"tides.level" is not known',
    );
    const near = bytesOf({ ...map, signal: 'tides.levle' });
    expect(() => tableSource('csv', { bytes: near, file: 'map.json', catalog })).toThrow(
      'did you mean "tides.level"?',
    );
    expect(() => runImport({ ...options, catalog: BUILTIN }, importDisk)).toThrow(
      'tides.level: not in the catalogue of the snapshots',
    );
    const bad = put('bad.csv', 'at,gauge,level\n2026-11-20T10:30:00Z,pier-nine,3.4\n');
    expect(() => runImport({ ...options, file: bad }, importDisk)).toThrow('pier-nine');
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

  it('I55: refuses a payload of another length than its note says, and writes nothing', () => {
    const own = { url: 'https://waterservices.usgs.gov/nwis/iv/?sites=07010000', http_status: 200 };
    const noted = (bytes: number) =>
      put('length.json', JSON.stringify({ ...own, fetched_at: '2026-11-20T11:02:00Z', bytes }));
    const options = { source: 'usgs-nwis', file: put('iv.json', gauges), out: join(folder, 'cut') };
    const long = { ...options, note: noted(gauges.length + 1) };
    expect(() => runImport(long, importDisk)).toThrow(
      `it has ${gauges.length} bytes and its note says ${gauges.length + 1}; fetch it again`,
    );
    expect(existsSync(options.out)).toBe(false);
    expect(runImport({ ...options, note: noted(gauges.length) }, importDisk).readings).toBe(1);
  });

  describe('names as evidence', () => {
    const url = 'https://waterservices.usgs.gov/nwis/iv/?sites=07010000';
    const fetched_at = '2026-11-20T11:02:00Z';
    const evidenceIn = (payload: string, name: string) => {
      const text = JSON.stringify({ url: `${url}&api_key=SECRET`, fetched_at, http_status: 200 });
      const note = put('evident.json', text);
      const out = join(folder, name);
      const file = put('evident-iv.json', payload);
      const { files } = runImport({ source: 'usgs-nwis', file, note, out }, importDisk);
      const [header] = readFileSync(join(out, files[0]?.path ?? ''), 'utf8').split('\n');
      return JSON.parse(header ?? '').header.evidence;
    };
    const sha256 = createHash('sha256').update(gauges).digest('hex');

    it('the payload, its address without keys, its fetch, and who read it', () => {
      const attribution =
        'Credit: U.S. Geological Survey; provisional data are subject to revision';
      const importer = { importer: 'usgs-nwis', importer_version: 2, attribution };
      expect(evidenceIn(gauges, 'evident')).toEqual({ sha256, url, fetched_at, ...importer });
    });

    it('another payload where one byte of it is another', () => {
      expect(evidenceIn(`${gauges} `, 'evident-too').sha256).not.toBe(sha256);
    });
  });

  describe('of several river payloads of one hour', () => {
    const path = '2026-11-20T11Z/hydrology.river-level.ndjson';
    let out = '';
    beforeEach(() => {
      out = mkdtempSync(join(folder, 'rivers-'));
    });
    const take = (payload: string, minute = '02') => {
      const fetchedAt = `2026-11-20T11:${minute}:00Z`;
      const file = put('river.json', payload);
      return runImport({ source: 'usgs-nwis', file, fetchedAt, out }, importDisk);
    };
    const stored = () => readFileSync(join(out, path), 'utf8');
    const lines = () => stored().trimEnd().split('\n').slice(1);

    it('keeps the readings of different rivers side by side, by site and time', () => {
      take(gaugesOf('07020000', ['2', '45'], ['1', '30']));
      take(gauges, '07');
      const order = lines().map((line) => /"entity":"(\d+)","observed_at":"([^"]+)"/.exec(line));
      expect(order.map((match) => match?.slice(1).join(' '))).toEqual([
        '07010000 2026-11-20T10:45:00Z',
        '07020000 2026-11-20T10:30:00Z',
        '07020000 2026-11-20T10:45:00Z',
      ]);
    });

    it('changes nothing when a payload comes again', () => {
      take(gauges);
      take(gaugesOf('07020000', ['2', '45']), '07');
      const before = stored();
      expect(take(gauges).files).toEqual([{ path, written: false }]);
      expect(stored()).toBe(before);
    });

    it('adds what a later fetch of the same site has, and the compile takes the rest for repeats', async () => {
      take(gauges);
      take(gaugesOf('07010000', ['13.6', '45'], ['13.7', '50']), '07');
      expect(lines()).toHaveLength(3);
      const { counts } = (await compileFolder(out)).release;
      expect(counts).toMatchObject({ entities: 1, repeats: 1, revisions: 0 });
    });

    it('refuses another value for a stored time of a site, and keeps what is stored', () => {
      take(gauges);
      const before = stored();
      expect(() => take(gaugesOf('07010000', ['9.9', '45']), '07')).toThrow(
        'the reading of 07010000 at 2026-11-20T10:45:00Z is already stored with other values',
      );
      expect(stored()).toBe(before);
    });
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
    ['a note that is not there', { note: '/nowhere/n.json' }, 'ENOENT'],
    ['a file that is not there', { file: '/nowhere/iv.json' }, 'ENOENT'],
  ])('refuses %s and writes nothing', (_name, over, message) => {
    const file = put('iv.json', gauges);
    const out = join(folder, 'refused');
    const options = { source: 'usgs-nwis', file, out, ...over } as const;
    expect(() => runImport(options, importDisk)).toThrow(message);
    expect(existsSync(out)).toBe(false);
  });

  it('refuses what a compile would refuse, and writes nothing', () => {
    const file = put('coded.json', gaugesOf('07010000', ['-9999', '45']));
    const options = { source: 'usgs-nwis', file, fetchedAt: '2026-11-20T11:02:00Z' } as const;
    const out = join(folder, 'coded');
    expect(() => runImport({ ...options, out }, importDisk)).toThrow(
      'hydrology.river-level of 07010000: current.stage_ft: -9999 is a no-data code',
    );
    const list = {
      accessionNumber: [],
      filingDate: [],
      reportDate: [],
      acceptanceDateTime: [],
      form: [],
      items: [],
      primaryDocument: [],
    };
    const filer = { cik: '1', name: 'A', tickers: ['a_b'], filings: { recent: list, files: [] } };
    const filings = put('filer.json', JSON.stringify(filer));
    expect(() =>
      runImport({ ...options, source: 'sec-edgar', file: filings, out }, importDisk),
    ).toThrow('tickers.0: not a ticker in upper case');
    expect(existsSync(out)).toBe(false);
  });

  it('makes a roster of two whole lists, and a server that the second one misses is gone', async () => {
    const out = join(folder, 'servers');
    const row = (name: string) => ({ name, repository: { url: 'https://example.org' } });
    const take = (day: string, names: readonly string[]) => {
      const file = put(`seed-${day}.json`, JSON.stringify(names.map(row)));
      const options = { source: 'mcp-registry', file, out, fetchedAt: `2026-11-${day}T06:00:00Z` };
      return runImport(options, importDisk);
    };
    expect(take('18', ['a.b/kept', 'a.b/gone', ''])).toMatchObject({ rows: 2, readings: 0 });
    take('19', ['a.b/kept', 'a.b/new']);
    const { data } = await compileFolder(out);
    const release = join(data, 'current');
    const graveyard = JSON.stringify(readJson(release, 'roster/mcp/graveyard.json').deaths);
    expect(graveyard).toContain('a.b/gone');
    expect(graveyard).not.toContain('a.b/kept');
    const census = JSON.stringify(readJson(release, 'verifiable/roster/mcp/census.json').rows);
    expect(census).toContain('a.b/new');
  });

  it('makes records of payloads about travel and drugs under their own names', async () => {
    const out = join(folder, 'travel');
    const kinds: readonly [string, string][] = [
      ['faa-nas', 'a document of airport programmes'],
      ['aviationweather', 'decoded weather reports'],
      ['cbp-bwt', 'waits at the border'],
      ['cbp-bwt', 'a graph of waits at the border'],
      ['openfda', 'a list of drug shortages'],
    ];
    for (const [source, name] of kinds) {
      const played = playedPayloads(source).find((one) => one.name === name);
      const { url, fetched: fetched_at } = played?.heads ?? {};
      const file = put('travel.payload', played?.text ?? '');
      const note = put('travel.note', JSON.stringify({ url, fetched_at, http_status: 200 }));
      runImport({ source, file, note, out }, importDisk);
    }
    const { data } = await compileFolder(out, { asOf: '2026-11-20T19:00:00Z' });
    const record = (signal: string, entity: string) =>
      readJson(join(data, 'current'), `record/${signal}/${entity}.json`);
    expect(record('nas.ground_ops', 'bos')).toMatchObject({
      entity_name: expect.stringContaining('Boston'),
      current: { avg_delay_min: 65, band: 'gdp' },
    });
    const current = (signal: string, entity: string) => record(signal, entity).current;
    expect(current('nas.aviation_wx', 'atl')).toMatchObject({ wind_kt: 14 });
    expect(current('border-wait.lane-wait', 'hidalgo')).toMatchObject({ wait_standard_min: 20 });
    expect(current('border-wait.commercial-delay', 'el-paso-bota').status).toBe('closed');
    expect(current('border-wait.upstream-pressure', 'laredo-world-trade').wait_vs_average_pct).toBe(
      78,
    );
    expect(current('drug-detail.status', 'heparin').band).toBe('severe-shortage');
    expect(current('drug-shortage.new-incidence', 'hematology').new_90d_count).toBe(1);
  });

  it('refuses one page of a list, since what other pages hold would count as gone', () => {
    const file = put('page-1.json', JSON.stringify(registryPage([server('a.b/c')], 'a.b/c:1.0.0')));
    const out = join(folder, 'one-page');
    const options = { source: 'mcp-registry', file, out, fetchedAt: '2026-11-19T06:00:00Z' };
    expect(() => runImport(options, importDisk)).toThrow('one page of a list');
    expect(existsSync(out)).toBe(false);
    const whole = put('page-all.json', JSON.stringify(registryPage([server('a.b/c')])));
    expect(runImport({ ...options, file: whole }, importDisk).rows).toBe(1);
  });

  it('refuses an error page and names the file', () => {
    const file = put('page.json', '<html></html>');
    const options = { source: 'usgs-earthquakes', file, out: join(folder, 'page') } as const;
    expect(() => runImport(options, importDisk)).toThrow(`Cannot import "${file}": an HTML`);
    expect(existsSync(join(folder, 'page'))).toBe(false);
  });
});

describe('readPayload()', () => {
  const source = (collection: CollectionId, row: object): Source => ({
    ...sourceOf('mcp-registry'),
    read: () => ({
      readings: new Map(),
      rows: new Map([[collection, [row]]]),
      skipped: [],
      remarks: [],
    }),
  });
  const note = {
    url: 'https://example.gov/',
    fetched_at: '2026-11-20T11:05:00Z',
    http_status: 200,
  };
  const read = (collection: CollectionId, row: object) =>
    readPayload(source(collection, row), { bytes: Buffer.from('{}'), note, subject: 'x.json' });
  const origin = {
    observed_at: '2026-11-20T11:00:00Z',
    collected_at: '2026-11-20T11:00:00Z',
    sources: [{ name: 'test source', weight: 1, independent: true }],
    source_ref: null,
    source_tier: 'T1',
    capture_date: '2026-11-20',
  };

  it('holds a row to the schema of its own collection', () => {
    const row = { ...origin, server_id: 'a.b/c', status: 'active' };
    expect(read('mcp.server', row).rows?.get('mcp.server')).toMatchObject([row]);
    expect(() => read('mcp.server', { ...row, status: 7 })).toThrow('mcp.server: status');
    expect(() => read('stable.coin', row)).toThrow('stable.coin: ');
    expect(() => read('filing.submission', row)).toThrow('filing.submission: ');
    expect(() => read('mcp.server', { ...row, name: 'Buy this' })).toThrow('mcp.server: name');
  });

  it('I63: leaves out the reading with words that are not stored, and keeps all others', () => {
    const { capture_date: _day, ...fetched } = origin;
    const reading = (entity: string, more: object) => ({
      ...fetched,
      entity,
      current: { stage_ft: 1 },
      ...more,
    });
    const readings = (list: readonly object[]) => ({
      ...source('mcp.server', {}),
      read: (): Imported => ({
        readings: new Map([['hydrology.river-level', list as Reading[]]]),
        skipped: [],
        remarks: [],
      }),
    });
    const payload = { bytes: Buffer.from('{}'), note, subject: 'x.json' };
    const bad = reading('07010000', { scope: 'at\u2067 a gauge' });
    const good = reading('07020500', { scope: 'at a gauge' });
    const imported = readPayload(readings([bad, good]), payload);
    expect(imported.readings.get('hydrology.river-level')).toMatchObject([{ entity: '07020500' }]);
    const reason =
      'scope left out: U+2067 is hidden or changes how the text reads; store it without';
    expect(imported.skipped).toEqual([{ subject: '07010000', reason, count: 1 }]);
    expect(() => readPayload(readings([bad]), payload)).toThrow('scope: U+2067 is hidden');
    const row = { ...origin, server_id: 'a.b/c', status: 'active' };
    expect(() => read('mcp.server', { ...row, name: 'A\u200bB' })).toThrow('name: U+200B');
  });
});
