// Everything that is sold of one filer's filings: what the compiler signs, and what a verifier makes again.

import type { Statement } from '../../format/citation.ts';
import { grouped } from '../../format/lists.ts';
import { FILING_SOURCE_CLASS, namesItems, WELL_KNOWN_FORMS } from './filing.ts';
import {
  type FilerLine,
  type IndexedInterval,
  LATER_FILE,
  restFile,
  SETTLEMENT_PATHS,
  type SettlementIndex,
  type SettlementPath,
  settlementIndexPath,
  settlementPath,
} from './filing-index.ts';
import { type FilingList, filingLists, isLookalike, storedForms } from './filing-lists.ts';
import { ABSENT_SEGMENT, encodeSegment } from './path.ts';
import {
  CANDIDATES_MAX,
  type FilingRow,
  SETTLEMENT_NATURE,
  type SettlementScope,
  type SignedProposer,
  type SignedResolve,
  settlementTarget,
} from './resolve-bodies.ts';
import type { Settlement } from './settle-filings.ts';
import {
  type Basis,
  endOfLook,
  FIRST_CUTOFF,
  type SettledInterval,
  settledIntervals,
} from './settlement-intervals.ts';
import { laterNote, nothingNote } from './settlement-note.ts';

/** A body before it is signed, with what its citation says. */
export interface SettlementAnswer {
  readonly path: string;
  readonly body: SignedResolve | SignedProposer;
  readonly statement: Statement;
}

/** All that is stored of a filer beside its filings: files of answers, and texts of indexes. */
export interface FilerAnswers {
  readonly answers: readonly SettlementAnswer[];
  readonly indexes: readonly (readonly [path: string, index: SettlementIndex])[];
}

/** Forms that every filer may be asked for: well-known ones, and what is stored of any filer. */
export function askedForms(filers: readonly Pick<FilerLine, 'forms'>[]): string[] {
  const known = WELL_KNOWN_FORMS.flatMap((form) => [form, `${form}/A`]);
  return [...new Set([...known, ...filers.flatMap(({ forms }) => forms)])].sort();
}

/** Makes the answers of one filer, of all its filings. `forms`: what every filer may be asked for. */
export function filerAnswers(
  filer: FilerLine,
  rows: readonly FilingRow[],
  forms: readonly string[],
): FilerAnswers {
  const lists = grouped(filingLists(rows), ({ form }) => form);
  const own = storedForms([...lists.values()].flat());
  const absent = forms.filter((form) => !lists.has(form) && !isLookalike(form, own));
  const made = [...new Set([...lists.keys(), ...absent])]
    .sort()
    .map((form) => formAnswers(filer, form, lists.get(form) ?? []));
  const answers = [...made.flatMap((one) => one.answers), ...laterAnswers(filer)];
  return { answers, indexes: made.flatMap((one) => one.indexes) };
}

function formAnswers(filer: FilerLine, form: string, lists: readonly FilingList<FilingRow>[]) {
  const answers: SettlementAnswer[] = [];
  const indexed = lists.map((list) => {
    const { event_class } = list;
    const intervals = (basis: Basis) =>
      settledIntervals(list, filer, basis).map((interval): IndexedInterval => {
        const { valid_from, valid_until } = interval;
        const folder = `${encodeSegment(form)}/${event_class ?? ABSENT_SEGMENT}/${basis}`;
        const file = `${folder}/${encodeSegment(valid_from)}.json`;
        const scope = { ...scopeOf(filer), form, event_class, basis, valid_from, valid_until };
        answers.push(...bothAnswers(file, intervalParts(scope, interval)));
        return [valid_from, valid_until, file];
      });
    return {
      event_class,
      filing_date: intervals('filing_date'),
      acceptance_time: intervals('acceptance_time'),
    };
  });
  const rest = restOf(filer, form, lists);
  if (rest !== null) answers.push(...bothAnswers(restFile(form), rest));
  const path = settlementIndexPath(filer.cik, form);
  return { answers, indexes: indexed.length === 0 ? [] : [[path, { lists: indexed }] as const] };
}

/** What an answer is made of, for either operation. */
interface AnswerParts {
  readonly scope: SettlementScope;
  readonly settlement: Settlement<FilingRow>;
  readonly note: string;
}

const NOTHING = {
  resolution_status: 'no_authoritative_source',
  selected: null,
  candidates: [],
} as const;

type Bounds = 'valid_from' | 'valid_until';

function scopeOf({ cik, name, tickers, collected_at }: FilerLine): Omit<SettlementScope, Bounds> {
  return {
    nature: SETTLEMENT_NATURE,
    entity: cik,
    entity_name: name,
    tickers: [...tickers],
    form: null,
    event_class: null,
    other_than: null,
    source_class: FILING_SOURCE_CLASS,
    basis: null,
    valid_days: null,
    observed_at: collected_at,
  };
}

