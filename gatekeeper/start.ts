import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { codeOf, messageOf } from '../compiler/format/errors.ts';
import { rootDid } from '../compiler/format/key-history.ts';
import { isStale } from '../compiler/format/release.ts';
import { openSource, type SourceOptions } from './fleet/remote/open-source.ts';
import {
  type FirstService,
  openService,
  type ServiceOptions,
} from './heart/answers/open-service.ts';
import { respond } from './heart/answers/respond.ts';
import { type Service, soldTargets } from './heart/answers/service.ts';
import {
  openPaymentServices,
  type PaymentServiceOptions,
  type PaymentServices,
} from './heart/payment/open-payment-services.ts';
import { isRepeat } from './heart/purchase/purchase-service.ts';
import { reconcileInBackground } from './heart/purchase/reconcile.ts';
import { acceptedCoding } from './heart/release/coded-file.ts';
import { logTip, renewTip } from './heart/release/log-tip.ts';
import {
  earlierWhole,
  keepNewest,
  provenHeads,
  refuseFork,
  refuseOlder,
} from './heart/release/newest-served.ts';
import {
  DamagedReleaseError,
  ForeignContractError,
  openPlace,
  type PlaceTerms,
} from './heart/release/open-release.ts';
import type { ReleaseIndex } from './heart/release/release-index.ts';
import {
  type ReleasePlace,
  type ReleaseSource,
  subscriptionWarnings,
} from './heart/release/release-source.ts';
import { noteRefused, watchRelease } from './heart/release/watch-release.ts';
import { healthReport } from './rooms/health-report.ts';
import { ON_DEMAND, ROOMS } from './rooms.ts';
import {
  type Config,
  paidNetworks,
  settlementOf,
  settlementWarnings,
  shownSettings,
  testPaymentsFault,
} from './settings/config.ts';
import type { Meters } from './settings/meters.ts';
import type { OpenMetrics } from './settings/open-metrics.ts';
import { addressText, metricsOfWorker } from './settings/settings.ts';
import { clockFailure } from './settle/clock-guard.ts';
import { OFFER_RECEIPT } from './settle/extensions.ts';
import type { HeaderFacts } from './wire/header-facts.ts';
import { trustedProxies } from './wire/limits/client-address.ts';
import { openLimits } from './wire/limits/open-limits.ts';
import { isLoopback } from './wire/listen.ts';
import { requestLog } from './wire/log/request-log.ts';
import { readOwnFile } from './wire/plain-file.ts';
import { type HttpRequest, isHealth, type Responder } from './wire/request.ts';
import { type GateServer, type GateServerOptions, startServer } from './wire/server.ts';
import { ServiceState } from './wire/service-state.ts';
import { StartError } from './wire/start-error.ts';

/** Random bytes that tell this process from others in the names of requests. */
const INSTANCE_BYTES = 4;

/** What a balancer is told, so that it sends its requests elsewhere. */
const STOPPING = 'stopping: send requests to another gatekeeper';

const PACKAGE_BYTES_MAX = 1_048_576;

/** Version of the package that contains the build: of this file, and of the bundle beside it. */
export function packageVersion(): string {
  const path = fileURLToPath(new URL('../../package.json', import.meta.url));
  const { bytes } = readOwnFile(path, PACKAGE_BYTES_MAX);
  return String(JSON.parse(bytes.toString('utf8')).version);
}

export interface StartOptions
  extends ServiceOptions,
    Omit<PaymentServiceOptions, 'state'>,
    Omit<SourceOptions, 'state'> {
  readonly pollMs?: number;
  /** How long the server waits for clients, in milliseconds; else SERVER_TIMES. */
  readonly times?: GateServerOptions['times'];
  /** Of the package, for the log. */
  readonly version?: string;
  /** Descriptor of a socket that listens already, in place of the address of the settings. */
  readonly fd?: number | null;
  /** Which of several processes this one is; what one alone has to do, the first one (0) does. */
  readonly place?: number;
}

interface Setting {
  readonly config: Config;
  readonly by: StartOptions & { readonly state: ServiceState };
  readonly payments: PaymentServices;
  readonly source: ReleaseSource;
  /** Null where nobody asked for metrics: nothing is loaded and nothing is measured. */
  readonly metrics: OpenMetrics | null;
}

export interface Gatekeeper {
  readonly url: string;
  /** What keeps the facilitator from settling for us, once it has been asked; null when nothing does. */
  readonly facilitatorWarning: Promise<string | null>;
  /** Looks for a new release at once. */
  checkRelease(): Promise<void>;
  /** The signal that asked for it is for the log. */
  close(signal?: string): Promise<void>;
}

