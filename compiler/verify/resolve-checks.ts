// A settlement answer is computed when it is asked for, so nobody could sign it. Everything it says is computed here
// again, from what it carries: the signed statement of the filer names the root of every list of filings, the filings
// of the answer lead to the root of the list that is asked about, and no filing beside them can count.

import { sha256 } from '@noble/hashes/sha2.js';
import { cikOf, type HashedFiling } from '../contract/filing.ts';
import {
  type ListHead,
  listKey,
  listName,
  standsInList,
  storedForms,
} from '../contract/filing-lists.ts';
import { stretchFault } from '../contract/list-stretch.ts';
import { type AskedAs, proposerAnswer, resolveAnswer } from '../contract/resolve-answer.ts';
import {
  type FilingRow,
  type ProposerBody,
  proposerBodySchema,
  type ResolveBody,
  resolveBodySchema,
} from '../contract/resolve-bodies.ts';
import { type SettlementQuestion, settleFilings } from '../contract/settle-filings.ts';
import type { Settled } from '../contract/settlement-note.ts';
import { isLookalike, settlementQuestion } from '../contract/settlement-question.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { agreement, type BodyCheck, checkAt } from './body-check.ts';
import { differences, isSame } from './relation.ts';

export interface SettlementAnswer {
  /** Path of the signed part whose citation the body repeats. */
  readonly quoted: string;
  /** Whether the answer follows from what is signed. */
  readonly cover: BodyCheck;
  readonly checks: readonly BodyCheck[];
}

const COVER = checkAt('cover', '');
const DERIVED = COVER.pass(
  'the whole answer follows from signed filings and from the signed lists of the filer; "market_or_event" repeats the request',
);
const UNDERIVED = COVER.notApplicable(
  'a settlement answer of an older form: its parts are signed, but what it answers does not follow from them',
);

/** The checks of a settlement answer; null for every other body. */
export function settlementAnswer(body: JsonValue): SettlementAnswer | null {
  // Most bodies are none: two look-ups spare them two schemas.
  if (!isObject(body) || (body.resolution_status ?? body.confidence) === undefined) return null;
  const resolved = resolveBodySchema.safeParse(body);
  if (resolved.success) return checkedResolve(resolved.data);
  const proposed = proposerBodySchema.safeParse(body);
  return proposed.success ? checkedProposer(proposed.data) : olderAnswer(body);
}

/** An answer of the time before lists; null for one that has a list and is malformed. */
function olderAnswer(body: JsonObject): SettlementAnswer | null {
  if (body.list !== undefined || body._citation === undefined) return null;
  const { candidate_sources: rows, coverage, evidence } = body;
  const parts = { 'candidate_sources.0': Array.isArray(rows) ? rows[0] : undefined };
  const cited = Object.entries({ ...parts, coverage, evidence }).find(
    ([, part]) => isObject(part) && isSame(part._citation, body._citation),
  );
  return cited === undefined ? null : { quoted: cited[0], cover: UNDERIVED, checks: [] };
}

function checkedResolve(body: ResolveBody): SettlementAnswer {
  const { candidate_sources: rows } = body;
  return {
    quoted: rows.length === 0 ? 'coverage' : 'candidate_sources.0',
    cover: DERIVED,
    checks: checksOf(body, rows, (settled) => {
      const { members, quoted } = resolveAnswer(askedAs(body), settled);
      return { ...members, candidate_sources: quoted.map((filing) => rowOf(filing, rows)) };
    }),
  };
}

function checkedProposer(body: ProposerBody): SettlementAnswer {
  const rows = body.evidence === null ? [] : [body.evidence];
  return {
    quoted: rows.length === 0 ? 'coverage' : 'evidence',
    cover: DERIVED,
    checks: checksOf(body, rows, (settled) => {
      const { members, quoted } = proposerAnswer(askedAs(body), settled);
      const [evidence = null] = quoted.map((filing) => rowOf(filing, rows));
      return { ...members, evidence };
    }),
  };
}

/** The delivered body of a filing that counts; its hash alone, which is no body, where the answer leaves it out. */
function rowOf({ record_hash }: HashedFiling, rows: readonly FilingRow[]): object {
  return rows.find((row) => row.record_hash === record_hash) ?? { record_hash };
}

