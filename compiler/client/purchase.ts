import type { JsonValue } from '../contract/strict-json.ts';
import type { BodyReport } from '../verify/verify-body.ts';

/** A signed payment and what it was signed for: sent again it delivers the same bytes and costs nothing more. */
export interface PendingPayment {
  readonly url: string;
  readonly header: 'x-payment' | 'payment-signature';
  readonly value: string;
}

export interface Receipt {
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
}

/** A body that was paid for, holds, and answers what was asked for; `report.verdict` is `verified`, or `unsigned` for a token. */
export interface Purchase {
  /** Null for CSV, which carries no signature: only its columns are looked at. */
  readonly body: JsonValue | null;
  /** The body exactly as delivered: save this, `signalpress verify` takes it. */
  readonly text: string;
  /** What the offline verifier looked at; null for CSV. */
  readonly report: BodyReport | null;
  readonly receipt: Receipt | null;
  /** Redelivers the same bytes for as long as the service remembers it, at no charge. */
  readonly payment: PendingPayment;
}
