import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Catalog, catalogOf } from '../../compiler/catalog/catalog.ts';
import { findRow } from '../../compiler/catalog/route.ts';
import { CIRCUIT_STATES } from '../settle/circuit.ts';
import { BoundedMap } from '../wire/maps.ts';
import { HEALTH_PATH, METRICS_PATH } from '../wire/request.ts';
import { REASONS, reasonsOf, STATES } from '../wire/service-state.ts';
import { inTime } from '../wire/slots.ts';
import { ADMISSIONS, LIMITS, type MeasuredState, type Meters, STAGES } from './meters.ts';

/** Seconds: from an answer that is ready to a settlement that takes all the time that it may. */
const ANSWER_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Seconds: from a disk with a battery to one that is about to fail. */
const SYNC_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
/** Longest wait for a journal that does not answer: a reader gives up soon after. */
const JOURNAL_PATIENCE_MS = 2000;
const PAYMENT_STATES = ['settled', 'refused', 'unknown', 'reorganised'] as const;

/** What each says; their table in `gatekeeper/OBSERVING.md` has the same words. */
const HELP = {
  signalpress_build_info: '1; the version stands in the label',
  signalpress_answers_total:
    'Answers. An operation is a path of the table, "file", "unknown" (404 and 405) or "refused" (no request was read)',
  signalpress_answer_bytes_total: 'Bytes of bodies that were sent',
  signalpress_answer_seconds:
    'Time to answer: a sale, a price (402), a free answer or a refusal; sales by prices are the conversion',
  signalpress_cache_look_ups_total: 'Look-ups of answers that were ready, and of bodies in memory',
  signalpress_limited_total:
    'What a limit kept away: rate (429), connections, unread (earlier answers), purchases (in flight), waiting_bytes, smart_accounts, strangers',
  signalpress_purchase_stage_seconds:
    'What purchases wait for, in this order: check (ours), answer, verify (facilitator), claim (journal), settle (facilitator, and chain), conclude (journal)',
  signalpress_payments_concluded_total:
    'Ends that the journal noted: settled, refused, unknown for a doubt, reorganised for a transfer that vanished after it had paid; the network of a receipt is "receipt"',
  signalpress_facilitator_calls_total:
    'Calls of a facilitator, named by its host; none is a call without a verdict, busy a 429',
  signalpress_facilitator_call_seconds: 'How long facilitators take to answer',
  signalpress_admissions_total:
    'New payments before they cost anything: of a known payer or a stranger who may go on, or insufficient, used, not_signed, invalid (by /verify), limited (a share), no_answer',
  signalpress_stranger_calls_total:
    'Calls about payers who never paid here, of the node or the facilitator',
  signalpress_facilitator_listings_total:
    'Answers of the directory of a facilitator to our listing, which comes with a payment: success, processing, rejected',
  signalpress_facilitator_waits_total: 'Calls that waited because a facilitator said 429',
  signalpress_state: '1 while the gatekeeper serves, sells, publishes, and 0 while it does not',
  signalpress_state_reason: '1 while this reason of SIGNS.md keeps the state from holding',
  signalpress_connections: 'Open connections of clients',
  signalpress_release_sequence: 'Number of the release that is served',
  signalpress_release_age_seconds: 'Time since the data of the release was as of',
  signalpress_release_valid_seconds:
    'Time until it is stale, below 0 then; absent where it names no end',
  signalpress_facilitator_circuit:
    '1 for the state that a facilitator is in: closed (asked), suspect (asked last), open (skipped)',
  signalpress_open_payments:
    'Payments without an end: settling, or unknown; gatekeepers that share a journal count the same ones, so take the highest; at most 10000 of each, and absent while the journal does not answer',
  signalpress_oldest_open_payment_seconds:
    'Age of the oldest open payment, 0 for none; absent while the journal does not answer',
  signalpress_journal_sync_seconds:
    'How long the disk takes to keep what the journal wrote; empty with PostgreSQL',
} as const;

class Maker {
  readonly register = new Registry();

  counter<Label extends string>(name: keyof typeof HELP, ...labelNames: Label[]) {
    return new Counter({ name, help: HELP[name], labelNames, registers: [this.register] });
  }

  gauge<Label extends string>(name: keyof typeof HELP, ...labelNames: Label[]) {
    return new Gauge({ name, help: HELP[name], labelNames, registers: [this.register] });
  }

