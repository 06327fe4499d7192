import { bodySchemaOf } from '../contract/bodies.ts';
import { canonicalRequest, canonicalTarget } from '../contract/canonical-request.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { citationSchema, citedTarget } from '../contract/citation.ts';
import type { Answer, Endpoint } from '../contract/endpoints.ts';
import { canonicalForm } from '../contract/filing.ts';
import { type Route, route } from '../contract/route.ts';
import { SERIES_CSV_HEADER } from '../contract/series.ts';
import { bodyOfText, isSignedCsv, SIGNED_CSV } from '../contract/series-csv.ts';
import { decodeUtf8, type JsonValue } from '../contract/strict-json.ts';
import { type BodyReport, coversContent, verifyBody } from '../verify/verify-body.ts';
import type { PendingPayment, PurchasedBody } from './client-error.ts';
import { ClientError } from './client-error.ts';

/** What was asked for, and which issuer is trusted. */
export interface AskedTarget {
  /** What the service sells. */
  readonly catalog: Catalog;
  /** Whether what is sold now must agree with that catalogue; else a body that differs was made under another one. */
  readonly isSoldNow: boolean;
  readonly issuer: string;
  /** Path and query behind the address of the service; null where the request went elsewhere. */
  readonly target: string | null;
  /** Milliseconds since the epoch: an answer cannot speak of a later moment. */
  readonly now: number;
}

/** What a 200 brought for a payment. */
export interface PaidAnswer extends Pick<PurchasedBody, 'receipt' | 'payment'> {
  readonly bytes: Uint8Array;
}

/**
 * Checks a delivery and returns it as a purchase; throws a ClientError for a body that does not verify or that answers
 * another question.
 */
export function judgePurchase(
  { bytes, receipt, payment }: PaidAnswer,
  asked: AskedTarget,
): PurchasedBody {
  const question = asked.target === null ? null : questionOf(asked.target, asked.catalog);
  const sold = { text: textOf(bytes, payment), receipt, payment };
  // What was asked for decides, not what the service calls its answer.
  const { made, fault } =
    question !== null && isTable(question) ? tableOf(sold) : bodyOf(sold, question, asked);
  if (fault === null) return made;
  const message = `Cannot rely on "${payment.url}": ${fault}; keep this error's purchase as evidence`;
  throw new ClientError(message, { code: 'unverified', purchase: made, payment });
}

/** A purchase, and why it cannot be relied on. */
interface JudgedPurchase {
  readonly made: PurchasedBody;
  readonly fault: string | null;
}
type PaidText = Pick<PurchasedBody, 'text' | 'receipt' | 'payment'>;

function isTable({ endpoint, values }: Route): boolean {
  return endpoint.answer === 'series' && values.format === 'csv';
}

function isSignedTable({ endpoint, values }: Route): boolean {
  return endpoint.answer === 'series' && values.format === SIGNED_CSV;
}

/** A series as CSV carries no signature. */
function tableOf(sold: PaidText): JudgedPurchase {
  const isSeries = sold.text.startsWith(`${SERIES_CSV_HEADER}\r\n`);
  const made = { ...sold, body: null, report: null };
  return { made, fault: isSeries ? null : 'the table does not have the columns of a series' };
}

function bodyOf(
  sold: PaidText,
  question: Route | null,
  { issuer, now, catalog, isSoldNow }: AskedTarget,
): JudgedPurchase {
  const isTableToo = question !== null && isSignedTable(question);
  const body = jsonOf(sold, isTableToo);
  const judgedBy = { catalog, isOfBody: isSoldNow };
  const report = verifyBody(body, { trust: [issuer], now, judgedBy });
  const made = { ...sold, body, report };
  if (question === null) return { made, fault: 'no answer exists for this request' };
  return { made, fault: reportFault(report, question) ?? answerFault(question, body, catalog) };
}

/** Why a report is not enough to rely on. A token is made at the request by a service that holds no signing key. */
function reportFault(report: BodyReport, { endpoint }: Route): string | null {
  const isWhole = report.verdict === 'verified' && coversContent(report);
  if (isWhole || (report.verdict === 'unsigned' && endpoint.answer === 'mint')) return null;
  const failed = report.checks.find((check) => check.status === 'fail');
  return failed?.detail ?? 'not all of it is signed';
}

