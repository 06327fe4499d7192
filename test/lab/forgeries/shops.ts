import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { withoutEchoes } from '../../../compiler/format/settlement-echoes.ts';
import { type JsonValue, parseJson } from '../../../compiler/format/strict-json.ts';
import { answeredAt } from '../../../compiler/products/shapes/request-time.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { FILINGS, filingRow, filingSet, listingRow } from '../../filing-rows.ts';
import { SOLD_TARGETS, soldShop, VARIANT_TARGETS } from '../../gate.ts';
import { compiledService, question } from '../../gatekeeper/tiny-service.ts';
import { sharedFolder } from '../../shared-folder.ts';
import { compileFolder, writeSnapshots } from '../../snapshot-folder.ts';
import type { Ask, Delivery, IsTrue, Moments, Open, Trusted } from './body-forgeries.ts';

const HOUR_MS = 3_600_000;
/** Hours after the release was published: all is fresh; much is late, stale or unknown; every source is dead. */
const HOURS = [0.7, 61.2, 44_000];
/** Longer bodies hold more rows of the same kind. */
const BODY_BYTES_MAX = 40_000;

export interface ReadingShop extends Trusted {
  readonly moments: Moments;
  readonly ask: Ask;
}

/** A shop that sells every operation, and what it answers at several moments; its reader's clock is behind the last. */
export async function readingShop(): Promise<ReadingShop> {
  const shop = await soldShop();
  const ask: Ask = async (target, now) => {
    const asked = question(target);
    const service = { ...shop.service, clock: () => now };
    const answered = await answer(asked, service);
    if (answered.kind !== 'content') return null;
    return (await proven(answered.content, asked, service)).body.toString('utf8');
  };
  const begin = Date.parse(shop.now);
  const moments = new Map<string, readonly Delivery[]>();
  for (const target of [...SOLD_TARGETS, ...VARIANT_TARGETS]) {
    const served: Delivery[] = [];
    for (const hours of HOURS) {
      const text = await ask(target, begin + hours * HOUR_MS);
      if (text === null || text.length > BODY_BYTES_MAX) continue;
      served.push({ target, body: parseJson(text) as Open });
    }
    moments.set(target, distinct(served));
  }
  const now = begin + (HOURS.at(-1) ?? 0) * HOUR_MS;
  const service = { ...shop.service, clock: () => now };
  return { did: shop.did, service, now, moments, ask };
}

/** Bodies without a word of the moment are served alike at all of them. */
function distinct(served: readonly Delivery[]): Delivery[] {
  const texts = new Map(served.map((one) => [JSON.stringify(one.body as JsonValue), one]));
  return [...texts.values()];
}

const NOW = '2026-11-20T12:30:00Z';
/** Clock of service and reader, epoch milliseconds. */
export const SETTLEMENT_NOW = Date.parse(NOW);
const DAY_MS = 86_400_000;
/** Filings of the filer whose lists are long. */
const LONG = 90;

/** What somebody holds who bought much: answers of a release and of an older one. */
export interface SettlementShop {
  readonly did: string;
  readonly service: Service;
  /** Genuine answers: of the newest release, then of the older one. */
  readonly answers: readonly Delivery[];
  /** What a release says to a request, the newest first; nothing where it sells no answer. */
  genuine(target: string): Promise<Open[]>;
}

