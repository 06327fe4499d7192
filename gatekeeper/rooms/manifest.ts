import { type EndpointPath, endpointAt } from '../../compiler/contract/endpoints.ts';
import { type Answered, KEEP_FOR_RELEASE, type Service } from '../answers/service.ts';
import { jsonContent } from './json-content.ts';

/**
 * `/.well-known/x402`: every operation that can be bought now, as the compiled manifest describes it, with the payment
 * terms accepted here. Computed, because the compiler does not know the payee and the network.
 */
export function paymentManifest({ baseUrl, challenger, release }: Service): Answered {
  const { offers } = release;
  const paid = [...offers.values()].filter(({ sellsNow, output }) => sellsNow && output !== null);
  const items = paid.map(({ entry: { params, ...entry } }) => {
    const row = endpointAt(entry.path as EndpointPath);
    // The requirements hold the parameters already.
    const accepts = [challenger.requirements(row, row.path, 1)];
    return { resource: baseUrl + row.path, type: 'http', x402Version: 1, accepts, ...entry };
  });
  const body = {
    version: 1,
    x402Version: 1,
    resources: items.map(({ resource }) => resource),
    items,
    openapi: `${baseUrl}/openapi.json`,
    manifest: `${baseUrl}/manifest?all=1`,
  };
  return jsonContent(body, KEEP_FOR_RELEASE);
}
