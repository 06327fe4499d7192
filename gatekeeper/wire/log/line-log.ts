import { REASONS } from '../service-state.ts';

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

/** Writes lines in batches, which is far cheaper; a killed process loses those of the last LOG_BATCH_MS at most. */
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
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.flush();
    }, LOG_BATCH_MS).unref();
  }

  /** Lines that were left out since the last call, once there is room to say so; else 0. */
  takeLost(): number {
    if (this.#lost === 0 || !this.#hasRoom()) return 0;
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

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
}

export type Log = (entry: Readonly<Record<string, unknown>>) => void;

/** A log of one JSON object a line, control characters escaped. An error is written at once, everything else in batches. */
export function lineLog(output: LogOutput, { clock }: { clock: () => number }): Log {
  // Many lines are written in one millisecond.
  let [lastMs, lastText] = [Number.NaN, ''];
  const timestamp = (now: number): string => {
    if (now !== lastMs) [lastMs, lastText] = [now, new Date(now).toISOString()];
    return lastText;
  };
  const write = (entry: Parameters<Log>[0], own: LogLevel): void => {
    // JSON leaves DEL, the C1 controls and the two Unicode line breaks as they are.
    const members = JSON.stringify(entry).slice(1).replace(CONTROLS, escaped);
    const head = `{"time":"${timestamp(clock())}","level":"${own}",`;
    output.write(`${head}${members}\n`);
  };
  return (entry) => {
    const own = levelOf(entry);
    const lines = output.takeLost();
    if (lines > 0) write({ event: 'log_lines_lost', lines }, 'warn');
    write(entry, own);
    if (own === 'error') output.flush();
  };
}

const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** How much an entry matters, the least first. */
const LOG_LEVELS = ['info', 'warn', 'error'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Which requests are logged: none, those that failed on our side (status 500 and above), or all. */
export const LOGGED_REQUESTS = ['off', 'errors', 'all'] as const;
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

/** Events that are news. Every other one needs a look: `warn`, unless it stands below. */
const NEWS: readonly string[] = [
  'started',
  'stopped',
  'release_fetched',
  'release_swapped',
  'payments_reconciled',
  'listing_taken',
  // What strangers send, and connections that they leave.
  'bad_request',
  'write_failed',
];

/** Events that keep buyers from being served. */
const ERRORS: readonly string[] = [
  'crashed',
  'payment_failed',
  'reconcile_failed',
  'request_failed',
];

const LEVEL_OF = new Map<unknown, LogLevel>([
  ...Object.entries(REASONS).flatMap(([event, { level, over }]) => [
    [event, level] as const,
    [over, 'info'] as const,
  ]),
  ...NEWS.map((event) => [event, 'info'] as const),
  ...ERRORS.map((event) => [event, 'error'] as const),
]);

/** The level of an entry: by its event, or by its status where it tells of an answer. */
export function levelOf({ event, status }: Readonly<Record<string, unknown>>): LogLevel {
  if (event === undefined) return typeof status === 'number' && status >= 500 ? 'warn' : 'info';
  return LEVEL_OF.get(event) ?? 'warn';
}
