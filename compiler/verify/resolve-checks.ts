// A settlement answer is computed when it is asked for, so nobody could sign it. Everything it says is computed here
// again, from what it carries: the signed statement of the filer names the root of every list of filings, the filings
// of the answer lead to the root of the list that is asked about, and no filing beside them can count.

import { sha256 } from '@noble/hashes/sha2.js';
import { parseCutoff } from '../contract/cutoff.ts';
import { cikOf, type HashedFiling } from '../contract/filing.ts';
import { type ListHead, listKey, listName, standsInList } from '../contract/filing-lists.ts';
import { stretchFault } from '../contract/list-stretch.ts';
import { proposerMembers, resolveMembers } from '../contract/resolve-answer.ts';
import {
  CANDIDATES_MAX,
  type FilingRow,
  type ProposerBody,
  proposerBodySchema,
  type ResolveBody,
  resolveBodySchema,
} from '../contract/resolve-bodies.ts';
import {
  type FilingCoverage,
  type SettlementQuestion,
  settleFilings,
} from '../contract/settle-filings.ts';
import type { Settled } from '../contract/settlement-note.ts';
import { settlementQuestion } from '../contract/settlement-question.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isObject, type JsonObject } from '../contract/strict-json.ts';
import { agreement, type BodyCheck, checkAt } from './body-check.ts';
import { isSame } from './relation.ts';

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
  if (resolved.success) return resolveAnswer(resolved.data);
  const proposed = proposerBodySchema.safeParse(body);
  return proposed.success ? proposerAnswer(proposed.data) : olderAnswer(body);
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

function resolveAnswer(body: ResolveBody): SettlementAnswer {
  const { candidate_sources: rows } = body;
  const { settled, checks } = settledAgain(body);
  const given = settled?.settlement.candidates.slice(0, CANDIDATES_MAX) ?? [];
  return {
    quoted: rows.length === 0 ? 'coverage' : 'candidate_sources.0',
    cover: DERIVED,
    checks: [
      ...checks,
      ...(settled === null ? [] : sameMembers(body, resolveMembers(settled))),
      ...partChecks(body, rows),
      agreement('candidate_sources', isSame(hashes(rows), hashes(given)), 'the filings that count'),
    ],
  };
}

function proposerAnswer(body: ProposerBody): SettlementAnswer {
  const rows = body.evidence === null ? [] : [body.evidence];
  const { settled, checks } = settledAgain(body);
  const given = settled?.settlement.selected ?? null;
  return {
    quoted: rows.length === 0 ? 'coverage' : 'evidence',
    cover: DERIVED,
    checks: [
      ...checks,
      ...(settled === null ? [] : sameMembers(body, proposerMembers(settled))),
      ...partChecks(body, rows),
      agreement(
        'evidence',
        isSame(hashes(rows), hashes(given === null ? [] : [given])),
        'the filing that the answer follows from',
      ),
    ],
  };
}

function hashes(filings: readonly { readonly record_hash: string }[]): string[] {
  return filings.map(({ record_hash }) => record_hash);
}

type Shared = Omit<ResolveBody, 'candidate_sources'> | Omit<ProposerBody, 'evidence'>;

interface SettledAgain {
  /** Null where the question is none or its list is not the one that the filer's statement names. */
  readonly settled: Settled<HashedFiling> | null;
  readonly checks: readonly BodyCheck[];
}

/** Settles the question of a body from the filings of its list. */
function settledAgain(body: Shared): SettledAgain {
  const question = settlementQuestion(body);
  if (question === null) {
    return { settled: null, checks: [agreement('form', false, 'a form, item and cutoff')] };
  }
  const fault = listFault(body, question);
  if (fault !== null)
    return { settled: null, checks: [checkAt('consistency', 'list').fail(fault)] };
  const coverage = coverageOf(body);
  const filings = body.list?.filings.flat().map(filingOf) ?? [];
  const settlement = settleFilings(filings, coverage, question);
  const settled = { question, coverage, settlement };
  return {
    settled,
    checks: [agreement('list', true, 'of the form and item, and all that counts')],
  };
}

function coverageOf({ coverage }: Shared): FilingCoverage {
  const { observed_at, covered_from, gaps } = coverage;
  return { collected_at: observed_at, covered_from, gaps };
}

function filingOf({ record_hash, _hash_core: core }: ListedFiling): HashedFiling {
  return { ...core, record_hash };
}
type ListedFiling = Pick<FilingRow, 'record_hash' | '_hash_core'>;

/** Why the filings of a body do not settle its question; their hashes are checked where they stand. */
function listFault(body: Shared, question: SettlementQuestion): string | null {
  const name = listName(question.form, question.eventClass);
  const head = body.coverage.lists.find((each) => listKey(each) === listKey(name));
  const { list, cik } = body;
  if (list === null || head === undefined) {
    return list === null && head === undefined ? null : absence(head);
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

/** What is echoed, quoted and repeated. */
function partChecks(body: Shared, rows: readonly FilingRow[]): BodyCheck[] {
  const { coverage } = body;
  const parsed = parseCutoff(body.cutoff);
  const parts = [...rows, coverage];
  const isFiler = parts.every(
    (part) => part.entity === body.cik && part.entity_name === body.entity_name,
  );
  const cited = rows[0] ?? coverage;
  const signers = new Set(parts.map((part) => part._citation.issuer_DID));
  return [
    agreement('cik', isFiler, 'the filer of every part'),
    agreement('entity', names(body), 'a name of the filer'),
    agreement('cutoff_time', parsed?.at === body.cutoff_time, 'the instant of the cutoff'),
    agreement('cutoff_basis', parsed?.basis === body.cutoff_basis, 'the basis of the cutoff'),
    agreement('_citation', isSame(body._citation, cited._citation), 'the citation that it quotes'),
    // A statement of another issuer's form does not cover what it is attached to.
    agreement(
      '_citation.claim',
      parts.every(isOwnForm),
      'that of citations which cover their part',
    ),
    agreement('_citation.issuer_DID', signers.size === 1, 'the signer of every part'),
  ];
}

function isOwnForm({ _citation }: Pick<FilingRow, '_citation'>): boolean {
  return _citation.claim !== undefined;
}

function names({ entity, cik, coverage }: Shared): boolean {
  return coverage.tickers.includes(entity) || cikOf(entity) === cik;
}

function sameMembers(body: object, own: object): BodyCheck[] {
  return Object.entries(own).map(([name, want]) =>
    agreement(name, (body as Record<string, unknown>)[name] === want, 'what the filings show'),
  );
}
