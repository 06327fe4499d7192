import { nearest } from '../../contract/nearest.ts';
import { SECOND_HEADER } from './fault-words.ts';
import { ARRAY_SHAPE, fileShape } from './file-shape.ts';
import type { Line } from './read-lines.ts';
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
  if (!isMembers(value)) return Array.isArray(value) && isFirst ? fault('line', ARRAY_SHAPE) : null;
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
  return isMembers(members) ? { members } : fault(NAME, 'not an object; write {"header":{…}}');
}

/**
 * What is wrong with a file whose first line is not JSON, so that its other lines cannot be judged; null if only that
 * line is bad.
 */
export function unreadableFile({ bytes }: Line): LineFault | null {
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
export function isBrokenHeader({ bytes }: Line): boolean {
  return bytes !== null && /^\W*header\W/.test(Buffer.from(bytes).toString('utf8'));
}

function misspelt(value: Members): HeaderRead | null {
  const name = Object.keys(value).find(
    (key) => isMembers(value[key]) && nearest(key, [NAME]) !== null,
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

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function states(line: unknown, member: string | undefined): boolean {
  return member !== undefined && isMembers(line) && Object.hasOwn(line, member);
}

/** Tells what is wrong with a member that the lines of a file inherit once, at the header, and not at every line. */
export class HeaderFaults {
  readonly #header: Members;
  readonly #told = new Set<string>();

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
      if (this.#told.has(text)) return [];
      this.#told.add(text);
      return [{ ...each, field: `${NAME}.${field}`, line: 1 }];
    });
  }
}
