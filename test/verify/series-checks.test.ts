import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainLink } from '../../compiler/contract/series.ts';
import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { series } from '../../gatekeeper/rooms/series.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { jsonOf, question } from '../gatekeeper/tiny-service.ts';
import { seriesSet } from '../series-set.ts';
import { compileFolder, readJson, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { alterations } from './alterations.ts';

type Row = Record<string, JsonValue>;
interface Series {
  readonly [name: string]: unknown;
  readonly days: number;
  readonly count: number;
  readonly before: { rows: number; snapshot_date: string | null; chain: string };
  readonly rows: readonly Row[];
}
const FILE = 'series/crypto.spot/btc.json';
let did = '';
let stored: Series;
let delivered: Series;

beforeAll(async () => {
  const { data, folder, release } = await compileFolder(writeSnapshots(seriesSet()));
  did = release.issuer_did;
  stored = readJson(folder, FILE);
  const service = await compiledService(data, '2026-11-21T12:00:00Z');
  const target = '/gauge/history-series?signal_id=crypto.spot&entity=btc&days=2';
  delivered = jsonOf(await series(question(target), service)) as unknown as Series;
});
afterAll(removeFolders);

const verdict = (body: unknown) => verifyBody(body as JsonValue, { trust: [did] }).verdict;
/** The state after the first row of a body: what a liar would put in front of the rest. */
function stateAfterFirst({ before, rows: [first] }: Series) {
  const { rows } = before;
  const chain = canonicalHash(chainLink(before, first));
  return { rows: rows + 1, snapshot_date: first?.snapshot_date as string, chain };
}
const withRows = (body: Series, rows: readonly Row[]) => ({ ...body, rows, count: rows.length });

describe('seriesChecks()', () => {
  it('accepts the stored series and a cut of it', () => {
    expect([verdict(stored), verdict(delivered)]).toEqual(['verified', 'verified']);
    expect([stored.count, delivered.count]).toEqual([6, 3]);
  });

  it.each<[string, (body: Series) => unknown]>([
    ['the last row dropped', (b) => withRows(b, b.rows.slice(0, -1))],
    ['a middle row dropped', (b) => withRows(b, b.rows.toSpliced(1, 1))],
    ['the first row dropped', (b) => withRows(b, b.rows.slice(1))],
    [
      'the first row dropped and the chain continued behind it',
      (b) => ({ ...withRows(b, b.rows.slice(1)), before: stateAfterFirst(b) }),
    ],
    [
      'the first row dropped under a date of the liar',
      (b) => ({
        ...withRows(b, b.rows.slice(1)),
        before: { ...stateAfterFirst(b), snapshot_date: '2020-01-01T00:00:00Z' },
      }),
    ],
    ['two rows swapped', (b) => withRows(b, [...b.rows].reverse())],
    ['a row twice', (b) => withRows(b, [...b.rows, ...b.rows.slice(-1)])],
    ['no rows', (b) => withRows(b, [])],
    ['more days than the rows reach', (b) => ({ ...b, days: 400 })],
    ['fewer days than the rows reach', (b) => ({ ...b, days: 1 })],
    ['days beyond the limit', (b) => ({ ...b, days: 1001 })],
    ['another count', (b) => ({ ...b, count: 2 })],
    ['a member more in a row', (b) => withRows(b, [{ ...b.rows[0], x: 1 }, ...b.rows.slice(1)])],
    ['cuts of another cut', (b) => ({ ...b, cuts: stored.cuts })],
    ['the tier of a record', (b) => ({ ...b, tier: 'full' })],
  ])('refuses %s', (_, edit) => {
    expect(verdict(edit(delivered))).toBe('failed');
  });

  it('accepts a shorter cut of the same rows, for it is the answer to fewer days', () => {
    const first = stateAfterFirst(delivered);
    const second = stateAfterFirst({ ...delivered, before: first, rows: delivered.rows.slice(1) });
    const shorter = { ...withRows(delivered, delivered.rows.slice(2)), before: second, days: 1 };
    expect(verdict(shorter)).toBe('verified');
  });

  it('refuses a stored index of cuts that does not fit the rows', () => {
    const cuts = (stored.cuts as JsonValue[]).slice(1);
    expect(verdict({ ...stored, cuts })).toBe('failed');
  });

  it('accepts a stored form without segments, and refuses one whose rows stand elsewhere', () => {
    expect(stored.segments).toEqual([]);
    for (const segments of [[[0, 16, '2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z']], null, 0]) {
      expect(verdict({ ...stored, segments })).toBe('failed');
      expect(verdict({ ...delivered, segments })).toBe('failed');
    }
  });

  it('I30: refuses a cut with any single member altered, request-time members and equal look-backs apart', () => {
    const accepted = [...alterations(delivered as unknown as JsonValue)].filter(
      ({ altered }) => verdict(altered) === 'verified',
    );
    const free = /(^|\.)provenance\.(age_hours_now|dead_source)$|^days$/;
    expect(accepted.filter(({ path }) => !free.test(path)).map(({ path }) => path)).toEqual([]);
    expect(accepted.length).toBeGreaterThan(0);
  });

  it('has nothing to say about a series of another service, which has no chain', () => {
    const foreign = { tier: 'history-series', rows: [{ record_hash: null }] };
    expect(verdict(foreign)).toBe('unsigned');
  });
});
