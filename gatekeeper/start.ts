import { randomBytes } from 'node:crypto';
import { rootDid } from '../compiler/contract/key-history.ts';
import { type FirstService, openService } from './answers/open-service.ts';
import { respond } from './answers/respond.ts';
import type { Service } from './answers/service.ts';
import { SoldTargets } from './answers/sold-targets.ts';
import { type Config, paidNetworks, settlementOf } from './config/config.ts';
import { addressText, metricsOfWorker } from './config/metrics-settings.ts';
import { settlementWarnings } from './config/settlement-warnings.ts';
import { testPaymentsFault } from './config/test-payments.ts';
import type { HeaderFacts } from './http/header-facts.ts';
import { isHealth } from './http/own-paths.ts';
import type { HttpRequest, Responder } from './http/request.ts';
import { type GateServer, type GateServerOptions, startServer } from './http/server.ts';
import { trustedProxies } from './limits/client-address.ts';
import { openLimits } from './limits/open-limits.ts';
import { requestLog } from './log/request-log.ts';
import type { MeasuredState, Meters } from './metrics/meters.ts';
import type { OpenMetrics } from './metrics/open-metrics.ts';
import { openPaymentServices } from './payment/open-payment-services.ts';
import { reconcileInBackground } from './purchase/reconcile.ts';
import { isRepeat } from './purchase/repeat.ts';
import { acceptedCoding } from './release/coded-file.ts';
import { earlierWhole } from './release/earlier-whole.ts';
import { renewTip } from './release/log-tip.ts';
import { provenHeads, refuseOlder } from './release/newest-served.ts';
import { openPlace, type PlaceTerms } from './release/open-release.ts';
import { DamagedReleaseError, type ReleaseTerms } from './release/release-head.ts';
import type { ReleaseIndex } from './release/release-index.ts';
import type { ReleasePlace, ReleaseSource } from './release/release-source.ts';
import { type ReleaseWatcher, type WatchOptions, watchRelease } from './release/watch-release.ts';
import { openSource } from './remote/open-source.ts';
import { healthReport } from './rooms/health-report.ts';
import { ON_DEMAND, ROOMS } from './rooms.ts';
import { noteServing, noteStart, watchOwnState } from './start-notes.ts';
import type { Setting, StartOptions } from './start-setting.ts';
import { ServiceState } from './state/service-state.ts';
import { isLoopback } from './system/loopback.ts';
import { messageOf } from './system/message-of.ts';
import { StartError } from './system/start-error.ts';

/** Random bytes that tell this process from others in the names of requests. */
const INSTANCE_BYTES = 4;

/** What a balancer is told, so that it sends its requests elsewhere. */
const STOPPING = 'stopping: send requests to another gatekeeper';

/** A gatekeeper that listens. */
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
    const metrics = await metricsOf(config, given);
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

/** Null where nobody asked for metrics: nothing is loaded and nothing is measured. */
async function metricsOf(
  config: Config,
  { clock, version, place = 0 }: StartOptions,
): Promise<OpenMetrics | null> {
  const { metrics } = config;
  if (metrics === null) return null;
  const { openMetrics } = await ON_DEMAND.metrics();
  return openMetrics(metricsOfWorker(metrics, place), {
    clock,
    version: version ?? null,
    networks: paidNetworks(config).map(({ network }) => network.name),
  });
}

/**
 * The newest release; where the source gives no good one, the one that was served last, and where the newest one is
 * damaged, the newest whole one.
 */
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
    return release;
  };
  try {
    return await open(await source.newest());
  } catch (error) {
    const { folder } = source;
    const damaged = await source.mark();
    const kept = await source.kept();
    let release = kept === null ? null : await open(kept).catch(() => null);
    if (folder !== undefined && error instanceof DamagedReleaseError)
      release = await earlierWhole({ folder, damaged, proven: provenHeads(stateDir), terms, open });
    if (release === null) throw error;
    const serving = release.head.sequence;
    state.trouble('release_refused').begin(messageOf(error), { release: damaged, serving });
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

type ServerTerms = Omit<GateServerOptions, 'responder' | 'health'>;

async function listen(setting: Setting, first: FirstService): Promise<Gatekeeper> {
  const { config, by, payments, source } = setting;
  const { state } = by;
  const { purchases } = first;
  const warnings = settlementWarnings(config);
  let service: Service = first;
  const endpoint = setting.metrics?.endpoint ?? null;
  let responder = responderOf(first, endpoint);
  const serving = (): void => noteServing(setting, first, service.release);
  const watcher = watcherOf(setting, first, {
    current: () => service.release,
    swap: (next) => {
      // A release may bring another catalogue: what a target means and costs is read anew.
      service = { ...service, release: next, targets: new SoldTargets() };
      responder = responderOf(service, endpoint);
      first.show(next);
      serving();
    },
  });
  watchOwnState(setting, () => service.release);
  const options = {
    ...serverTerms(setting, first),
    responder: () => responder,
    health: () => healthReport(service, { standing: state.standing(), warnings }),
  };
  const server = await startedServer(options, setting, first).catch((error: unknown) => {
    watcher.close();
    throw error;
  });
  const { port } = server;
  const url = `http://${addressText({ host: by.fd == null ? config.host : server.host, port })}`;
  noteStart(setting, url, service.release);
  serving();
  state.run();
  setting.metrics?.watch({
    ...conditionOf(setting),
    catalog: () => service.release.catalog,
    release: () => releaseFacts(service),
    connections: () => server.connections(),
  });
  const isFirst = (by.place ?? 0) === 0;
  const reconciler = isFirst ? reconcileInBackground({ ...by, ...payments, purchases }) : null;
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
      await setting.metrics?.close();
      by.log({ event: 'stopped' });
    },
  };
}

