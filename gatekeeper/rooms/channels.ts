import type { Catalog } from '../../compiler/catalog/catalog.ts';
import { tagsOf } from '../../compiler/catalog/operations.ts';
import { ICON_URL } from '../../compiler/catalog/static-files.ts';
import { defined } from '../../compiler/format/errors.ts';
import { isBasket } from '../../compiler/products/shapes/basket.ts';
import { RECEIPT_FEE_PERCENT } from '../../compiler/products/shapes/receipt.ts';
import { needsTokens } from '../../compiler/products/signal-products.ts';
import { type Answered, KEEP_FOR_RELEASE, type Service } from '../heart/answers/service.ts';
import { serviceNameOf } from '../heart/offer/challenge.ts';
import { TEST_WARNING } from '../settings/config.ts';
import { symbolOf } from '../settle/networks.ts';
import { jsonContent } from './json-content.ts';

/** Milliseconds that the day's phase may be repeated. */
const KEEP_MS = 60_000;

/** The prices for people, whose phases each last until the end of a day; nothing where the catalogue has none. */
function humanTrack({ humanTrack: phases }: Catalog, now: number): object {
  if (phases.length === 0) return {};
  const day = new Date(now).toISOString().slice(0, 10);
  return {
    human_track: {
      phases: [...phases, { phase: 'full_price', until: null }],
      phase_today: phases.find(({ until }) => day <= until)?.phase ?? 'full_price',
      note: 'fiat subscription tiers for people; agents always pay per call',
    },
  };
}

const SUBSCRIPTION = {
  path: '/gauge/subscribe',
  use: 'watchlist endpoints with Authorization: Bearer',
};
const FIAT = {
  fee_percent_about: RECEIPT_FEE_PERCENT,
  how_to:
    "the operator's payment processor signs a receipt for one request; send the same GET with X-RECEIPT",
};

/** A channel is explained only where the operator configured it. */
function channel(configured: boolean, how: object): object {
  return { configured, available: configured, ...(configured ? how : {}) };
}

/** `/gauge/channels`: the ways to pay and to connect. Computed, because the compiler does not know the operator's settings. */
export async function channels({ baseUrl, operator, clock, release }: Service): Promise<Answered> {
  const { networks, payTo, tokens, settlement } = operator;
  const extensions = operator.extensions();
  const [first] = networks;
  // Where several tokens are offered, each is a contract of its own.
  const assets = networks.map((token) => {
    const { name, caip2, asset, decimals } = token;
    const other = decimals === undefined ? {} : { asset_symbol: symbolOf(token), decimals };
    return { network: name, caip2, asset, ...other };
  });
  const testOnly = settlement === 'test';
  const isSold = release.catalog.operationByPath.has(SUBSCRIPTION.path);
  const body = {
    ...(testOnly ? { warning: TEST_WARNING } : {}),
    x402: {
      available: true,
      test_only: testOnly,
      versions: [1, 2],
      extensions,
      scheme: 'exact',
      networks: [...new Set(networks.flatMap(({ name, caip2 }) => [name, caip2]))],
      asset: first.asset,
      asset_symbol: 'USDC',
      ...(networks.length === 1 ? {} : { assets }),
      payTo,
      // Simulated payments have no chain that an account with code could be asked on.
      smart_accounts: !testOnly,
      how_to: 'GET a paid path, sign the challenge, send the same GET with X-PAYMENT',
    },
    mcp: {
      url: `${baseUrl}/mcp`,
      transport: 'JSON-RPC 2.0 over HTTP POST',
      available: true,
    },
    subscription: channel(tokens !== null && isSold, SUBSCRIPTION),
    fiat: channel(operator.takesReceipts, FIAT),
    ...humanTrack(release.catalog, clock()),
  };
  return jsonContent(body, KEEP_MS);
}

/**
 * `/.well-known/x402`: what can be bought now, for directories. Computed, because the compiler does not know the payee and
 * the network. What is alike of all of it stands once, and what the 402 of a resource says is left to that.
 */
export function paymentManifest({ baseUrl, operator, release }: Service): Answered {
  const { networks, payTo, tokens } = operator;
  const { offers, catalog, head } = release;
  const items = [...offers].flatMap(([path, { sellsNow, entry }]) => {
    const row = defined(catalog.operationByPath.get(path), `the operation "${path}"`);
    const isSold = sellsNow && (row.priceUsd !== null || isBasket(row));
    if (!isSold || (tokens === null && needsTokens(row))) return [];
    const { subjects = [], ...told } = entry;
    const shown = SHOWN_OF_ENTRY.flatMap((name) => {
      return told[name] === undefined ? [] : [[name, told[name]] as const];
    });
    return [{ resource: baseUrl + path, ...Object.fromEntries(shown), tags: tagsOf(subjects) }];
  });
  const body = {
    version: 1,
    x402Version: 1,
    service_name: serviceNameOf(head.issuer_name),
    icon_url: baseUrl + ICON_URL,
    extensions: operator.extensions(),
    terms: networks.map(({ name: network, caip2, asset, extra }) => {
      return { scheme: 'exact', network, caip2, asset, payTo, extra };
    }),
    resources: items.map(({ resource }) => resource),
    items,
    openapi: `${baseUrl}/openapi.json`,
    manifest: `${baseUrl}/manifest?all=1`,
  };
  return jsonContent(body, KEEP_FOR_RELEASE);
}

const SHOWN_OF_ENTRY = [
  'method',
  'price_usd',
  'price_by_signal',
  'price_range_usd',
  'description',
  'input_example_request',
] as const;
