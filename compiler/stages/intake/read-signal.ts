import { createHash } from 'node:crypto';
import { decodeUtf8, JsonError, parseJson } from '../../contract/strict-json.ts';
import { aheadOfClock } from './ahead-of-clock.ts';
import type { Problem } from './compile-error.ts';
import { jsonFaultText, SECOND_HEADER } from './fault-words.ts';
import type { SignalFiles, SnapshotFile } from './list-snapshots.ts';
import {
  type BadLine,
  FILE_PROBLEMS_MAX,
  Quarantine,
  type RejectRule,
  type Rejects,
} from './quarantine.ts';
import { LINE_BYTES_MAX, type Line, readLines } from './read-lines.ts';
import { type Fields, type Outcome, parseHeader, parseReading, type Reading } from './reading.ts';
import { type Share, takes, WHOLE } from './share.ts';

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
  /** Lines that were left out, so that nothing is lost without a trace: every line is a reading, a reject or a problem. */
  readonly rejects: Rejects;
  readonly problems: readonly Problem[];
  /** sha256 of each file as it was read, hex, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

/** What a compile asks of the lines that it reads. */
export interface IntakeRules {
  /** Which bad lines may be left out; null for none. */
  readonly rejects: RejectRule | null;
  /** The instant that the compile speaks about, ISO-8601 UTC. */
  readonly asOf: string;
  /** The entities that are read; all others are left to other jobs. */
  readonly share: Share;
}

const RESTED_ON =
  'a first line and a header are never left out, since the other lines rest on them';
const TAKEN_LATER = 'a line from the future is never left out, since a later compile would take it';

/** Streams every reading of a signal, oldest batch first; bad lines are gathered or left out by the rule, not thrown. */
export function readSignal(
  signal: SignalFiles,
  onReading: (stored: StoredReading) => void,
  rules: IntakeRules,
): ReadOutcome {
  const problems: Problem[] = [];
  const digests: Record<string, string> = {};
  const rejects: Rejects[] = [];
  const ahead = aheadOfClock(rules.asOf);
  let readings = 0;
  for (const [batch, file] of signal.files.entries()) {
    const quarantine = new Quarantine(file, rules.rejects);
    const reader = new ReadingReader(signal.signal_id, rules.share);
    const take = (line: Line): boolean => {
      const read = inTime(reader.read(line), ahead);
      if (read === null) return false;
      if ('faults' in read) {
        quarantine.add(line, read);
        return false;
      }
      const { number, at, bytes } = line;
      const place = { batch, file: file.name, line: number, at, size: bytes?.length ?? 0 };
      onReading({ reading: read.ok, ...place });
      return true;
    };
    const { digest, taken } = readFile(file, take);
    const closed = quarantine.close(taken);
    digests[file.name] = digest;
    readings += taken;
    rejects.push(closed.rejects);
    if (problems.length < FILE_PROBLEMS_MAX) problems.push(...closed.problems);
  }
  return { readings, rejects: joined(rejects), problems, digests };
}

type LineRead = { readonly ok: Reading } | BadLine | null;

/** Only new lines are asked for their time: what was accepted once was not ahead of a clock that never goes back. */
function inTime(read: LineRead, ahead: ReturnType<typeof aheadOfClock>): LineRead {
  const message = read !== null && 'ok' in read ? ahead(read.ok.collected_at) : null;
  if (message === null) return read;
  return { faults: [{ code: 'bad_field', field: 'collected_at', message }], stops: TAKEN_LATER };
}

/** Streams the lines of a file, hashes it on the way, and counts the lines that were taken. */
function readFile({ path }: SnapshotFile, take: (line: Line) => boolean) {
  const hash = createHash('sha256');
  let taken = 0;
  for (const line of readLines(path, { onBytes: (bytes) => hash.update(bytes) })) {
    if (take(line)) taken += 1;
  }
  return { digest: hash.digest('hex'), taken };
}

function joined(rejects: readonly Rejects[]): Rejects {
  return {
    count: rejects.reduce((sum, { count }) => sum + count, 0),
    digests: Object.assign({}, ...rejects.map(({ digests }) => digests)),
  };
}

/** Reads the lines of one file, whose header it keeps. */
export class ReadingReader {
  readonly #signalId: string;
  readonly #share: Share;
  #header: Partial<Fields> = {};

  constructor(signalId: string, share = WHOLE) {
    this.#signalId = signalId;
    this.#share = share;
  }

  /** Null for a line that is no reading of this share, and for an empty one and the header. */
  read(line: Line): LineRead {
    if (line.bytes?.length === 0) return null;
    const isFirst = line.number === 1;
    const parsed = parseLine(line);
    if ('faults' in parsed) return this.#shared({ ...parsed, stops: isFirst ? RESTED_ON : null });
    const header = parseHeader(parsed.ok);
    if (header !== null) return this.#readHeader(header, isFirst);
    if (!takes(this.#share, this.#entityOf(parsed.ok))) return null;
    const outcome = parseReading(parsed.ok, this.#header, this.#signalId);
    if ('ok' in outcome) return outcome;
    return { faults: outcome.faults, stops: isFirst ? RESTED_ON : null };
  }

  #readHeader(header: NonNullable<ReturnType<typeof parseHeader>>, isFirst: boolean): LineRead {
    if (!isFirst) {
      const fault = { code: 'bad_line', field: 'header', message: SECOND_HEADER } as const;
      return this.#shared({ faults: [fault], stops: RESTED_ON });
    }
    if ('faults' in header) return this.#shared({ faults: header.faults, stops: RESTED_ON });
    this.#header = header.ok as Partial<Fields>;
    return null;
  }

  /** What every share of the signal sees is told by one of them. */
  #shared(bad: BadLine): LineRead {
    return takes(this.#share, null) ? bad : null;
  }

  #entityOf(value: unknown): string | null {
    const isObject = typeof value === 'object' && value !== null;
    const named = isObject && 'entity' in value ? value.entity : this.#header.entity;
    return typeof named === 'string' ? named : null;
  }
}

function parseLine({ bytes }: Line): Outcome<unknown> {
  if (bytes === null) {
    const message = `longer than ${LINE_BYTES_MAX} bytes; store one reading a line`;
    return { faults: [{ code: 'bad_line', field: 'line', message }] };
  }
  try {
    return { ok: parseJson(decodeUtf8(bytes)) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const field = error.path === '' ? 'line' : error.path;
    return { faults: [{ code: 'bad_line', field, message: jsonFaultText(error) }] };
  }
}
