import { join } from 'node:path';
import { defined } from '../../../compiler/contract/defined.ts';
import type { HashedFiling } from '../../../compiler/contract/filing.ts';
import { filerPath, filingPath } from '../../../compiler/contract/filing-index.ts';
import {
  type ListName,
  listName,
  type ProvenList,
} from '../../../compiler/contract/filing-lists.ts';
import { parseJson } from '../../../compiler/contract/strict-json.ts';
import { answer } from '../../../gatekeeper/answers/answers.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { filersOf, listsOf } from '../../../gatekeeper/rooms/filings.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { FILINGS, filingRow, filingSet, listingRow } from '../../filing-rows.ts';
import { compiledService } from '../../gatekeeper/compiled-service.ts';
import { question } from '../../gatekeeper/tiny-service.ts';
import { sharedFolder } from '../../shared-folder.ts';
import { compileFolder, writeSnapshots } from '../../snapshot-folder.ts';
import type { Delivery, Open } from './forgery.ts';

const NOW = '2026-11-20T12:30:00Z';
/** Clock of service and reader, epoch milliseconds. */
export const SETTLEMENT_NOW = Date.parse(NOW);
const DAY_MS = 86_400_000;
/** Filings of the filer whose lists are long. */
const LONG = 90;

/** What somebody holds who bought much: answers, every signed part of them, and those of an older release. */
export interface SettlementShop {
  readonly did: string;
  readonly service: Service;
  /** Genuine answers: of the newest release, then of the older one. */
  readonly answers: readonly Delivery[];
  /** All lists of each filer that answers are about, by CIK. */
  readonly lists: ReadonlyMap<string, readonly ProvenList<HashedFiling>[]>;
  /** The signed body of a filing by its record hash. */
  readonly rows: ReadonlyMap<string, Open>;
  /** The signed statement of each filer, by CIK. */
  readonly coverages: ReadonlyMap<string, Open>;
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
  for (const [name, files] of Object.entries({ older, newer })) {
    const snapshots = writeSnapshots(files, join(home, `${name}-snapshots`));
    await compileFolder(snapshots, { data: join(home, name) });
  }
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
  return { did, service: now, answers, genuine, ...(await partsOf(now)) };
}

function targets(): string[] {
  return OPERATIONS.flatMap((path) =>
    QUESTIONS.map(([entity, form, cutoff, event_class]) =>
      targetOf(path, { entity, form, cutoff, event_class, market_or_event: null }),
    ),
  );
}

/** A request by its parameters. */
export function targetOf(path: string, given: Readonly<Record<string, unknown>>): string {
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

async function partsOf({ release }: Service) {
  const reader = { release, spend: FOR_EVERYBODY };
  const { byCik } = await filersOf(release);
  const lists = new Map<string, ProvenList<HashedFiling>[]>();
  const rows = new Map<string, Open>();
  const coverages = new Map<string, Open>();
  const stored = async (path: string): Promise<Open> =>
    parseJson((await release.body(path, FOR_EVERYBODY)).bytes.toString('utf8')) as Open;
  for (const cik of byCik.keys()) {
    const coverage = await stored(filerPath(cik));
    coverages.set(cik, coverage);
    const heads = coverage.lists as unknown as ListName[];
    const known = await listsOf(cik, reader);
    const own = heads.map((head) => defined(known.find(head) ?? undefined, 'a list'));
    lists.set(cik, own);
    for (const filing of own.flatMap((list) => list.filings.flat())) {
      if (rows.has(filing.record_hash)) continue;
      rows.set(filing.record_hash, await stored(filingPath(cik, filing)));
    }
  }
  return { lists, rows, coverages };
}

/** The list that a question is about. */
export function listAbout(
  lists: readonly ProvenList<HashedFiling>[],
  { form, event_class }: Pick<ListName, 'form' | 'event_class'>,
): ProvenList<HashedFiling> | null {
  const name = listName(form, event_class);
  return (
    lists.find((list) => list.form === name.form && list.event_class === name.event_class) ?? null
  );
}
