import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/catalog/builtin.ts';
import type { JsonValue } from '../../../compiler/format/strict-json.ts';
import { censusBody, censusEntry } from '../../../compiler/products/census.ts';
import type { Signal } from '../../../compiler/products/shapes/line.ts';
import { censusBodySchema } from '../../../compiler/products/shapes/record.ts';
import { legReading } from '../../../compiler/publish/assemble/assembly.ts';
import { coreFields } from '../../../compiler/publish/assemble/entity-record.ts';
import type { Reading } from '../../../compiler/readings/reading.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { builtinEntry } from '../../builtin-rows.ts';
import { GROWTH_MAX, growth } from '../../grown-of.ts';
import {
  compileFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

const BTC = signalOf('crypto.spot') as Signal;
const HASH = `sha256:${'0'.repeat(64)}`;
afterAll(removeFolders);

describe('a compiled census', () => {
  type Body = { readonly [name: string]: JsonValue };
  let body: Body;
  let did = '';
  beforeAll(async () => {
    const rows = [
      reading('eth', { price_usd: 2 }, { entity_name: 'Ether' }),
      reading('btc', { price_usd: 1 }, { observed_at: '2026-11-18T10:00:00Z' }),
      reading('sol', { price_usd: 3, band: 'calm' }, { observed_at: '2026-11-20T10:30:00Z' }),
    ];
    const { folder, release } = await compileFolder(
      writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) }),
    );
    body = readJson(folder, 'census/crypto.spot.json');
    did = release.issuer_did;
  });
  const verdict = (altered: object) =>
    verifyBody(altered as JsonValue, { trust: [did], isStored: true }).verdict;

  it('has every entity by its id, as fresh as the oldest row, with a short lineage', () => {
    const { rows, count, observed_at, provenance } = censusBodySchema.parse(body);
    expect(rows.map((row) => [row.entity, row.entity_name, row.band])).toEqual([
      ['btc', null, null],
      ['eth', 'Ether', null],
      ['sol', null, 'calm'],
    ]);
    expect([count, observed_at]).toEqual([3, '2026-11-18T10:00:00Z']);
    expect(provenance.oldest_leg_as_of).toBe('2026-11-18T10:00:00Z');
    expect(provenance.data_as_of).toBe('2026-11-20T10:30:00Z');
    expect(provenance.data_lineage.map((link) => link.observed_at)).toEqual([
      '2026-11-18T10:00:00Z',
      '2026-11-20T10:30:00Z',
    ]);
    expect(provenance.lineage_note).toMatch(/oldest row/);
  });

  it('verifies from itself alone, and each row hash is recomputed', () => {
    const report = verifyBody(body, { trust: [did], isStored: true });
    expect(report.verdict).toBe('verified');
    const recomputed = report.checks.filter(
      (each) => each.check === 'record_hash' && each.status === 'pass',
    );
    expect(recomputed.map((each) => each.where)).toEqual(
      [0, 1, 2].map((at) => `rows.${at}.record_hash`),
    );
  });

  it('is refused with a row altered, dropped, swapped or added', () => {
    const rows = body.rows as unknown as object[];
    const altered = { ...rows[0], current: { price_usd: 9 } };
    for (const other of [
      rows.with(0, altered),
      rows.slice(1),
      [...rows].reverse(),
      [...rows, rows[0]],
    ]) {
      expect(verdict({ ...body, rows: other })).toBe('failed');
    }
  });
});

describe('censusBody()', () => {
  const entry = (entity: string) => {
    const stored = reading(entity, { price_usd: 1 }) as Reading;
    const looked_at = '2026-11-20T11:00:00Z';
    const leg = legReading(builtinEntry('crypto.spot'), {
      reading: stored,
      record_hash: HASH,
      looked_at,
    });
    const { entity_name, current, record_hash } = leg;
    return censusEntry({ ...coreFields(BTC, stored), entity_name, current, record_hash }, leg);
  };

  it('I39: costs as much for each row, however many there are', () => {
    const all = (size: number) => {
      const entities = Array.from({ length: size }, (_, at) => entry(`e${at}`));
      return () => censusBody(BTC, entities);
    };
    expect(growth(1250, all)).toBeLessThan(GROWTH_MAX);
  });

  it('refuses to count nothing', () => {
    expect(() => censusBody(BTC, [])).toThrow(RangeError);
  });
});