/** Looks for releases that may follow the first one. */
function watcherOf(
  { config, by, source }: Setting,
  first: FirstService,
  serving: Pick<WatchOptions, 'current' | 'swap'>,
): ReleaseWatcher {
  return watchRelease({
    ...serving,
    source,
    open: async () => {
      const terms = { ...pinned(config, first), ...readBy(by.meters) };
      const release = await openPlace(await source.newest(), terms);
      refuseOlder(config.stateDir, release);
      return release;
    },
    goOn: renewTip,
    log: by.log,
    state: by.state,
    ...(by.pollMs === undefined ? {} : { pollMs: by.pollMs }),
  });
}

async function startedServer(
  options: GateServerOptions,
  setting: Setting,
  first: Service,
): Promise<GateServer> {
  const server = await startServer(options).catch((error: unknown) =>
    refuseAddress(setting.config, error),
  );
  return keptUnlessFree(server, setting, first);
}

/** The address of a passed socket is known only once it is open; it counts like one that is set. */
async function keptUnlessFree(
  server: GateServer,
  { config, by }: Setting,
  { baseUrl }: Service,
): Promise<GateServer> {
  if (by.fd == null) return server;
  try {
    refuseFreeSale({ ...config, host: server.host, baseUrl }, by);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Where it listens, and how it stops. */
function placeOf({ host, port, drainSeconds }: Config, { fd = null }: StartOptions) {
  const openMs = drainSeconds * 1000;
  return fd === null ? { host, port, openMs } : { host, port, openMs, fd };
}

/** Who is let in, and who is told of it. */
function serverTerms(
  { config, by, metrics }: Setting,
  { purchases, challenger, baseUrl }: FirstService,
): ServerTerms {
  const { rateLimit: perSecond, logRequests: requests } = config;
  const { log, meters, times = {} } = by;
  const proxies = trustedProxies(config.trustedProxy);
  return {
    ...placeOf(config, by),
    times,
    limits: openLimits({
      perSecond,
      proxies,
      publicHost: publicHostOf(baseUrl),
      isRepeat: (arrival, client) =>
        isRepeat({ ...arrival, client }, purchases, challenger.catalog()),
      isMonitor: (arrival) =>
        isHealth(arrival.target) || metrics?.endpoint?.isScrape(arrival) === true,
    }),
    log,
    instance: randomBytes(INSTANCE_BYTES).toString('hex'),
    answered: answeredBy(requestLog({ ...by, random: randomBytes, requests, proxies }), meters),
    ...(meters === undefined ? {} : { refused: (limit) => meters.refused(limit) }),
  };
}

function publicHostOf(baseUrl: string): string | null {
  const { host, hostname } = new URL(baseUrl);
  return isLoopback(hostname) ? null : host;
}

/** Tells the log, the meters, both or nobody. */
function answeredBy(
  toLog: GateServerOptions['answered'],
  meters: Meters | undefined,
): GateServerOptions['answered'] {
  if (meters === undefined) return toLog;
  return (answered) => {
    toLog?.(answered);
    meters.answered(answered);
  };
}

function conditionOf({
  by,
  payments,
}: Setting): Omit<MeasuredState, 'catalog' | 'release' | 'connections'> {
  return {
    standing: () => by.state.standing(),
    openPayments: () => payments.journal.openPayments(),
    circuits: () => payments.circuits(),
  };
}

function releaseFacts({ release }: Service): ReturnType<MeasuredState['release']> {
  const { sequence, as_of, valid_until } = release.head;
  const validUntilMs = valid_until === undefined ? null : Date.parse(valid_until);
  return { sequence, asOfMs: Date.parse(as_of), validUntilMs };
}

function refuseAddress({ host, port }: Config, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
  const state =
    code === 'EADDRINUSE'
      ? 'taken by another process; stop it, or set SIGNALPRESS_PORT'
      : `refused with ${code}; set SIGNALPRESS_HOST to an address of this machine, or SIGNALPRESS_PORT`;
  throw new StartError(`Cannot listen on "${host}:${port}": ${state}`, { cause: error });
}

/** Issuer and address stay what they were at the start: payments and challenges are bound to them. */
function pinned({ issuerDid }: Config, { release, baseUrl }: Service): ReleaseTerms {
  return { issuerDid: issuerDid ?? rootDid(release.keys), baseUrl };
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
