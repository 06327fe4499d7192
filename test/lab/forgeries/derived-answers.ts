// The strongest lie about a settlement answer keeps its rules: something is changed that the answer follows from, and the
// whole answer is made of that again, by the very functions that make genuine ones.

import { filingCore, type HashedFiling } from '../../../compiler/contract/filing.ts';
import { besideHashes, type ProvenList } from '../../../compiler/contract/filing-lists.ts';
import { proposerAnswer, resolveAnswer } from '../../../compiler/contract/resolve-answer.ts';
import { settleFilings } from '../../../compiler/contract/settle-filings.ts';
import type { Settled } from '../../../compiler/contract/settlement-note.ts';
import { settlementQuestion } from '../../../compiler/contract/settlement-question.ts';
import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import { sha256 } from '../../../gatekeeper/release/read-body.ts';
import { editedValues, signed } from './body-forgeries.ts';
import type { Delivery, Forgery, Open } from './forgery.ts';
import { listAbout, type SettlementShop } from './shops.ts';

/** The question as an answer repeats it. */
interface Question {
  readonly entity: string;
  readonly cik: string;
  readonly entity_name: string;
  readonly form: string;
  readonly event_class: string | null;
  readonly market_or_event: string | null;
  readonly cutoff: string;
}

interface Coverage extends Open {
  readonly observed_at: string;
  readonly covered_from: string | null;
}

interface ListPart {
  readonly index: number;
  readonly filings: readonly (readonly Listed[])[];
  readonly beside: readonly string[];
}

interface Listed {
  readonly record_hash: string;
  readonly _hash_core: Omit<HashedFiling, 'record_hash'>;
}

/** What an answer is made of. */
interface Premise {
  readonly kind: string;
  readonly target: string;
  readonly question: Question;
  readonly list: ListPart | null;
  readonly coverage: Coverage;
}

const QUESTION = [
  'entity',
  'cik',
  'entity_name',
  'form',
  'event_class',
  'market_or_event',
  'cutoff',
];

function premiseOf(kind: string, { target, body }: Delivery): Premise {
  const members = Object.fromEntries(QUESTION.map((name) => [name, body[name]]));
  const question = members as unknown as Question;
  const [list, coverage] = [body.list as unknown as ListPart | null, body.coverage as Coverage];
  return { kind, target, question, list, coverage };
}

type Rows = SettlementShop['rows'];

/** The text of the answer that follows from a premise, true or not. */
function derivedText(premise: Premise, rows: Rows): string {
  const { question, list, coverage, target } = premise;
  const settled = settledBy(premise);
  if (settled === null) return JSON.stringify({ ...question, list, coverage });
  const rowOf = (filing: HashedFiling): object => rows.get(filing.record_hash) ?? coreOf(filing);
  const proposes = target.startsWith('/resolve/proposer');
  const answer = (proposes ? proposerAnswer : resolveAnswer)(question, settled);
  const quoted = answer.quoted.map(rowOf) as Open[];
  const [first = null] = quoted;
  const parts = proposes ? { evidence: first } : { candidate_sources: quoted };
  const { _citation } = first ?? coverage;
  return JSON.stringify({ ...answer.members, ...parts, list, coverage, _citation });
}

function settledBy({ question, list, coverage }: Premise): Settled<HashedFiling> | null {
  const asked = settlementQuestion(question);
  if (asked === null) return null;
  const filings = (list?.filings.flat() ?? []).map(({ record_hash, _hash_core }) => ({
    ..._hash_core,
    record_hash,
  }));
  const covers = {
    ...coverage,
    collected_at: coverage.observed_at,
  } as unknown as Settled['coverage'];
  const settlement = settleFilings(filings, covers, asked);
  return { question: asked, coverage: covers, settlement };
}

function coreOf({ record_hash, ...core }: HashedFiling): object {
  return { record_hash, _hash_core: core };
}

/** What else a forgery is made of. */
interface Parts {
  readonly rows: SettlementShop['rows'];
  /** A list that takes time to make. */
  readonly list?: () => ListPart | null;
}

function derived(premise: Premise, where: string, { rows, list }: Parts): Forgery {
  const { kind, target } = premise;
  const make = (): string =>
    derivedText(list === undefined ? premise : { ...premise, list: list() }, rows);
  return { kind, target, where, make };
}

