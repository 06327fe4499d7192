import type { Network, PaidNetwork } from '../settle/networks.ts';
import { isLoopback } from '../wire/listen.ts';
import type { LoggedRequests } from '../wire/log/line-log.ts';
import {
  addressText,
  isPostgresUrl,
  isRemote,
  type MetricsSettings,
  shownPlace,
} from './settings.ts';

/** All settings of a gatekeeper, with the network that is offered first; null where the operator set nothing. */
export interface Config extends PaidNetwork {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | null;
  readonly payTo: string;
  /** Where payments are taken besides; empty for most sellers. */
  readonly furtherNetworks: readonly PaidNetwork[];
  /** Tokens that are taken beside USDC, each on one of the networks; empty for most sellers. */
  readonly tokens: readonly Network[];
  /** In order of preference; without any, and without a relayer key, payments are only simulated. */
  readonly facilitatorUrls: readonly string[];
  /** One header of every call to the facilitator, `Name: value`. */
  readonly facilitatorAuth: string | null;
  /** Path of a module that makes the headers of each call. */
  readonly facilitatorAuthModule: string | null;
  /** Key, or path of the key file, of the account that settles without a facilitator. */
  readonly relayerKey: string | null;
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
  readonly workers: number;
  /** How long a stop goes on serving and tells balancers to go elsewhere, before the port is closed. */
  readonly drainSeconds: number;
  /** Proxies whose X-Forwarded-For is believed: addresses and ranges, separated by commas. */
  readonly trustedProxy: string;
  /** Seed of the key that signs receipts, or path of its file; with it the extension `offer-receipt` is on. */
  readonly offerReceiptKey: string | null;
  /** Whether `/verify` is asked before `/settle`; every payment is checked here in any case. */
  readonly verifyFirst: boolean;
  readonly logRequests: LoggedRequests;
  /** Where numbers about the service can be read; null where nobody asked for them. */
  readonly metrics: MetricsSettings | null;
}

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
      .map(({ rpcUrl, confirmations, maxFeeGwei }) => {
        return { network: token, rpcUrl, confirmations, maxFeeGwei };
      }),
  );
  return [first, ...others, ...more];
}

/** Who settles payments; if nobody is configured, they are only simulated. */
export type SettlerKind = 'test' | 'facilitator' | 'relayer';

export function settlementOf({ facilitatorUrls, relayerKey }: Config): SettlerKind {
  if (facilitatorUrls.length > 0) return 'facilitator';
  return relayerKey === null ? 'test' : 'relayer';
}

/** What every 402, the state of health and the log say while the local facilitator is on. */
export const TEST_WARNING =
  'TEST-ONLY: the local facilitator is on, no money moves and receipts name no real transaction';

/** Why a gatekeeper without a settler must not start: others could reach it and get everything for nothing. Else null. */
export function testPaymentsFault(
  config: Pick<Config, 'host' | 'baseUrl' | 'trustedProxy' | 'testPayments'>,
): string | null {
  const { host, baseUrl, trustedProxy } = config;
  let sign: string | null = null;
  if (!isLoopback(host)) sign = `SIGNALPRESS_HOST "${host}" is not a loopback address`;
  else if (baseUrl !== null && !isLoopback(new URL(baseUrl).hostname))
    sign = `the base URL "${baseUrl}" is not a loopback address`;
  else if (trustedProxy !== '') sign = 'SIGNALPRESS_TRUSTED_PROXY names a proxy';
  if (config.testPayments || sign === null) return null;
  return (
    `SIGNALPRESS_FACILITATOR_URL: missing although ${sign}, so everything would be sold for nothing; ` +
    'set it to an https URL, set SIGNALPRESS_RELAYER_KEY instead, or set SIGNALPRESS_TEST_PAYMENTS=1 to simulate payments'
  );
}

const NO_NODE =
  'No chain node is asked. If the answer to a settlement is lost, nobody can tell whether the buyer was charged, ' +
  'so a buyer may pay and get nothing. Set SIGNALPRESS_RPC_URL to a node of the network';

/** What the operator should know about how payments settle, shown at the start and in /healthz. */
export function settlementWarnings(config: Config): readonly string[] {
  const settlement = settlementOf(config);
  if (settlement === 'test') return [TEST_WARNING];
  return config.rpcUrl === null ? [NO_NODE] : [];
}

/** What the log shows of the settings: secrets only as set or not, and URLs without what may be a key in them. */
export function shownSettings(config: Config): Readonly<Record<string, unknown>> {
  const { metrics } = config;
  const networks = paidNetworks(config);
  const tokens = config.tokens.map(({ name, asset, extra }) => `${name}:${asset}:${extra.name}`);
  return {
    host: config.host,
    port: config.port,
    workers: config.workers,
    drain_seconds: config.drainSeconds,
    base_url: config.baseUrl,
    network: networks.map(({ network }) => network.name).join(','),
    tokens: tokens.join(',') || null,
    pay_to: config.payTo,
    facilitator_url: config.facilitatorUrls.map(originOf),
    facilitator_auth: isSet(config.facilitatorAuth),
    facilitator_auth_module: config.facilitatorAuthModule,
    offer_receipt_key: isSet(config.offerReceiptKey),
    verify: config.verifyFirst ? 'always' : 'settle-only',
    rpc_url: joined(networks, ({ rpcUrl }) => (rpcUrl === null ? null : originOf(rpcUrl))),
    confirmations: config.confirmations,
    relayer_key: isSet(config.relayerKey),
    max_fee_gwei: joined(networks, ({ maxFeeGwei }) => maxFeeGwei),
    test_payments: config.testPayments,
    data: isRemote(config.dataDir) ? originOf(config.dataDir) : config.dataDir,
    data_auth: isSet(config.dataAuth),
    cache_mb: config.cacheMb,
    state: config.stateDir,
    journal: isPostgresUrl(config.journal) ? `postgres://${shownPlace(config.journal)}` : 'sqlite',
    token_secret: isSet(config.tokenSecret),
    token_days: config.tokenDays,
    receipt_key: config.receiptKey,
    issuer_did: config.issuerDid,
    rate_limit: config.rateLimit,
    trusted_proxy: config.trustedProxy,
    log_requests: config.logRequests,
    metrics: metrics?.address == null ? null : addressText(metrics.address),
    metrics_token: isSet(metrics?.token ?? null),
  };
}

/** The one value, or that of each network; null where there is none. */
function joined(
  networks: readonly PaidNetwork[],
  shown: (of: PaidNetwork) => string | null,
): string | null {
  const [only, ...others] = networks;
  if (only !== undefined && others.length === 0) return shown(only);
  const values = networks.map((one) => [one.network.name, shown(one)] as const);
  const known = values.filter(([, value]) => value !== null);
  return known.length === 0 ? null : known.map(([name, value]) => `${name}=${value}`).join(',');
}

function isSet(secret: string | null): 'set' | null {
  return secret === null ? null : 'set';
}

/** The path of a URL, its query and its user may hold a key. */
function originOf(url: string): string {
  return new URL(url).origin;
}
