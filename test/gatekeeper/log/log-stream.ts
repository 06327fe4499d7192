import { LogOutput } from '../../../gatekeeper/log/log-output.ts';

type LogStream = ConstructorParameters<typeof LogOutput>[0];

/** What a reader of the log got, and whether it reads. */
export class ReadLog implements LogStream {
  readonly writes: string[] = [];
  /** While a reader hangs, what is written only waits. */
  isReading = true;
  #waiting: string[] = [];

  write(text: string, done?: () => void): void {
    if (!this.isReading) {
      this.#waiting.push(text);
      return;
    }
    if (text !== '') this.writes.push(text);
    done?.();
  }

  get writableLength(): number {
    return this.#waiting.reduce((sum, text) => sum + text.length, 0);
  }

  goOn(): void {
    this.writes.push(...this.#waiting);
    this.#waiting = [];
    this.isReading = true;
  }

  get text(): string {
    return this.writes.join('');
  }

  /** Parsed lines. */
  get entries(): Record<string, unknown>[] {
    return this.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
}

export function readLog(): { read: ReadLog; output: LogOutput } {
  const read = new ReadLog();
  return { read, output: new LogOutput(read) };
}
