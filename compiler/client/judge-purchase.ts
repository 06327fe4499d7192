import type { Catalog } from '../catalog/catalog.ts';
import type { Route } from '../catalog/route.ts';
import { withoutProof } from '../format/citation.ts';
import { csvLine } from '../format/csv-line.ts';
import { defined } from '../format/errors.ts';
import { isoTime } from '../format/iso-time.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import { decodeUtf8, type JsonObject, type JsonValue, parseJson } from '../format/strict-json.ts';
import { parseTlogProof } from '../format/tlog-proof.ts';
import {
  type BasketPart,
  basketOf,
  basketRequests,
  isAsQuoted,
  isSoldPart,
  type QuotedPart,
} from '../products/shapes/basket.ts';
import { parseProofExtra } from '../products/shapes/body-proof.ts';
import { atomicAmount, usdAmount } from '../products/shapes/price.ts';
import { bringsProof } from '../products/shapes/product.ts';
import { answeredAt } from '../products/shapes/request-time.ts';
import { CORE_COLUMNS, SERIES_COLUMNS } from '../products/shapes/series.ts';
import { bodyOfText, isSignedCsv, SIGNED_CSV } from '../products/shapes/series-csv.ts';
import { answerFault, questionOf } from '../verify/answer-fault.ts';
import type { BodyReport } from '../verify/body-check.ts';
import { isFormat2 } from '../verify/format-2.ts';
import type { KeyTrust } from '../verify/key-trust.ts';
import { CLOCK_SKEW_MS } from '../verify/request-time.ts';
import type { FileTrust } from '../verify/trust-file.ts';
import { type BodyTrust, verifyBody } from '../verify/verify-body.ts';
import { signedReceiptOf } from './buyer-proof.ts';
import { ClientError, type PendingPayment, type PurchasedBody } from './client-error.ts';
import { signedTransfer, unreadable } from './payment-trip.ts';

/** Whom to believe: issuers with their keys, and witnesses of the log. */
export type WitnessedTrust = KeyTrust & Partial<FileTrust>;

export interface AskedTarget {
  /** What the service sells. */
  readonly catalog: Catalog;
  /** Whether the catalogue is that of what is sold now: then the parts of a basket have its prices. */
  readonly isSoldNow: boolean;
  readonly trusted: WitnessedTrust;
  /** Path and query after the address of the service; null where the request went elsewhere. */
  readonly target: string | null;
  /** Milliseconds since the epoch: an answer cannot speak of a later moment. */
  readonly now: number;
  /** Whether an answer has to bring the proof that it is in the log, where its request did not leave that out. */
  readonly demandsProof: boolean;
}

/** What a 200 brought for a payment. */
export interface PaidAnswer extends Pick<PurchasedBody, 'receipt' | 'payment'> {
  readonly bytes: Uint8Array;
  /** The value of `PAYMENT-RESPONSE`, where it came. */
  readonly header?: string | null;
}

/**
 * Checks a delivery and returns it as a purchase; throws a ClientError for a body that does not verify or that answers
 * another question.
 */
export function judgePurchase(
  { bytes, receipt, header = null, payment }: PaidAnswer,
  asked: AskedTarget,
): PurchasedBody {
  const question = asked.target === null ? null : questionOf(asked.target, asked.catalog);
  const targets =
    question === null || asked.target === null
      ? null
      : { asked: asked.target, canonical: question.target };
  const signedReceipt = signedReceiptOf({ header, bytes, payment, targets }, asked.trusted);
  const paidUsd = usdAmount(String(signedTransfer(payment.value).amount));
  const sold = { text: textOf(bytes, payment), paidUsd, receipt, signedReceipt, payment };
  // What was asked for decides, not what the service calls its answer.
  const { made, fault } =
    question !== null && question.endpoint.answer === 'series' && question.values.format === 'csv'
      ? tableOf(sold, question)
      : bodyOf(sold, question, asked);
  if (fault === null) return made;
  const message = `Cannot rely on "${payment.url}": ${fault}; keep this error's purchase as evidence`;
  throw new ClientError(message, { code: 'unverified', purchase: made, payment });
}

type PaidText = Omit<PurchasedBody, 'body' | 'report'>;

/** A series as CSV carries no signature. */
function tableOf(sold: PaidText, { values }: Route) {
  const columns = values.verifiable === undefined ? SERIES_COLUMNS : CORE_COLUMNS;
  const isSeries = sold.text.startsWith(csvLine(columns));
  const made = { ...sold, body: null, report: null };
  return { made, fault: isSeries ? null : 'the table does not have the columns of a series' };
}

function bodyOf(sold: PaidText, question: Route | null, asked: AskedTarget) {
  const { trusted, now, catalog, isSoldNow } = asked;
  const isTableToo =
    question !== null &&
    question.endpoint.answer === 'series' &&
    question.values.format === SIGNED_CSV;
  const body = jsonOf(sold, isTableToo);
  const { policy: _, ...issuers } = trusted;
  const known = { ...issuers, now };
  // Of a basket each answer is judged by its own request.
  const ofRequest = (request: string) => ({
    ...known,
    ...demandsOf(questionOf(request, asked.catalog), asked),
  });
  const report = verifyBody(body, { ...known, ...demandsOf(question, asked), ofRequest });
  const made = { ...sold, body, report };
  if (question === null) return { made, fault: 'no answer exists for this request' };
  const { body: sent, quoted = [], value } = sold.payment;
  if (sent !== undefined) {
    const basket = { sent, quoted, isSoldNow, paid: signedTransfer(value).amount };
    const fault = reportFault(report, question) ?? basketFault(body, basket, catalog);
    return { made, fault: fault ?? oldFault(body, sold.payment) };
  }
  const fault =
    reportFault(report, question) ?? answerFault(question, withoutProof(body).body, catalog);
  return { made, fault: fault ?? oldFault(body, sold.payment) };
}

