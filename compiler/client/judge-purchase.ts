import { answerFault, questionOf } from '../contract/answers-question.ts';
import type { Route } from '../contract/route.ts';
import { SERIES_CSV_HEADER } from '../contract/series.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { type BodyReport, coversContent, verifyBody } from '../verify/verify-body.ts';
import { ClientError } from './client-error.ts';
import type { PendingPayment, Purchase } from './purchase.ts';

/** What was asked for, and which issuer is trusted. */
export interface Asked {
  readonly issuer: string;
  /** Path and query behind the address of the service; null where the request went elsewhere. */
  readonly target: string | null;
  /** Milliseconds since the epoch: an answer cannot speak of a later moment. */
  readonly now: number;
}

/** What a 200 brought for a payment. */
interface Delivery extends Pick<Purchase, 'receipt' | 'payment'> {
  readonly bytes: Uint8Array;
}

/**
 * Checks a delivery and returns it as a purchase; throws a ClientError for a body that does not verify or that answers
 * another question.
 */
export function judgePurchase({ bytes, receipt, payment }: Delivery, asked: Asked): Purchase {
  const question = asked.target === null ? null : questionOf(asked.target);
  const sold = { text: textOf(bytes, payment), receipt, payment };
  // What was asked for decides, not what the service calls its answer.
  const { made, wrong } =
    question !== null && isTable(question) ? tableOf(sold) : bodyOf(sold, question, asked);
  if (wrong === null) return made;
  const message = `Cannot rely on "${payment.url}": ${wrong}; keep this error's purchase as evidence`;
  throw new ClientError(message, { code: 'unverified', purchase: made, payment });
}

/** A purchase, and why it cannot be relied on. */
interface Judged {
  readonly made: Purchase;
  readonly wrong: string | null;
}
type Sold = Pick<Purchase, 'text' | 'receipt' | 'payment'>;

function isTable({ endpoint, values }: Route): boolean {
  return endpoint.answer === 'series' && values.format === 'csv';
}

/** A series as CSV carries no signature. */
function tableOf(sold: Sold): Judged {
  const isSeries = sold.text.startsWith(`${SERIES_CSV_HEADER}\r\n`);
  const made = { ...sold, body: null, report: null };
  return { made, wrong: isSeries ? null : 'the table does not have the columns of a series' };
}

function bodyOf(sold: Sold, question: Route | null, { issuer, now }: Asked): Judged {
  const body = jsonOf(sold);
  const report = verifyBody(body, { trust: [issuer], now });
  const made = { ...sold, body, report };
  if (question === null) return { made, wrong: 'no answer exists for this request' };
  return { made, wrong: reportFault(report, question) ?? answerFault(question, body) };
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

function jsonOf({ text, payment }: Sold): JsonValue {
  try {
    return parseJson(text);
  } catch (cause) {
    throw unreadable(payment, 'not strict JSON', cause);
  }
}

function unreadable(payment: PendingPayment, state: string, cause: unknown): ClientError {
  const message = `Cannot read what "${payment.url}" sold: ${state}; redeliver this error's payment`;
  return new ClientError(message, { code: 'unverified', payment, cause });
}
