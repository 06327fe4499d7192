/** Characters that are collected for one write: what a pipe takes as a whole, so that lines of two processes never mix. */
const LOG_BATCH_CHARS = 4096;
/** Longest time that a line waits for others, in milliseconds. */
const LOG_BATCH_MS = 100;
/** Bytes that may wait for whoever reads the log; lines beyond them are counted and left out. */
const LOG_WAITING_MAX = 4 * 1024 * 1024;
/** Longest time that a stop waits for the reader, in milliseconds. */
const LOG_DRAIN_MS = 1000;

/** Standard output: a file or terminal is written at once, a pipe or socket as fast as it is read. */
interface LogStream {
  /** Calls back once the text is handed over. */
  write(text: string, done?: () => void): unknown;
  /** Bytes that were given and not taken yet. */
  readonly writableLength: number;
}

/**
 * Writes lines in batches. A write for each line was a quarter of the cost of a free answer. A process that is killed
 * loses at most the lines of the last LOG_BATCH_MS; what was paid for is in the journal.
 */
export class LogOutput {
  readonly #stream: LogStream;
  #text = '';
  #lost = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: LogStream) {
    this.#stream = stream;
  }

  /** Takes one whole line, its line end included. */
  write(line: string): void {
    if (!this.#hasRoom()) {
      this.#lost += 1;
      return;
    }
    if (this.#text.length + line.length > LOG_BATCH_CHARS) this.flush();
    this.#text += line;
    this.#timer ??= setTimeout(() => this.#onTime(), LOG_BATCH_MS).unref();
  }

  /** Lines that were left out since the last call, once there is room to say so; else 0. */
  takeLost(): number {
    if (this.#lost === 0 || !this.#hasRoom()) return 0;
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  /** Hands all lines to the stream. */
  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#stream.write(text);
  }

  /** Resolves once the reader has all lines, or after LOG_DRAIN_MS: a reader that hangs must not hold up a stop. */
  close(): Promise<void> {
    this.flush();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOG_DRAIN_MS);
      this.#stream.write('', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #hasRoom(): boolean {
    return this.#stream.writableLength < LOG_WAITING_MAX;
  }

  #onTime(): void {
    this.#timer = null;
    this.flush();
  }
}
