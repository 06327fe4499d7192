import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LINES, signalOf } from '../../../../compiler/catalog/builtin.ts';
import { parseJson } from '../../../../compiler/format/strict-json.ts';
import { COLLECTIONS } from '../../../../compiler/products/collections.ts';
import { storedFilingRowSchema } from '../../../../compiler/readings/collection-rows.ts';
import { headerIn } from '../../../../compiler/readings/read-lines.ts';
import { parseHeader, parseReading, type Reading } from '../../../../compiler/readings/reading.ts';
import {
  excerptOf,
  isSeasonal,
  sampleEntities,
  sampleFiles,
  sampleFilings,
} from '../../../../scripts/sample/sample-files.ts';
import { SAMPLE_AS_OF } from '../../../../scripts/sample/sample-times.ts';
import { writeSample } from '../../../../scripts/sample/write-sample.ts';
import { builtinEntry } from '../../../builtin-rows.ts';
import {
  compileFaults,
  compileFolder,
  makeFolder,
  removeFolders,
} from '../../../snapshot-folder.ts';

const RECENT_READINGS = 8;
const SNAPSHOTS = new URL('../../../../snapshots', import.meta.url).pathname;
const BYTES_MAX = 3_000_000;
afterAll(removeFolders);
const LABEL = 'sample data: generated, not observed';
const COLLECTION_FILE = new RegExp(`/(${COLLECTIONS.map(({ id }) => id).join('|')})\\.ndjson$`);
const files = sampleFiles({ hour: SAMPLE_AS_OF });

interface Stored {
  readonly batch: string;
  readonly signal: string;
  readonly reading: Reading;
}

function readFile(path: string, text: string): Stored[] {
  const [batch = '', name = ''] = path.split('/');
  const signal = name.replace('.ndjson', '');
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const read = headerIn(parseJson(first), true);
  if (read === null || 'fault' in read) throw new Error(`${path}: no header`);
  const entry = builtinEntry(signal);
  const header = parseHeader(read.members, entry);
  if ('faults' in header) throw new Error(`${path}: header`);
  return lines.map((line) => {
    const outcome = parseReading(parseJson(line), header.ok, entry);
    if ('faults' in outcome) throw new Error(`${path}: ${JSON.stringify(outcome.faults)}`);
    return { batch, signal, reading: outcome.ok };
  });
}

/** Files of signals; the rows of collections have tests of their own. */
const signalFiles = [...files].filter(([path]) => !COLLECTION_FILE.test(path));
const stored = signalFiles.flatMap(([path, text]) => readFile(path, text));
const bySeries = new Map<string, Stored[]>();
for (const item of stored) {
  const key = `${item.signal}/${item.reading.entity}`;
  bySeries.set(key, [...(bySeries.get(key) ?? []), item]);
}

const STALE_LEG = 'airquality.pm25/us-denver';
/** Every signal with every entity that it has to hold. */
const TARGETS = LINES.filter((row) => row.emptyUntilKeyed !== true).flatMap((row) =>
  row.signals.flatMap((signal) =>
    sampleEntities(row, signal).map((entity) => ({ signal, entity })),
  ),
);