/**
 * Why a body is no answer to a payment: genuine words of before would be sold for ever. An answer that is fetched again later
 * is of the time of its payment, and the report says when that was.
 */
function oldFault(body: JsonValue, payment: PendingPayment): string | null {
  const answers = basketOf(body)?.parts.flatMap((part) => (isSoldPart(part) ? [part.answer] : []));
  for (const answer of answers ?? [body]) {
    const fault = oldAnswer(answer as JsonObject, payment);
    if (fault !== null) return fault;
  }
  return null;
}

function oldAnswer(answer: JsonObject, { sentAt, release }: PendingPayment): string | null {
  if (sentAt !== undefined && isFormat2(answer)) {
    return 'it is of format 2, in which nobody signs how old its words are: old words, sold again';
  }
  const at = answeredAt(answer);
  const from = sentAt === undefined ? Number.NaN : Date.parse(sentAt) - CLOCK_SKEW_MS;
  if (at < from) {
    return `it was answered at ${isoTime(at)}, and paid for at ${sentAt}: old words, sold again`;
  }
  const entry = entryOf(answer);
  if (entry === null) return null;
  const { sequence, as_of, valid_until } = entry;
  const isTimed = !Number.isNaN(at);
  if (valid_until !== null && Date.parse(valid_until) < (isTimed ? at : from)) {
    const when = isTimed ? `was answered at ${isoTime(at)}` : `was paid for at ${sentAt}`;
    return `it ${when}, and its release was valid until ${valid_until}: old words, sold again`;
  }
  // A body that does not say when it was answered is as old as its release.
  if (isTimed || release === undefined) return null;
  const isOlder = sequence < release.sequence || Date.parse(as_of) < Date.parse(release.as_of);
  return isOlder
    ? `it is of release ${sequence} of ${as_of}, and release ${release.sequence} of ${release.as_of} was offered: old words, sold again`
    : null;
}

/** The release that the proof of an answer leads to, which was judged before; null where it brought none. */
function entryOf(answer: JsonObject): ReleaseEntry | null {
  const { proof } = withoutProof(answer);
  const extra = typeof proof === 'string' ? parseTlogProof(proof).extra : undefined;
  return extra === undefined ? null : parseProofExtra(extra).entry;
}

/** By which catalogue the requests in the answer to a question are read, and whether it has to bring a proof. */
function demandsOf(
  question: Route | null,
  { trusted: { policy }, catalog, demandsProof }: AskedTarget,
): Pick<BodyTrust, 'catalog' | 'proof' | 'policy'> {
  const brings = question !== null && bringsProof(question.endpoint);
  if (!brings || question.values.proof === '0') return { catalog };
  return { catalog, ...(demandsProof ? { proof: 'demanded' } : {}), policy };
}

/** Why a report is not enough to rely on. A token is made at the request by a service that holds no signing key. */
function reportFault(report: BodyReport, { endpoint }: Route): string | null {
  const isTrue = report.verdict === 'verified';
  if (isTrue || (report.verdict === 'unsigned' && endpoint.answer === 'mint')) return null;
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

/**
 * Why a delivered basket is not the one that was sent, or null if it is: each request in its place, with its answer or named
 * as not sold, as it was quoted, and no more paid than the answers cost. Whether an answer is true, and to its request, is the verifier's to
 * say, and so is the sum.
 */
export function basketFault(
  body: JsonValue,
  {
    sent,
    quoted,
    paid,
    isSoldNow,
  }: { sent: string; quoted: readonly QuotedPart[]; isSoldNow: boolean; paid: bigint },
  catalog: Catalog,
): string | null {
  const basket = basketOf(body);
  const requests = basketRequests(parseJson(sent));
  if (basket === null || typeof requests === 'string') return 'the body is not that of a basket';
  const { parts } = basket;
  if (parts.length !== requests.length) {
    return `the body has ${parts.length} parts for ${requests.length} requests`;
  }
  const at = parts.findIndex((part, place) => {
    const asked = defined(requests[place], 'the request of a part');
    return isSoldPart(part)
      ? targetOf(part.request, catalog) !== targetOf(asked, catalog)
      : part.request !== asked;
  });
  if (at !== -1) return `part ${at + 1} is not what request ${at + 1} asked for`;
  const other = parts.findIndex((part, place) => !isAsQuoted(part, quoted[place]));
  if (other !== -1) return `part ${other + 1} is not what was quoted for request ${other + 1}`;
  const dear = isSoldNow ? parts.findIndex((part) => !isAtPrice(part, catalog)) : -1;
  if (dear !== -1) return `part ${dear + 1} is not at its price in the catalogue`;
  if (paid <= BigInt(atomicAmount(basket.total_usd))) return null;
  return `${usdAmount(String(paid))} USD were paid for answers of ${basket.total_usd} USD`;
}

/** A part at a higher price could stand for one that was paid and kept back. */
function isAtPrice(part: BasketPart, catalog: Catalog): boolean {
  if (!isSoldPart(part)) return true;
  return questionOf(part.request, catalog)?.endpoint.priceUsd === part.price_usd;
}

/** The one spelling of a request; what the catalogue lacks is compared as it stands. */
function targetOf(request: string, catalog: Catalog): string {
  return questionOf(request, catalog)?.target ?? request;
}