/** Opens the journal and the release and listens; throws a StartError that tells what to do when it cannot. */
export async function startGatekeeper(config: Config, given: StartOptions): Promise<Gatekeeper> {
  // What was opened is closed again where the rest fails, the last one first.
  const opened: { close(): Promise<void> }[] = [];
  const state = new ServiceState(given);
  try {
    const { clock, version = null, place = 0 } = given;
    const networks = paidNetworks(config).map(({ network }) => network.name);
    const metrics =
      config.metrics === null
        ? null
        : await (await ON_DEMAND.metrics()).openMetrics(metricsOfWorker(config.metrics, place), {
            clock,
            version,
            networks,
          });
    if (metrics !== null) opened.push(metrics);
    const by = { ...given, state, ...(metrics === null ? {} : { meters: metrics.meters }) };
    const source = await openSource(config, by);
    opened.push(source);
    const release = await firstRelease(config, by, source);
    refuseFreeSale({ ...config, baseUrl: config.baseUrl ?? release.head.base_url }, by);
    const payments = await openPaymentServices(config, by);
    opened.push(payments);
    const service = openService(config, by, { release, payments, rooms: ROOMS });
    return await listen({ config, by, payments, source, metrics }, service);
  } catch (error) {
    state.close();
    for (const part of opened.reverse()) await part.close();
    throw error;
  }
}

/** The newest release, or the last one served, or, where the newest one is damaged, the newest whole one. */
async function firstRelease(
  config: Config,
  { state, meters }: Setting['by'],
  source: ReleaseSource,
): Promise<ReleaseIndex> {
  const { stateDir } = config;
  const terms = { ...config, ...readBy(meters) };
  const open = async (place: ReleasePlace, isProven = false): Promise<ReleaseIndex> => {
    const release = await openPlace(place, terms);
    refuseOlder(stateDir, release, isProven);
    await refuseFork(stateDir, release, isProven);
    return release;
  };
  try {
    return await open(await source.newest());
  } catch (error) {
    const { folder } = source;
    const damaged = await source.mark();
    const kept = (await source.kept?.()) ?? null;
    let release = kept === null ? null : await open(kept).catch(() => null);
    const isOther = error instanceof DamagedReleaseError || error instanceof ForeignContractError;
    if (folder !== undefined && release === null && isOther)
      release = await earlierWhole({ folder, damaged, proven: provenHeads(stateDir), terms, open });
    if (release === null) throw error;
    const serving = release.head.sequence;
    noteRefused(state, error, { release: damaged, serving });
    return release;
  }
}

function readBy(meters: Meters | undefined): Pick<PlaceTerms, 'onRead'> {
  return meters === undefined ? {} : { onRead: (isCached) => meters.read(isCached) };
}

/** The address that a release names counts like one that is set; who brings a facilitator knows what it does. */
function refuseFreeSale(config: Config, { facilitator }: StartOptions): void {
  const isTest = facilitator === undefined && settlementOf(config) === 'test';
  const fault = isTest ? testPaymentsFault(config) : null;
  if (fault !== null) throw new StartError(`Cannot start: ${fault}`);
}

async function listen(setting: Setting, first: FirstService): Promise<Gatekeeper> {
  const { config, by, payments, source, metrics } = setting;
  const { state, log, clock, pollMs } = by;
  const { purchases, baseUrl } = first;
  const warnings = settlementWarnings(config);
  const endpoint = metrics?.endpoint ?? null;
  let service: Service = first;
  let responder = responderOf(first, endpoint);
  // Issuer and address stay what they were at the start: payments and challenges are bound to them.
  const issuerDid = config.issuerDid ?? rootDid(first.release.keys);
  const terms = { issuerDid, baseUrl, ...readBy(by.meters) };
  const watcher = watchRelease({
    source,
    log,
    state,
    ...(pollMs === undefined ? {} : { pollMs }),
    current: () => service.release,
    async open() {
      const release = await openPlace(await source.newest(), terms);
      refuseOlder(config.stateDir, release);
      await refuseFork(config.stateDir, release);
      return release;
    },
    async swap(next) {
      // A release may bring another catalogue: what a target means and costs is read anew.
      service = { ...service, release: next, targets: soldTargets() };
      responder = responderOf(service, endpoint);
      first.show(next);
      await noteServing(setting, first, next);
    },
    goOn: renewTip,
  });
  watchOwnState(setting, () => service.release);
  const server = await openServer(setting, first, {
    responder: () => responder,
    health: () => {
      const standing = state.standing();
      return healthReport(service, { standing, warnings, listings: payments.listings() });
    },
  }).catch((error: unknown) => {
    watcher.close();
    throw error;
  });
  const host = by.fd == null ? config.host : server.host;
  const url = `http://${addressText({ host, port: server.port })}`;
  noteStart(setting, url, service.release);
  await noteServing(setting, first, service.release);
  state.run();
  metrics?.watch({
    standing: () => state.standing(),
    openPayments: () => payments.journal.openPayments(),
    circuits: () => payments.circuits(),
    catalog: () => service.release.catalog,
    release() {
      const { sequence, as_of, valid_until } = service.release.head;
      const validUntilMs = valid_until === undefined ? null : Date.parse(valid_until);
      return { sequence, asOfMs: Date.parse(as_of), validUntilMs };
    },
    connections: () => server.connections(),
  });
  const isFirst = (by.place ?? 0) === 0;
  const reconciler = isFirst
    ? reconcileInBackground({ ...by, ...payments, purchases, clock })
    : null;
  return {
    url,
    facilitatorWarning: payments.warning(),
    checkRelease: () => watcher.check(),
    async close(signal) {
      state.trouble('stopping').begin(STOPPING, signal === undefined ? {} : { signal });
      await server.close();
      state.close();
      watcher.close();
      reconciler?.close();
      await source.close();
      await payments.close();
      await metrics?.close();
      log({ event: 'stopped' });
    },
  };
}

