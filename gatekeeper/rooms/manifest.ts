import { defined } from '../../compiler/contract/defined.ts';
import { needsTokens } from '../../compiler/contract/for-sale.ts';
import { type Answered, KEEP_FOR_RELEASE, type Service } from '../answers/service.ts';
import { jsonContent } from './json-content.ts';

/**
 * `/.well-known/x402`: every operation that can be bought now, as the compiled manifest describes it, with the payment
 * terms accepted here. Computed, because the compiler does not know the payee and the network.
 */
export function paymentManifest({ baseUrl, challenger, operator, release }: Service): Answered {
  const { offers, catalog } = release;
  const paid = [...offers].filter(([, { sellsNow, output }]) => sellsNow && output !== null);
  const items = paid.flatMap(([path, { entry }]) => {
    const row = defined(catalog.operationByPath.get(path), `the operation "${path}"`);
    if (operator.tokens === null && needsTokens(row)) return [];
    // The requirements hold the parameters already.
    const { params, ...shown } = entry;
    const accepts = challenger.terms(row, row.path, 1);
    return { resource: baseUrl + row.path, type: 'http', x402Version: 1, accepts, ...shown };
  });
  const extensions = operator.extensions();
  const body = {
    version: 1,
    x402Version: 1,
    extensions,
    resources: items.map(({ resource }) => resource),
    items,
    openapi: `${baseUrl}/openapi.json`,
    manifest: `${baseUrl}/manifest?all=1`,
  };
  return jsonContent(body, KEEP_FOR_RELEASE);
}
