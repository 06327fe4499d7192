import { describe, expect, it } from 'vitest';
import { everyMsOf, parseConfig } from '../../../compiler/sources/fetch/fetch-cli.ts';
import { SOURCES, sourceOf } from '../../../compiler/sources/sources.ts';

const parse = (value: unknown) =>
  parseConfig(Buffer.from(JSON.stringify(value)), 'signalpress.sources.json', SOURCES);

describe('parseConfig()', () => {
  it('takes sources with entities and times, and mirrors', () => {
    const { wanted, origins } = parse({
      every: '3h',
      origins: { 'data.sec.gov': 'http://127.0.0.1:8080/sec' },
      sources: { 'usgs-nwis': { entities: ['07010000'], every: '15m' }, 'usgs-earthquakes': {} },
    });
    expect(origins).toEqual({ 'data.sec.gov': 'http://127.0.0.1:8080/sec' });
    expect(wanted.map(({ source, ...rest }) => ({ id: source.id, ...rest }))).toEqual([
      { id: 'usgs-earthquakes', entities: [], everyMs: 3 * 3_600_000 },
      { id: 'usgs-nwis', entities: ['07010000'], everyMs: 900_000 },
    ]);
  });

  it('asks no source more than once an hour unless it is told to, and none before it publishes', () => {
    expect(everyMsOf(sourceOf('usgs-earthquakes'))).toBe(3_600_000);
    expect(everyMsOf(sourceOf('open-meteo-soil-moisture'))).toBe(7 * 24 * 3_600_000);
  });

  it.each([
    ['no sources', {}, 'sources: '],
    ['an empty list of sources', { sources: {} }, 'sources: none'],
    ['an unknown source', { sources: { 'usgs-nwiss': {} } }, 'did you mean "usgs-nwis"?'],
    ['an unknown member', { sources: { 'usgs-nwis': { sites: [] } } }, 'sites'],
    ['a duration without a unit', { sources: { 'usgs-nwis': { every: '15' } } }, 'not minutes'],
    ['a duration of nothing', { sources: { 'usgs-nwis': { every: '0m' } } }, 'not minutes'],
    [
      'a mirror of a host that is not asked',
      { origins: { 'example.org': 'http://127.0.0.1' }, sources: { 'usgs-nwis': {} } },
      'origins.example.org: no source is fetched from this host',
    ],
    [
      'a mirror that is no address',
      { origins: { 'data.sec.gov': 'ftp://x' }, sources: { 'usgs-nwis': {} } },
      'origins.data.sec.gov',
    ],
    [
      'a key of a header without its name',
      { sources: { eia: { key: { variable: 'SIGNALPRESS_EIA_KEY', in: 'header' } } } },
      'sources.eia.key.name',
    ],
  ])('refuses %s', (_, value, reported) => {
    expect(() => parse(value)).toThrow(reported);
  });

  it.each([
    { variable: 'SIGNALPRESS_EIA_KEY', in: 'header', name: 'X-Key' },
    { variable: 'SIGNALPRESS_EIA_KEY', in: 'path' },
  ])('takes the key %j', (key) => {
    const { wanted } = parse({ sources: { eia: { key } } });
    expect(wanted[0]?.source.row?.key).toEqual(key);
  });

  it('names every fault at once, and the file', () => {
    const value = {
      origins: { 'a.example': 'http://x' },
      sources: { nothing: {}, 'usgs-nwis': {} },
    };
    expect(() => parse(value)).toThrow(
      /"signalpress\.sources\.json": correct it:\n {2}sources\.nothing: .*\n {2}origins\.a\.example: /,
    );
  });

  it('refuses what is not JSON', () => {
    expect(() => parseConfig(Buffer.from('{'), 'x.json', SOURCES)).toThrow('"x.json"');
  });
});
