import type { Catalog } from '../catalog/catalog.ts';
import { type Citation, citationSchema, citedBase, withoutProof } from '../format/citation.ts';
import { HOUR_MS } from '../format/iso-time.ts';
import { isSettlement, settlementEchoes } from '../format/settlement-echoes.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { answeredTarget, answerFault, knownQuestion } from './answer-fault.ts';
import { type BodyCheck, type BodyReport, type BodyVerdict, checkAt } from './body-check.ts';
import { CLOCK_SKEW_MS } from './request-time.ts';
import { isSeries } from './series-checks.ts';
import { coversContent } from './verify-body.ts';

export interface Demands {
  /** The request that it must answer: path and query, with or without `GET` and the address of the service. */
  readonly expect?: string | undefined;
  /** Longest age of what was observed, milliseconds by `now`. */
  readonly maxAgeMs?: number | undefined;
  /** Clock of the reader, milliseconds since 1970. */
  readonly now?: number | undefined;
  readonly catalog: Catalog;
}

/** `unproven`: everything holds, but nothing shows that it is in the log of its issuer. */
export type ProvenVerdict = BodyVerdict | 'unproven';

/** A report that leaves open what is not proven to be in the log. */
export interface ProvenReport extends Omit<DemandedReport, 'verdict'> {
  readonly verdict: ProvenVerdict;
}

/** A report that also says what the body is about, where that is shown. */
export interface DemandedReport extends BodyReport {
  /** Null for a body that is altered, or that nobody signed. */
  readonly about: BodyAbout | null;
}

/**
 * Adds to a report what the body is about, and whether it is what its reader demands. A demand that is not met fails the
 * body: a true body of something else proves nothing about what was asked for. Throws a RangeError for a demand that no
 * body could meet.
 */
export function withDemands(
  report: BodyReport,
  delivered: JsonValue,
  demands: Demands,
): DemandedReport {
  const { body } = withoutProof(delivered);
  const isSound = report.verdict !== 'failed' && report.verdict !== 'unsigned';
  const isWhole = isSound && coversContent(report);
  const about = isWhole ? aboutBody(body, demands) : isSound ? statedAlone(body, demands) : null;
  const found = { body, about, isSound, isWhole };
  const checks = [
    ...echoChecks(found),
    ...expectChecks(found, demands),
    ...ageChecks(found, demands),
  ];
  const verdict = checks.some(({ status }) => status === 'fail') ? 'failed' : report.verdict;
  return { ...report, verdict, checks: [...report.checks, ...checks], about };
}

/** What a citation states of a body that it does not cover: whether that answers a request, nobody signed. */
function statedAlone(body: JsonValue, demands: Demands): BodyAbout | null {
  if (!isObject(body) || body._citation === undefined) return null;
  const about = aboutBody({ _citation: body._citation }, demands);
  return about === null ? null : { ...about, answers: null };
}

/**
 * Leaves open what is verified but for its place in the log, where no reader said that this will do, and where the request that
 * was expected did not leave the proof out.
 */
export function expectingProof(report: DemandedReport, expect?: string): ProvenReport {
  const { verdict, checks } = report;
  const isOpen = checks.some(({ check, status }) => check === 'logged' && status !== 'pass');
  const isLeftOut = new URLSearchParams(expect?.split('?')[1]).get('proof') === '0';
  return verdict === 'verified' && isOpen && !isLeftOut
    ? { ...report, verdict: 'unproven' }
    : report;
}

interface Found {
  readonly body: JsonValue;
  readonly about: BodyAbout | null;
  /** Whether the verdict is a good one, be it of a citation or a hash alone. */
  readonly isSound: boolean;
  readonly isWhole: boolean;
}

/** A demand is left open only where the verdict is no good one anyway. */
const UNSOUND = 'the body itself does not hold, or nobody signed it';
const PARTLY = 'not the whole body is covered by one signed statement';

/** What a body gives back of its request, and nobody signed: whoever carries it can put any text there. */
function unsignedEchoes(body: JsonObject): Record<string, unknown> {
  if (isSeries(body)) return { days: body.days };
  const echoes = Object.entries(settlementEchoes(body) ?? {});
  return Object.fromEntries(echoes.filter(([, value]) => value !== null));
}

function echoChecks({ body, isSound }: Found): BodyCheck[] {
  const echoes = isSound && isObject(body) ? Object.entries(unsignedEchoes(body)) : [];
  if (echoes.length === 0) return [];
  const words = echoes.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ');
  return [checkAt('echo', '').notApplicable(`words of the request, which nobody signed: ${words}`)];
}

function expectChecks(found: Found, { expect, catalog }: Demands): BodyCheck[] {
  if (expect === undefined) return [];
  const at = checkAt('expect', '');
  const parsed = citationSchema.safeParse(isObject(found.body) ? found.body._citation : undefined);
  const citation = parsed.success ? parsed.data : null;
  const base = citation === null ? null : citedBase(citation);
  const wanted = wantedRequest(expect, base);
  const question = wanted === null ? null : knownQuestion(wanted, catalog);
  if (!found.isSound) return [at.notApplicable(UNSOUND)];
  if (!found.isWhole) return [at.fail(PARTLY)];
  if (question === null) {
    return [at.fail(`the body is of the service at "${base}", which is not the one expected`)];
  }
  const fault = answerFault(question, found.body, catalog);
  return [fault === null ? at.pass(`the body answers "${question.target}"`) : at.fail(fault)];
}

