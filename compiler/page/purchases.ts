import type { PendingPayment } from '../client/client-error.ts';

// What a person bought with this browser. It lies in this browser alone: whoever holds a payment with its identifier can
// fetch the answer again.

const KEY = 'signalpress.purchases';

/** A payment, and what it bought. */
export interface Purchase {
  readonly payment: PendingPayment;
  /** `path?query`, as it was asked. */
  readonly target: string;
  readonly priceUsd: string;
  /** The body as it was delivered; null until the answer has come, and where this browser had no more room. */
  readonly text: string | null;
  /** Whether the answer has come. */
  readonly isDelivered: boolean;
  readonly transaction: string | null;
}

/** Newest first. */
export function purchases(): readonly Purchase[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? (kept as Purchase[]) : [];
  } catch {
    return [];
  }
}

/** Throws where nothing can be kept, so that no payment is sent that would be lost with the page. */
export function keepPurchase(one: Purchase): void {
  const all = [one, ...purchases().filter((other) => !isSame(one, other))];
  try {
    store(all);
  } catch {
    // The answers can be fetched again; the payments cannot be made again.
    store(all.map((each) => ({ ...each, text: each === one ? each.text : null })));
  }
}

export function forgetPurchase(one: Purchase): void {
  store(purchases().filter((other) => !isSame(one, other)));
}

function isSame({ payment }: Purchase, other: Purchase): boolean {
  return payment.value === other.payment.value;
}

function store(all: readonly Purchase[]): void {
  localStorage.setItem(KEY, JSON.stringify(all));
}