/** Made of other neighbours of the right list, or of neighbours in another list of the filer. */
export function* ofPartialLists(
  answer: Delivery,
  { lists, rows }: SettlementShop,
): Generator<Forgery> {
  const premise = premiseOf('answer made of a part of a list', answer);
  const { cik } = premise.question;
  const own = lists.get(cik) ?? [];
  const right = listAbout(own, premise.question);
  yield derived({ ...premise, list: null }, 'none', { rows });
  for (const list of own) {
    const step = list === right ? 1 : Math.ceil(list.filings.length / 3);
    for (const [start, end] of stretches(list.filings.length, step)) {
      const where = `${list.form} ${list.event_class ?? 'any'} ${start} to ${end}`;
      yield derived(premise, where, { rows, list: () => partOf(list, [start, end], cik) });
    }
  }
}

type Stretch = readonly [start: number, end: number];

function* stretches(count: number, step: number): Generator<Stretch> {
  for (let start = 0; start < count; start += step) {
    for (let end = start + 1; end <= count; end += step) yield [start, end];
  }
}

function partOf(list: ProvenList<HashedFiling>, [index, end]: Stretch, cik: string): ListPart {
  const stretch = { index, filings: list.filings.slice(index, end) };
  const filings = stretch.filings.map((listings) =>
    listings.map((filing) => ({
      record_hash: filing.record_hash,
      _hash_core: filingCore(cik, filing),
    })),
  );
  return { index, filings, beside: besideHashes(list, stretch, sha256) };
}

/** Made of the right filings for the question of another answer, or for one of its members alone. */
export function* ofOtherQuestions(
  answer: Delivery,
  other: Delivery,
  { rows }: SettlementShop,
): Generator<Forgery> {
  const premise = premiseOf('answer made for another question', answer);
  const { question } = premiseOf('', other);
  const changes: readonly (readonly [string, Partial<Question>])[] = [
    ['form', { form: question.form }],
    ['item', { event_class: question.event_class }],
    ['cutoff', { cutoff: question.cutoff }],
    ['form, item and cutoff', { ...question, ...nameOf(premise.question) }],
    ['filer', nameOf(question)],
    ['all', question],
  ];
  for (const [where, change] of changes) {
    const changed = { ...premise, question: { ...premise.question, ...change } };
    yield derived(changed, `${where} of ${other.target}`, { rows });
  }
}

function nameOf({ entity, cik, entity_name }: Question) {
  return { entity, cik, entity_name };
}

/** Made for a question that reads like that of the answer, about a list that nobody has. */
export function* ofLookalikes(answer: Delivery, { rows }: SettlementShop): Generator<Forgery> {
  const premise = premiseOf('answer made for a lookalike of the question', answer);
  for (const name of ['form', 'event_class', 'cutoff', 'entity', 'cik', 'entity_name'] as const) {
    const value = premise.question[name];
    if (value === null) continue;
    for (const other of lookalikes(value)) {
      const question = { ...premise.question, [name]: other };
      yield derived({ ...premise, question }, `${name} ${JSON.stringify(other)}`, { rows });
      const none = { ...premise, question, list: null };
      yield derived(none, `${name} ${JSON.stringify(other)}, no list`, { rows });
    }
  }
}