/** Filers with one of each case: short lists and long ones, hidden days, lists that begin late, unknown hours, two sources. */
function filers(): object[] {
  const of = (cik: string, name: string, more = {}) => ({ cik, name, tickers: [name], ...more });
  const [other, long, late] = ['0000999999', '0000555555', '0000777777'];
  const day = (at: number): string =>
    new Date(Date.UTC(2026, 0, 5) + Math.floor(at / 2) * 5 * DAY_MS).toISOString().slice(0, 10);
  const many = Array.from({ length: LONG }, (_, at) => {
    const hour = at % 7 === 3 ? { disclosure_time: null, acceptance_basis: 'undetermined' } : {};
    return filingRow(100 + at, [at % 11 === 5 ? '4/A' : '4', day(at)], { cik: long, ...hour });
  });
  return [
    listingRow(),
    ...FILINGS,
    listingRow(of(other, 'OTHR')),
    filingRow(70, ['10-K', '2026-03-30'], { cik: other }),
    filingRow(71, ['SC 13D', '2026-03-15'], { cik: other }),
    listingRow(of(long, 'LONG')),
    ...many,
    listingRow(of(late, 'LATE', { from: '2026-02-01' })),
    filingRow(80, ['10-K', '2026-03-30'], { cik: late }),
    filingRow(81, ['8-K', '2026-05-30'], { cik: late, items: ['2.02'] }),
    filingRow(82, ['8-K', '2026-05-30'], { cik: late, items: ['5.02', '2.02'] }),
  ];
}

/** Filings that only the newest release holds: they turn some answers round. */
const LATER = [
  filingRow(40, ['SC 13D', '2026-11-18']),
  filingRow(41, ['10-K/A', '2026-11-17']),
  filingRow(42, ['8-K', '2026-07-01'], { items: ['1.01'] }),
  filingRow(43, ['NT 10-Q', '2026-11-16']),
];

const QUESTIONS: readonly (readonly [
  entity: string,
  form: string,
  cutoff: string,
  item?: string,
])[] = [
  ['EXMP', '10-K', '2026-03-31'],
  ['EXMP', '10-K', '2026-01-31'],
  ['EXMP', '10-K', '2027-03-31'],
  ['123456', '10-K', '2026-02-01T15:00:00Z'],
  ['EXMP', '10-K/A', '2026-11-19'],
  ['EXMP', 'SC 13D', '2026-03-31'],
  ['EXMP', 'SC 13D', '2026-11-19'],
  ['EXMP', 'SC 13G', '2026-02-02'],
  ['EXMP', 'SC 13G', '2025-06-30'],
  ['EXMP', '10-Q', '2026-05-20'],
  ['EXMP', '10-Q', '2026-05-19'],
  ['EXMP', '20-F', '2026-05-01'],
  ['EXMP', 'NT 10-K', '2026-03-02T12:00:00Z'],
  ['EXMP', '8-K', '2026-07-02', '2.02'],
  ['EXMP', '8-K', '2026-07-02', '1.01'],
  ['EXMP', '8-K', '2026-07-02'],
  ['EXMP', '6-K/A', '2026-05-01'],
  ['EXMP', '6-K', '2026-05-01'],
  ['OTHR', '10-K', '2026-03-31'],
  ['OTHR', '10-K', '2026-03-29'],
  ['LONG', '4', '2026-06-20'],
  ['LONG', '4', '2026-06-20T12:00:00Z'],
  ['LONG', '4', '2026-01-02'],
  ['LONG', '4/A', '2026-06-20'],
  ['LATE', '10-K', '2026-03-29'],
  ['LATE', '10-K', '2026-04-02'],
  ['LATE', '8-K', '2026-05-30', '2.02'],
  ['LATE', '8-K', '2026-05-29', '5.02'],
];
const OPERATIONS = ['/resolve', '/resolve/proposer'] as const;

async function compileBoth(home: string): Promise<void> {
  const past = filers().map((row) => ({ ...row, collected_at: '2026-11-19T11:00:00Z' }));
  const older = filingSet(past, '2026-11-19T10Z');
  const newer = { ...older, ...filingSet([...filers(), ...LATER], '2026-11-20T10Z') };
  const [first, second] = ['older', 'newer'].map((name) => join(home, name)) as [string, string];
  const snapshots = writeSnapshots(older, join(home, 'older-snapshots'));
  await compileFolder(snapshots, { data: first, asOf: '2026-11-20T11:00:00Z' });
  // One log: the newer release goes on from the older one.
  cpSync(first, second, { recursive: true, verbatimSymlinks: true });
  await compileFolder(writeSnapshots(newer, join(home, 'newer-snapshots')), { data: second });
}