  /** Of seconds. */
  histogram<Label extends string>(name: keyof typeof HELP, ...labelNames: Label[]) {
    const registers = [this.register];
    return new Histogram({
      name,
      help: HELP[name],
      labelNames,
      buckets: name === 'signalpress_journal_sync_seconds' ? SYNC_BUCKETS : ANSWER_BUCKETS,
      registers,
    });
  }
}

/** No release is served yet, so no answer is one of an operation. */
const NOTHING = catalogOf([]);

/** The one place where metrics are declared; their help is the table of `gatekeeper/OBSERVING.md`. */
export function instruments(options: {
  clock: () => number;
  version: string | null;
  /** Names of the networks that payments come from. */
  networks: readonly string[];
}) {
  const make = new Maker();
  const { register } = make;
  collectDefaultMetrics({ register });
  make.gauge('signalpress_build_info', 'version').set({ version: options.version ?? 'unknown' }, 1);
  let condition: MeasuredState | null = null;
  let running: Promise<string> | null = null;
  const answers = answerMeters(make, () => condition?.catalog() ?? NOTHING);
  const gauges = gaugesOf(make, options.clock);
  const scraped = async (): Promise<string> => {
    answers.flush();
    if (condition !== null) await gauges(condition);
    return register.metrics();
  };
  const meters: Meters = { ...answers.meters, ...purchaseMeters(make, options.networks) };
  return {
    meters,
    /** From now on its state is asked for at each scrape. */
    watch(given: MeasuredState): void {
      condition = given;
    },
    /** All metrics in the text format of Prometheus. */
    text(): Promise<string> {
      // Several who read at once share one reading.
      running ??= scraped().finally(() => {
        running = null;
      });
      return running;
    },
    contentType: register.contentType as string,
  };
}

/** Free answers, prices and sales take different times, so they are not thrown together. */
const KINDS = ['sale', 'price', 'free', 'refusal'] as const;

/** Answers are many, so they are counted here and handed over at each scrape. */
function answerMeters(make: Maker, catalog: () => Catalog) {
  const answers = make.counter('signalpress_answers_total', 'operation', 'status');
  const bytes = make.counter('signalpress_answer_bytes_total');
  const seconds = make.histogram('signalpress_answer_seconds', 'kind');
  for (const kind of KINDS) seconds.zero({ kind });
  const lookUps = make.counter('signalpress_cache_look_ups_total', 'cache', 'outcome');
  const limited = make.counter('signalpress_limited_total', 'limit');
  for (const limit of LIMITS) limited.inc({ limit }, 0);
  const nameOf = operationNames(catalog);
  const counts = new Map<string, number>();
  const count = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  const found = (cache: 'ready' | 'body', isHit: boolean): void =>
    count(`look-up ${cache} ${isHit ? 'hit' : 'miss'}`);
  let sent = 0;
  const meters: Pick<Meters, 'answered' | 'refused' | 'read'> = {
    answered(answered) {
      const { path, status, from, payer } = answered;
      const unpaid = status < 400 ? 'free' : 'refusal';
      const kind = status === 402 ? 'price' : unpaid;
      count(`answer ${nameOf(path, status)} ${status}`);
      sent += answered.bytes;
      seconds.observe({ kind: payer === undefined ? kind : 'sale' }, answered.ms / 1000);
      if (from !== 'early' && answered.method === 'GET') found('ready', from === 'ready');
      if (status === 429) limited.inc({ limit: 'rate' });
    },
    refused: (limit) => limited.inc({ limit }),
    read: (isCached) => found('body', isCached),
  };
  const flush = (): void => {
    for (const [key, times] of counts) {
      const [what, first = '', second = ''] = key.split(' ');
      if (what === 'answer') answers.inc({ operation: first, status: second }, times);
      else lookUps.inc({ cache: first, outcome: second }, times);
    }
    counts.clear();
    bytes.inc(sent);
    sent = 0;
  };
  return { meters, flush };
}

