import { type Config, type PaidNetwork, paidNetworks } from './config.ts';
import { isRemote } from './data-url.ts';
import { addressText } from './metrics-settings.ts';
import { isPostgresUrl, shownPlace } from './postgres-url.ts';

/** What the log shows of the settings: secrets only as set or not, and URLs without what may be a key in them. */
export function shownSettings(config: Config): Readonly<Record<string, unknown>> {
  const { metrics } = config;
  const networks = paidNetworks(config);
  return {
    host: config.host,
    port: config.port,
    workers: config.workers,
    drain_seconds: config.drainSeconds,
    base_url: config.baseUrl,
    network: networks.map(({ network }) => network.name).join(','),
    tokens: tokensOf(config),
    pay_to: config.payTo,
    facilitator_url: config.facilitatorUrls.map(originOf),
    facilitator_auth: isSet(config.facilitatorAuth),
    facilitator_auth_module: config.facilitatorAuthModule,
    extensions: config.extensions.join(',') || null,
    offer_receipt_key: isSet(config.offerReceiptKey),
    verify: config.verifyFirst ? 'always' : 'settle-only',
    rpc_url: joined(networks, ({ rpcUrl }) => (rpcUrl === null ? null : originOf(rpcUrl))),
    confirmations: config.confirmations,
    relayer_key: isSet(config.relayerKey),
    max_fee_gwei: joined(networks, ({ maxFeeGwei }) => maxFeeGwei),
    test_payments: config.testPayments,
    data: isRemote(config.dataDir) ? originOf(config.dataDir) : config.dataDir,
    data_auth: isSet(config.dataAuth),
    cache: config.cacheDir,
    cache_mb: config.cacheMb,
    state: config.stateDir,
    journal: isPostgresUrl(config.journal) ? `postgres://${shownPlace(config.journal)}` : 'sqlite',
    token_secret: isSet(config.tokenSecret),
    token_days: config.tokenDays,
    receipt_key: config.receiptKey,
    issuer_did: config.issuerDid,
    rate_limit: config.rateLimit,
    trusted_proxy: config.trustedProxy,
    log_level: config.logLevel,
    log_requests: config.logRequests,
    metrics: metrics?.address == null ? null : addressText(metrics.address),
    metrics_token: isSet(metrics?.token ?? null),
  };
}

function tokensOf({ tokens }: Config): string | null {
  const shown = tokens.map(({ name, asset, extra }) => `${name}:${asset}:${extra.name}`);
  return shown.join(',') || null;
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
