import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { catalogOf } from '../../../../compiler/catalog/catalog.ts';
import { readPayload } from '../../../../compiler/sources/import-command.ts';
import { tableSource } from '../../../../compiler/sources/kit/table-source.ts';
import { LEVEL_SIGNAL, type SignalRow, TIDE_FILE } from '../../../tide-shop.ts';

const note = {
  url: 'https://rivers.example.org/gauges',
  fetched_at: '2026-11-20T11:05:00Z',
  http_status: 200,
};
const MAP = {
  signal: 'hydrology.river-level',
  entity: { column: 'gauge', values: { 'A 12': '07010000', 'B 7': '07032000' } },
  entity_name: { column: 'place' },
  time: { column: 'measured', format: 'DD.MM.YYYY HH:mm', zone: 'America/Chicago' },
  metrics: [{ name: 'stage_ft', column: 'stage', unit: 'ft', unit_column: 'unit' }],
  band: { column: 'class', values: { low: 'below-action', high: 'minor' } },
  separator: ';',
  decimal: ',',
  no_data: ['', '-999'],
  sources: [{ name: 'Example Rivers', weight: 1, independent: true, role: 'measurement' }],
  source_ref: 'https://rivers.example.org/',
  source_tier: 'T1',
  scope: 'one gauge',
};
const CSV = `gauge;place;measured;stage;unit;class
A 12;Example Town;20.11.2026 04:30;13,6;ft;low
B 7;Other Town;20.11.2026 04:45;-0,25;ft;high
`;

function read(text: string, map: object = MAP, format: 'csv' | 'json' = 'csv') {
  const bytes = Buffer.from(JSON.stringify(map));
  const source = tableSource(format, { bytes, file: 'map.json' });
  return readPayload(source, { bytes: Buffer.from(text), note, subject: 'table' });
}
const levels = (...of: Parameters<typeof read>) =>
  read(...of).readings.get('hydrology.river-level') ?? [];