const REQUEST = /^(?:([A-Z]+) +)?(\S*)$/;
const ADDRESS = /^https?:\/\/[^/?#]*/i;

/** Path and query of an expected request; null for an address of another service than that of the body. */
function wantedRequest(expect: string, base: string | null): string | null {
  const [, method = 'GET', target = ''] = REQUEST.exec(expect.trim()) ?? [];
  if (method !== 'GET' || target === '') {
    throw new RangeError(
      `Cannot expect "${expect.slice(0, 80)}": not a request such as "GET /gauge?signal_id=…&entity=…"`,
    );
  }
  if (!ADDRESS.test(target)) return target;
  const url = target.replace(ADDRESS, (origin) => origin.toLowerCase());
  return base !== null && url.startsWith(`${base}/`) ? url.slice(base.length) : null;
}

function ageChecks({ about, isSound, isWhole }: Found, { maxAgeMs, now }: Demands): BodyCheck[] {
  if (maxAgeMs === undefined) return [];
  if (now === undefined || !(maxAgeMs >= 0)) {
    throw new RangeError(
      `Cannot judge an age of ${maxAgeMs} ms: pass a length from 0 on, and a clock`,
    );
  }
  const at = checkAt('max_age', '');
  if (!isSound) return [at.notApplicable(UNSOUND)];
  if (!isWhole || about === null) return [at.fail(PARTLY)];
  const { observed_at, time_of } = about;
  const age = now - Date.parse(observed_at ?? '');
  const limit = `${hours(maxAgeMs)} h`;
  if (Number.isNaN(age)) return [at.fail('the body states no time of observation')];
  if (age < -CLOCK_SKEW_MS) return [at.fail(`observed at ${observed_at}, which is still to come`)];
  const words = `${TIME_OF[time_of]} is of ${observed_at}, ${hours(age)} h old by your clock`;
  return [
    age <= maxAgeMs ? at.pass(`${words}; at most ${limit}`) : at.fail(`${words}, above ${limit}`),
  ];
}

function hours(ms: number): string {
  return String(Math.max(0, Math.round((ms / HOUR_MS) * 100) / 100));
}

type ObservedKind = 'reading' | 'oldest' | 'newest_row' | 'coverage';

export const TIME_OF: Readonly<Record<ObservedKind, string>> = {
  reading: 'its reading',
  oldest: 'the oldest of what it joins',
  newest_row: 'its newest row',
  coverage: 'the last look at the list of filings',
};

export interface BodyAbout {
  /** What is stated; null where the issuer states no claim. */
  readonly subject: string | null;
  /** The value with its unit, or the number of readings and their times. */
  readonly fact: string;
  /** The canonical request that it answers, without what nobody signed; null where it answers none. */
  readonly answers: string | null;
  /** RFC 3339 time of what was observed; null where none is stated. */
  readonly observed_at: string | null;
  /** Which time that is: that of one reading, of the oldest of several, of the newest row of a series, of the filings' list. */
  readonly time_of: ObservedKind;
  readonly retrieved_at: string;
  /** Hours from the observation to the reader's clock, one decimal, below 0 for a time to come; null without a clock. */
  readonly age_hours: number | null;
}

/** What a body is about; only for one that was verified. Null for a body without a citation of its own. */
function aboutBody(
  body: JsonValue,
  { now, catalog }: { now?: number | undefined; catalog: Catalog },
): BodyAbout | null {
  const holder = isObject(body) && isObject(body.sample) && !body._citation ? body.sample : body;
  if (!isObject(holder)) return null;
  const parsed = citationSchema.safeParse(holder._citation);
  if (!parsed.success) return null;
  const words = citedWords(holder, parsed.data);
  const age = now === undefined ? Number.NaN : now - Date.parse(words.observed_at ?? '');
  // A request has no parameter `cutoff_time`.
  const { cutoff_time: _, ...echoes } = unsignedEchoes(holder);
  const unsigned = Object.keys(echoes).map((name) => [name, null]);
  const signed = { ...holder, ...Object.fromEntries(unsigned) };
  return {
    ...words,
    answers: holder === body ? answeredTarget(signed, catalog) : null,
    age_hours: Number.isNaN(age) ? null : Math.round((age / HOUR_MS) * 10) / 10,
  };
}

type Words = Omit<BodyAbout, 'answers' | 'age_hours'>;

function citedWords(body: JsonObject, { claim, fact, source, retrieved_at }: Citation): Words {
  const oneOrMore = typeof body.record_hash === 'string' ? 'reading' : 'oldest';
  const time_of = isSeries(body) ? 'newest_row' : isSettlement(body) ? 'coverage' : oneOrMore;
  return { subject: claim ?? null, fact, observed_at: source.published_at, time_of, retrieved_at };
}