async function openServer(
  { config, by, metrics }: Setting,
  { purchases, challenger, baseUrl }: FirstService,
  answers: Pick<GateServerOptions, 'responder' | 'health'>,
): Promise<GateServer> {
  const { host, port, drainSeconds, rateLimit: perSecond, logRequests: requests } = config;
  const { log, meters, times = {}, fd = null } = by;
  const proxies = trustedProxies(config.trustedProxy);
  const toLog = requestLog({ ...by, random: randomBytes, requests, proxies });
  const server = await startServer({
    ...answers,
    host,
    port,
    openMs: drainSeconds * 1000,
    ...(fd === null ? {} : { fd }),
    times,
    limits: openLimits(perSecond, {
      proxies,
      isPublic: !isLoopback(new URL(baseUrl).hostname),
      isRepeat: (arrival, client) => isRepeat(arrival, client, purchases, challenger.catalog()),
      isMonitor: (arrival) =>
        isHealth(arrival.target) || metrics?.endpoint?.isScrape(arrival) === true,
    }),
    log,
    instance: randomBytes(INSTANCE_BYTES).toString('hex'),
    answered:
      meters === undefined
        ? toLog
        : (answered) => {
            toLog?.(answered);
            meters.answered(answered);
          },
    ...(meters === undefined ? {} : { refused: (limit) => meters.refused(limit) }),
  }).catch((cause: unknown) => {
    const code = codeOf(cause) ?? messageOf(cause);
    const state =
      code === 'EADDRINUSE'
        ? 'taken by another process; stop it, or set SIGNALPRESS_PORT'
        : `refused with ${code}; set SIGNALPRESS_HOST to an address of this machine, or SIGNALPRESS_PORT`;
    throw new StartError(`Cannot listen on "${host}:${port}": ${state}`, { cause });
  });
  try {
    // The address of a passed socket is known only once it is open; it counts like one that is set.
    if (fd !== null) refuseFreeSale({ ...config, host: server.host, baseUrl }, by);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Each release has a responder of its own, which its ready answers belong to. */
function responderOf(service: Service, metrics: OpenMetrics['endpoint']): Responder {
  const own = {
    respond: (request: HttpRequest) => respond(request, service),
    variant: ({ acceptEncoding }: HeaderFacts) => String(acceptedCoding(acceptEncoding)),
    clock: service.clock,
  };
  return metrics === null ? own : metrics.beside(own);
}

// What a gatekeeper tells its log of itself, and the state of its service.

/** What runs from now on, without what only its operator may know. */
function noteStart(setting: Setting, url: string, { head, offers }: ReleaseIndex): void {
  const { config, by, metrics } = setting;
  const { version = null } = by;
  const { sequence, as_of } = head;
  const release = { sequence, as_of };
  const settings = shownSettings(config);
  const at = metrics?.url == null ? {} : { metrics: metrics.url };
  by.log({ event: 'started', version, node: process.version, url, ...at, release, settings });
  for (const warning of settlementWarnings(config))
    by.log({ event: 'settlement_warning', warning });
  for (const warning of subscriptionWarnings(offers, config.tokenSecret !== null))
    by.log({ event: 'subscription_warning', warning });
}

/** Remembers the newest release; what goes wrong there keeps nothing from being served. */
async function noteServing(
  setting: Setting,
  first: FirstService,
  release: ReleaseIndex,
): Promise<void> {
  const { config, by, source } = setting;
  const { signer } = first;
  const fault = signer?.fault() ?? null;
  if (signer !== null && fault !== null) {
    // Receipts are not signed, though the settings want them: then the extension is not announced.
    const error = `"${OFFER_RECEIPT}" is not announced: ${fault}`;
    const { sequence } = release.head;
    by.log({ event: 'offer_receipt_off', error, key: signer.did, release: sequence });
  }
  void source.served?.(release);
  try {
    const tip = await logTip(release).catch(() => null);
    keepNewest(config.stateDir, release, tip?.tree);
  } catch (error) {
    by.log({ event: 'newest_release_not_kept', error: messageOf(error) });
  }
}

/** What nobody reports, and has to be asked for again and again. */
function watchOwnState({ by, payments }: Setting, served: () => ReleaseIndex): void {
  const { clock, state } = by;
  state.watch(
    'clock_behind',
    () => clockFailure(clock(), payments.journal.newestMs())?.message ?? null,
  );
  state.watch('clock_off', () => payments.outside?.fault()?.message ?? null);
  state.watch('release_stale', () => {
    const { head } = served();
    return isStale(head, clock()) ? `release ${head.sequence} is past ${head.valid_until}` : null;
  });
}
