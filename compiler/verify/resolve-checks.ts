import { canonicalJson } from '../contract/canonical.ts';
import { parseCutoff } from '../contract/cutoff.ts';
import { canonicalForm, cikOf } from '../contract/filing.ts';
import { proposerMembers, resolveMembers } from '../contract/resolve-answer.ts';
import {
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
import type { JsonValue } from '../contract/strict-json.ts';
import { agreement, type BodyCheck } from './body-check.ts';
import { isObject } from './object-nodes.ts';

/**
 * A settlement answer is computed when it is asked for, so nobody could sign it: it quotes the citation of the filing
 * that it selects, and everything it says must follow from the signed filings that it carries.
 */
export interface SettlementAnswer {
  /** Path of the signed part whose citation the body repeats. */
  readonly quoted: string;
  readonly checks: readonly BodyCheck[];
}

/** The checks of a settlement answer; null for every other body. */
export function settlementAnswer(body: JsonValue): SettlementAnswer | null {
  // Most bodies are none: two look-ups spare them two schemas.
  if (!isObject(body) || (body.resolution_status ?? body.confidence) === undefined) return null;
  const resolved = resolveBodySchema.safeParse(body);
  if (resolved.success) return resolveAnswer(resolved.data);
  const proposed = proposerBodySchema.safeParse(body);
  return proposed.success ? proposerAnswer(proposed.data) : null;
}

function resolveAnswer(body: ResolveBody): SettlementAnswer {
  const { candidate_sources: rows, coverage, candidate_count: count } = body;
  const quoted = rows.length === 0 ? 'coverage' : 'candidate_sources.0';
  const cited = rows[0] ?? coverage;
  const question = questionOf(body);
  const settled = question === null ? null : settleFilings(rows, coverageOf(coverage), question);
  const own = settled === null || question === null ? null : resolveMembers(settled, question);
  return {
    quoted,
    checks: [
      ...sameMembers(body, own),
      ...echoChecks(body, [...rows, coverage]),
      quoteCheck(body, cited),
      agreement('entity', names(body.entity, coverage), 'a name of the filer'),
      agreement('candidate_count', count >= rows.length, 'no fewer filings than are given'),
      agreement(
        'candidate_sources',
        settled?.candidates.length === rows.length,
        'all of them count',
      ),
    ],
  };
}

function proposerAnswer(body: ProposerBody): SettlementAnswer {
  const { evidence } = body;
  const filing = 'accession' in evidence ? evidence : null;
  return {
    quoted: 'evidence',
    checks: [
      ...(filing === null ? uncited(body) : cited(body, filing)),
      ...echoChecks(body, [evidence]),
      quoteCheck(body, evidence),
      agreement(
        'evidence_url',
        body.evidence_url === (filing?.evidence_url ?? null),
        'of the filing',
      ),
      agreement('source_tier', body.source_tier === (filing?.source_tier ?? null), 'of the filing'),
      agreement('timestamp', body.timestamp === (filing?.disclosure_time ?? null), 'of the filing'),
    ],
  };
}

/** Without a filing only a list that is whole and newer than the cutoff says no. */
function uncited(body: ProposerBody): BodyCheck[] {
  const { evidence } = body;
  const question = questionOf(body);
  if (question === null || 'accession' in evidence) return [agreement('cutoff', false, 'a cutoff')];
  const settled = settleFilings([], coverageOf(evidence), question);
  return sameMembers(body, proposerMembers(settled, question));
}

/** What stands beside the cited filing is not given here: it may leave the answer open, never turn it round. */
function cited(body: ProposerBody, filing: FilingRow): BodyCheck[] {
  const question = questionOf(body);
  if (question === null) return [agreement('cutoff', false, 'a cutoff')];
  const alone = settleFilings([filing], EVERYTHING, question);
  const open = body.answer === null && body.confidence === 0;
  return [
    agreement('evidence', alone.selected !== null, 'a filing of the form'),
    agreement('answer', open || body.answer === alone.filed_by_cutoff, 'what the filing shows'),
    agreement('confidence', body.confidence === 0 || body.answer !== null, '0 without an answer'),
  ];
}

const EVERYTHING: FilingCoverage = { collected_at: '9999-12-31T00:00:00Z', covered_from: null };

function coverageOf(coverage: {
  readonly observed_at: string;
  readonly covered_from: string | null;
}) {
  return { collected_at: coverage.observed_at, covered_from: coverage.covered_from };
}

type Echo = Pick<
  ResolveBody,
  'entity' | 'cik' | 'entity_name' | 'form' | 'event_class' | 'cutoff'
> &
  Pick<ResolveBody, 'cutoff_time' | 'cutoff_basis' | '_citation'>;

function questionOf({ form, event_class, cutoff }: Echo): SettlementQuestion | null {
  const parsed = parseCutoff(cutoff);
  if (parsed === null || canonicalForm(form) !== form) return null;
  return { form, eventClass: event_class, cutoff: parsed };
}

function echoChecks(body: Echo, parts: readonly { entity: string; entity_name: string }[]) {
  const parsed = parseCutoff(body.cutoff);
  const filer = parts.every(
    (part) => part.entity === body.cik && part.entity_name === body.entity_name,
  );
  return [
    agreement('cik', filer, 'the filer of every part'),
    agreement('cutoff_time', parsed?.at === body.cutoff_time, 'the instant of the cutoff'),
    agreement('cutoff_basis', parsed?.basis === body.cutoff_basis, 'the basis of the cutoff'),
  ];
}

function names(entity: string, { entity: cik, tickers }: ResolveBody['coverage']): boolean {
  return tickers.includes(entity) || cikOf(entity) === cik;
}

function quoteCheck(body: Echo, part: Pick<Echo, '_citation'>): BodyCheck {
  const same = canonicalJson(body._citation) === canonicalJson(part._citation);
  return agreement('_citation', same, 'the citation of the part that it quotes');
}

function sameMembers(body: object, own: object | null): BodyCheck[] {
  if (own === null) return [agreement('cutoff', false, 'a cutoff')];
  return Object.entries(own).map(([name, want]) =>
    agreement(name, (body as Record<string, unknown>)[name] === want, 'what the filings show'),
  );
}
