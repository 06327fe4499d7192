import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { inventedBody } from '../../compiler/stages/describe/invented-body.ts';
import { outline } from '../../compiler/stages/describe/manifest.ts';
import type { Offers } from '../../gatekeeper/release/release-source.ts';

/** Offers of a release that answers one request of each operation; null where it answers none. */
export function tinyOffers(requestOf: (row: Endpoint) => string | null): Offers {
  const rows: readonly Endpoint[] = BUILTIN.operations;
  return new Map(
    rows.map((row) => {
      const request = requestOf(row);
      const output = row.priceUsd === null ? null : outline(inventedBody(row, BUILTIN) ?? {});
      const sold = { sellsNow: request !== null, priceUsd: row.priceUsd ?? '0' };
      const offer = { ...sold, request: request ?? row.path, output, entry: {} };
      return [row.path, offer];
    }),
  );
}
