/** What may be taken over: short, and plain in a header, in a log and in a shell. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What one request is called: in its answer and the log, and towards facilitators. */
export interface RequestTrace {
  readonly id: string;
  readonly sentId: string;
  /** The network address that it came from; null where that is not known for sure. It is sent to nobody. */
  readonly client?: string | null;
  /** Whether its client still waits for the answer; without it, it does. */
  readonly isAwaited?: () => boolean;
}

/** Makes names of requests; each is unlike all others, also those of other processes. */
export class RequestIds {
  readonly #instance: string;
  #count = 0;

  /** `instance` tells this process from others: a few random letters and digits. */
  constructor(instance: string) {
    this.#instance = instance;
  }

  /** The value of `X-Request-Id` if it is plain, so that a proxy and we call a request the same; else a new name. */
  of(header: string | null): string {
    if (header === null || !PLAIN.test(header)) return this.#made();
    return this.#isOwn(header) ? this.#made() : header;
  }

  /**
   * The name of a request for the facilitator. A name that the client chose goes on only with one of ours behind it: two
   * payments must never look like one to a service that takes equal names for the same call.
   */
  sent(id: string): string {
    return this.#isOwn(id) ? id : `${id}.${this.#made()}`;
  }

  /** Whoever sends a name that looks like ours gets another one. */
  #isOwn(id: string): boolean {
    return id.startsWith(`${this.#instance}-`);
  }

  #made(): string {
    this.#count += 1;
    return `${this.#instance}-${this.#count.toString(36)}`;
  }
}
