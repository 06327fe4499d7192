import { nearest } from '../../contract/nearest.ts';
import { isObject } from '../../contract/strict-json.ts';
import { SECOND_HEADER } from './fault-words.ts';
import type { TextLine } from './read-lines.ts';
import type { LineFault } from './reading.ts';

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
export type Members = Readonly<Record<string, unknown>>;

/** What a line says about its whole file. */
export type HeaderRead = { readonly members: Members } | { readonly fault: LineFault };

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

/**
 * What is wrong with a file whose first line is not JSON, so that its other lines cannot be judged; null if only that
 * line is bad.
 */
export function unreadableFile({ bytes }: TextLine): LineFault | null {
  if (bytes === null) return null;
  const shape = fileShape(bytes);
  return shape === null ? null : badLine('line', shape);
}

/** The faults of a line after which nothing can be judged; the first fault says so. */
export function closing(faults: readonly LineFault[]): LineFault[] {
  const [first, ...others] = faults;
  if (first === undefined) return [];
  const end = first.message.endsWith('?') ? '' : ';';
  const message = `${first.message}${end} the lines after it were not read`;
  return [{ ...first, message }, ...others];
}

/** Whether a first line that is not JSON was meant as the header that the other lines depend on. */
export function isBrokenHeader({ bytes }: TextLine): boolean {
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
  /** What it is, and what to do. */
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