describe('tableSource() of CSV', () => {
  it('makes readings of columns, with words, zone, decimals and units of the table', () => {
    expect(levels(CSV)).toEqual([
      {
        entity: '07010000',
        entity_name: 'Example Town',
        observed_at: '2026-11-20T10:30:00Z',
        collected_at: note.fetched_at,
        current: { stage_ft: 13.6, band: 'below-action' },
        sources: [{ ...MAP.sources[0], value: 13.6, as_of: '2026-11-20T10:30:00Z' }],
        source_ref: MAP.source_ref,
        source_tier: 'T1',
        scope: 'one gauge',
        evidence: expect.objectContaining({ importer: expect.stringMatching(/^csv-map-/) }),
      },
      expect.objectContaining({ entity: '07032000', current: { stage_ft: -0.25, band: 'minor' } }),
    ]);
  });

  it('takes a constant entity and a day, and names its source after the map', () => {
    const { entity_name: _, band: __, ...map } = MAP;
    const daily = {
      ...map,
      entity: { constant: '07010000' },
      time: { column: 'day', format: 'YYYY-MM-DD' },
      metrics: [{ name: 'stage_ft', column: 'stage', unit: 'ft' }],
      separator: ',',
      decimal: '.',
    };
    const [reading] = levels('day,stage\n2026-11-19,7\n', daily);
    expect(reading).toMatchObject({
      observed_at: '2026-11-19T00:00:00Z',
      current: { stage_ft: 7 },
    });
    const id = (map: object) =>
      tableSource('csv', { bytes: Buffer.from(JSON.stringify(map)), file: 'map.json' }).id;
    expect(id(MAP)).toMatch(/^csv-map-[0-9a-f]{12}$/);
    expect(id(MAP)).not.toBe(id(daily));
  });

  it('skips who is not listed and what is no data, with a count', () => {
    const more = `${CSV}C 1;Town;20.11.2026 04:30;1;ft;low\nA 12;Town;20.11.2026 05:00;-999;ft;\n`;
    expect(levels(more)).toHaveLength(2);
    expect(read(more).skipped).toEqual([
      { subject: '07010000', reason: 'no data', count: 1 },
      { subject: 'row', reason: 'its word is not in entity.values', count: 1 },
    ]);
    expect(() => read(`${CSV.split('\n')[0]}\n`)).toThrow('it is empty');
  });

  it.each([
    ['a number in words', ['13,6', 'high'], 'row 1, column "stage": "high" is not a number'],
    ['a point where decimals have a comma', ['13,6', '13.6'], '"13.6" is not a number'],
    ['another unit', ['ft;low', 'm;low'], 'row 1, column "unit": "m", and the map says "ft"'],
    ['a word that is not listed', ['low', 'lowish'], 'its word is not in band.values'],
    ['another format of its time', ['20.11.2026 04:30', '2026-11-20 04:30'], 'not a time that is'],
    ['a day that does not exist', ['20.11.2026 04:30', '31.11.2026 04:30'], 'not a time that is'],
    ['an hour that was left out', ['20.11.2026 04:30', '08.03.2026 02:30'], 'does not exist in'],
    ['an hour that came twice', ['20.11.2026 04:30', '01.11.2026 01:30'], 'comes twice in'],
    ['a time after the fetch', ['20.11.2026 04:30', '20.11.2026 05:30'], 'is after collected_at'],
    ['an absent column', ['stage', 'level'], 'row 1, column "stage": there is no "stage"'],
    [
      'one reading twice',
      ['B 7;Other Town;20.11.2026 04:45', 'A 12;X;20.11.2026 04:30'],
      'listed twice',
    ],
    ['a line that was cut', [';ft;low', ''], 'not a whole table'],
  ])('I55: refuses %s', (_name, [from = '', to = ''], message) => {
    expect(() => read(CSV.replace(from, to))).toThrow(message);
  });

  it('takes an empty cell for none only where the map says so', () => {
    const empty = CSV.replace('13,6', '');
    expect(read(empty).skipped).toEqual([]);
    expect(levels(empty)[0]?.current).toEqual({ stage_ft: null, band: 'below-action' });
    expect(() => read(empty, { ...MAP, no_data: ['-999'] })).toThrow('add "" to no_data');
  });

  it('holds what it made to the rules of the signal', () => {
    const map = { ...MAP, band: { ...MAP.band, values: { low: 'low', high: 'minor' } } };
    expect(() => read(CSV, map)).toThrow('band "low" is not one of');
    const other = { ...MAP, metrics: [{ name: 'depth_ft', column: 'stage', unit: 'ft' }] };
    expect(() => read(CSV, other)).toThrow('main metric missing');
  });
});

describe('tableSource() of a catalogue with units of its own', () => {
  const FNU = { name: 'formazin unit', quantity: 'turbidity', label: 'FNU' };
  const signals: SignalRow[] = [{ ...LEVEL_SIGNAL, metrics: ['turbidity_fnu'] }];
  const lines = [
    { id: 'tides', industry: 'ports', title: 'gauges', entities: ['a', 'b'], signals },
  ];
  const catalog = catalogOf([{ ...TIDE_FILE, lines, units: { fnu: FNU } }]);
  const { entity_name: _, band: __, ...rest } = MAP;
  const readIn = (unit?: string) => {
    const metric = { name: 'turbidity_fnu', column: 'stage', unit };
    const map = { ...rest, signal: 'tides.level', metrics: [metric] };
    const entity = { column: 'gauge', values: { 'A 12': 'a', 'B 7': 'b' } };
    const bytes = Buffer.from(JSON.stringify({ ...map, entity }));
    const source = tableSource('csv', { bytes, file: 'map.json', catalog });
    const payload = { bytes: Buffer.from(CSV), note, subject: 'table' };
    return readPayload(source, payload, catalog).readings.get('tides.level');
  };

  it('reads a column in one of them, and asks which unit it is in', () => {
    expect(readIn('fnu')?.map(({ current }) => current)).toEqual([
      { turbidity_fnu: 13.6 },
      { turbidity_fnu: -0.25 },
    ]);
    expect(() => readIn()).toThrow('metrics.0.unit: missing; say which unit the column is in');
    expect(() => readIn('ntu')).toThrow('so the column must be in "fnu"');
  });
});

