import { RECEIPT_FEE_PERCENT } from '../../compiler/contract/receipt.ts';
import type { Answered, Service } from '../answers/service.ts';
import { TEST_WARNING } from '../config/test-payments.ts';
import { jsonContent } from './json-content.ts';

/** Milliseconds that the day's phase may be repeated. */
const KEEP_MS = 60_000;

/** Phases of the human track with their last days, UTC. */
const HUMAN_PHASES = [
  { phase: 'free', until: '2026-08-30' },
  { phase: 'half_price', until: '2026-12-31' },
] as const;

/** The phase of the human track on a day, each until the end of its last day. */
function humanPhase(now: number): 'free' | 'half_price' | 'full_price' {
  const day = new Date(now).toISOString().slice(0, 10);
  return HUMAN_PHASES.find(({ until }) => day <= until)?.phase ?? 'full_price';
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

/**
 * `/gauge/channels`: the ways to pay and to connect that this operator offers. Computed, because the compiler does not know the
 * operator's settings.
 */
export async function channels({ baseUrl, operator, clock }: Service): Promise<Answered> {
  const { network, payTo, tokens, settlement } = operator;
  const testOnly = settlement === 'test';
  const body = {
    ...(testOnly ? { warning: TEST_WARNING } : {}),
    x402: {
      available: true,
      test_only: testOnly,
      versions: [1, 2],
      scheme: 'exact',
      networks: [network.name, network.caip2],
      asset: network.asset,
      asset_symbol: 'USDC',
      payTo,
      how_to: 'GET a paid path, sign the challenge, send the same GET with X-PAYMENT',
    },
    mcp: {
      url: `${baseUrl}/mcp`,
      transport: 'JSON-RPC 2.0 over HTTP POST',
      available: true,
    },
    subscription: channel(tokens !== null, SUBSCRIPTION),
    fiat: channel(operator.takesReceipts, FIAT),
    human_track: {
      phases: [...HUMAN_PHASES, { phase: 'full_price', until: null }],
      phase_today: humanPhase(clock()),
      note: 'fiat subscription tiers for people; agents always pay per call',
    },
  };
  return jsonContent(body, KEEP_MS);
}
