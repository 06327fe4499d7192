import { describe, expect, it, vi } from 'vitest';
import { type CatalogRow, formatCatalogRow } from '../../../compiler/contract/release.ts';
import { CatalogTable } from '../../../gatekeeper/rooms/catalog.ts';

function row(signal_id: string, entity: string, hour: number): CatalogRow {
  const observed_at = new Date(Date.UTC(2026, 10, 20, hour)).toISOString();
  const rest = { entity_name: `Größe "${entity}"`, band: null, record_hash: 'sha256:00' };
  return { signal_id, entity, observed_at, last_looked_at: observed_at, ...rest };
}

const ROWS = [
  row('crypto.spot', 'BTC', 3),
  row('crypto.spot', 'btc', 1),
  row('crypto.spot', 'eth', 2),
  row('hydrology.streamflow', 'btc', 4),
];
const table = new CatalogTable(Buffer.from(ROWS.map(formatCatalogRow).join(''), 'utf8'));

describe('CatalogTable', () => {
  it('gives every row as it was written, and its signal without parsing it', () => {
    expect(table.size).toBe(ROWS.length);
    expect(ROWS.map((_, number) => table.row(number))).toEqual(ROWS);
    expect(table.signalOf(3)).toBe('hydrology.streamflow');
  });

  it('finds an entity in any spelling, in the order of the list', () => {
    expect(table.numbersOf('btc')).toEqual([0, 1, 3]);
    expect(table.numbersOf('eth')).toEqual([2]);
  });

  it('finds nothing of an entity that is not stored, and in an empty list', () => {
    expect(table.numbersOf('bt')).toEqual([]);
    expect(table.numbersOf('')).toEqual([]);
    const empty = new CatalogTable(Buffer.alloc(0));
    expect([empty.size, empty.numbersOf('btc')]).toEqual([0, []]);
  });

  it('finds each of many entities', () => {
    const many = Array.from({ length: 3000 }, (_, at) => row('crypto.spot', `e${at}`, 0));
    const large = new CatalogTable(Buffer.from(many.map(formatCatalogRow).join(''), 'utf8'));
    for (const [at, { entity }] of many.entries()) expect(large.numbersOf(entity)).toEqual([at]);
    expect(large.numbersOf('e3000')).toEqual([]);
  });

  it('I54: looks up an entity with 200,000 rows without a look at each for each', () => {
    const text = formatCatalogRow(row('crypto.spot', 'BTC', 0)).repeat(200_000);
    const large = new CatalogTable(Buffer.from(text, 'utf8'));
    const parsed = vi.spyOn(large, 'row');
    const begun = performance.now();
    const [first] = large.likelyOf('btc');
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(first).toBe(0);
    expect(parsed).toHaveBeenCalledTimes(large.size);
    expect([...large.likelyOf('btc')]).toHaveLength(large.size);
    expect(parsed).toHaveBeenCalledTimes(large.size);
  });
});

describe('RowList', () => {
  const list = table.list([0, 1, 2]);

  it('counts places from either end and has none beyond', () => {
    expect([list.length, list.at(0), list.at(-1)]).toEqual([3, ROWS[0], ROWS[2]]);
    expect([list.at(3), list.at(-4)]).toEqual([undefined, undefined]);
  });

  it('sorts by a key and keeps the order of equal ones', () => {
    const byTime = list.sortedBy(({ observed_at }) => Date.parse(observed_at));
    expect([...byTime]).toEqual([ROWS[1], ROWS[2], ROWS[0]]);
    expect([...list.sortedBy(() => 0)]).toEqual([...list]);
  });
});
