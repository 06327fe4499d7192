import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { InputFault } from './compile-error.ts';
import type { SnapshotFile } from './list-snapshots.ts';
import type { TextLine } from './read-lines.ts';
import type { LineFault } from './reading.ts';

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
export interface RejectRule {
  /** Lines of a million. */
  readonly ppm: number;
  readonly folder: string;
}

/** A line that is not a valid reading. */
export interface BadLine {
  readonly faults: readonly LineFault[];
  /** Why it stops the compile even if bad lines may be left out; null for a line that may be left out. */
  readonly stops: string | null;
}

/** What was left out of some files. */
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
  const raw = bytes === null ? null : beginning(bytes);
  return `${JSON.stringify({ file, line: number, faults: shown, raw, bytes: bytes?.length ?? null })}\n`;
}

/** Bytes that are not UTF-8 show as replacement characters. */
function beginning(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, REJECT_RAW_BYTES_MAX)).toString('utf8');
}
