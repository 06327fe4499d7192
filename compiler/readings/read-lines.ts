import { closeSync, readSync } from 'node:fs';
import {
  decodeUtf8,
  isObject,
  JsonError,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import { nearest } from '../products/shapes/nearest.ts';
import { openPlain } from '../system/plain-file.ts';
import { jsonFaultText, SECOND_HEADER } from './field-rules.ts';
import type { LineFault, Outcome } from './reading.ts';

/** Longest line that is read; a longer one is reported and skipped, never held in memory. */
export const LINE_BYTES_MAX = 1_048_576;

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;

/** One line of a file without its line end; `bytes` is null for a line beyond the limit. */
export interface TextLine {
  readonly number: number;
  readonly bytes: Buffer | null;
  /** Where the line begins in the file. */
  readonly at: number;
}

interface ReadLinesOptions {
  readonly bytesMax?: number;
  /** Is given every byte of the file in order. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/** Reads a file line by line in bounded memory. `bytes` is valid until the next line is asked for. */
export function* readLines(path: string, options: ReadLinesOptions = {}): Generator<TextLine> {
  const file = openPlain(path);
  try {
    yield* splitChunks(file, options);
  } finally {
    closeSync(file);
  }
}

function* splitChunks(file: number, options: ReadLinesOptions): Generator<TextLine> {
  const splitter = new LineSplitter(options);
  while (splitter.fill(file)) {
    for (let line = splitter.next(); line !== null; line = splitter.next()) yield line;
  }
  const last = splitter.rest();
  if (last !== null) yield last;
}

/** One buffer that holds the unfinished line and the chunk after it. */
class LineSplitter {
  readonly #bytesMax: number;
  readonly #buffer: Buffer;
  readonly #onBytes: ReadLinesOptions['onBytes'];
  /** Where the buffer begins in the file. */
  #base = 0;
  #start = 0;
  #end = 0;
  #number = 0;
  /** The unfinished line was already too long and its beginning is gone. */
  #overlong = false;

  constructor({ bytesMax = LINE_BYTES_MAX, onBytes }: ReadLinesOptions) {
    this.#bytesMax = bytesMax;
    this.#onBytes = onBytes;
    this.#buffer = Buffer.allocUnsafe(bytesMax + CHUNK_BYTES);
  }

  /** Keeps what is unfinished, reads the next chunk; false at the end of the file. */
  fill(file: number): boolean {
    if (this.#end - this.#start > this.#bytesMax) {
      this.#overlong = true;
      this.#start = this.#end;
    }
    this.#buffer.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#base += this.#start;
    this.#start = 0;
    const read = readSync(file, this.#buffer, this.#end, CHUNK_BYTES, null);
    this.#onBytes?.(this.#buffer.subarray(this.#end, this.#end + read));
    this.#end += read;
    return read > 0;
  }

  next(): TextLine | null {
    const length = this.#buffer.subarray(this.#start, this.#end).indexOf(NEWLINE);
    if (length < 0) return null;
    const line = this.#take(length);
    this.#start += 1;
    return line;
  }

  /** The last line of a file that does not end in a line end. */
  rest(): TextLine | null {
    const length = this.#end - this.#start;
    return length > 0 || this.#overlong ? this.#take(length) : null;
  }

  #take(length: number): TextLine {
    const whole = !this.#overlong && length <= this.#bytesMax;
    const bytes = whole ? this.#buffer.subarray(this.#start, this.#start + length) : null;
    const at = this.#base + this.#start;
    this.#start += length;
    this.#number += 1;
    this.#overlong = false;
    return { number: this.#number, bytes, at };
  }
}

/** Where a line is no JSON, and why. */
function parseLine(
  { bytes }: TextLine,
  stored: 'reading' | 'row',
): { readonly ok: JsonValue } | { readonly field: string; readonly message: string } {
  if (bytes === null) {
    const message = `longer than ${LINE_BYTES_MAX} bytes; store one ${stored} per line`;
    return { field: 'line', message };
  }
  try {
    return { ok: parseJson(decodeUtf8(bytes)) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { field: error.path === '' ? 'line' : error.path, message: jsonFaultText(error) };
  }
}

const NAME = 'header';
const NAMES_SHOWN_MAX = 4;

/** Times that must not be after another one: a line that states the other answers for the fault. */
const NOT_AFTER: ReadonlyMap<string, string> = new Map([
  ['observed_at', 'collected_at'],
  ['capture_date', 'collected_at'],
  ['disclosure_time', 'collected_at'],
  ['confirmed_dead_at', 'collected_at'],
  ['pre_death_observed_at', 'confirmed_dead_at'],
  ['first_distress_at', 'confirmed_dead_at'],
]);

/** Members that all lines of a file inherit. */
type Members = Readonly<Record<string, unknown>>;

type HeaderRead = { readonly members: Members } | { readonly fault: LineFault };

/** The header in a line; null if the line is not a header. Only the first line of a file may be one. */
export function headerIn(value: unknown, isFirst: boolean): HeaderRead | null {
  if (!isObject(value)) return Array.isArray(value) && isFirst ? fault('line', ARRAY_SHAPE) : null;
  if (!Object.hasOwn(value, NAME)) return isFirst ? misspelt(value) : null;
  if (!isFirst) return fault(NAME, SECOND_HEADER);
  const { [NAME]: members, ...others } = value;
  const strange = Object.keys(others).slice(0, NAMES_SHOWN_MAX);
  if (strange.length > 0) {
    const names = strange.map((name) => `"${name}"`).join(', ');
    return fault(
      NAME,
      `a header must be alone on its line; move ${names} into it, or into the lines below`,
    );
  }
  return isObject(members) ? { members } : fault(NAME, 'not an object; write {"header":{…}}');
}

/** Why no line can be judged of a file whose first line is not JSON; null if only that line is bad. */
function unreadableFile({ bytes }: TextLine): LineFault | null {
  if (bytes === null) return null;
  const shape = fileShape(bytes);
  return shape === null ? null : badLine('line', shape);
}

/** The faults of a line after which nothing can be judged; the first fault says so. */
function closing(faults: readonly LineFault[]): LineFault[] {
  const [first, ...others] = faults;
  if (first === undefined) return [];
  const end = first.message.endsWith('?') ? '' : ';';
  const message = `${first.message}${end} the lines after it were not read`;
  return [{ ...first, message }, ...others];
}

/** Whether a first line that is not JSON was meant as the header that the other lines depend on. */
function isBrokenHeader({ bytes }: TextLine): boolean {
  return bytes !== null && /^\W*header\W/.test(Buffer.from(bytes).toString('utf8'));
}

function misspelt(value: Members): HeaderRead | null {
  const name = Object.keys(value).find(
    (key) => isObject(value[key]) && nearest(key, [NAME]) !== null,
  );
  return name === undefined
    ? null
    : fault(NAME, `unknown member "${name}"; did you mean "${NAME}"?`);
}

function fault(field: string, message: string): { readonly fault: LineFault } {
  return { fault: badLine(field, message) };
}

function badLine(field: string, message: string): LineFault {
  return { code: 'bad_line', field, message };
}

function states(line: unknown, member: string | undefined): boolean {
  return member !== undefined && isObject(line) && Object.hasOwn(line, member);
}

/** Tells what is wrong with a member that the lines of a file inherit once, at the header, and not at every line. */
export class HeaderFaults {
  readonly #header: Members;
  readonly #reported = new Set<string>();

  constructor(header: Members) {
    this.#header = header;
  }

  /** The faults of a line; header faults are placed at line 1 and reported only once. */
  placed(faults: readonly LineFault[], line: unknown): readonly LineFault[] {
    return faults.flatMap((each) => {
      const { field = '', message } = each;
      const [member = ''] = field.split('.', 1);
      const isOwn = states(line, member) || states(line, NOT_AFTER.get(member));
      if (isOwn || !Object.hasOwn(this.#header, member)) return [each];
      const text = `${field} ${message}`;
      if (this.#reported.has(text)) return [];
      this.#reported.add(text);
      return [{ ...each, field: `${NAME}.${field}`, line: 1 }];
    });
  }
}

/** What the first line, as bytes or as text, shows about the whole file. */
interface LineShape {
  readonly bytes?: (first: Uint8Array) => boolean;
  readonly text?: (first: string) => boolean;
  readonly fault: string;
}

const COLUMN = '"?[A-Za-z_][\\w .()/%-]*"?';
const CSV = new RegExp(`^${COLUMN}(?:[,;\\t] ?${COLUMN})+$`);
const UTF16 = ['fffe', 'feff'];
const GZIP = '1f8b';

const begins = (first: Uint8Array, marks: readonly string[]): boolean =>
  marks.includes(Buffer.from(first.subarray(0, 2)).toString('hex'));

/** The first one that fits is said. */
const SHAPES: readonly LineShape[] = [
  {
    bytes: (first) => begins(first, [GZIP]),
    fault: 'a compressed file; unpack it, for example with gunzip',
  },
  {
    bytes: (first) => begins(first, UTF16),
    fault: 'UTF-16 text; save it as UTF-8',
  },
  {
    // A list or an object that goes on in the next line.
    text: (first) => /^\s*\[\s*($|\{\s*$|\{.*\},?\s*$)/.test(first),
    fault:
      "a JSON array over several lines; write one object per line, for example with jq -c '.[]'",
  },
  {
    text: (first) => /^\s*\{(.*[{[,])?\s*$/.test(first),
    fault: 'a pretty-printed JSON file; write each object on one line, for example with jq -c .',
  },
  {
    text: (first) => CSV.test(first.trimEnd()),
    fault: 'a CSV file; write each row as one JSON object per line, with its columns as members',
  },
];

/** What kind of file has such a first line; null if the line does not show it. */
export function fileShape(first: Uint8Array): string | null {
  const text = Buffer.from(first).toString('utf8');
  const shape = SHAPES.find((each) => each.bytes?.(first) === true || each.text?.(text) === true);
  return shape?.fault ?? null;
}

/** For a first line that is a whole JSON array. */
const ARRAY_SHAPE = "a JSON array; write one object per line, for example with jq -c '.[]'";

export interface BadLine {
  readonly faults: readonly LineFault[];
  /** Why it stops the compile even if bad lines may be left out; null for a line that may be left out. */
  readonly stops: string | null;
}

/** What the lines of a file hold, and how they are judged. */
export interface LineRules<Value> {
  readonly stored: 'reading' | 'row';
  readonly header: (members: Members) => Outcome<Members>;
  /** Null for a line that nobody asked for. By default only a first line with faults stops the compile. */
  readonly line: (
    value: JsonValue,
    header: Members,
  ) => { readonly ok: Value } | (Pick<BadLine, 'faults'> & Partial<BadLine>) | null;
}

const RESTED_ON =
  'a first line and a header are never left out, because the other lines depend on them';

/** Reads the lines of one file, whose header it keeps. */
export class LineReader<Value> {
  readonly #rules: LineRules<Value>;
  #header: Members = {};
  #headerFaults = new HeaderFaults({});
  /** Further lines cannot be judged: the fault of the file was already reported. */
  #isClosed = false;

  constructor(rules: LineRules<Value>) {
    this.#rules = rules;
  }

  /** Null for an empty line, the header, a line that nobody asked for, and after a line that closes the file. */
  read(line: TextLine): { readonly ok: Value } | (BadLine & { readonly isOfFile: boolean }) | null {
    if (this.#isClosed || line.bytes?.length === 0) return null;
    const isFirst = line.number === 1;
    const stops = isFirst ? RESTED_ON : null;
    const parsed = parseLine(line, this.#rules.stored);
    if ('message' in parsed) {
      const fault: LineFault = { code: 'bad_line', ...parsed };
      const whole = isFirst ? unreadableFile(line) : null;
      if (whole !== null || (isFirst && isBrokenHeader(line))) return this.#close([whole ?? fault]);
      return { faults: [fault], stops, isOfFile: true };
    }
    const header = headerIn(parsed.ok, isFirst);
    if (header !== null) return this.#readHeader(header);
    const outcome = this.#rules.line(parsed.ok, this.#header);
    if (outcome === null || 'ok' in outcome) return outcome;
    const { faults } = outcome;
    const placed = this.#headerFaults.placed(faults, parsed.ok);
    const isOfLine =
      placed.length === faults.length && placed.every((fault) => fault.line === undefined);
    const own = outcome.stops === undefined ? stops : outcome.stops;
    return { faults: placed, stops: isOfLine ? own : RESTED_ON, isOfFile: false };
  }

  #readHeader(header: HeaderRead) {
    if ('fault' in header) return this.#close([header.fault]);
    const read = this.#rules.header(header.members);
    if ('faults' in read) return this.#close(read.faults);
    this.#header = read.ok;
    this.#headerFaults = new HeaderFaults(header.members);
    return null;
  }

  #close(faults: readonly LineFault[]) {
    this.#isClosed = true;
    return { faults: closing(faults), stops: RESTED_ON, isOfFile: true };
  }
}
