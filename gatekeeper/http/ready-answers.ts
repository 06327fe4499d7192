import { BoundedMap } from '../system/bounded-map.ts';

/** Ready answers kept for one release. */
export const READY_MAX = 8192;
/** Ready refusals kept for one release: strangers make as many different ones as they like. */
export const READY_REFUSALS_MAX = 512;
/** Bytes of ready answers kept for one release, with the text of their headers. */
export const READY_BYTES_MAX = 8 * 1024 * 1024;
/** Longest body that is kept ready. */
export const READY_BODY_BYTES_MAX = 1024 * 1024;
/** Longest raw target that is a key. */
const KEY_CHARS_MAX = 1024;

/** An answer that needs nothing but to be written. */
export interface ReadyAnswer {
  readonly status: number;
  /** Names and values in turn, made once. */
  readonly headers: readonly string[];
  readonly notModified: readonly string[];
  readonly body: Buffer;
  readonly etag: string | null;
  /** What the log calls it. */
  readonly path: string;
  /** Milliseconds since the epoch; from then on it is made again. */
  readonly expires: number;
  /** An answer to an unpaid request for something that costs: no use to a request with a payment. */
  readonly unpaid: boolean;
  /** Who paid, for the log. */
  readonly payer?: string;
}

/** Ready answers by raw request target, bounded in number and bytes, oldest out first. */
export class ReadyAnswers {
  readonly #answers: BoundedMap<string, ReadyAnswer>;

  constructor(max = READY_MAX) {
    this.#answers = new BoundedMap({ entries: max, bytes: READY_BYTES_MAX });
  }

  get size(): number {
    return this.#answers.size;
  }

  get bytes(): number {
    return this.#answers.bytes;
  }

  get(target: string): ReadyAnswer | undefined {
    return this.#answers.get(target);
  }

  keep(target: string, answer: ReadyAnswer): void {
    if (target.length > KEY_CHARS_MAX || answer.body.length > READY_BODY_BYTES_MAX) return;
    this.#answers.set(target, answer, bytesOf(answer));
  }
}

/** A 402 says its terms in a header too, which is longer than its body. */
function bytesOf(answer: ReadyAnswer): number {
  return answer.headers.reduce((sum, text) => sum + text.length, answer.body.length);
}
