import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signalOf } from '../../../../../compiler/catalog/builtin.ts';
import { defined } from '../../../../../compiler/format/errors.ts';
import { hashCore } from '../../../../../compiler/format/record-hash.ts';
import { parseJson } from '../../../../../compiler/format/strict-json.ts';
import type { Signal } from '../../../../../compiler/products/shapes/line.ts';
import {
  CHAIN_ORIGIN,
  type ChainState,
  chainLink,
  SERIES_COLUMNS,
  SERIES_CSV_HEADER,
  type SeriesRow,
} from '../../../../../compiler/products/shapes/series.ts';
import { bodyOfText } from '../../../../../compiler/products/shapes/series-csv.ts';
import { coreFields } from '../../../../../compiler/publish/assemble/entity-record.ts';
import { seriesRow } from '../../../../../compiler/publish/assemble/series.ts';
import type { Reading } from '../../../../../compiler/readings/reading.ts';
import { canonicalHash } from '../../../../../compiler/verify/body-check.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../../../compiler/verify/verify-release.ts';
import type { Service } from '../../../../../gatekeeper/heart/answers/service.ts';
import { proof } from '../../../../../gatekeeper/rooms/proof.ts';
import { series } from '../../../../../gatekeeper/rooms/series.ts';
import { FOR_EVERYBODY } from '../../../../../gatekeeper/wire/cost.ts';
import { OwnValues } from '../../../../../gatekeeper/wire/maps.ts';
import { compiledService, jsonOf, question } from '../../../../gatekeeper/tiny-service.ts';
import { SERIES_DATES, seriesSet } from '../../../../small-set.ts';
import {
  compileFolder,
  fileOf,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../../../verify/python-judge.ts';

const TARGET = '/gauge/history-series?signal_id=crypto.spot&entity=btc';
let service: Service;
beforeAll(async () => {
  const { data } = await compileFolder(writeSnapshots(seriesSet()));
  service = await compiledService(data, '2026-11-21T12:00:00Z');
});
afterAll(removeFolders);

async function textOf(query: string): Promise<string> {
  const answered = await series(question(TARGET + query), service);
  if (answered.kind !== 'content') throw new Error(`no content for ${query}`);
  return answered.content.body.toString('utf8');
}
interface Delivered {
  readonly [name: string]: unknown;
  readonly count: number;
  readonly before: { readonly rows: number };
  readonly rows: readonly { readonly snapshot_date: string; readonly observed_at: string }[];
}
const bodyOf = async (query: string) => parseJson(await textOf(query)) as unknown as Delivered;
const datesOf = async (query: string) => [
  ...new Set((await bodyOf(query)).rows.map((row) => row.snapshot_date.slice(0, 10))),
];

describe('series()', () => {
  it.each([
    ['&days=1', SERIES_DATES.slice(-1)],
    ['&days=2', SERIES_DATES.slice(-2)],
    ['&days=398', SERIES_DATES.slice(-3)],
    ['&days=399', SERIES_DATES.slice(2)],
    ['', SERIES_DATES.slice(1)],
    ['&days=400', SERIES_DATES.slice(1)],
    ['&days=1000', SERIES_DATES.slice(1)],
  ])('delivers with "%s" the days back from the newest snapshot', async (query, dates) => {
    expect(await datesOf(query)).toEqual(dates);
  });

  it.each(['', '&days=1', '&days=2', '&days=398', '&days=1000'])(
    'delivers with "%s" a body that verifies exactly as saved, and fails for another issuer',
    async (query) => {
      const body = parseJson(await textOf(query));
      const { issuer_did } = service.release.head;
      const report = verifyBody(body, { trust: [issuer_did] });
      expect(report.checks.filter((each) => each.status === 'fail')).toEqual([]);
      expect(report.verdict).toBe('verified');
      expect(verifyBody(body, { trust: [] }).verdict).toBe('failed');
    },
  );

  it('says where the delivered rows begin, in their columns, oldest snapshot first', async () => {
    const body = await bodyOf('&days=2');
    expect(body).toMatchObject({ tier: 'history-series', days: 2, count: 3, before: { rows: 4 } });
    expect(body).not.toHaveProperty('cuts');
    expect(body.rows.map((row) => row.observed_at)).toEqual([
      '2026-11-19T10:00:00Z',
      '2026-11-19T16:00:00Z',
      '2026-11-20T10:00:00Z',
    ]);
    for (const row of body.rows) expect(Object.keys(row)).toEqual([...SERIES_COLUMNS]);
    expect(body.provenance).toMatchObject({ age_hours_now: 26, freshness: 'stale' });
  });

  it('does not depend on the time of the request, request-time members apart', async () => {
    const later = { ...service, clock: () => Date.parse('2027-11-21T12:00:00Z') };
    const at = async (by: Service) => jsonOf(await series(question(`${TARGET}&days=2`), by));
    expect((await at(later)).rows).toEqual((await at(service)).rows);
  });

  it('misses for a pair without a series, and for one that no file name fits', async () => {
    for (const entity of ['eth', 'x'.repeat(300)]) {
      const target = `/gauge/history-series?signal_id=crypto.spot&entity=${entity}`;
      expect((await series(question(target), service)).kind).toBe('miss');
    }
  });
});

/** A CSV reader after RFC 4180, so that the writer is not its own judge. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const line of text.split('\r\n').slice(0, -1)) {
    rows.push(
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
        .map(([, cell = '']) =>
          cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
        )
        .slice(0, SERIES_COLUMNS.length),
    );
  }
  return rows;
}

describe('series() as CSV', () => {
  it('has exactly the columns, and the values of the JSON rows', async () => {
    const [header, ...cells] = readCsv(await textOf('&format=csv'));
    expect(header).toEqual([...SERIES_COLUMNS]);
    const { rows } = (await bodyOf('')) as unknown as { rows: Record<string, unknown>[] };
    expect(cells).toHaveLength(rows.length);
    for (const [index, row] of rows.entries()) {
      const [snapshot, observed, age, current, , hash] = cells[index] ?? [];
      expect([snapshot, observed, age]).toEqual([
        row.snapshot_date,
        row.observed_at,
        String(row.data_age_hours),
      ]);
      expect(JSON.parse(current ?? '')).toEqual(row.current);
      expect(hash).toBe(row.record_hash);
    }
  });

  it('disarms what a spreadsheet would run, quotes what would break a line, leaves null empty', async () => {
    const cells = readCsv(await textOf('&format=csv&days=1000')).slice(1);
    const bands = cells.map((row) => row[4]);
    expect(bands).toEqual(["'=1+1", "'@sum", "'-2", 'a "quoted", one', 'a "quoted", one', 'plain']);
    expect((await textOf('&format=csv')).split('\r\n')).toHaveLength(cells.length + 2);
  });

  it('cuts the same rows as JSON does', async () => {
    for (const days of [1, 2, 398, 400]) {
      const { count } = await bodyOf(`&days=${days}`);
      expect(readCsv(await textOf(`&format=csv&days=${days}`))).toHaveLength(count + 1);
    }
  });
});

describe('series() of a damaged layout', () => {
  it('throws for a series without snapshots, so that nobody pays for it', async () => {
    const { bytes, ...rest } = await service.release.body(
      'series/crypto.spot/btc.json',
      FOR_EVERYBODY,
    );
    const text = bytes.toString('utf8').replace(/^"cuts":.*$/m, '"cuts":[],');
    const body = { ...rest, own: new OwnValues(), bytes: Buffer.from(text) };
    const release = Object.create(service.release, { body: { value: async () => body } });
    const asked = series(question(TARGET), { ...service, release });
    await expect(asked).rejects.toThrow('it lists no snapshot');
  });
});

/** Rows that were read to answer. */
async function rowsRead(by: Service): Promise<number> {
  const parsed = vi.spyOn(JSON, 'parse');
  await series(question(`${TARGET}&format=csv&days=1000`), by);
  const rows = parsed.mock.calls.filter(([text]) => text.includes('"snapshot_date"')).length;
  parsed.mockRestore();
  return rows;
}

describe('series() as CSV, again', () => {
  /** One service over many bodies of a series with a longer current value in its first row: each call chooses one of them. */
  async function padded(count: number, chars: number): Promise<(() => Service)[]> {
    const path = 'series/crypto.spot/btc.json';
    const { bytes, own: _, ...rest } = await service.release.body(path, FOR_EVERYBODY);
    const text = bytes.toString('utf8').replace('"current":{', `$&"pad":"${'x'.repeat(chars)}",`);
    const bodies = Array.from({ length: count }, () => {
      return { ...rest, own: new OwnValues(), bytes: Buffer.from(text) };
    });
    let chosen = bodies[0];
    const release = Object.create(service.release, { body: { value: async () => chosen } });
    return bodies.map((body) => () => {
      chosen = body;
      return { ...service, release };
    });
  }

  it('reads the rows once, and again once too many others were asked for', async () => {
    const [first, ...others] = await padded(4, 4_000_000);
    if (first === undefined) throw new Error('no series');
    expect(await rowsRead(first())).toBeGreaterThan(0);
    expect(await rowsRead(first())).toBe(0);
    for (const other of others) await rowsRead(other());
    expect(await rowsRead(first())).toBeGreaterThan(0);
  });
});

describe('series() with verifiable=1', () => {
  it('lets each row prove itself and its place in the log, old ones too, and no altered one', async () => {
    const rows = (await bodyOf('&days=1000&verifiable=1')).rows as unknown as {
      readonly _hash_core: { readonly observed_at: string };
    }[];
    expect(rows).toHaveLength(6);
    const trust = [service.release.head.issuer_did];
    const provenBy = async (core: object) => {
      const body = jsonOf(await proof(question(`/proof/${canonicalHash(core)}`), service));
      return { found: body.found, verdict: verifyBody(body as never, { trust }).verdict };
    };
    for (const { _hash_core: core } of rows) {
      expect(await provenBy(core)).toEqual({ found: true, verdict: 'partly_verified' });
      const later = { ...core, observed_at: core.observed_at.replace('2', '3') };
      expect(await provenBy(later)).toEqual({ found: false, verdict: 'unsigned' });
    }
  });
});

describe('series() in another form than the stored one', () => {
  it.each(['&format=csv', '&verifiable=1', '&verifiable=1&format=csv-signed'])(
    'makes who asks with "%s" pay for the rows, once a release',
    async (query) => {
      const { data } = await compileFolder(writeSnapshots(seriesSet()));
      const fresh = await compiledService(data, '2026-11-21T12:00:00Z');
      const unitsOf = async (more: string): Promise<number> => {
        let units = 0;
        const spend = (spent: number): void => {
          units += spent;
        };
        await series({ ...question(`${TARGET}&days=1000${more}`), spend }, fresh);
        return units;
      };
      const stored = await unitsOf('');
      expect(await unitsOf('')).toBeLessThanOrEqual(stored);
      // Six rows, at eight a unit.
      expect((await unitsOf(query)) - (await unitsOf(query))).toBe(6 / 8);
    },
  );
});

describe('series() of a long history', () => {
  const DAY_MS = 86_400_000;
  /** A release with one row a day; the first answer of it reads the layout of the stored body. */
  async function long(days: number): Promise<Service> {
    const rows = Array.from({ length: days }, (_, day) => {
      const observed_at = new Date(Date.parse('2026-11-20') - day * DAY_MS).toISOString();
      return reading('btc', { price_usd: day }, { observed_at, collected_at: observed_at });
    });
    const files = Object.fromEntries(
      rows.map((row) => [`${row.collected_at.slice(0, 10)}/crypto.spot.ndjson`, ndjson([row])]),
    );
    const { data } = await compileFolder(writeSnapshots(files));
    return compiledService(data, '2026-11-21T12:00:00Z');
  }
  it('I39: reads each row once, where there are four times as many too, and none of them again', async () => {
    const [small, large] = [await long(60), await long(240)];
    const [few, many] = [await rowsRead(small), await rowsRead(large)];
    expect([few >= 60, many <= 4 * few]).toEqual([true, true]);
    expect([await rowsRead(small), await rowsRead(large)]).toEqual([0, 0]);
  });
});

describe('series cuts', () => {
  // What is stored in segments is answered as if it stood in one list: every answer is compared with one that is cut out
  // of all rows by the rules of FORMAT.md alone.

  const DAY_MS = 86_400_000;
  const NEWEST = Date.parse('2026-11-20T00:00:00Z');
  const SPOT = signalOf('crypto.spot') as Signal;

  /** Readings of one price, oldest first; `ages` says how many days before the newest one each was collected. */
  function readings(ages: readonly number[], entity = 'btc'): Reading[] {
    const hours = new Map<number, number>();
    return ages.map((age, index) => {
      const hour = hours.get(age) ?? 0;
      hours.set(age, hour + 1);
      const observed_at = new Date(NEWEST - age * DAY_MS + hour * 3_600_000).toISOString();
      const at = observed_at.replace('.000Z', 'Z');
      // Sources change now and then, at rows that begin no segment.
      const source_ref = `https://example.org/${Math.floor(index / 13) % 3}`;
      const times = { observed_at: at, collected_at: at };
      return reading(entity, { price_usd: index }, { ...times, source_ref }) as Reading;
    });
  }

  /** One batch a day; each is a checkpoint of the log, whose signature is verified, so the days are few. */
  async function compiled(rows: readonly Reading[]) {
    const dayOf = (row: Reading): string => row.collected_at.slice(0, 10);
    const files = [...new Set(rows.map(dayOf))].map((day) => {
      return [`${day}/crypto.spot.ndjson`, ndjson(rows.filter((row) => dayOf(row) === day))];
    });
    return compileFolder(writeSnapshots(Object.fromEntries(files)), {
      asOf: '2026-11-21T12:00:00Z',
    });
  }

  interface CoredPlain extends Plain {
    /** The core of each row. */
    readonly cores: readonly object[];
  }

  interface Plain {
    readonly rows: readonly SeriesRow[];
    /** The state in front of each row. */
    readonly states: readonly ChainState[];
  }

  /** All rows in one list, and the chain over them. */
  function plainList(stored: readonly Reading[]): CoredPlain {
    const cores = stored.map((each) => hashCore(coreFields(SPOT, each)));
    const rows = stored.map((each, at) => seriesRow(SPOT, each, canonicalHash(cores[at])));
    const states = [CHAIN_ORIGIN];
    for (const row of rows) {
      const before = states.at(-1) ?? CHAIN_ORIGIN;
      const chain = canonicalHash(chainLink(before, row));
      states.push({ rows: before.rows + 1, snapshot_date: row.snapshot_date, chain });
    }
    return { rows, states, cores };
  }

  /** The same with what proves each row by itself. */
  function withCores({ rows, ...plain }: CoredPlain): CoredPlain {
    return { ...plain, rows: rows.map((row, at) => ({ ...row, _hash_core: plain.cores[at] })) };
  }

  function firstWithin({ rows }: Plain, days: number): number {
    const newest = Date.parse(rows.at(-1)?.snapshot_date ?? '');
    return rows.findIndex((row) => Date.parse(row.snapshot_date) >= newest - (days - 1) * DAY_MS);
  }

  /** The answer as it follows from the list, in the frame of a real one. */
  function expectedJson(plain: Plain, days: number, frame: string): string {
    const at = firstWithin(plain, days);
    const rows = plain.rows.slice(at);
    const before = plain.states[at];
    return [
      frame.slice(0, frame.indexOf('\n') + 1),
      `"days":${days},"count":${rows.length},"before":${JSON.stringify(before)},"rows":[\n`,
      rows.map((row) => JSON.stringify(row)).join(',\n'),
      frame.slice(frame.lastIndexOf('\n')),
    ].join('');
  }

  function expectedCsv(plain: Plain, days: number): string {
    const lines = plain.rows.slice(firstWithin(plain, days)).map((row) => {
      const current = `"${JSON.stringify(row.current).replaceAll('"', '""')}"`;
      const { snapshot_date, observed_at, data_age_hours, record_hash } = row;
      return [snapshot_date, observed_at, data_age_hours, current, row.band, record_hash].join();
    });
    return [SERIES_CSV_HEADER, ...lines, ''].join('\r\n');
  }

  async function textOf(service: Service, query: string, entity = 'btc'): Promise<string> {
    const target = `/gauge/history-series?signal_id=crypto.spot&entity=${entity}${query}`;
    const answered = await series(question(target), service);
    if (answered.kind !== 'content') throw new Error(`no content for ${query}`);
    return answered.content.body.toString('utf8');
  }

  interface History {
    readonly what: string;
    /** The coin that has it. */
    readonly entity: string;
    readonly ages: readonly number[];
    readonly segments: number;
  }

  const HISTORIES: readonly History[] = [
    {
      what: 'fewer rows than a segment',
      entity: 'btc',
      ages: Array.from({ length: 23 }, (_, index) => 22 - index),
      segments: 0,
    },
    {
      what: 'a row a day',
      entity: 'eth',
      ages: Array.from({ length: 100 }, (_, index) => 99 - index),
      segments: 2,
    },
    {
      what: 'up to 24 rows a day',
      entity: 'sol',
      ages: Array.from({ length: 700 }, (_, at) => Math.floor((699 - at) / 23)),
      segments: 7,
    },
    {
      what: 'days far apart, some with many rows',
      entity: 'xrp',
      ages: Array.from({ length: 390 }, (_, index) => 7 * Math.floor((399 - index) / 20) ** 2),
      segments: 5,
    },
    {
      what: 'more days than are delivered',
      entity: 'ada',
      ages: Array.from({ length: 100 }, (_, at) => 12 * (99 - at)),
      segments: 2,
    },
    {
      what: 'a gap of years in front of the tail',
      entity: 'doge',
      ages: [...Array(40).fill(2000), ...Array(5).fill(0)],
      segments: 2,
    },
  ];

  describe('series() of stored histories', () => {
    let service: Service;
    let folder: string;
    const plains = new Map<string, CoredPlain>();
    const plainOf = (entity: string): CoredPlain => defined(plains.get(entity), 'a history');
    beforeAll(async () => {
      const all = HISTORIES.map(({ entity, ages }) => [entity, readings(ages, entity)] as const);
      for (const [entity, rows] of all) plains.set(entity, plainList(rows));
      const made = await compiled(all.flatMap(([, rows]) => rows));
      folder = made.folder;
      service = await compiledService(made.data, '2026-11-21T12:00:00Z');
    });
    afterAll(removeFolders);

    it.each(HISTORIES)(
      'answers any number of days with the end of the whole list, as JSON and as CSV: $what',
      async ({ entity }) => {
        const plain = plainOf(entity);
        const frame = await textOf(service, '&days=1', entity);
        for (let days = 1; days <= 1000; days += days < 60 ? 1 : 29) {
          const json = await textOf(service, `&days=${days}`, entity);
          expect(json).toBe(expectedJson(plain, days, frame));
          const csv = await textOf(service, `&days=${days}&format=csv`, entity);
          expect(csv).toBe(expectedCsv(plain, days));
        }
        for (const days of [1, 2, 9, 30, 31, 400, 1000]) {
          const query = `&days=${days}&verifiable=1`;
          const json = await textOf(service, query, entity);
          expect(json).toBe(expectedJson(withCores(plain), days, frame));
          const table = bodyOfText(await textOf(service, `${query}&format=csv-signed`, entity));
          expect(table).toEqual(parseJson(json));
        }
        const longest = await textOf(service, '&days=1000', entity);
        expect(longest).toBe(expectedJson(plain, 1000, frame));
      },
    );

    it('says how many rows there are, and answers that verify, for this issuer alone', async () => {
      const { issuer_did } = service.release.head;
      const bodies: string[] = [];
      for (const { entity } of HISTORIES) {
        const plain = plainOf(entity);
        const from = firstWithin(plain, 1000);
        for (const days of [1, 30, 400, 1000]) {
          const text = await textOf(service, `&days=${days}`, entity);
          const body = parseJson(text) as Record<string, unknown>;
          expect(body.retained).toMatchObject({
            rows: plain.rows.length,
            chain: plain.states.at(-1)?.chain,
            older_rows: from,
            from: plain.rows[from]?.snapshot_date,
          });
          expect(verifyBody(body as never, { trust: [issuer_did] }).verdict).toBe('verified');
          expect(verifyBody(body as never, { trust: [] }).verdict).toBe('failed');
          bodies.push(JSON.stringify(body));
        }
      }
      if (!hasPython) return;
      const judged = pythonVerdicts(bodies, [issuer_did], NEWEST + 2 * DAY_MS);
      expect(judged.map(({ verdict }) => verdict)).toEqual(Array(bodies.length).fill('verified'));
    });

    it('is of a release that verifies, with its segments', async () => {
      const paths = Array.from(service.release.files.values(), ({ path }) => path);
      for (const { entity, segments } of HISTORIES) {
        const own = paths.filter((path) => path.startsWith(`segment/crypto.spot/${entity}/`));
        expect([entity, own.length]).toEqual([entity, segments]);
      }
      const trust = [service.release.head.issuer_did];
      const { faults, checked } = await verifyRelease(folder, { trust });
      expect(faults).toEqual([]);
      const delivered = [...plains.values()].map(
        (plain) => plain.rows.length - firstWithin(plain, 1000),
      );
      expect(checked.series_rows).toBe(delivered.reduce((sum, rows) => sum + rows, 0));
    });
  });

  describe('series() reads', () => {
    const SEGMENTS = ['0-256', '256-16', '272-16'].map(
      (name) => `segment/crypto.spot/btc/${name}.txt`,
    );
    let data: string;
    let folder: string;
    beforeAll(async () => {
      const ages = Array.from({ length: 300 }, (_, index) => 299 - index);
      ({ data, folder } = await compiled(readings(ages)));
    });
    afterAll(removeFolders);

    it.each([
      [1, []],
      [12, []],
      [13, SEGMENTS.slice(2)],
      [28, SEGMENTS.slice(2)],
      [29, SEGMENTS.slice(1)],
      [44, SEGMENTS.slice(1)],
      [45, SEGMENTS],
      [1000, SEGMENTS],
    ])('for %i days only the segments that these reach', async (days, expected) => {
      for (const format of ['', '&format=csv']) {
        const service = await compiledService(data, '2026-11-22T12:00:00Z');
        await textOf(service, `&days=${days}${format}`);
        // What was read is held, so it costs nothing now.
        const cold = new Set<string>();
        for (const path of SEGMENTS) await service.release.body(path, () => void cold.add(path));
        expect(SEGMENTS.filter((path) => !cold.has(path))).toEqual(expected);
      }
    });

    it('only what is as listed: rows of a damaged segment are never delivered', async () => {
      const [path = ''] = SEGMENTS;
      const place = fileOf(folder, path);
      const bytes = readFileSync(place);
      writeFileSync(place, String(bytes).replace('"price_usd":7', '"price_usd":8'));
      const service = await compiledService(data, '2026-11-22T12:00:00Z');
      await expect(textOf(service, '&days=45')).rejects.toThrow(path);
      expect(await textOf(service, '&days=44')).toContain('"days":44');
      writeFileSync(place, bytes);
      expect(await textOf(service, '&days=45')).toContain('"days":45');
    });
  });
});
