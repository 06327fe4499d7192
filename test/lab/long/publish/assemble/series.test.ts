import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ChainState,
  chainLink,
  SERIES_ROWS_MAX,
} from '../../../../../compiler/products/shapes/series.ts';
import { entityFacts } from '../../../../../compiler/publish/assemble/entity-record.ts';
import { seriesFile } from '../../../../../compiler/publish/assemble/series.ts';
import type { Reading } from '../../../../../compiler/readings/reading.ts';
import { makeSealer, signingKey } from '../../../../../compiler/system/sealer.ts';
import { canonicalHash } from '../../../../../compiler/verify/body-check.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../../../compiler/verify/verify-release.ts';
import { series } from '../../../../../gatekeeper/rooms/series.ts';
import { builtinEntry } from '../../../../builtin-rows.ts';
import { compiledService, jsonOf, question } from '../../../../gatekeeper/tiny-service.ts';
import { GROWTH_MAX, grownOf, growth } from '../../../../grown-of.ts';
import { SERIES_DATES, seriesSet } from '../../../../small-set.ts';
import {
  compileFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../../../verify/python-judge.ts';

interface Series {
  readonly rows: readonly { readonly snapshot_date: string; readonly observed_at: string }[];
  readonly cuts: readonly (readonly [string, number, string])[];
  readonly before: object;
  readonly retained: {
    readonly rows: number;
    readonly older_rows: number;
    readonly older_chain?: string;
    readonly from: string;
  };
}
interface Answer extends Series {
  readonly count: number;
  readonly before: ChainState;
}
let body: Series;
let folder = '';
let did = '';
beforeAll(async () => {
  const made = await compileFolder(writeSnapshots(seriesSet()));
  [folder, did] = [made.folder, made.release.issuer_did];
  body = readJson(folder, 'series/crypto.spot/btc.json');
});
afterAll(removeFolders);

const seriesFaults = async (root: string, issuer: string) => {
  const { faults } = await verifyRelease(root, { trust: [issuer] });
  return faults.filter(({ file }) => /^series\//.test(file));
};

const ISSUER = { name: 'x', did: 'did:key:x', keyId: 'x', baseUrl: 'https://example.org' };
const sealer = makeSealer(ISSUER, signingKey(SEED));

/** An answer that begins one row later, with the state that is there. */
function withoutFirst(answer: Answer): Answer {
  const [first, ...rows] = answer.rows;
  if (first === undefined) throw new RangeError('no rows');
  const chain = canonicalHash(chainLink(answer.before, first));
  const before = { rows: answer.before.rows + 1, snapshot_date: first.snapshot_date, chain };
  return { ...answer, rows, count: rows.length, before };
}

describe('seriesFile()', () => {
  it('keeps 1000 days back from the newest snapshot and says what it left out', () => {
    expect(body.retained).toMatchObject({ rows: 7, older_rows: 1, from: '2025-10-17T00:00:00Z' });
    expect(body.rows).toHaveLength(6);
    expect(body.before).toMatchObject({ rows: 1, chain: body.retained.older_chain });
  });

  it('can be cut at every snapshot date, and nowhere inside one', () => {
    expect(body.cuts.map(([date, rows]) => [date.slice(0, 10), rows])).toEqual([
      [SERIES_DATES[1], 1],
      [SERIES_DATES[2], 2],
      [SERIES_DATES[3], 3],
      [SERIES_DATES[4], 4],
      [SERIES_DATES[5], 6],
    ]);
  });

  it('sorts by snapshot date, then by observation, when old observations come late', async () => {
    const late = [
      reading('btc', { price_usd: 2 }, { observed_at: '2026-11-01T00:00:00Z' }),
      reading('btc', { price_usd: 3 }, { observed_at: '2026-10-01T00:00:00Z' }),
    ];
    const early = { observed_at: '2026-11-10T00:00:00Z', collected_at: '2026-11-10T01:00:00Z' };
    const files = {
      '2026-11-10/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 }, early)]),
      '2026-11-20/crypto.spot.ndjson': ndjson(late),
    };
    const made = await compileFolder(writeSnapshots(files));
    const { rows } = readJson(made.folder, 'series/crypto.spot/btc.json') as Series;
    expect(rows.map((row) => row.observed_at.slice(0, 10))).toEqual([
      '2026-11-10',
      '2026-10-01',
      '2026-11-01',
    ]);
    expect(await seriesFaults(made.folder, made.release.issuer_did)).toEqual([]);
  });

  it('keeps the newest rows of a back-fill that came in one day, and verifies', async () => {
    const start = Date.parse('2020-01-01T00:00:00Z');
    const collected_at = '2026-11-18T11:00:00Z';
    const old = Array.from({ length: SERIES_ROWS_MAX + 5 }, (_, hour) => {
      const observed_at = new Date(start + hour * 3_600_000).toISOString();
      return reading('btc', { price_usd: hour }, { observed_at, collected_at });
    });
    const at = (time: string) => ({ observed_at: time, collected_at: time });
    const made = await compileFolder(
      writeSnapshots({
        '2026-11-18/crypto.spot.ndjson': ndjson(old),
        '2026-11-19/crypto.spot.ndjson': ndjson([
          reading('btc', { price_usd: 1 }, at('2026-11-19T11:00:00Z')),
        ]),
        '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 2 })]),
      }),
    );
    const { retained } = readJson(made.folder, 'series/crypto.spot/btc.json') as Series;
    expect(retained).toMatchObject({ rows: old.length + 2, older_rows: 4096 });
    expect(await seriesFaults(made.folder, made.release.issuer_did)).toEqual([]);
    const service = await compiledService(made.data, '2026-11-21T12:00:00Z');
    const answerOf = async (days: number): Promise<Answer> => {
      const target = `/gauge/history-series?signal_id=crypto.spot&entity=btc&days=${days}`;
      return jsonOf(await series(question(target), service)) as unknown as Answer;
    };
    const answers = await Promise.all([1, 2, 3, 1000].map(answerOf));
    expect(answers.map(({ before }) => before.rows)).toEqual([
      old.length + 1,
      old.length,
      4096,
      4096,
    ]);
    // One of 21,000 rows is enough, for one judge: each takes a second.
    const [one, two, , all] = answers;
    if (one === undefined || two === undefined || all === undefined) throw new RangeError('none');
    const bodies = [one, two, withoutFirst(two), all];
    const wanted = ['verified', 'verified', 'failed', 'verified'];
    const trust = [made.release.issuer_did];
    expect(bodies.map((body) => verifyBody(body as never, { trust }).verdict)).toEqual(wanted);
    if (!hasPython) return;
    const texts = bodies.slice(0, 3).map((each) => JSON.stringify(each));
    const judged = pythonVerdicts(texts, trust, Date.parse('2026-11-22'));
    expect(judged.map((each) => each.verdict)).toEqual(wanted.slice(0, 3));
  });

  it('verifies inside its release', async () => {
    expect(await seriesFaults(folder, did)).toEqual([]);
  });

  /** A price every 8 hours, for 40 days. */
  function months(): Record<string, string> {
    const start = Date.parse('2026-10-11T00:00:00Z');
    const rows = Array.from({ length: 120 }, (_, at) => {
      const time = new Date(start + at * 8 * 3_600_000).toISOString().replace('.000Z', 'Z');
      return reading('btc', { price_usd: at }, { observed_at: time, collected_at: time });
    });
    return Object.fromEntries(
      rows.map((row) => [`${row.collected_at.slice(0, 13)}Z/crypto.spot.ndjson`, ndjson([row])]),
    );
  }

  /** The answers of these shops, and what each judge has to say. */
  const answered: { readonly each: Answer; readonly wanted: string | undefined }[] = [];

  it.each([1, 2, 3, 7, 30, 39, 40, 1000])(
    'delivers %d days where its publisher keeps no more, says what it left out, and verifies',
    async (seriesDays) => {
      const made = await compileFolder(writeSnapshots(months()), { seriesDays });
      const { issuer_did } = made.release;
      expect((await verifyRelease(made.folder, { trust: [issuer_did] })).faults).toEqual([]);
      const { retained } = readJson(made.folder, 'series/crypto.spot/btc.json') as Series;
      const rows = Math.min(120, 3 * seriesDays);
      expect(retained).toMatchObject({ rows: 120, older_rows: 120 - rows });
      expect(retained.older_chain === undefined).toBe(rows === 120);
      const service = await compiledService(made.data, '2026-11-21T12:00:00Z');
      const target =
        '/gauge/history-series?signal_id=crypto.spot&entity=btc&verifiable=1&days=1000';
      const answer = jsonOf(await series(question(target), service)) as unknown as Answer;
      expect(answer.count).toBe(rows);
      const bodies = [answer, withoutFirst(answer)].slice(0, rows === 120 ? 1 : 2);
      const wanted = ['verified', 'failed'].slice(0, bodies.length);
      const trust = [issuer_did];
      expect(bodies.map((body) => verifyBody(body as never, { trust }).verdict)).toEqual(wanted);
      answered.push(...bodies.map((each, at) => ({ each, wanted: wanted[at] })));
    },
  );

  it.skipIf(!hasPython)(
    'is judged alike by signalpress_verify.py (skipped without python3)',
    () => {
      const texts = answered.map(({ each }) => JSON.stringify(each));
      const judged = pythonVerdicts(texts, [did], Date.parse('2026-11-22'));
      expect(judged.map(({ verdict }) => verdict)).toEqual(answered.map(({ wanted }) => wanted));
      expect(judged.length).toBeGreaterThan(10);
    },
  );

  it('I18: keeps the same days hour by hour as at once, and brings rows back that are kept again', async () => {
    const files = Object.entries(months());
    const snapshots = writeSnapshots(Object.fromEntries(files.slice(0, 100)));
    const first = await compileFolder(snapshots, { seriesDays: 10 });
    writeSnapshots(Object.fromEntries(files.slice(100)), snapshots);
    const next = { data: first.data, seriesDays: 10, asOf: '2026-11-20T13:00:00Z' };
    const grown = await compileFolder(snapshots, next);
    const rowsOf = (root: string) => readJson(root, 'series/crypto.spot/btc.json') as Series;
    const atOnce = await compileFolder(writeSnapshots(months()), { seriesDays: 10 });
    expect(rowsOf(grown.folder)).toEqual(rowsOf(atOnce.folder));
    expect(rowsOf(grown.folder).retained.older_rows).toBe(90);
    const more = { data: first.data, seriesDays: 20, asOf: '2026-11-20T14:00:00Z' };
    const again = await compileFolder(snapshots, more);
    expect(rowsOf(again.folder).retained.older_rows).toBe(60);
    expect(await seriesFaults(again.folder, again.release.issuer_did)).toEqual([]);
  });

  it('I39: costs as much for each row, however many there are', () => {
    const hashOf = () => `sha256:${'0'.repeat(64)}`;
    const series = (size: number) => {
      const stored = Array.from({ length: size }, (_, hour) => {
        const observed_at = new Date(Date.parse('2026-01-01') + hour * 3_600_000).toISOString();
        return { observed_at, collected_at: observed_at };
      }).map((times) => reading('btc', { price_usd: 1 }, times) as Reading);
      return () => {
        const grown = grownOf('crypto.spot', stored);
        const facts = entityFacts(builtinEntry('crypto.spot'), grown, hashOf);
        return seriesFile(
          facts,
          { past: grown.past.series, tail: grown.rows, wanted: grown.seriesFrom },
          sealer,
        );
      };
    };
    expect(growth(1000, series)).toBeLessThan(GROWTH_MAX);
  });
});
