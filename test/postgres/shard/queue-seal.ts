import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const PURPOSE = 'signalpress sharded compile';

/** What stands in the queue: a text, and the proof that a holder of the issuer's key wrote it. */
export interface Sealed {
  readonly text: string;
  /** HMAC-SHA-256, hex. */
  readonly tag: string;
}

/** Which way a text goes, so that neither side can be given back its own words. */
export type Direction = 'order' | 'answer';

/**
 * Seals what goes through the queue with a key that follows from the issuer's seed. Who can write to the database or to the
 * shared folder, and has no key, can neither have anything signed nor hand in a result.
 */
export class QueueSeal {
  readonly #key: Uint8Array;

  /** `seed`: 32 bytes of the issuer's Ed25519 key. */
  constructor(seed: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', seed, new Uint8Array(), PURPOSE, 32));
  }

  seal(direction: Direction, value: object): Sealed {
    const text = JSON.stringify(value);
    return { text, tag: this.#tag(direction, text).toString('hex') };
  }

  /** What was sealed; throws a RangeError for anything that no holder of the key wrote for this direction. */
  open(direction: Direction, { text, tag }: Partial<Sealed>): unknown {
    const given = Buffer.from(String(tag), 'hex');
    const own = this.#tag(direction, String(text));
    if (typeof text === 'string' && given.length === own.length && timingSafeEqual(given, own)) {
      return JSON.parse(text);
    }
    throw new RangeError(`Cannot take the ${direction}: it is not sealed with the issuer's key`);
  }

  #tag(direction: Direction, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${direction}\n${text}`).digest();
  }
}
