import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainLink } from '../../compiler/contract/series.ts';
import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';
import { coresFault } from '../../compiler/verify/series-checks.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { series } from '../../gatekeeper/rooms/series.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { jsonOf, question } from '../gatekeeper/tiny-service.ts';
import { seriesSet } from '../series-set.ts';
import { compileFolder, readJson, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { alterations } from './alterations.ts';
import { hasPython, pythonVerdicts } from './python-judge.ts';

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
/** The same with verifiable=1. */
let cored: Series;

beforeAll(async () => {
  const { data, folder, release } = await compileFolder(writeSnapshots(seriesSet()));
  did = release.issuer_did;
  stored = readJson(folder, FILE);
  const service = await compiledService(data, '2026-11-21T12:00:00Z');
  const target = '/gauge/history-series?signal_id=crypto.spot&entity=btc&days=2';
  delivered = jsonOf(await series(question(target), service)) as unknown as Series;
  const verifiable = question(`${target}&verifiable=1`);
  cored = jsonOf(await series(verifiable, service)) as unknown as Series;
});
afterAll(removeFolders);

const bare = ({ _hash_core: _, ...row }: Row = {}): Row => row;
const edited = (row: Row, members: Row): Row => {
  return { ...row, _hash_core: { ...(row._hash_core as Row), ...members } };
};
const swap = (row: Row = {}, of: Row = {}): Row => ({ ...row, _hash_core: of._hash_core ?? null });
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

  it('accepts rows with their hash cores, each of which proves its row', () => {
    expect(verdict(cored)).toBe('verified');
    expect(cored.rows.map(({ _hash_core: core }) => canonicalHash(core))).toEqual(
      cored.rows.map(({ record_hash }) => record_hash),
    );
  });

  it.each<[string, (rows: readonly Row[]) => readonly Row[]]>([
    ['one core less', ([first, ...rows]) => [bare(first), ...rows]],
    ['the cores of two rows exchanged', ([a, b, ...rows]) => [swap(a, b), swap(b, a), ...rows]],
    ['another source', (rows) => rows.map((row) => edited(row, { source_ref: 'https://x.org' }))],
    ['another metric', (rows) => rows.map((row) => edited(row, { current: { price_usd: 1 } }))],
    ['a member more', (rows) => rows.map((row) => edited(row, { x: 1 }))],
    ['a core that is null', (rows) => rows.map((row) => ({ ...row, _hash_core: null }))],
  ])('refuses cores with %s, as the second judge does', (_, edit) => {
    const body = { ...cored, rows: edit(cored.rows) };
    expect(verdict(body)).toBe('failed');
    if (!hasPython) return;
    const [judged] = pythonVerdicts([JSON.stringify(body)], [did]);
    expect(judged?.verdict).toBe('failed');
  });

  it('refuses a core that says something else than its row, though it has the hash of the row', () => {
    // Only the issuer could sign such a row.
    const rows = delivered.rows.map((row) => ({ ...row, current: { price_usd: 7 } }));
    const lies = rows.map((row, at) => ({ ...row, _hash_core: cored.rows[at]?._hash_core ?? {} }));
    const of = { signal_id: 'crypto.spot', entity: 'btc' };
    expect(coresFault(of, rows)).toBe(null);
    expect(coresFault(of, lies)).toBe('"_hash_core" of row 0 is not that of its row');
    expect(coresFault(of, cored.rows)).toBe(null);
    expect(coresFault({ ...of, entity: 'eth' }, cored.rows)).toMatch(/row 0 is not that/);
  });

  it.each<[string, (origins: readonly JsonValue[]) => unknown]>([
    [
      'of other sources',
      () => [[6, { source_ref: null, source_tier: null, sources: null, lifecycle: null }]],
    ],
    ['of fewer rows', (runs) => [[5, (runs[0] as JsonValue[])[1]]]],
    ['of more rows than there are', (runs) => [[1e9, (runs[0] as JsonValue[])[1]]]],
    ['of half a row', (runs) => [[0.5, (runs[0] as JsonValue[])[1]], ...runs]],
    ['without a member', () => [[6, { source_ref: null, source_tier: null, sources: null }]]],
    ['that are none', () => 7],
  ])('refuses stored origins %s, as the second judge does', (_, edit) => {
    const body = { ...stored, origins: edit(stored.origins as JsonValue[]) };
    expect([verdict(stored), verdict(body)]).toEqual(['verified', 'failed']);
    if (!hasPython) return;
    const judged = pythonVerdicts(
      [stored, body].map((each) => JSON.stringify(each)),
      [did],
    );
    expect(judged.map((each) => each.verdict)).toEqual(['verified', 'failed']);
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