describe('sampleFiles()', () => {
  it('gives the committed excerpt again, byte for byte, which is a few dozen files', () => {
    const shown = excerptOf(files);
    const committed = readdirSync(SNAPSHOTS, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => readdirSync(join(SNAPSHOTS, name)).map((file) => `${name}/${file}`));
    expect(committed.sort()).toEqual([...shown.keys()]);
    expect(committed.length).toBeLessThanOrEqual(36);
    for (const [path, text] of shown)
      expect(readFileSync(join(SNAPSHOTS, path), 'utf8')).toBe(text);
  });

  it('cannot show what is not generated', () => {
    const without = new Map([...files].filter(([path]) => !path.endsWith('/crypto.spot.ndjson')));
    expect(() => excerptOf(without)).toThrow('Cannot show "crypto.spot": no such file');
  });

  it('has an excerpt that compiles as it is', async () => {
    const { release } = await compileFolder(SNAPSHOTS, { asOf: SAMPLE_AS_OF });
    expect(release.counts.entities).toBeGreaterThan(90);
  });

  it('covers every signal of every line at every listed entity, with a full trend', () => {
    for (const { signal, entity } of TARGETS) {
      const key = `${signal.id}/${entity}`;
      const recent = (bySeries.get(key) ?? []).filter(({ batch }) => batch >= '2026');
      const least = key === STALE_LEG ? 1 : RECENT_READINGS;
      expect(recent.length, key).toBeGreaterThanOrEqual(least);
    }
  });

  it('leaves out the line that needs a key, unless an operator with one is played', () => {
    const isGrid = (path: string) => path.includes('/grid-reliability.');
    expect([...files.keys()].filter(isGrid)).toEqual([]);
    const keyed = sampleFiles({ hour: SAMPLE_AS_OF, isKeyed: true });
    expect([...keyed.keys()].filter(isGrid)).toHaveLength(3 * RECENT_READINGS);
    for (const [path, text] of files) expect(keyed.get(path)).toBe(text);
  });

  it('holds four same-season readings of five years wherever a percentile is derived', () => {
    for (const { signal, entity } of TARGETS.filter((target) => isSeasonal(target.signal))) {
      const years = (bySeries.get(`${signal.id}/${entity}`) ?? [])
        .map(({ reading }) => reading.observed_at.slice(0, 4))
        .filter((year) => year < '2026');
      expect(years).toHaveLength(20);
      expect(new Set(years).size).toBe(5);
    }
  });

  it('stays under three megabytes and before its own instant', () => {
    const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThan(BYTES_MAX);
    for (const { reading, batch } of stored) {
      expect(reading.collected_at <= SAMPLE_AS_OF).toBe(true);
      expect(reading.collected_at.slice(0, 10)).toBe(batch);
    }
  });

  it('says of every reading that it is generated, and claims no source tier', () => {
    for (const { reading } of stored) {
      expect(reading.validation_status).toBe(LABEL);
      expect(reading.source_tier).toBeNull();
      expect(reading.sources.every(({ name }) => name.includes('sample generator'))).toBe(true);
      expect(reading.entity_name, reading.entity).toMatch(/^Sample/);
    }
  });

  it('names no filer, coin, service, server and leg of a document without saying so', () => {
    const rows = [...files]
      .filter(([path]) => COLLECTION_FILE.test(path))
      .flatMap(([, text]) => text.trimEnd().split('\n').slice(1))
      .map((line) => JSON.parse(line));
    const nodes = rows.flatMap((row) => [row, ...(row.legs ?? [])]);
    const names = nodes.flatMap(({ name, entity_name, title, host }) => [
      ...[name, entity_name, title, host].filter((text) => typeof text === 'string'),
    ]);
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => !/sample/i.test(name))).toEqual([]);
  });

  it('gives life-cycle lines subjects that sound like some, and no letters of an alphabet', () => {
    for (const row of LINES.filter(({ states }) => states !== undefined)) {
      expect(row.entities.length, row.id).toBeGreaterThanOrEqual(3);
      expect(row.entities.filter((id) => /alpha|beta|foo|test/.test(id))).toEqual([]);
      const states = row.entities.map((entity) => {
        return bySeries.get(`${row.id}.lifecycle/${entity}`)?.at(-1)?.reading.lifecycle?.state;
      });
      expect(states, row.id).toContain('operating');
    }
  });

  it('gives every life-cycle line a subject that ended or died, and one at risk', () => {
    for (const row of LINES.filter(({ states }) => states !== undefined)) {
      const newest = row.entities.map(
        (entity) => bySeries.get(`${row.id}.lifecycle/${entity}`)?.at(-1)?.reading.lifecycle,
      );
      const ended = newest.filter((item) => item?.state === 'ended' || item?.state === 'dead');
      expect(ended.length, row.id).toBeGreaterThan(0);
      expect(
        newest.some((item) => item?.state === 'at_risk'),
        row.id,
      ).toBe(true);
      for (const item of ended) {
        expect(item?.end_at).not.toBeNull();
        expect(item?.death_type).not.toBeNull();
        expect(item?.context).not.toBeNull();
      }
    }
  });

  it('shows a subject that is over in a worse band of each leg than one that is well', () => {
    const rank = (id: string, { current }: Reading) =>
      signalOf(id)?.bands?.indexOf(String(current.band)) ?? -1;
    for (const row of LINES.filter(({ states }) => states !== undefined)) {
      for (const { id } of row.signals.filter(({ bands }) => bands !== undefined)) {
        const of = (wanted: readonly string[]) =>
          row.entities.flatMap((entity) =>
            (bySeries.get(`${id}/${entity}`) ?? []).filter(({ reading: { observed_at } }) => {
              const reported = bySeries.get(`${row.id}.lifecycle/${entity}`) ?? [];
              const then = reported.find(({ reading }) => reading.observed_at === observed_at);
              return wanted.includes(String(then?.reading.current.state));
            }),
          );
        const over = of(['ended', 'dead']).map(({ reading }) => rank(id, reading));
        const well = of(['operating']).map(({ reading }) => rank(id, reading));
        expect(over.length, id).toBeGreaterThan(0);
        if (well.length > 0) expect(Math.min(...over), id).toBeGreaterThan(Math.max(...well));
      }
    }
  });

  it('tells one number of ends and births of a year for all subjects of a line', () => {
    for (const row of LINES.filter(({ states }) => states !== undefined)) {
      const [first, ...others] = row.entities.map((entity) =>
        (bySeries.get(`${row.id}.industry-timeline/${entity}`) ?? []).map(
          ({ reading }) => reading.current,
        ),
      );
      expect(first?.length, row.id).toBe(RECENT_READINGS);
      for (const other of others) expect(other).toEqual(first);
    }
  });

  it('holds one revision, one repeat, one stale leg, one new metric and one null metric', () => {
    const same = (key: string) => {
      const all = (bySeries.get(key) ?? []).map(({ reading }) => reading);
      return all.filter((item) => item.observed_at === '2026-11-19T10:45:00Z');
    };
    const [old, revised] = same('hydrology.river-level/07010000');
    expect(revised?.current.stage_ft).not.toBe(old?.current.stage_ft);
    const [first, repeat] = same('airquality.aqi/us-memphis');
    expect(repeat?.current).toEqual(first?.current);
    const stale = bySeries.get(STALE_LEG)?.at(-1);
    expect(stale?.batch).toBe('2026-11-16');
    const [before, now] = bySeries.get('nas.aviation_wx/sdf')?.slice(-2) ?? [];
    expect(before?.reading.current).not.toHaveProperty('wind_kt');
    expect(now?.reading.current).toHaveProperty('wind_kt');
    const closed = bySeries.get('border-wait.lane-wait/laredo-bridge1')?.at(-1);
    expect(closed?.reading.current.wait_standard_min).toBeNull();
  });
});

