import { jsonReply, type Reply } from '../http/reply.ts';
import { tooMany } from '../http/request.ts';
import type { KnownPayment } from '../money/journal.ts';
import type { Refusal } from '../money/payment.ts';
import { MINT_PATH } from '../money/token.ts';
import { targetOfResource } from '../offer/former-endpoint.ts';
import type { BuyerProof } from '../payment/tender.ts';
import { BoundedMap } from '../system/bounded-map.ts';

// Every member of a payment stands on the chain once it is settled, its signature too, and in a pending transaction before
// that. So a header names a payment and proves no buyer. What proves one is the name of the purchase, which is on no chain; a
// fresh message of the account that paid (`sign-ins.ts`); and for a short time the network address that brought it first.
// Everybody else gets one refusal, the same for every request and before anything of the request is looked at, so that
// nobody finds out what a payment bought by trying.

/** After its settlement was noted, the header alone is enough from where it came first. */
const HEADER_ALONE_MS = 600_000;
/** Requests with one payment of others than its buyer that are told why, in this time. */
const GUESSES_MAX = 10;
const GUESSES_MS = 60_000;
/** Payments whose guesses are counted; the oldest make room. */
const GUESSED_MAX = 10_000;

/** Whether a request comes from the buyer of a payment; null shows nothing and needs to show nothing. */
export function isBuyer(shown: BuyerProof | null, known: KnownPayment, nowMs: number): boolean {
  if (shown === null || shown.isSignedIn) return true;
  const { identifier, client } = shown;
  if (identifier !== null && identifier === known.identifier) return true;
  return client !== null && client === known.client && takesHeaderAlone(known, nowMs);
}

/** A token opens what it opens for whoever holds it, so it is never given for a header. */
function takesHeaderAlone({ resource, settledMs }: KnownPayment, nowMs: number): boolean {
  if (targetOfResource(resource).split('?')[0] === MINT_PATH) return false;
  // A clock that was set back must not make the time longer.
  return settledMs === null || Math.abs(nowMs - settledMs) <= HEADER_ALONE_MS;
}

interface Guessed {
  readonly sinceMs: number;
  readonly count: number;
}

/** Counts the requests with a payment that do not come from its buyer. Whoever proves to be the buyer is never counted. */
export class Guesses {
  readonly #guessed = new BoundedMap<string, Guessed>(GUESSED_MAX);

  /** Counts one; 0 while it is told why it is refused, else the seconds to wait. */
  waitS(key: string, nowMs: number): number {
    const before = this.#guessed.get(key);
    const isOver = before === undefined || Math.abs(nowMs - before.sinceMs) >= GUESSES_MS;
    const { sinceMs, count } = isOver ? { sinceMs: nowMs, count: 0 } : before;
    if (count >= GUESSES_MAX) {
      return Math.max(1, Math.ceil((GUESSES_MS - Math.abs(nowMs - sinceMs)) / 1000));
    }
    this.#guessed.set(key, { sinceMs, count: count + 1 });
    return 0;
  }
}

/** No terms stand in it: whoever bought must not sign a second payment for the same. */
export function unprovenReply(waitS: number, fault: Refusal | null): Reply {
  if (waitS > 0) return tooMany(waitS);
  const error = fault === null ? HOW_TO_PROVE : `${fault.reason}: ${fault.error}`;
  return jsonReply(402, { x402Version: 1, error, code: CODE, accepts: [] });
}

const CODE = 'sign_in_to_redeliver';
const HOW_TO_PROVE =
  `${CODE}: this payment is known here, and what it bought is for its buyer alone; send it again with the payment identifier ` +
  'of its first request, or beside it SIGN-IN-WITH-X: a message that the account which paid signs for this URL';