function intervalParts(
  scope: SettlementScope,
  { settlement, note, restsOn }: SettledInterval<FilingRow>,
): AnswerParts {
  if (restsOn === null) return { scope, settlement, note };
  // What is over rests on filings alone: no later look changes its bytes.
  const looks = restsOn.map(({ retrieved_at }) => retrieved_at);
  const observed_at = looks.reduce((last, at) => (Date.parse(at) > Date.parse(last) ? at : last));
  return { scope: { ...scope, observed_at }, settlement, note };
}

/** What no list of a form is about: all of it where none is stored, else the items that no filing names. */
function restOf(filer: FilerLine, form: string, lists: readonly FilingList<FilingRow>[]) {
  const isStored = lists.length > 0;
  if (isStored && !namesItems(form)) return null;
  const items = lists.flatMap(({ event_class }) => event_class ?? []);
  const other_than = isStored ? items : null;
  const { collected_at, covered_from, gaps } = filer;
  const scope: SettlementScope = {
    ...scopeOf(filer),
    form,
    other_than,
    valid_from: FIRST_CUTOFF.acceptance_time,
    valid_until: endOfLook(collected_at, 'acceptance_time'),
    valid_days: { from: FIRST_CUTOFF.filing_date, until: endOfLook(collected_at, 'filing_date') },
  };
  const filed_by_cutoff = covered_from === null && gaps.length === 0 ? false : null;
  const note = nothingNote(form, other_than, filer);
  return { scope, settlement: { ...NOTHING, filed_by_cutoff }, note };
}

/** Of a cutoff that is not before the last look nothing is known, whatever the form. */
function laterAnswers(filer: FilerLine): SettlementAnswer[] {
  const { collected_at } = filer;
  const scope: SettlementScope = {
    ...scopeOf(filer),
    valid_from: endOfLook(collected_at, 'acceptance_time'),
    valid_until: null,
    valid_days: { from: endOfLook(collected_at, 'filing_date'), until: null },
  };
  const note = laterNote(collected_at);
  const parts = { scope, settlement: { ...NOTHING, filed_by_cutoff: null }, note };
  return bothAnswers(LATER_FILE, parts);
}

function bothAnswers(file: string, parts: AnswerParts): SettlementAnswer[] {
  return SETTLEMENT_PATHS.map((operation) => {
    const { scope } = parts;
    const members = operation === '/resolve' ? resolveMembers(parts) : proposerMembers(parts);
    const body = { ...scope, ...members } as SignedResolve | SignedProposer;
    const path = settlementPath(scope.entity, operation, file);
    return { path, body, statement: statementOf(operation, parts) };
  });
}

function resolveMembers({
  settlement,
  note,
}: AnswerParts): Omit<SignedResolve, keyof SettlementScope> {
  const { resolution_status, filed_by_cutoff, selected, candidates } = settlement;
  return {
    resolution_status,
    filed_by_cutoff,
    event_time: selected?.event_time ?? null,
    disclosure_time: selected?.disclosure_time ?? null,
    disclosure_date: selected?.filing_date ?? null,
    note,
    candidate_count: candidates.length,
    candidate_sources: candidates.slice(0, CANDIDATES_MAX),
  };
}

function proposerMembers({
  settlement,
  note,
}: AnswerParts): Omit<SignedProposer, keyof SettlementScope> {
  const { resolution_status, filed_by_cutoff, selected } = settlement;
  const certain = resolution_status === 'resolved' && filed_by_cutoff !== null;
  return {
    answer: filed_by_cutoff,
    confidence: certain ? 1 : 0,
    timestamp: selected?.disclosure_time ?? null,
    evidence_url: selected?.source_ref ?? null,
    source_tier: selected?.source_tier ?? null,
    note,
    evidence: selected,
  };
}

function statementOf(operation: SettlementPath, { scope, note }: AnswerParts): Statement {
  const { entity_name, form, event_class, other_than, valid_from, valid_until, observed_at } =
    scope;
  const kind = form === null ? 'any form' : `form ${form}`;
  const item =
    other_than === null ? event_class && ` with item ${event_class}` : ' with other items';
  const until = valid_until === null ? 'on' : `on, before ${valid_until}`;
  return {
    claim: `filing record of ${kind}${item ?? ''} by ${entity_name}, cutoffs from ${valid_from} ${until}`,
    fact: note,
    target: settlementTarget(operation, scope),
    observed_at,
    retrieved_at: observed_at,
  };
}
