import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { catalogOf } from '../../compiler/contract/catalog/catalog.ts';
import { CIRCUIT_STATES } from '../facilitator/circuit.ts';
import type { SentAnswer } from '../http/request.ts';
import { REASONS, reasonsOf, STATES } from '../state/service-state.ts';
import { inTime } from '../system/in-time.ts';
import { ADMISSIONS, LIMITS, type MeasuredState, type Meters, STAGES } from './meters.ts';
import { Operations } from './operation.ts';

/** Seconds: from an answer that is ready to a settlement that takes all the time that it may. */
const ANSWER_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Seconds: from a disk with a battery to one that is about to fail. */
const SYNC_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
/** Longest wait for a journal that does not answer: a reader gives up soon after. */
const JOURNAL_PATIENCE_MS = 2000;
const PAYMENT_STATES = ['settled', 'refused', 'unknown', 'reorganised'] as const;

export interface InstrumentsOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly version: string | null;
  /** Names of the networks that payments come from. */
  readonly networks: readonly string[];
}

/** Everything that is measured. */
export interface Instruments {
  readonly meters: Meters;
  /** From now on its state is asked for at each scrape. */
  watch(condition: MeasuredState): void;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** No release is served yet, so no answer is one of an operation. */
const NOTHING = catalogOf([]);

/** The one place where metrics are declared; `gatekeeper/OBSERVING.md` says what each of them tells. */
export function instruments(options: InstrumentsOptions): Instruments {
  const register = new Registry();
  collectDefaultMetrics({ register });
  build(register, options);
  const answers = answerMeters(register, () => condition?.catalog() ?? NOTHING);
  const gauges = gaugesOf(register, options);
  let condition: MeasuredState | null = null;
  let running: Promise<string> | null = null;
  const scraped = async (): Promise<string> => {
    answers.flush();
    if (condition !== null) await gauges(condition);
    return register.metrics();
  };
  return {
    meters: {
      ...answers.meters,
      ...purchaseMeters(register, options),
      ...facilitatorMeter(register),
      ...admissionMeters(register),
    },
    watch(given) {
      condition = given;
    },
    text() {
      // Several who read at once share one reading.
      running ??= scraped().finally(() => {
        running = null;
      });
      return running;
    },
    contentType: register.contentType,
  };
}

function build(register: Registry, { version }: InstrumentsOptions): void {
  const info = new Gauge({
    name: 'signalpress_build_info',
    help: '1; the version stands in the label',
    labelNames: ['version'],
    registers: [register],
  });
  info.set({ version: version ?? 'unknown' }, 1);
}

interface AnswerMeters {
  readonly meters: Pick<Meters, 'answered' | 'refused' | 'read'>;
  flush(): void;
}

/** Answers are many, so they are counted here and handed over at each scrape. */
function answerMeters(register: Registry, catalog: () => Catalog): AnswerMeters {
  const registers = [register];
  const answers = new Counter({
    name: 'signalpress_answers_total',
    help: 'Answers by operation and status',
    labelNames: ['operation', 'status'],
    registers,
  });
  const bytes = new Counter({
    name: 'signalpress_answer_bytes_total',
    help: 'Bytes of bodies that were sent',
    registers,
  });
  const seconds = new Histogram({
    name: 'signalpress_answer_seconds',
    help: 'From the request to its answer, by kind',
    labelNames: ['kind'],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  for (const kind of KINDS) seconds.zero({ kind });
  const cache = cacheMeter(register);
  const refused = limitMeter(register);
  const operations = new Operations(catalog);
  const counts = new LabelCounts<{ operation: string; status: string }>();
  let sent = 0;
  return {
    meters: {
      answered(answered) {
        const { path, status, from } = answered;
        const operation = operations.of(path, status);
        counts.add(`${operation} ${status}`, () => ({ operation, status: String(status) }));
        sent += answered.bytes;
        seconds.observe({ kind: kindOf(answered) }, answered.ms / 1000);
        if (from !== 'early' && answered.method === 'GET') cache.found('ready', from === 'ready');
        if (status === 429) refused('rate');
      },
      refused,
      read: (isCached) => cache.found('body', isCached),
    },
    flush() {
      counts.drain((labels, count) => answers.inc(labels, count));
      cache.flush();
      bytes.inc(sent);
      sent = 0;
    },
  };
}

function limitMeter(register: Registry): Meters['refused'] {
  const refused = new Counter({
    name: 'signalpress_limited_total',
    help: 'Requests and connections that a limit kept away',
    labelNames: ['limit'],
    registers: [register],
  });
  for (const limit of LIMITS) refused.inc({ limit }, 0);
  return (limit) => refused.inc({ limit });
}

interface CacheMeter {
  found(cache: 'ready' | 'body', isHit: boolean): void;
  flush(): void;
}

function cacheMeter(register: Registry): CacheMeter {
  const lookUps = new Counter({
    name: 'signalpress_cache_look_ups_total',
    help: 'Look-ups of ready answers and of stored bodies in memory',
    labelNames: ['cache', 'outcome'],
    registers: [register],
  });
  const counts = new LabelCounts<{ cache: string; outcome: string }>();
  return {
    found(cache, isHit) {
      const outcome = isHit ? 'hit' : 'miss';
      counts.add(`${cache} ${outcome}`, () => ({ cache, outcome }));
    },
    flush: () => counts.drain((labels, count) => lookUps.inc(labels, count)),
  };
}

/** Free answers, prices and sales take different times, so they are not thrown together. */
const KINDS = ['sale', 'price', 'free', 'refusal'] as const;

function kindOf({ status, payer }: SentAnswer): (typeof KINDS)[number] {
  if (payer !== undefined) return 'sale';
  if (status === 402) return 'price';
  return status < 400 ? 'free' : 'refusal';
}

/** Counts by key, with the labels that belong to it. */
class LabelCounts<Labels> {
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  add(key: string, labels: () => Labels): void {
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { labels: labels(), count: 1 });
    else known.count += 1;
  }

  drain(take: (labels: Labels, count: number) => void): void {
    for (const { labels, count } of this.#counts.values()) take(labels, count);
    this.#counts.clear();
  }
}

function purchaseMeters(
  register: Registry,
  { networks }: InstrumentsOptions,
): Pick<Meters, 'stage' | 'concluded' | 'synced'> {
  const registers = [register];
  const stages = new Histogram({
    name: 'signalpress_purchase_stage_seconds',
    help: 'How long purchases wait, by what they wait for',
    labelNames: ['stage'],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  for (const stage of STAGES) stages.zero({ stage });
  const concluded = new Counter({
    name: 'signalpress_payments_concluded_total',
    help: 'Payments whose end was noted, doubts that were, and transfers that vanished afterwards',
    labelNames: ['state', 'network'],
    registers,
  });
  for (const network of networks)
    for (const state of PAYMENT_STATES) concluded.inc({ state, network }, 0);
  const syncs = new Histogram({
    name: 'signalpress_journal_sync_seconds',
    help: 'How long the disk takes to keep what the journal wrote',
    buckets: SYNC_BUCKETS,
    registers,
  });
  return {
    stage: (stage, ms) => stages.observe({ stage }, ms / 1000),
    // A key begins with its network, that of a receipt with "receipt".
    concluded: ({ state, key }) =>
      concluded.inc({ state, network: key.slice(0, key.indexOf('|')) }),
    synced: (ms) => syncs.observe(ms / 1000),
  };
}

function facilitatorMeter(register: Registry): Pick<Meters, 'called'> {
  const registers = [register];
  const calls = new Counter({
    name: 'signalpress_facilitator_calls_total',
    help: 'Calls by facilitator and verdict; none is a call without one',
    labelNames: ['facilitator', 'call', 'verdict'],
    registers,
  });
  const seconds = new Histogram({
    name: 'signalpress_facilitator_call_seconds',
    help: 'How long facilitators take to answer',
    labelNames: ['facilitator', 'call'],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  return {
    called({ facilitator, call, verdict, ms }) {
      calls.inc({ facilitator, call, verdict });
      seconds.observe({ facilitator, call }, ms / 1000);
    },
  };
}

function admissionMeters(
  register: Registry,
): Pick<Meters, 'admitted' | 'askedOfStranger' | 'waitedForFacilitator'> {
  const registers = [register];
  const admissions = new Counter({
    name: 'signalpress_admissions_total',
    help: 'New payments before they cost anything, by what was found of their payers',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ADMISSIONS) admissions.inc({ outcome }, 0);
  const asked = new Counter({
    name: 'signalpress_stranger_calls_total',
    help: 'Calls about payers who never paid here',
    labelNames: ['asked'],
    registers,
  });
  for (const whom of ['node', 'facilitator']) asked.inc({ asked: whom }, 0);
  const waits = new Counter({
    name: 'signalpress_facilitator_waits_total',
    help: 'Calls that waited because a facilitator said 429',
    registers,
  });
  return {
    admitted: (outcome) => admissions.inc({ outcome }),
    askedOfStranger: (whom) => asked.inc({ asked: whom }),
    waitedForFacilitator: () => waits.inc(),
  };
}

type Gauged = (condition: MeasuredState) => Promise<void>;

function gaugesOf(register: Registry, { clock }: InstrumentsOptions): Gauged {
  const release = releaseGauges(register, clock);
  const payments = paymentGauges(register, clock);
  const circuits = circuitGauge(register);
  const states = stateGauges(register);
  const gauge = gaugeMaker(register);
  const connections = gauge('signalpress_connections', 'Open connections of clients');
  return async (condition) => {
    states(condition);
    connections.set(await condition.connections());
    release(condition);
    circuits(condition);
    await payments(condition);
  };
}

function stateGauges(register: Registry): (condition: MeasuredState) => void {
  const registers = [register];
  const states = new Gauge({
    name: 'signalpress_state',
    help: '1 while the gatekeeper serves, sells, publishes, and 0 while it does not',
    labelNames: ['state'],
    registers,
  });
  const reasons = new Gauge({
    name: 'signalpress_state_reason',
    help: '1 while this keeps the state from holding',
    labelNames: ['state', 'reason'],
    registers,
  });
  return ({ standing }) => {
    const now = standing();
    for (const state of STATES) states.set({ state }, Number(reasonsOf(state, now).length === 0));
    for (const [reason, { state }] of Object.entries(REASONS))
      reasons.set({ state, reason }, Number(now.some((one) => one.reason === reason)));
  };
}

function gaugeMaker(register: Registry): (name: string, help: string) => Gauge {
  return (name, help) => new Gauge({ name, help, registers: [register] });
}

function releaseGauges(
  register: Registry,
  clock: () => number,
): (condition: MeasuredState) => void {
  const gauge = gaugeMaker(register);
  const sequence = gauge('signalpress_release_sequence', 'Number of the release that is served');
  const age = gauge('signalpress_release_age_seconds', 'Time since its data was as of');
  const left = gauge('signalpress_release_valid_seconds', 'Time until it is stale, below 0 then');
  return ({ release }) => {
    const { sequence: number, asOfMs, validUntilMs } = release();
    sequence.set(number);
    age.set((clock() - asOfMs) / 1000);
    if (validUntilMs === null) left.remove();
    else left.set((validUntilMs - clock()) / 1000);
  };
}

function paymentGauges(register: Registry, clock: () => number): Gauged {
  const open = new Gauge({
    name: 'signalpress_open_payments',
    help: 'Payments whose end is not noted: settling, or unknown to us; at most 10000 of each',
    labelNames: ['state'],
    registers: [register],
  });
  const gauge = gaugeMaker(register);
  const oldest = gauge(
    'signalpress_oldest_open_payment_seconds',
    'Age of the oldest of them, 0 for none',
  );
  return async ({ openPayments }) => {
    const summary = await inTime(
      openPayments().catch(() => null),
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

function circuitGauge(register: Registry): (condition: MeasuredState) => void {
  const circuit = new Gauge({
    name: 'signalpress_facilitator_circuit',
    help: '1 for the state that a facilitator is in: closed (asked), suspect (asked last), open (skipped)',
    labelNames: ['facilitator', 'state'],
    registers: [register],
  });
  return ({ circuits }) => {
    for (const { facilitator, state: now } of circuits()) {
      for (const state of CIRCUIT_STATES)
        circuit.set({ facilitator, state }, Number(state === now));
    }
  };
}