describe('tableSource() of JSON', () => {
  const { separator: _, decimal: __, band: ___, ...rest } = MAP;
  const map = {
    ...rest,
    rows: ['data', 'features'],
    entity: { column: 'properties.gauge' },
    entity_name: { constant: 'Example Town' },
    time: { column: 'properties.at', format: 'epoch-seconds' },
    metrics: [
      { name: 'stage_ft', column: 'properties.stage', unit: 'ft' },
      { name: 'remark', column: 'properties.remark', type: 'text' },
    ],
  };
  const row = (over: object = {}) => ({
    properties: { gauge: '07010000', at: 1_795_170_600, stage: 13.6, remark: 'ice', ...over },
  });
  const readJson = (rows: unknown, own: object = map) =>
    levels(JSON.stringify({ data: { features: rows } }), own, 'json');

  it('makes readings of members, numbers as text or not, and null for none', () => {
    const [one, ...others] = readJson([row()]);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      entity: '07010000',
      observed_at: '2026-11-20T10:30:00Z',
      current: { stage_ft: 13.6, remark: 'ice' },
    });
    expect(readJson([row({ stage: '13.60' })])[0]?.current.stage_ft).toBe(13.6);
    expect(readJson([row({ stage: null })])[0]?.current.stage_ft).toBeNull();
  });

  it.each([
    ['a member that is absent', [row({ stage: undefined })], 'there is no "stage"'],
    ['a list in place of a value', [row({ stage: [1] })], 'a list or an object'],
    ['an id that is a number', [row({ gauge: 7_010_000 })], '7010000 is not text'],
    ['milliseconds for seconds', [row({ at: 1_795_170_600_000 })], 'not a time that is written'],
    ['a number for text', [row({ remark: 5 })], '5 is not text'],
    ['a row that is no object', [row(), 7], 'row 2 is not an object'],
    ['no list', { a: 1 }, 'data.features is not a list of rows'],
  ])('I55: refuses %s', (_name, rows, message) => {
    expect(() => readJson(rows)).toThrow(message);
  });

  it('makes rows of a collection, and refuses one that the collection does not take', () => {
    const servers = {
      collection: 'mcp.server',
      time: { column: 'seen', format: 'iso' },
      members: {
        server_id: { column: 'id' },
        status: { column: 'state', values: { up: 'active' } },
        name: { column: 'title' },
      },
      sources: MAP.sources,
      source_ref: MAP.source_ref,
      source_tier: 'T1',
    };
    const of = (row: object, own: object = servers) => read(JSON.stringify([row]), own, 'json');
    const up = {
      id: 'io.example/one',
      state: 'up',
      title: null,
      seen: '2026-11-20T12:00:00+01:00',
    };
    expect(of(up).rows?.get('mcp.server')).toMatchObject([
      {
        server_id: 'io.example/one',
        status: 'active',
        name: null,
        capture_date: '2026-11-20',
        observed_at: '2026-11-20T11:00:00Z',
        collected_at: note.fetched_at,
        sources: MAP.sources,
        source_ref: MAP.source_ref,
        source_tier: 'T1',
      },
    ]);
    expect(() => of({ ...up, state: 'down' })).toThrow('its word is not in "values"');
    const lines = 'id,state,title,seen\nio.example/one,up,One,2026-11-20T12:00:00+01:00\n';
    const table = tableSource('csv', { bytes: Buffer.from(JSON.stringify(servers)), file: 'map' });
    const remarksOf = (bytes?: number) =>
      table.read({ bytes: Buffer.from(lines), note: { ...note, bytes }, subject: 'table' }).remarks;
    expect(remarksOf()).toEqual([expect.stringContaining('what it leaves out counts as gone')]);
    expect(remarksOf(lines.length)).toEqual([]);
    expect(of(up).remarks).toEqual([]);
    const strange = {
      ...servers,
      members: { ...servers.members, host: { constant: 'a.example' } },
    };
    expect(() => of(up, strange)).toThrow('mcp.server');
    expect(() => read('[]', servers, 'json')).toThrow('the table has no rows');
    const nested = (more: object) =>
      of(up, { ...servers, members: { ...servers.members, ...more } });
    const one = { constant: 1, type: 'number' };
    expect(() => nested({ 'name.short': one })).toThrow(
      'members.name.short: "name" has a value of its own already; give one of the two',
    );
    expect(() => nested({ 'sources.weight': one })).toThrow('"sources" has a value of its own');
    // Two members of one object are no conflict; the collection judges what they are.
    expect(() => nested({ 'current.a': one, 'current.b': one })).toThrow('mcp.server');
  });
});

