import { endpointAt } from '../../compiler/contract/endpoints.ts';
import { knownFilePath } from '../../compiler/contract/path.ts';
import { MINT_PATH } from '../money/token.ts';

/** What a release says about one operation; every description and every refusal says exactly this. */
export interface Offer {
  /** Something is stored, so that a request is answered. */
  readonly sellsNow: boolean;
  /** Decimal USD of `request`, '0' for what is free. */
  readonly priceUsd: string;
  /** A canonical target that answers 402 or 200. */
  readonly request: string;
  /** Main members of an answer; null where nothing is paid. */
  readonly output: Readonly<Record<string, unknown>> | null;
  /** The entry of the compiled manifest. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** What is offered, by path of the operation, in the order of the table; what the operator left off is missing. */
export type Offers = ReadonlyMap<string, Offer>;

/** The manifest that lists every operation, sold now or not. */
export const OFFERS_PATH = knownFilePath(endpointAt('/manifest'), { all: '1' });

const NO_SECRET =
  'The release offers subscriptions, and no secret is set to sign tokens with: these operations answer 501. Set ' +
  'SIGNALPRESS_TOKEN_SECRET, or compile with --no-subscriptions';

/** What the operator should know where a release offers subscriptions that this gatekeeper cannot sell. */
export function subscriptionWarnings(offers: Offers, hasSecret: boolean): readonly string[] {
  return !hasSecret && offers.has(MINT_PATH) ? [NO_SECRET] : [];
}

interface StoredOffer {
  readonly path: string;
  readonly sells_now: boolean;
  readonly price_usd: string;
  readonly price_by_signal?: Readonly<Record<string, string>>;
  readonly input_example_request: string;
  readonly output_example?: Readonly<Record<string, unknown>>;
}

/** Reads the compiled manifest of a release, whose hash was checked already. */
export function parseOffers(manifest: Buffer): Offers {
  const { entries } = JSON.parse(manifest.toString('utf8')) as {
    entries: readonly StoredOffer[];
  };
  const offers = entries.map((stored): [string, Offer] => {
    const { output_example: output = null, ...shown } = stored;
    const { path, sells_now: sellsNow, input_example_request: request } = stored;
    const priceUsd = priceOfExample(stored);
    return [path, { sellsNow, priceUsd, request, output, entry: shown }];
  });
  return new Map(offers);
}

/** The signal of the example may have a price of its own. */
function priceOfExample(entry: StoredOffer): string {
  const { price_usd, price_by_signal = {}, input_example_request: request } = entry;
  const signalId = new URL(request, 'http://release').searchParams.get('signal_id');
  return (signalId === null ? undefined : price_by_signal[signalId]) ?? price_usd;
}
