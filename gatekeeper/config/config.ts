import type { LoggedRequests, LogLevel } from '../log/log-level.ts';
import type { Extension } from '../money/extensions.ts';
import type { Network } from '../money/networks.ts';
import type { MetricsSettings } from './metrics-settings.ts';

/** All settings of a gatekeeper; null where the operator set nothing. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | null;
  readonly payTo: string;
  /** The one that is offered first. */
  readonly network: Network;
  /** Where payments are taken besides; empty for most sellers. */
  readonly furtherNetworks: readonly PaidNetwork[];
  /** Tokens that are taken beside USDC, each on one of the networks; empty for most sellers. */
  readonly tokens: readonly Network[];
  /**
   * In order of preference; without any, and without a relayer key, the local test facilitator is used and no money
   * moves.
   */
  readonly facilitatorUrls: readonly string[];
  /** One header of every call to the facilitator, `Name: value`. */
  readonly facilitatorAuth: string | null;
  /** Path of a module that makes the headers of each call. */
  readonly facilitatorAuthModule: string | null;
  /** Node of the first network. */
  readonly rpcUrl: string | null;
  /** Blocks that must hold a transfer before it counts. */
  readonly confirmations: number;
  /** Key, or path of the key file, of the account that settles without a facilitator. */
  readonly relayerKey: string | null;
  /** Most that a relayed transaction on the first network pays for one unit of gas. */
  readonly maxFeeGwei: string;
  /** Payments may be simulated on a public address. */
  readonly testPayments: boolean;
  /** A folder, or the URL of one that a host serves. */
  readonly dataDir: string;
  /** One header of every request to that host, `Name: value`. */
  readonly dataAuth: string | null;
  /** Folder for what was read from that host. */
  readonly cacheDir: string;
  readonly cacheMb: number;
  readonly stateDir: string;
  /** `sqlite` for the file in the state folder, or the URL of a PostgreSQL database with its password. */
  readonly journal: string;
  /** Signs subscription tokens; after a comma an older one that is still accepted. */
  readonly tokenSecret: string | null;
  /** Days that a token opens the watchlist. */
  readonly tokenDays: number;
  /** did:key of the processor whose receipts are taken in place of payments. */
  readonly receiptKey: string | null;
  readonly issuerDid: string | null;
  /** Cost of answers a second and client, in plain free answers; 0 for no limit. */
  readonly rateLimit: number;
  /** Processes that serve the port. */
  readonly workers: number;
  /** How long a stop goes on serving and tells balancers to go elsewhere, before the port is closed. */
  readonly drainSeconds: number;
  /** Proxies whose X-Forwarded-For is believed: addresses and ranges, separated by commas. */
  readonly trustedProxy: string;
  /** What of x402 version 2 is on beside `bazaar`. */
  readonly extensions: readonly Extension[];
  /** Seed of the key that signs receipts, or path of its file; only with the extension. */
  readonly offerReceiptKey: string | null;
  /** Whether `/verify` is asked before `/settle`; every payment is checked here in any case. */
  readonly verifyFirst: boolean;
  /** The least level that is logged. */
  readonly logLevel: LogLevel;
  readonly logRequests: LoggedRequests;
  /** Where numbers about the service can be read; null where nobody asked for them. */
  readonly metrics: MetricsSettings | null;
}

/** A network that payments are taken on, with what is set for it alone. */
export interface PaidNetwork
  extends Pick<Config, 'network' | 'rpcUrl' | 'confirmations' | 'maxFeeGwei'> {}

/** All of them, in the order in which they are offered. */
export function paidNetworks(config: Config): readonly [PaidNetwork, ...PaidNetwork[]] {
  return [config, ...config.furtherNetworks];
}

/** All tokens that are taken, in the order in which they are offered: USDC of each network, then the others. */
export function paidTokens(config: Config): readonly [PaidNetwork, ...PaidNetwork[]] {
  const [first, ...others] = paidNetworks(config);
  const more = config.tokens.flatMap((token) =>
    [first, ...others]
      .filter(({ network }) => network.name === token.name)
      .map((paid) => ({ ...settingsOf(paid), network: token })),
  );
  return [first, ...others, ...more];
}

function settingsOf({ rpcUrl, confirmations, maxFeeGwei }: PaidNetwork) {
  return { rpcUrl, confirmations, maxFeeGwei };
}

/** Who settles payments; if nobody is configured, they are only simulated. */
export type SettlerKind = 'test' | 'facilitator' | 'relayer';

export function settlementOf({
  facilitatorUrls,
  relayerKey,
}: Pick<Config, 'facilitatorUrls' | 'relayerKey'>): SettlerKind {
  if (facilitatorUrls.length > 0) return 'facilitator';
  return relayerKey === null ? 'test' : 'relayer';
}