/** An older release and a newer one of one issuer, compiled once a run, and what both answer to all questions. */
export async function settlementShop(): Promise<SettlementShop> {
  const home = await sharedFolder('settlement-shop', compileBoth);
  const open = (name: string): Promise<Service> => compiledService(join(home, name), NOW);
  const [before, now] = [await open('older'), await open('newer')];
  const genuine = async (target: string): Promise<Open[]> =>
    (await Promise.all([now, before].map((service) => asked(target, service)))).filter(
      (body) => body !== null,
    );
  const answers: Delivery[] = [];
  for (const target of targets()) {
    for (const body of await genuine(target)) answers.push({ target, body });
  }
  const did = now.release.head.issuer_did;
  return { did, service: now, answers, genuine };
}

function targets(): string[] {
  return OPERATIONS.flatMap((path) =>
    QUESTIONS.map(([entity, form, cutoff, event_class]) =>
      targetOf(path, { entity, form, cutoff, event_class, market_or_event: null }),
    ),
  );
}

/** A request by its parameters. */
function targetOf(path: string, given: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams(
    known.map(([name, value]): [string, string] => [name, String(value)]),
  );
  return `${path}?${query}`;
}

async function asked(target: string, service: Service): Promise<Open | null> {
  const asks = question(target);
  const answered = await answer(asks, service);
  if (answered.kind !== 'content') return null;
  const { body } = await proven(answered.content, asks, service);
  return parseJson(body.toString('utf8')) as Open;
}

// What a forgery may say without being a lie: whatever the service itself answers to some request at some moment.

/**
 * A settlement answer is true where a release gives it to the request; without one, where it is signed as it is for some,
 * also in a sample, which answers no request.
 */
export function isTrueSettlement({
  genuine,
  answers,
}: Pick<SettlementShop, 'genuine' | 'answers'>): IsTrue {
  return async (text, target, asked) => {
    const value = parseJson(text) as Open;
    if (isWrapped(value) && asked) return false;
    const body = isWrapped(value) ? (value.sample as Open) : value;
    const said = asked ? withoutProof(body) : withoutProof(withoutEchoes(body));
    const bodies = asked ? await genuine(target) : answers.map((one) => one.body);
    const same = bodies.filter((one) => withoutProof(asked ? one : withoutEchoes(one)) === said);
    return same.length > 0 && isProofOf(body, same);
  };
}

function withoutProof({ _proof: _, ...body }: Open): string {
  return canonicalJson(body);
}

/** A body may lack its proof; one that it has is that of a genuine body. */
function isProofOf({ _proof }: Open, bodies: readonly Open[]): boolean {
  return _proof === undefined || bodies.some((one) => one._proof === _proof);
}

/** Any other answer is true where the shop gives it at some moment, for any look-back where it is a series. */
export function isTrueReading(ask: Ask, now: number): IsTrue {
  return async (text, target) => {
    const value = parseJson(text) as Open;
    const body = isWrapped(value) ? (value.sample as Open) : value;
    const said = withoutProof(body);
    const asked = withDays(target, body.days);
    const at = answeredAt(body);
    for (const moment of Number.isNaN(at) ? [now] : [at]) {
      const answer = await ask(asked, moment);
      const genuine = answer === null ? null : (parseJson(answer) as Open);
      if (genuine === null || withoutProof(genuine) !== said) continue;
      return isProofOf(body, [genuine]);
    }
    return false;
  };
}

function isWrapped(body: Open): boolean {
  return Object.keys(body).join() === 'sample';
}

function withDays(target: string, days: JsonValue | undefined): string {
  return typeof days === 'number' ? target.replace(/([?&]days=)\d+/, `$1${days}`) : target;
}
