import { createHash } from 'node:crypto';
import { decodeUtf8, JsonError, parseJson } from '../../contract/strict-json.ts';
import type { Problem } from './compile-error.ts';
import type { SignalFiles, SnapshotFile } from './list-snapshots.ts';
import { LINE_BYTES_MAX, type Line, readLines } from './read-lines.ts';
import { type Fields, parseHeader, parseReading, type Reading } from './reading.ts';

/** Most problems kept of one signal; reading goes on only to count lines. */
export const SIGNAL_PROBLEMS_MAX = 200;

/** A reading with the place it came from; `batch` is its position in batch order. */
export interface StoredReading {
  readonly reading: Reading;
  readonly batch: number;
  readonly file: string;
  readonly line: number;
  /** Where its line stands in the file, in bytes. */
  readonly at: number;
  readonly size: number;
}

export interface ReadOutcome {
  readonly readings: number;
  readonly problems: readonly Problem[];
  /** sha256 of each file as it was read, hex, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

/** Streams every reading of a signal, oldest batch first; bad lines are gathered, not thrown. */
export function readSignal(
  signal: SignalFiles,
  onReading: (stored: StoredReading) => void,
): ReadOutcome {
  const problems: Problem[] = [];
  const digests: Record<string, string> = {};
  let readings = 0;
  for (const [batch, file] of signal.files.entries()) {
    const reader = new ReadingReader(signal.signal_id, file);
    const digest = createHash('sha256');
    const onBytes = (bytes: Uint8Array) => digest.update(bytes);
    for (const line of readLines(file.path, { onBytes })) {
      const reading = reader.read(line);
      if (reading !== null) {
        readings += 1;
        const size = line.bytes?.length ?? 0;
        onReading({ reading, batch, file: file.name, line: line.number, at: line.at, size });
      }
    }
    digests[file.name] = digest.digest('hex');
    if (problems.length < SIGNAL_PROBLEMS_MAX) problems.push(...reader.problems);
  }
  return { readings, problems, digests };
}

/** Reads the lines of one file: keeps its header and what was wrong with them. */
export class ReadingReader {
  readonly problems: Problem[] = [];
  readonly #signalId: string;
  readonly #file: SnapshotFile;
  #header: Partial<Fields> = {};

  constructor(signalId: string, file: SnapshotFile) {
    this.#signalId = signalId;
    this.#file = file;
  }

  read(line: Line): Reading | null {
    if (line.bytes?.length === 0) return null;
    const value = this.#parse(line);
    if (value === undefined) return null;
    const header = line.number === 1 ? parseHeader(value) : null;
    if (header !== null) {
      if ('ok' in header) this.#header = header.ok as Partial<Fields>;
      else this.#fault(line, header.faults);
      return null;
    }
    const outcome = parseReading(value, this.#header, this.#signalId);
    if ('ok' in outcome) return outcome.ok;
    this.#fault(line, outcome.faults);
    return null;
  }

  #parse(line: Line): unknown {
    if (line.bytes === null) {
      const message = `longer than ${LINE_BYTES_MAX} bytes; store one reading a line`;
      this.#fault(line, [{ code: 'bad_line', field: 'line', message }]);
      return undefined;
    }
    try {
      return parseJson(decodeUtf8(line.bytes));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const field = error.path === '' ? 'line' : error.path;
      this.#fault(line, [{ code: 'bad_line', field, message: error.message }]);
      return undefined;
    }
  }

  #fault(line: Line, faults: readonly Omit<Problem, 'file' | 'line'>[]): void {
    if (this.problems.length >= SIGNAL_PROBLEMS_MAX) return;
    for (const fault of faults) {
      this.problems.push({ ...fault, file: this.#file.name, line: line.number });
    }
  }
}
