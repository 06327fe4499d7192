import { defined } from './errors.ts';

// Bytes of OpenTimestamps proofs: the one reader that hostile proofs meet, and how numbers and hex are spelled.

/** Most operations and attestations of one proof. */
const STEPS_MAX = 4096;

/** Seven bytes of seven bits: all that a safe integer holds exactly. */
const VARINT_BITS_MAX = 49;

/** A proof that cannot be read, with the offset of the byte that is wrong. */
export class OtsError extends Error {
  override readonly name = 'OtsError';
}

/** Reads bytes once, front to back, and refuses what a proof may not hold. */
export class OtsReader {
  #at = 0;
  #steps = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, bytesMax: number) {
    this.#bytes = bytes;
    if (bytes.length > bytesMax) this.refuse(`longer than ${bytesMax} bytes`);
  }

  refuse(state: string): never {
    throw new OtsError(`Cannot read the timestamp proof at byte ${this.#at}: ${state}`);
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  countStep(): void {
    this.#steps += 1;
    if (this.#steps > STEPS_MAX) this.refuse(`more than ${STEPS_MAX} steps`);
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) this.refuse('cut off');
    this.#at += length;
    return this.#bytes.slice(this.#at - length, this.#at);
  }

  byte(): number {
    return defined(this.take(1)[0], 'the byte');
  }

  /** Seven bits a byte, low ones first; at most VARINT_BITS_MAX of them, in the shortest form. */
  varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** VARINT_BITS_MAX; scale *= 128) {
      const byte = this.byte();
      value += (byte % 128) * scale;
      if (byte < 128) {
        if (byte === 0 && scale > 1) this.refuse('a number with idle bytes');
        return value;
      }
    }
    return this.refuse(`a number beyond ${VARINT_BITS_MAX} bits`);
  }

  bytes(min: number, max: number): Uint8Array {
    const length = this.varint();
    if (length < min || length > max) this.refuse(`${length} bytes, not ${min} to ${max}`);
    return this.take(length);
  }
}

/** A number as OpenTimestamps writes it: seven bits a byte, low ones first. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  return Uint8Array.of(...bytes, left);
}

/** All parts in one. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The bytes of a text of hex digits. */
export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