function textOf(bytes: Uint8Array, payment: PendingPayment): string {
  try {
    return decodeUtf8(bytes);
  } catch (cause) {
    throw unreadable(payment, 'not UTF-8', cause);
  }
}

function jsonOf({ text, payment }: PaidText, isSigned: boolean): JsonValue {
  if (isSigned !== isSignedCsv(text)) {
    throw unreadable(payment, 'not in the format that was asked for', undefined);
  }
  try {
    return bodyOfText(text);
  } catch (cause) {
    throw unreadable(payment, isSigned ? 'not a signed table' : 'not strict JSON', cause);
  }
}

function unreadable(payment: PendingPayment, state: string, cause: unknown): ClientError {
  const message = `Cannot read what "${payment.url}" sold: ${state}; redeliver this error's payment`;
  return new ClientError(message, { code: 'unverified', payment, cause });
}

/** How a member of a body repeats the value of a parameter. */
type Spelling = (value: string) => JsonValue;
const asSent: Spelling = (value) => value;

/**
 * Parameters that an answer repeats in a member of the same name, by kind of answer: what is computed at the request
 * stands in no signed address. Every other parameter does.
 */
const REPEATED: Partial<Record<Answer, Readonly<Record<string, Spelling>>>> = {
  series: { days: Number },
  resolve: {
    entity: asSent,
    form: canonicalForm,
    cutoff: asSent,
    event_class: asSent,
    source_class: asSent,
    market_or_event: asSent,
  },
};

/** Answers that are made at request time: they have no signed address, so their shape identifies the operation. */
const MADE_AT_REQUEST: ReadonlySet<Answer> = new Set(['resolve', 'mint']);

/** The question that a request target asks; null for an unknown operation or an illegal parameter. */
export function questionOf(target: string, catalog: Catalog): Route | null {
  const request = canonicalRequest(target);
  const asked = 'status' in request ? undefined : route(request, catalog);
  return asked === undefined || asked.fault !== null ? null : asked;
}

/**
 * Why a body does not answer a question, or null if it does: the operation and every parameter must be those asked for.
 * It checks only what a body says about itself; the verifier decides whether that is true.
 */
export function answerFault(asked: Route, body: JsonValue, catalog: Catalog): string | null {
  const operation = MADE_AT_REQUEST.has(asked.endpoint.answer)
    ? shapeFault(asked.endpoint, body)
    : addressFault(asked, body, catalog);
  return operation ?? repeatedFault(asked, body);
}

function shapeFault(endpoint: Endpoint, body: JsonValue): string | null {
  const shape = bodySchemaOf(endpoint)?.safeParse(body);
  return shape?.success === true ? null : `the body is not an answer of "${endpoint.path}"`;
}

/** The address in a citation is signed: it names the operation and the parameters that its body was made for. */
function addressFault(asked: Route, body: JsonValue, catalog: Catalog): string | null {
  const citation = citationSchema.safeParse(memberOf(body, '_citation'));
  const cited = citation.success ? citedTarget(citation.data) : null;
  if (cited === null) return 'the body does not say what it answers';
  const want = signedTarget(asked);
  const answered = questionOf(cited, catalog);
  if (answered !== null && signedTarget(answered) === want) return null;
  return `the body answers "${cited}", not "${want}"`;
}

/** A question without the parameters that the body repeats. */
function signedTarget({ endpoint, values }: Route): string {
  const repeated = REPEATED[endpoint.answer] ?? {};
  const isShown = (name: string): boolean =>
    Object.hasOwn(repeated, name) || (endpoint.answer === 'series' && name === 'format');
  const signed = Object.entries(values).filter(([name]) => !isShown(name));
  return canonicalTarget(endpoint.path, Object.fromEntries(signed));
}

function repeatedFault({ endpoint, values }: Route, body: JsonValue): string | null {
  for (const [name, spelled] of Object.entries(REPEATED[endpoint.answer] ?? {})) {
    const value = values[name] ?? endpoint.params[name]?.default;
    const want = value === undefined ? null : spelled(value);
    const got = memberOf(body, name);
    if (got !== want) return `the body answers ${name} ${jsonText(got)}, not ${jsonText(want)}`;
  }
  return null;
}

function jsonText(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries<JsonValue>(value)).get(name);
}
