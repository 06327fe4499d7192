/** All slots are taken, and as many callers wait as may. */
export class SlotsFullError extends Error {
  override readonly name = 'SlotsFullError';
}

/** Runs at most `count` pieces of work at once; at most `waitingMax` wait, in their order. */
export class Slots {
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number, waitingMax: number) {
    this.#free = count;
    this.#waitingMax = waitingMax;
  }

  /** Rejects with a SlotsFullError when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#take();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.length >= this.#waitingMax) {
      throw new SlotsFullError(`${this.#waitingMax} others wait`);
    }
    // Whoever ends hands its slot over.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** The result of a piece of work, or null if it takes too long. */
export async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, null);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