function lookalikes(text: string): string[] {
  const others = [
    text.replaceAll('-', ''),
    text.replaceAll('-', ' '),
    text.replaceAll('-', '\u2011'),
    text.replaceAll('-', '--'),
    text.replaceAll(' ', ''),
    text.replaceAll(' ', '\u00a0'),
    text.replaceAll('0', 'O'),
    text.replaceAll('1', 'I'),
    text.replaceAll('K', '\u041a'),
    text.replaceAll('.', ''),
    text.replaceAll('.', '\u00b7'),
    text.replace(/\d/, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ...[' ', '.', '\u200b', '\u001f', '\ufeff', '/'].map((end) => `${text}${end}`),
    ...['0', ' ', 'FORM ', '\u202e'].map((begin) => `${begin}${text}`),
    text.toLowerCase(),
  ];
  return [...new Set(others)].filter((other) => other !== text);
}

/** Made of another statement of the filer: an older one, that of somebody else, or one with a member changed. */
export function* ofOtherCoverage(
  answer: Delivery,
  other: Delivery,
  { rows }: SettlementShop,
): Generator<Forgery> {
  const premise = premiseOf('answer made of another statement', answer);
  const coverage = other.body.coverage as Coverage;
  yield derived({ ...premise, coverage }, `that of ${other.target}`, { rows });
  yield derived({ ...premise, coverage, list: null }, `that of ${other.target}, no list`, { rows });
}

/** Made of a statement that says more than the signed one. */
export function* ofFalseCoverage(answer: Delivery, { rows }: SettlementShop): Generator<Forgery> {
  const premise = premiseOf('answer made of a false statement', answer);
  const { coverage } = premise;
  const lists = coverage.lists as unknown as Open[];
  const edits: readonly (readonly [string, Open])[] = [
    ['whole', { covered_from: null }],
    ['from a day on', { covered_from: '2026-03-01' }],
    ['without gaps', { gaps: [] }],
    ['with a gap', { gaps: [{ from: '2026-01-01', to: '2026-12-31' }] }],
    ['collected later', { observed_at: '2028-01-01T00:00:00Z' }],
    ['collected earlier', { observed_at: '2026-01-01T00:00:00Z' }],
    ['without lists', { lists: [] }],
    ['of another name', { entity_name: 'Somebody' }],
    ['of other tickers', { tickers: ['EXMP', 'OTHR', 'LONG', 'LATE', 'X'] }],
    ...lists.flatMap((head, at): (readonly [string, Open])[] => {
      const row = (more: object): Open => ({ lists: lists.with(at, { ...head, ...more }) });
      return [
        [`without list ${at}`, { lists: lists.toSpliced(at, 1) }],
        [`list ${at} with one filing less`, row({ count: Number(head.count) - 1 })],
        [`list ${at} of no lead`, row({ lead_days: 0 })],
        [`list ${at} of a long lead`, row({ lead_days: 99 })],
      ];
    }),
  ];
  for (const [where, edit] of edits) {
    yield derived({ ...premise, coverage: { ...coverage, ...edit } as Coverage }, where, { rows });
    const none = { ...premise, list: null, coverage: { ...coverage, ...edit } as Coverage };
    yield derived(none, `${where}, no list`, { rows });
  }
}

/** Made of a statement that the issuer signed once more with a member changed. */
export function* ofSignedCoverage(answer: Delivery, { rows }: SettlementShop): Generator<Forgery> {
  const premise = premiseOf('answer made of a statement signed again', answer);
  for (const edit of editedValues({ target: answer.target, body: premise.coverage })) {
    if (edit.where.startsWith('_citation') || edit.where.startsWith(' ')) continue;
    const make = (): string => {
      const coverage = JSON.parse(signed(edit.make())) as Coverage;
      try {
        return derivedText({ ...premise, coverage }, rows);
      } catch {
        return JSON.stringify({ ...answer.body, coverage });
      }
    };
    yield { ...edit, kind: premise.kind, isOfIssuer: true, make };
  }
}

/** Made of filings with a fact changed, hashed again. */
export function* ofFalseFilings(answer: Delivery, { rows }: SettlementShop): Generator<Forgery> {
  const premise = premiseOf('answer made of a false filing', answer);
  const { list } = premise;
  if (list === null) return;
  for (const [at, listings] of list.filings.entries()) {
    for (const [name, edit] of FILING_EDITS) {
      const [first, ...others] = listings;
      if (first === undefined) continue;
      const core = { ...first._hash_core, ...edit };
      const hashes = { kept: first.record_hash, recomputed: canonicalHash(core) };
      for (const [how, record_hash] of Object.entries(hashes)) {
        const filings = list.filings.with(at, [{ record_hash, _hash_core: core }, ...others]);
        yield derived({ ...premise, list: { ...list, filings } }, `${at} ${name}, hash ${how}`, {
          rows,
        });
      }
    }
    const without = { ...list, filings: list.filings.with(at, listings.slice(0, -1)) };
    yield derived({ ...premise, list: without }, `${at} without its last listing`, { rows });
  }
}

const FILING_EDITS: readonly (readonly [string, Readonly<Record<string, JsonValue>>])[] = [
  ['of another form', { form: '10-K' }],
  ['as an amendment', { form: '4/A' }],
  ['of a later day', { filing_date: '2027-01-01', observed_at: '2027-01-01T00:00:00Z' }],
  ['of an earlier day', { filing_date: '2025-01-01' }],
  ['accepted later', { disclosure_time: '2027-01-01T00:00:00Z' }],
  ['accepted earlier', { disclosure_time: '2025-01-01T00:00:00Z' }],
  ['of no known hour', { disclosure_time: null }],
  ['with an item', { items: ['2.02', '1.01', '5.02'] }],
  ['without items', { items: [] }],
  ['of another event day', { event_time: '2020-01-01' }],
  ['of another filer', { entity: '0000999999' }],
  ['of another source', { source: 'other' }],
];