const LATER = '2028-02-29T01:00:00Z';

describe('sampleFiles() of another hour', () => {
  const later = sampleFiles({ hour: LATER });

  it('gives the same bytes for the same hour, and others for the next one', () => {
    const differing = (hour: string) => {
      const files = sampleFiles({ hour });
      return [...later].flatMap(([path, text]) => (files.get(path) === text ? [] : [path]));
    };
    expect(differing(LATER)).toEqual([]);
    const changed = differing('2028-02-29T02:00:00Z');
    expect(changed.length).toBeGreaterThan(10);
    expect(new Set(changed.map((path) => path.slice(0, 10)))).toEqual(new Set(['2028-02-29']));
  });

  it('holds as many files and readings as the fixed one', () => {
    const size = (files: ReadonlyMap<string, string>) => [
      files.size,
      [...files.values()].join('').split('\n').length,
    ];
    expect(size(later)).toEqual(size(sampleFiles({ hour: SAMPLE_AS_OF })));
  });

  it('compiles as of its hour, and not an hour before', async () => {
    const hourly = [...later].filter(([path]) =>
      /\/(airquality.aqi|filing|document|stable|trust|mcp|ai-tool|crypto)/.test(path),
    );
    const files = Object.fromEntries(hourly);
    expect(await compileFaults(files, { asOf: LATER })).toEqual([]);
    const early = await compileFaults(files, { asOf: '2028-02-28T23:00:00Z' });
    expect(early.length).toBeGreaterThan(0);
  });

  it('moves the filings by whole quarters, so that the newest is less than four months old', () => {
    for (const hour of [SAMPLE_AS_OF, '2027-02-20T00:00:00Z', LATER, '2031-08-31T12:00:00Z']) {
      const [, text] = sampleFilings(hour);
      const [header, ...rows] = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      for (const row of rows) {
        const { error } = storedFilingRowSchema.safeParse({ ...header.header, ...row });
        expect(error?.issues ?? []).toEqual([]);
      }
      const days = rows.flatMap(({ filing_date }) => filing_date ?? []).sort();
      const age = (Date.parse(hour) - Date.parse(days.at(-1))) / 86_400_000;
      expect([hour, age >= 0 && age < 120]).toEqual([hour, true]);
    }
  });
});

describe('writeSample()', () => {
  const files = new Map([
    ['2026-11-20/a.ndjson', '{"header":{"grade":"sample data: generated, not observed"}}\n'],
  ]);
  const later = new Map([['2026-11-21/a.ndjson', [...files.values()][0] ?? '']]);

  it('replaces the sample of another hour, and leaves readings of others where they are', () => {
    const root = join(makeFolder(), 'new');
    writeSample(root, files);
    mkdirSync(join(root, '2026-11-19'));
    writeFileSync(join(root, '2026-11-19/own.ndjson'), '{"entity":"own"}\n');
    writeSample(root, later);
    expect(readdirSync(root).sort()).toEqual(['2026-11-19', '2026-11-21']);
    expect(readFileSync(join(root, '2026-11-19/own.ndjson'), 'utf8')).toContain('own');
  });

  it('refuses to replace a file that is no sample, and writes nothing', () => {
    const root = makeFolder();
    mkdirSync(join(root, '2026-11-20'));
    writeFileSync(join(root, '2026-11-20/a.ndjson'), '{"entity":"own"}\n');
    const both = new Map([...later, ...files]);
    expect(() => writeSample(root, both)).toThrow(
      /Cannot write sample into .*"2026-11-20\/a.ndjson" is there and is no sample/,
    );
    expect(readdirSync(root)).toEqual(['2026-11-20']);
  });
});
