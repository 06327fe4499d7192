import { isBasket } from '../../compiler/contract/basket.ts';
import { atomicAmount, priceOf, usdAmount } from '../../compiler/contract/price.ts';
import type { Offers } from '../release/release-source.ts';
import type { Shown } from './shown.ts';

/** What a client on its default settings pays at most, in atomic units: 0.10 USD. */
const CLIENT_DEFAULT_CAP_ATOMIC = 100_000;
/** How the request of a basket is sent again. */
const BASKET_INIT = ", { method: 'POST', body } /* the same body */";
/** Cheaper operations that one hint lists. */
const BUDGET_ROWS_MAX = 8;

/** The part of a challenge that helps a client past its own cap. */
interface ClientHint {
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

/** What is called where nothing in particular was asked for. */
export function anyRequest({ endpoint, offers }: Shown): string {
  return offers.get(endpoint.path)?.request ?? endpoint.path;
}

/** The hint of an operation priced above the default cap, or null; its example calls the request. */
export function clientHint(
  { endpoint, offers }: Shown,
  baseUrl: string,
  request: string,
): ClientHint | null {
  const atomic = atomicAmount(priceOf(endpoint));
  if (BigInt(atomic) <= BigInt(CLIENT_DEFAULT_CAP_ATOMIC)) return null;
  return {
    required_atomic: Number(atomic),
    required_usd: usdAmount(atomic),
    client_default_cap_atomic: CLIENT_DEFAULT_CAP_ATOMIC,
    how_to: `This costs ${atomic} atomic units. A client on its default cap of ${CLIENT_DEFAULT_CAP_ATOMIC} refuses locally, before any request reaches us, so you see no error from us. Raise maxValue to at least ${atomic}. within_your_budget lists other operations with examples of their own; none of them answers this request.`,
    example: `import { wrapFetchWithPayment } from 'x402-fetch';\nconst pay = wrapFetchWithPayment(fetch, wallet, ${atomic}n); // maxValue\nconst answer = await pay('${baseUrl}${request}'${isBasket(endpoint) ? BASKET_INIT : ''});`,
    within_your_budget: budgetRows(baseUrl, offers),
  };
}

/** Cheaper operations that have something to answer now, in the order of the manifest. */
function budgetRows(baseUrl: string, offers: Offers): BudgetRow[] {
  const rows: BudgetRow[] = [];
  for (const [path, { sellsNow, priceUsd, request }] of offers) {
    if (rows.length === BUDGET_ROWS_MAX) break;
    const atomic = atomicAmount(priceUsd);
    if (!sellsNow || !affordable(atomic)) continue;
    rows.push({ path, price_usd: usdAmount(atomic), example: baseUrl + request });
  }
  return rows;
}

function affordable(atomic: string): boolean {
  return BigInt(atomic) > 0n && BigInt(atomic) <= BigInt(CLIENT_DEFAULT_CAP_ATOMIC);
}