/** What no filing says is taken from the body, and judged by itself; the name and the number of a filer are its own. */
function askedAs({ entity, cutoff, market_or_event, coverage }: Shared): AskedAs {
  const { entity: cik, entity_name } = coverage;
  return { entity, cutoff, market_or_event, cik, entity_name };
}

/** Makes the answer again, by the function that makes it, of the filings and the coverage, and compares it whole. */
function checksOf(
  body: Shared,
  rows: readonly FilingRow[],
  make: (settled: Settled<HashedFiling>) => object,
): BodyCheck[] {
  const settled = settledAgain(body);
  if (!('settlement' in settled)) return [settled, ...partChecks(body, rows)];
  const { list, coverage } = body;
  const { _citation } = rows[0] ?? coverage;
  const made = { ...make(settled), list, coverage, _citation };
  const places = [...differences(body as unknown as JsonObject, made as unknown as JsonObject)];
  const whole = checkAt('consistency', '').pass('what its filings and the question make');
  return [
    ...(places.length === 0 ? [whole] : []),
    ...places.map((where) => checkAt('consistency', where).fail('not what the filings show')),
    ...partChecks(body, rows),
  ];
}

type Shared = Omit<ResolveBody, 'candidate_sources'> | Omit<ProposerBody, 'evidence'>;

/** Settles the question of a body from the filings of its list; the check that failed where that cannot be. */
function settledAgain(body: Shared): Settled<HashedFiling> | BodyCheck {
  const question = settlementQuestion(body);
  if (question === null) return agreement('form', false, 'a form, item and cutoff');
  const fault = listFault(body, question);
  if (fault !== null) return checkAt('consistency', 'list').fail(fault);
  const { observed_at: collected_at, covered_from, gaps } = body.coverage;
  const coverage = { collected_at, covered_from, gaps };
  const filings = body.list?.filings.flat().map(filingOf) ?? [];
  return { question, coverage, settlement: settleFilings(filings, coverage, question) };
}

function filingOf({
  record_hash,
  _hash_core: core,
}: Pick<FilingRow, 'record_hash' | '_hash_core'>): HashedFiling {
  return { ...core, record_hash };
}

/** Why the filings of a body do not settle its question; their hashes are checked where they stand. */
function listFault(body: Shared, question: SettlementQuestion): string | null {
  const name = listName(question.form, question.eventClass);
  const head = body.coverage.lists.find(
    ({ form, event_class }) => form === name.form && event_class === name.event_class,
  );
  const { list, cik } = body;
  if (list === null || head === undefined) {
    if (list !== null || head !== undefined) return absence(head);
    const odd = isLookalike(question, storedForms(body.coverage.lists));
    return odd ? 'is absent, but the question reads like one about another form or item' : null;
  }
  const strange = list.filings.flat().some(({ _hash_core: core }) => core.entity !== cik);
  if (strange) return 'holds a filing of another filer';
  if (!standsInList(list, head, sha256)) return `does not lead to the root of "${listKey(name)}"`;
  const filings = list.filings.map((listings) => listings.map(filingOf));
  return stretchFault({ index: list.index, filings }, head, question);
}

function absence(head: ListHead | undefined): string {
  return head === undefined
    ? 'is of a form or item that the filer has no list of'
    : `is absent, but the filer has one of ${head.count} filings`;
}

/** What does not follow from the filings. */
function partChecks(body: Shared, rows: readonly FilingRow[]): BodyCheck[] {
  const { coverage, entity, cik } = body;
  const isName = coverage.tickers.includes(entity) || cikOf(entity) === cik;
  const parts = [...rows, coverage];
  const isNamed = rows.every(({ entity_name }) => entity_name === coverage.entity_name);
  const signers = new Set(parts.map((part) => part._citation.issuer_DID));
  return [
    agreement('entity_name', isNamed, 'the filer of every part'),
    agreement('entity', isName, 'a name of the filer'),
    agreement('_citation.issuer_DID', signers.size === 1, 'the signer of every part'),
  ];
}
