import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { censusBody } from '../../../compiler/contract/census-body.ts';
import { type Signal, signalOf } from '../../../compiler/contract/lines.ts';
import { censusBodySchema } from '../../../compiler/contract/record.ts';
import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import {
  CENSUS_ROWS_MAX,
  CensusStore,
  censusLine,
} from '../../../compiler/stages/assemble/census.ts';
import { entityFacts, recordBody } from '../../../compiler/stages/assemble/entity-record.ts';
import { legReading } from '../../../compiler/stages/assemble/leg.ts';
import type { Reading } from '../../../compiler/stages/intake/reading.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { GROWTH_MAX, growth } from '../../growth.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { timelineOf } from '../../timeline-of.ts';

const BTC = signalOf('crypto.spot') as Signal;
const HASH = `sha256:${'0'.repeat(64)}`;
afterAll(removeFolders);

function line(entity: string, observed_at = '2026-11-20T10:00:00Z'): string {
  const stored = reading(entity, { price_usd: 1 }, { observed_at }) as Reading;
  const facts = entityFacts(BTC, timelineOf([stored]), () => HASH);
  return censusLine(recordBody(facts), legReading(facts));
}

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
  const verdict = (altered: object) => verifyBody(altered as JsonValue, { trust: [did] }).verdict;

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
    const report = verifyBody(body, { trust: [did] });
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

describe('CensusStore', () => {
  it('gives back every line, however much it had to put aside', () => {
    const store = new CensusStore(makeFolder());
    const name = 'x'.repeat(2000);
    for (let at = 0; at < 3000; at += 1) {
      store.add(
        'crypto.spot',
        line(`e${at}`).replace('"entity_name":null', `"entity_name":"${name}"`),
      );
    }
    const entities = store.entries('crypto.spot').map(({ row }) => row.entity);
    expect(entities).toEqual(Array.from({ length: 3000 }, (_, at) => `e${at}`).sort());
  });

  it('leaves out a signal with more entities than a census may have', () => {
    const store = new CensusStore(makeFolder());
    store.add('crypto.spot', '{}\n'.repeat(CENSUS_ROWS_MAX));
    store.add('macro.unemployment', '{}\n'.repeat(CENSUS_ROWS_MAX + 1));
    expect(store.signals()).toEqual(['crypto.spot']);
  });
});

describe('censusBody()', () => {
  it('I39: costs as much for each row, however many there are', () => {
    const entries = (size: number) => {
      const store = new CensusStore(makeFolder());
      for (let at = 0; at < size; at += 1) store.add(BTC.id, line(`e${at}`));
      return () => censusBody(BTC, store.entries(BTC.id));
    };
    expect(growth(1250, entries)).toBeLessThan(GROWTH_MAX);
  }, 20_000);
});
