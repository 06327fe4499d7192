import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/contract/catalog/builtin.ts';
import type { Signal } from '../../../compiler/contract/catalog/line.ts';
import { defined } from '../../../compiler/contract/defined.ts';
import { hashCore } from '../../../compiler/contract/record-hash.ts';
import {
  CHAIN_ORIGIN,
  type ChainState,
  chainLink,
  SERIES_CSV_HEADER,
  type SeriesRow,
} from '../../../compiler/contract/series.ts';
import { bodyOfText } from '../../../compiler/contract/series-csv.ts';
import { parseJson } from '../../../compiler/contract/strict-json.ts';
import { coreFields } from '../../../compiler/stages/assemble/entity-record.ts';
import { seriesRow } from '../../../compiler/stages/assemble/series.ts';
import type { Reading } from '../../../compiler/stages/intake/reading.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { series } from '../../../gatekeeper/rooms/series.ts';
import {
  compileFolder,
  fileOf,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../verify/python-judge.ts';
import { compiledService } from '../compiled-service.ts';
import { question } from '../tiny-service.ts';

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
  return compileFolder(writeSnapshots(Object.fromEntries(files)), { asOf: '2026-11-21T12:00:00Z' });
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
    const paths = [...service.release.files.keys()];
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
