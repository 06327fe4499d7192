import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CatalogRow, formatCatalogRow } from '../../compiler/format/release.ts';
import {
  catalogChanges,
  catalogNews,
  catalogOrder,
  place,
} from '../../compiler/release/catalog-changes.ts';

const keyOf = ({ signal_id, entity }: CatalogRow): string => place(signal_id, entity);
const row = (entity: string, more: Partial<CatalogRow> = {}): CatalogRow => ({
  signal_id: 'crypto.spot',
  entity,
  entity_name: null,
  observed_at: '2026-11-20T10:00:00Z',
  band: null,
  record_hash: `sha256:${'0'.repeat(64)}`,
  last_looked_at: '2026-11-20T11:00:00Z',
  ...more,
});
const textOf = (rows: readonly CatalogRow[]): Buffer => {
  const sorted = [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return Buffer.from(sorted.map(formatCatalogRow).join(''));
};
const kindsOf = (before: readonly CatalogRow[], after: readonly CatalogRow[]) =>
  [...catalogChanges(textOf(before), textOf(after))].map(
    (change) => [change.row.entity, change.kind] as const,
  );
const OTHER = `sha256:${'1'.repeat(64)}`;

describe('catalogChanges()', () => {
  it('tells a new entity, a newer reading, a revised one, an older one and an entity that is gone', () => {
    const before = ['a', 'b', 'c', 'd', 'e'].map((entity) => row(entity));
    const after = [
      row('0'),
      row('b', { observed_at: '2026-11-20T10:00:00.5Z', record_hash: OTHER }),
      row('c', { record_hash: OTHER }),
      row('d', { observed_at: '2026-11-20T09:00:00Z', record_hash: OTHER }),
      row('e'),
    ];
    const want = [
      ['0', 'new'],
      ['a', 'gone'],
      ['b', 'newer'],
      ['c', 'revised'],
      ['d', 'older'],
    ];
    expect(kindsOf(before, after)).toEqual(want);
    expect(catalogNews(textOf(before), textOf(after)).counts).toEqual({
      new: 1,
      newer: 1,
      revised: 1,
      older: 1,
      gone: 1,
    });
  });

  it('takes no notice of a look, of a name, and of another spelling of the time', () => {
    const seen = { last_looked_at: '2026-11-20T12:00:00Z', entity_name: 'A' };
    const spelled = row('b', { observed_at: '2026-11-20T10:00:00.000Z' });
    expect(kindsOf([row('a'), row('b')], [row('a', seen), spelled])).toEqual([]);
  });

  it('finds what looking up every entity finds', () => {
    const rows = fc
      .uniqueArray(
        fc.record({
          signal_id: fc.constantFrom('a.b', 'a.bc', 'b.a'),
          entity: fc.stringMatching(/^[!"\\a-c]{1,3}$/),
          record_hash: fc.constantFrom(OTHER, row('').record_hash),
        }),
        { selector: ({ signal_id, entity }) => place(signal_id, entity), maxLength: 40 },
      )
      .map((all) => all.map((each) => row(each.entity, each)));
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const [was, is] = [before, after].map((all) => new Map(all.map((r) => [keyOf(r), r])));
        const want = [...new Set([...before, ...after].map(keyOf))].sort().flatMap((key) => {
          const [one, other] = [was?.get(key), is?.get(key)];
          if (one === undefined) return [`new ${key}`];
          if (other === undefined) return [`gone ${key}`];
          return one.record_hash === other.record_hash ? [] : [`revised ${key}`];
        });
        const changes = [...catalogChanges(textOf(before), textOf(after))];
        expect(changes.map((change) => `${change.kind} ${keyOf(change.row)}`)).toEqual(want);
      }),
      { numRuns: 1000 },
    );
  });
});

const line = (signal_id: string, entity: string): Buffer =>
  Buffer.from(
    formatCatalogRow({
      signal_id,
      entity,
      entity_name: 'Zürich',
      observed_at: '2026-11-20T10:00:00Z',
      band: null,
      record_hash: `sha256:${'0'.repeat(64)}`,
      last_looked_at: '2026-11-21T11:00:00Z',
    }),
  );

describe('catalogOrder()', () => {
  it('orders lines as their places are ordered, whatever characters an entity has', () => {
    const two = <T>(one: fc.Arbitrary<T>) => fc.tuple(one, one);
    const signal = fc.stringMatching(/^[ab.]{1,3}$/);
    const entity = fc.stringMatching(/^[!"#\\\\a]{1,3}$/);
    fc.assert(
      fc.property(two(signal), two(entity), ([one, other], [first, second]) => {
        const key = place(other, second);
        const own = place(one, first);
        const before = Buffer.from('[]\n');
        const bytes = Buffer.concat([before, line(one, first)]);
        const order = Math.sign(catalogOrder(bytes, before.length, key));
        expect(order).toBe(own < key ? -1 : own > key ? 1 : 0);
      }),
      { numRuns: 3000 },
    );
  });
});