/** What purchases wait for, how payments end, whom they cost a call, and who is let in. */
function purchaseMeters(
  make: Maker,
  networks: readonly string[],
): Omit<Meters, 'answered' | 'refused' | 'read'> {
  const stages = make.histogram('signalpress_purchase_stage_seconds', 'stage');
  for (const stage of STAGES) stages.zero({ stage });
  const concluded = make.counter('signalpress_payments_concluded_total', 'state', 'network');
  for (const network of networks)
    for (const state of PAYMENT_STATES) concluded.inc({ state, network }, 0);
  const syncs = make.histogram('signalpress_journal_sync_seconds');
  const calls = make.counter(
    'signalpress_facilitator_calls_total',
    'facilitator',
    'call',
    'verdict',
  );
  const seconds = make.histogram('signalpress_facilitator_call_seconds', 'facilitator', 'call');
  const admissions = make.counter('signalpress_admissions_total', 'outcome');
  for (const outcome of ADMISSIONS) admissions.inc({ outcome }, 0);
  const asked = make.counter('signalpress_stranger_calls_total', 'asked');
  for (const whom of ['node', 'facilitator']) asked.inc({ asked: whom }, 0);
  const listings = make.counter('signalpress_facilitator_listings_total', 'facilitator', 'status');
  const waits = make.counter('signalpress_facilitator_waits_total');
  return {
    stage: (stage, ms) => stages.observe({ stage }, ms / 1000),
    // A key begins with its network, that of a receipt with "receipt".
    concluded: ({ state, key }) =>
      concluded.inc({ state, network: key.slice(0, key.indexOf('|')) }),
    synced: (ms) => syncs.observe(ms / 1000),
    called({ facilitator, call, verdict, ms }) {
      calls.inc({ facilitator, call, verdict });
      seconds.observe({ facilitator, call }, ms / 1000);
    },
    admitted: (outcome) => admissions.inc({ outcome }),
    askedOfStranger: (whom) => asked.inc({ asked: whom }),
    listed: (facilitator, status) => listings.inc({ facilitator, status }),
    waitedForFacilitator: () => waits.inc(),
  };
}

/** What is asked for at each scrape. */
function gaugesOf(make: Maker, clock: () => number): (condition: MeasuredState) => Promise<void> {
  const states = make.gauge('signalpress_state', 'state');
  const reasons = make.gauge('signalpress_state_reason', 'state', 'reason');
  const connections = make.gauge('signalpress_connections');
  const sequence = make.gauge('signalpress_release_sequence');
  const age = make.gauge('signalpress_release_age_seconds');
  const left = make.gauge('signalpress_release_valid_seconds');
  const circuit = make.gauge('signalpress_facilitator_circuit', 'facilitator', 'state');
  const open = make.gauge('signalpress_open_payments', 'state');
  const oldest = make.gauge('signalpress_oldest_open_payment_seconds');
  return async (condition) => {
    const standing = condition.standing();
    for (const state of STATES)
      states.set({ state }, Number(reasonsOf(state, standing).length === 0));
    for (const [reason, { state }] of Object.entries(REASONS))
      reasons.set({ state, reason }, Number(standing.some((one) => one.reason === reason)));
    connections.set(await condition.connections());
    const { sequence: number, asOfMs, validUntilMs } = condition.release();
    sequence.set(number);
    age.set((clock() - asOfMs) / 1000);
    if (validUntilMs === null) left.remove();
    else left.set((validUntilMs - clock()) / 1000);
    for (const { facilitator, state: now } of condition.circuits())
      for (const state of CIRCUIT_STATES)
        circuit.set({ facilitator, state }, Number(state === now));
    const summary = await inTime(
      condition.openPayments().catch(() => null),
      JOURNAL_PATIENCE_MS,
    );
    open.reset();
    // A journal that cannot be read says nothing, which is not the same as 0.
    oldest.remove();
    if (summary === null) return;
    open.set({ state: 'settling' }, summary.settling);
    open.set({ state: 'unknown' }, summary.unknown);
    const { oldestMs } = summary;
    oldest.set(oldestMs === null ? 0 : Math.max(0, clock() - oldestMs) / 1000);
  };
}

/** Paths of the table that are remembered; those with a hash in them have no end. */
const KNOWN_MAX = 4096;

/**
 * Names what was asked, a path as the log has it, in about as many words as the table has rows: metrics keep every name for ever.
 * `catalog` is that of the release which is served.
 */
export function operationNames(catalog: () => Catalog): (path: string, status: number) => string {
  const known = new BoundedMap<string, string>(KNOWN_MAX);
  return (path, status) => {
    const row = known.get(path) ?? findRow(path, catalog())?.row.path;
    if (row !== undefined) {
      known.set(path, row);
      return row;
    }
    if (path === HEALTH_PATH || path === METRICS_PATH) return path;
    // In brackets where no request was read.
    if (path.startsWith('(')) return 'refused';
    return status === 404 || status === 405 ? 'unknown' : 'file';
  };
}