describe('tableSource() of a map that is wrong', () => {
  const { time: _, ...untimed } = MAP;
  const metric = MAP.metrics[0];
  it.each([
    [
      'a misspelt member',
      { ...MAP, entiy: 'x' },
      'unknown member "entiy" (did you mean "entity"?)',
    ],
    ['an absent member', untimed, 'time: missing'],
    [
      'an unknown signal',
      { ...MAP, signal: 'hydrology.river-levle' },
      'did you mean "hydrology.river-level"?',
    ],
    ['no signal', { ...MAP, signal: undefined }, 'signal: missing'],
    [
      'a column and a constant',
      { ...MAP, entity: { column: 'a', constant: 'b' } },
      'entity: give either',
    ],
    [
      'words without a column',
      { ...MAP, entity: { constant: 'a', values: {} } },
      '"values" needs a "column"',
    ],
    [
      'a format without a day',
      { ...MAP, time: { column: 'a', format: 'YYYY-MM' } },
      'time.format: "YYYY-MM" has no DD',
    ],
    [
      'a format with names of months',
      { ...MAP, time: { column: 'a', format: 'DD MMM YYYY' } },
      'letters that are no part',
    ],
    [
      'no zone',
      { ...MAP, time: { column: 'a', format: 'YYYY-MM-DD HH:mm' } },
      'time.zone: missing',
    ],
    [
      'a zone that is not known',
      { ...MAP, time: { ...MAP.time, zone: 'America/Chicgo' } },
      '"America/Chicgo" is not known',
    ],
    [
      'a zone of a day',
      { ...MAP, time: { column: 'a', format: 'YYYY-MM-DD', zone: 'UTC' } },
      'takes none',
    ],
    [
      'no unit',
      { ...MAP, metrics: [{ name: 'stage_ft', column: 'a' }] },
      'metrics.0.unit: missing; say which',
    ],
    [
      'another unit',
      { ...MAP, metrics: [{ name: 'stage_ft', column: 'a', unit: 'm' }] },
      'nothing is converted',
    ],
    ['a metric twice', { ...MAP, metrics: [metric, metric] }, 'metrics.1.name: given twice'],
    [
      'an address that is none',
      { ...MAP, source_ref: 'javascript:alert(1)' },
      'source_ref: not an address',
    ],
    ['rows of CSV', { ...MAP, rows: ['data'] }, 'rows: a table in csv has none'],
  ])('refuses %s and names it', (_name, map, message) => {
    expect(() => read(CSV, map)).toThrow(message);
    expect(() => read(CSV, map)).toThrow('Cannot import "map.json"');
  });

  it('names every fault at once, and refuses what is no JSON', () => {
    expect(() => read(CSV, { ...MAP, source_ref: 7, metrics: [] })).toThrow(
      /metrics: .*; source_ref: /,
    );
    const bytes = Buffer.from('{"signal":');
    expect(() => tableSource('csv', { bytes, file: 'map.json' })).toThrow('the map is not JSON');
  });
});

describe('the worked example of the documents', () => {
  it('gives the reading that they promise', () => {
    const readme = readFileSync(
      `${import.meta.dirname}/../../../../compiler/sources/README.md`,
      'utf8',
    );
    const [, table = '', map = ''] =
      /^## Any other table[\s\S]*?\n((?: {4}.*\n)+)\n[\s\S]*?\n((?: {4}.*\n)+)/m
        .exec(readme.replace(/^ {4}signalpress.*\n/gm, ''))
        ?.map((block) => block.replace(/^ {4}/gm, '')) ?? [];
    expect(levels(table, JSON.parse(map))).toMatchObject([
      { entity: '07010000', observed_at: '2026-11-20T10:30:00Z', current: { stage_ft: 13.6 } },
    ]);
  });
});
