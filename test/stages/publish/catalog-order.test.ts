import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCatalogRow } from '../../../compiler/contract/release.ts';
import { catalogOrder, place } from '../../../compiler/stages/publish/catalog-changes.ts';

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
