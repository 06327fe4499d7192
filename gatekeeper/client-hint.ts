import { ENDPOINTS, type Endpoint } from '../compiler/contract/endpoints.ts';
import { atomicAmount, usdAmount } from '../compiler/contract/price.ts';

/** What a client on its default settings pays at most, in atomic units: 0.10 USD. */
export const CLIENT_DEFAULT_CAP_ATOMIC = 100_000;
/** Cheaper operations that one hint lists. */
export const BUDGET_ROWS_MAX = 8;

/** The part of a challenge that helps a client past its own cap. */
export interface ClientHint {
  readonly required_atomic: number;
  readonly required_usd: string;
  readonly client_default_cap_atomic: number;
  readonly how_to: string;
  readonly example: string;
  readonly within_your_budget: readonly BudgetRow[];
}
interface BudgetRow {
  readonly path: string;
  readonly price_usd: string;
  readonly example: string;
}

/** The hint of an operation priced above the default cap, or null. */
export function clientHint(endpoint: Endpoint, baseUrl: string): ClientHint | null {
  const atomic = atomicAmount(endpoint.priceUsd ?? '0');
  if (BigInt(atomic) <= BigInt(CLIENT_DEFAULT_CAP_ATOMIC)) return null;
  const url = exampleUrl(endpoint, baseUrl);
  return {
    required_atomic: Number(atomic),
    required_usd: usdAmount(atomic),
    client_default_cap_atomic: CLIENT_DEFAULT_CAP_ATOMIC,
    how_to: `This costs ${atomic} atomic units. A client on its default cap of ${CLIENT_DEFAULT_CAP_ATOMIC} refuses locally before any request reaches us, so no error of ours is seen: raise maxValue to at least ${atomic}.`,
    example: `import { wrapFetchWithPayment } from 'x402-fetch';\nconst pay = wrapFetchWithPayment(fetch, wallet, ${atomic}n); // maxValue\nconst answer = await pay('${url}');`,
    within_your_budget: budgetRows(baseUrl),
  };
}

/** A runnable URL of an operation, made from the examples of its required parameters. */
export function exampleUrl(endpoint: Endpoint, baseUrl: string): string {
  const query = Object.entries(endpoint.params)
    .filter(([, param]) => param.required)
    .map(([name, param]) => `${name}=${encodeURIComponent(param.examples[0] ?? '')}`)
    .sort();
  return baseUrl + endpoint.path + (query.length === 0 ? '' : `?${query.join('&')}`);
}

function budgetRows(baseUrl: string): BudgetRow[] {
  const rows: BudgetRow[] = [];
  for (const row of ENDPOINTS as readonly Endpoint[]) {
    if (rows.length === BUDGET_ROWS_MAX) break;
    if (row.priceUsd === null || !affordable(row.priceUsd)) continue;
    rows.push({
      path: row.path,
      price_usd: usdAmount(atomicAmount(row.priceUsd)),
      example: exampleUrl(row, baseUrl),
    });
  }
  return rows;
}

function affordable(priceUsd: string): boolean {
  return BigInt(atomicAmount(priceUsd)) <= BigInt(CLIENT_DEFAULT_CAP_ATOMIC);
}
