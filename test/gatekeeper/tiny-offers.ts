import { ENDPOINTS, type Endpoint } from '../../compiler/contract/endpoints.ts';
import { inventedBody } from '../../compiler/stages/describe/invented-body.ts';
import { outline } from '../../compiler/stages/describe/manifest.ts';
import type { Offers } from '../../gatekeeper/release/offers.ts';

/** Offers of a release that answers one request of each operation; null where it answers none. */
export function tinyOffers(requestOf: (row: Endpoint) => string | null): Offers {
  const rows: readonly Endpoint[] = ENDPOINTS;
  return new Map(
    rows.map((row) => {
      const request = requestOf(row);
      const output = row.priceUsd === null ? null : outline(inventedBody(row) ?? {});
      const offer = { sellsNow: request !== null, request: request ?? row.path, output, entry: {} };
      return [row.path, offer];
    }),
  );
}
