import { createHash, hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../format/strict-json.ts';
import { textHash } from '../format/text-hash.ts';
import type { SignalEntry } from '../products/shapes/line.ts';
import type { InputFault } from '../system/compile-error.ts';
import { batchTimes, type SignalFiles, type SnapshotFile } from './list-snapshots.ts';
import {
  type BadLine,
  LineReader,
  type LineRules,
  readLines,
  type TextLine,
} from './read-lines.ts';
import { type LineFault, parseHeader, parseReading, type Reading } from './reading.ts';

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

/** Streams every reading of a signal, oldest batch first; bad lines are gathered or left out by the rule, not thrown. */
export function readSignal(
  signal: SignalFiles,
  onReading: (stored: StoredReading) => void,
  rules: IntakeRules,
): ReadOutcome {
  const { only } = rules;
  const faults: InputFault[] = [];
  const digests: Record<string, string> = {};
  const rejects: Rejects[] = [];
  let readings = 0;
  for (const [batch, file] of signal.files.entries()) {
    const quarantine = new Quarantine(file, rules.rejects);
    const reader = new LineReader(readingRules(rules, file.batch));
    const take = (line: TextLine): boolean => {
      if (only !== undefined && line.number > 1 && isForeign(line, only)) return false;
      const read = reader.read(line);
      if (read === null) return false;
      if ('faults' in read) {
        // Faults that every share of the signal sees are reported by one of them.
        const isMine = !read.isOfFile || takes(rules.share, null);
        if (only === undefined && isMine) quarantine.add(line, read);
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

/** How the lines of one file are judged; null for a line that is left to other shares. */
function readingRules(
  { entry, share, only, asOf }: IntakeRules,
  batch: string,
): LineRules<Reading> {
  const judgeTime = batchTimes(asOf, batch);
  return {
    stored: 'reading',
    header: (value) => parseHeader(value, entry),
    line(value, header) {
      const named = isObject(value) && 'entity' in value ? value.entity : header.entity;
      const entity = typeof named === 'string' ? named : null;
      if (only !== undefined && (entity === null || !only.has(entity))) return null;
      if (!takes(share, entity)) return null;
      const outcome = parseReading(value, header, entry);
      if ('faults' in outcome) return outcome;
      const fault = judgeTime(outcome.ok.collected_at);
      if (fault === null) return outcome;
      const { message, stops } = fault;
      return { faults: [{ code: 'bad_field', field: 'collected_at', message }], stops };
    },
  };
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

/** Most faults kept of one file; reading goes on only to count lines. */
export const FILE_FAULTS_MAX = 200;
/** Most lines that one file may lose, whatever its share: they are held until the file is judged. */
const FILE_REJECTS_MAX = 10_000;
/** Bytes of a rejected line that are kept to recognise it by. */
const REJECT_RAW_BYTES_MAX = 500;
/** Faults of a rejected line that are written down, and characters of what each says. */
const REJECT_FAULTS_MAX = 8;
const REJECT_TEXT_CHARS_MAX = 300;
/** Folder of what was left out, below the state of the data folder. */
export const REJECTS_FOLDER = 'rejects';

const MILLION = 1_000_000;
const PPM_OF_PERCENT = 10_000;
/** A rejected line may hold anything; only the operator has a reason to read it. */
const OWNER_ONLY = 0o600;

/** How many lines of a file may be left out, and where they are written. */
interface RejectRule {
  /** Lines of a million. */
  readonly ppm: number;
  readonly folder: string;
}

export interface Rejects {
  readonly count: number;
  /** sha256 of each file that holds rejected lines, hex, by the name of the snapshot file. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * Gathers the bad lines of one file and judges them when it ends. Without a rule each of them is a fault. With one they
 * are left out and written down, as long as they are few: by file, since a share of all input would let one source vanish.
 */
export class Quarantine {
  readonly #file: SnapshotFile;
  readonly #rule: RejectRule | null;
  readonly #faults: InputFault[] = [];
  readonly #rows: string[] = [];
  #rejected = 0;
  #isStopped = false;

  constructor(file: SnapshotFile, rule: RejectRule | null) {
    this.#file = file;
    this.#rule = rule;
  }

  add(line: TextLine, { faults, stops }: BadLine): void {
    if (stops !== null) this.#isStopped = true;
    else this.#rejected += 1;
    this.#keep(line, faults, stops === null || this.#rule === null ? '' : `; ${stops}`);
    if (this.#rule === null || this.#isStopped || this.#rejected > FILE_REJECTS_MAX) return;
    this.#rows.push(rowText(this.#file.name, line, faults));
  }

  /** Ends the file after this many readings: returns the faults that stop the compile, or what was left out. */
  close(taken: number): { readonly faults: readonly InputFault[]; readonly rejects: Rejects } {
    const none = { count: 0, digests: {} };
    const lines = taken + this.#rejected;
    if (this.#rule === null || this.#isStopped) return { faults: this.#faults, rejects: none };
    if (this.#rejected === 0) return { faults: [], rejects: none };
    if (this.#rejected * MILLION > lines * this.#rule.ppm || this.#rejected > FILE_REJECTS_MAX) {
      return { faults: [this.#tooMany(lines, this.#rule), ...this.#faults], rejects: none };
    }
    return { faults: [], rejects: this.#write(this.#rule) };
  }

  #write({ folder }: RejectRule): Rejects {
    const { name } = this.#file;
    const text = this.#rows.join('');
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { flag: 'wx', mode: OWNER_ONLY });
    return { count: this.#rejected, digests: { [name]: hash('sha256', text, 'hex') } };
  }

  #tooMany(lines: number, { ppm }: RejectRule): InputFault {
    const most =
      this.#rejected > FILE_REJECTS_MAX
        ? `the ${FILE_REJECTS_MAX} that one file may lose`
        : `the ${ppm / PPM_OF_PERCENT}% of --max-rejects`;
    const message =
      `${this.#rejected} of ${lines} lines rejected, more than ${most}; ` +
      'correct them, or store this file again from its source';
    return { code: 'too_many_rejects', file: this.#file.name, message };
  }

  #keep({ number: line }: TextLine, faults: readonly LineFault[], why: string): void {
    const room = FILE_FAULTS_MAX - this.#faults.length;
    for (const fault of faults.slice(0, room)) {
      const message = `${fault.message}${why}`;
      this.#faults.push({ line, ...fault, message, file: this.#file.name });
    }
  }
}

/** One JSON line for each rejected one; `raw` is its beginning, null where the line was too long to be read at all. */
function rowText(file: string, { number, bytes }: TextLine, faults: readonly LineFault[]): string {
  const cut = (text: string): string => text.slice(0, REJECT_TEXT_CHARS_MAX);
  const shown = faults.slice(0, REJECT_FAULTS_MAX).map(({ field = 'line', code, message }) => {
    return { field: cut(field), code, reason: cut(message) };
  });
  // Bytes that are not UTF-8 show as replacement characters.
  const raw = bytes && Buffer.from(bytes.subarray(0, REJECT_RAW_BYTES_MAX)).toString('utf8');
  return `${JSON.stringify({ file, line: number, faults: shown, raw, bytes: bytes?.length ?? null })}\n`;
}

/** Which entities of a signal one job takes; what names no entity, such as a broken line, belongs to the first share. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const WHOLE: Share = { index: 0, of: 1 };

/** Shares look at other bits of the hash than partitions do, or a share would fill only some of these. */
const PARTITION_BITS = 16;

/** Whether a share takes the lines of an entity; null for a line that names none. */
export function takes({ index, of }: Share, entity: string | null): boolean {
  if (of === 1) return true;
  return (entity === null ? 0 : (textHash(entity) >>> PARTITION_BITS) % of) === index;
}
