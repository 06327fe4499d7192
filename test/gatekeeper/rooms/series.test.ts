import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SERIES_COLUMNS } from '../../../compiler/contract/series.ts';
import { parseJson } from '../../../compiler/contract/strict-json.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { proof } from '../../../gatekeeper/rooms/proof.ts';
import { series } from '../../../gatekeeper/rooms/series.ts';
import { SERIES_DATES, seriesSet } from '../../series-set.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { compiledService } from '../compiled-service.ts';
import { jsonOf, question } from '../tiny-service.ts';

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
    const body = { ...rest, bytes: Buffer.from(text) };
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
    const { bytes, ...rest } = await service.release.body(path, FOR_EVERYBODY);
    const text = bytes.toString('utf8').replace('"current":{', `$&"pad":"${'x'.repeat(chars)}",`);
    const bodies = Array.from({ length: count }, () => ({ ...rest, bytes: Buffer.from(text) }));
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
