import { createHash } from 'node:crypto';
import type { SignalEntry } from '../../contract/catalog/line.ts';
import { isObject } from '../../contract/strict-json.ts';
import { batchTimes, type JudgeTime } from './batch-times.ts';
import type { InputFault } from './compile-error.ts';
import {
  closing,
  HeaderFaults,
  type HeaderRead,
  headerIn,
  isBrokenHeader,
  unreadableFile,
} from './file-header.ts';
import type { SignalFiles, SnapshotFile } from './list-snapshots.ts';
import {
  type BadLine,
  FILE_FAULTS_MAX,
  Quarantine,
  type RejectRule,
  type Rejects,
} from './quarantine.ts';
import { parseLine, readLines, type TextLine } from './read-lines.ts';
import { type Fields, type LineFault, parseHeader, parseReading, type Reading } from './reading.ts';
import { type Share, takes } from './share.ts';

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

interface ReadOutcome {
  readonly readings: number;
  /** Lines that were left out, so that nothing is lost without a trace: every line is a reading, a reject or a fault. */
  readonly rejects: Rejects;
  readonly faults: readonly InputFault[];
  /** sha256 of each file as it was read, hex, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

/** What a compile asks of the lines that it reads. */
export interface IntakeRules {
  /** The signal that is read, as the catalogue has it. */
  readonly entry: SignalEntry;
  /** Which bad lines may be left out; null for none. */
  readonly rejects: RejectRule | null;
  /** The instant that the compile speaks about, ISO-8601 UTC. */
  readonly asOf: string;
  /** The entities that are read; all others are left to other jobs. */
  readonly share: Share;
  /** Lines of other entities are left aside, and so is what is wrong with any: they were judged when they were read first. */
  readonly only?: ReadonlySet<string>;
}

const RESTED_ON =
  'a first line and a header are never left out, because the other lines depend on them';

/** Streams every reading of a signal, oldest batch first; bad lines are gathered or left out by the rule, not thrown. */
export function readSignal(
  signal: SignalFiles,
  onReading: (stored: StoredReading) => void,
  rules: IntakeRules,
): ReadOutcome {
  const faults: InputFault[] = [];
  const digests: Record<string, string> = {};
  const rejects: Rejects[] = [];
  let readings = 0;
  for (const [batch, file] of signal.files.entries()) {
    const quarantine = new Quarantine(file, rules.rejects);
    const reader = new ReadingReader(rules, batchTimes(rules.asOf, file.batch));
    const take = (line: TextLine): boolean => {
      const read = reader.read(line);
      if (read === null) return false;
      if ('faults' in read) {
        if (rules.only === undefined) quarantine.add(line, read);
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
    if (faults.length < FILE_FAULTS_MAX) faults.push(...closed.faults);
  }
  return { readings, rejects: joined(rejects), faults, digests };
}

type LineRead = { readonly ok: Reading } | BadLine | null;

/** Streams the lines of a file, hashes it on the way, and counts the lines that were taken. */
function readFile({ path }: SnapshotFile, take: (line: TextLine) => boolean) {
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
class ReadingReader {
  readonly #rules: IntakeRules;
  readonly #judgeTime: JudgeTime;
  #header: Partial<Fields> = {};
  #headerFaults = new HeaderFaults({});
  /** Further lines cannot be judged: the fault of the file was already reported. */
  #isClosed = false;

  constructor(rules: IntakeRules, judgeTime: JudgeTime) {
    this.#rules = rules;
    this.#judgeTime = judgeTime;
  }

  /**
   * Null for a line that is not a reading of this share, for an empty line and the header, and after a line that closes
   * the file.
   */
  read(line: TextLine): LineRead {
    if (this.#isClosed || line.bytes?.length === 0) return null;
    const isFirst = line.number === 1;
    const { only, entry } = this.#rules;
    if (only !== undefined && !isFirst && isForeign(line, only)) return null;
    const parsed = parseLine(line, 'reading');
    if ('message' in parsed) return this.#unparsed(line, [{ code: 'bad_line', ...parsed }]);
    const header = headerIn(parsed.ok, isFirst);
    if (header !== null) return this.#readHeader(header);
    if (!this.#isAsked(this.#entityOf(parsed.ok))) return null;
    const outcome = parseReading(parsed.ok, this.#header, entry);
    if ('ok' in outcome) return this.#inTime(outcome.ok, parsed.ok);
    return this.#bad(outcome.faults, { value: parsed.ok, stops: isFirst ? RESTED_ON : null });
  }

  #unparsed(line: TextLine, faults: readonly LineFault[]): LineRead {
    const isFirst = line.number === 1;
    const whole = isFirst ? unreadableFile(line) : null;
    if (whole !== null) return this.#close([whole]);
    if (isFirst && isBrokenHeader(line)) return this.#close(faults);
    return this.#shared({ faults, stops: isFirst ? RESTED_ON : null });
  }

  #readHeader(read: HeaderRead): LineRead {
    if ('fault' in read) return this.#close([read.fault]);
    const header = parseHeader(read.members);
    if ('faults' in header) return this.#close(header.faults);
    this.#header = header.ok as Partial<Fields>;
    this.#headerFaults = new HeaderFaults(read.members);
    return null;
  }

  #inTime(reading: Reading, value: unknown): LineRead {
    const fault = this.#judgeTime(reading.collected_at);
    if (fault === null) return { ok: reading };
    const { message, stops } = fault;
    return this.#bad([{ code: 'bad_field', field: 'collected_at', message }], { value, stops });
  }

  #bad(
    faults: readonly LineFault[],
    { value, stops }: { value: unknown; stops: string | null },
  ): BadLine {
    const placed = this.#headerFaults.placed(faults, value);
    const isOfLine =
      placed.length === faults.length && placed.every(({ line }) => line === undefined);
    return { faults: placed, stops: isOfLine ? stops : RESTED_ON };
  }

  #close(faults: readonly LineFault[]): LineRead {
    this.#isClosed = true;
    return this.#shared({ faults: closing(faults), stops: RESTED_ON });
  }

  /** Faults that every share of the signal sees are reported by one of them. */
  #shared(bad: BadLine): LineRead {
    return takes(this.#rules.share, null) ? bad : null;
  }

  #isAsked(entity: string | null): boolean {
    const { only, share } = this.#rules;
    if (only !== undefined && (entity === null || !only.has(entity))) return false;
    return takes(share, entity);
  }

  #entityOf(value: unknown): string | null {
    const named = isObject(value) && 'entity' in value ? value.entity : this.#header.entity;
    return typeof named === 'string' ? named : null;
  }
}

const ENTITY = Buffer.from('"entity":"');
const [QUOTE, BACKSLASH] = Buffer.from('"\\');

/** Whether the bytes of a line already show that it is about none of these entities: most lines need no parsing for that. */
function isForeign({ bytes }: TextLine, only: ReadonlySet<string>): boolean {
  if (bytes === null || QUOTE === undefined || BACKSLASH === undefined) return false;
  const at = bytes.indexOf(ENTITY);
  // Elsewhere in the line the same text may stand in another member, and an escape may hide any.
  const isPlain = at !== -1 && at === bytes.lastIndexOf(ENTITY) && !bytes.includes(BACKSLASH);
  if (!isPlain) return false;
  const start = at + ENTITY.length;
  return !only.has(bytes.toString('latin1', start, bytes.indexOf(QUOTE, start)));
}
