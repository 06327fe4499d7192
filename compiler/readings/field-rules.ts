import { z } from 'zod';
import { neutralFault } from '../catalog/neutral-text.ts';
import { metricUnit } from '../catalog/units.ts';
import { isRealDay } from '../format/cutoff.ts';
import { hiddenFault } from '../format/hidden-signs.ts';
import type { JsonError } from '../format/strict-json.ts';
import type { Units } from '../products/shapes/line.ts';
import { nearest } from '../products/shapes/nearest.ts';

const NUMBER_TEXT = /^\s*[+-]?\d+(\.\d*)?(e[+-]?\d+)?\s*$/i;

/** What is wrong with a value where a number is expected; text is never converted. */
export function figureFault(value: unknown): string {
  if (typeof value !== 'string') return `${kindOf(value)} is not a number; store a number or null`;
  return isNumberText(value)
    ? `"${value}" is text; write ${Number(value)} without quotes`
    : `"${value.slice(0, 40)}" is not a number; store a number or null`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : String(value);
}

export function isNumberText(text: string): boolean {
  return NUMBER_TEXT.test(text);
}

/** Whether a value may stand under a name: one that ends in a unit names a figure, so it holds a number or null. */
export function fitsName(name: string, value: unknown, units: Units): boolean {
  return typeof value === 'number' || value === null || metricUnit(name, units) === null;
}

/** The values, by name, that do not fit their names. */
export function figureFaults(
  values: Readonly<Record<string, unknown>>,
  units: Units,
): MemberFault[] {
  return Object.entries(values).flatMap(([name, value]) =>
    fitsName(name, value, units) ? [] : [{ path: [name], message: figureFault(value) }],
  );
}

const NO_TIME = 'not an ISO-8601 UTC time such as 2026-11-20T10:45:00Z';
const NO_DAY = 'not a day such as 2026-11-20';
const WITHOUT_SECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})?$/;
const DAY_FIRST = /^(\d{4}-\d{2}-\d{2})(T|$)/;

/** A UTC time with its seconds, ending in `Z`. */
export const utcTime = z.iso
  .datetime({ abort: true, error: ({ input }) => timeFault(input) })
  .refine(isOfRealDay, { error: ({ input }) => timeFault(input) });
export const day = z.iso
  .date({ abort: true, error: ({ input }) => dayFault(input) })
  .refine(isOfRealDay, { error: ({ input }) => dayFault(input) });
/** How exactly a source knows when a life began or ended. */
export const dayOrTime = z.union([day, utcTime], {
  error: ({ input }) =>
    missingDay(input) ??
    (input === undefined
      ? undefined
      : 'not a day, a UTC time such as 2026-11-20T10:45:00Z, or null'),
});

/** Years begin with 1, where ISO-8601 has a year 0. */
function isOfRealDay(text: string): boolean {
  return isRealDay(text.slice(0, 10));
}

/** An absent time is reported like any other missing member. */
function timeFault(input: unknown): string | undefined {
  if (typeof input === 'string' && WITHOUT_SECONDS.test(input)) {
    return `"${input}" has no seconds; write them, as in 2026-11-20T10:45:00Z`;
  }
  return input === undefined ? undefined : (missingDay(input) ?? NO_TIME);
}

function dayFault(input: unknown): string | undefined {
  return input === undefined ? undefined : (missingDay(input) ?? NO_DAY);
}

/** Reports a well-formed day that does not exist. */
function missingDay(input: unknown): string | null {
  const [, text = ''] = DAY_FIRST.exec(String(input)) ?? [];
  return text === '' || isRealDay(text) ? null : `there is no day ${text}; correct it`;
}

/** Members that hold an id, a query or an address: they name something and say nothing. */
const IDENTIFIERS: ReadonlySet<string> = new Set([
  'entity',
  'cik',
  'tickers',
  'host',
  'server_id',
  'coin_id',
  'symbol',
  'signal_id',
  'leg',
  'operation',
  'params',
  'accession',
  'form',
  'items',
  'source',
  'source_ref',
  'first_endpoint',
  'url',
]);
/** Members whose own members are named by whoever stores them: below them a name tells nothing of its value. */
const FREELY_NAMED: ReadonlySet<string> = new Set([
  'current',
  'context',
  'rows',
  'death_context',
  'pre_death_payload',
]);
const ADDRESS = /^https?:\/\/\S+$/i;

/** Texts of several lines, and what is freely named; everything else is a name or one sentence. */
const LINES = 'text';
const LINE_ENDS = /[\t\n\r]/g;

/** What is wrong with a member, and where it is. */
export interface MemberFault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * What is stored is signed and sold, so every text of it describes, wherever it stands: names, scopes, grades and notes as
 * well as what a source says. Finds the texts that forecast, advise or recommend, and those, ids too, that hold signs
 * which nobody sees or which turn the text around them.
 */
export function wordFaults(stored: object): MemberFault[] {
  const faults: MemberFault[] = [];
  gather(stored, { path: [], isFree: false, isId: false }, faults);
  return faults;
}

interface MemberPlace {
  readonly path: readonly string[];
  readonly isFree: boolean;
  /** It names something and says nothing. */
  readonly isId: boolean;
}

function gather(value: unknown, place: MemberPlace, faults: MemberFault[]): void {
  const { path, isFree, isId } = place;
  if (typeof value === 'string') {
    const message = textFault(value, place);
    if (message !== null) faults.push({ path, message });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const below = {
      path: [...path, name],
      isFree: isFree || FREELY_NAMED.has(name),
      isId: isId || (!isFree && isIdentifier(name, member)),
    };
    gather(member, below, faults);
  }
}

function textFault(text: string, { path, isFree, isId }: MemberPlace): string | null {
  const line = isFree || path.at(-1) === LINES ? text.replace(LINE_ENDS, ' ') : text;
  return isId || ADDRESS.test(text) ? hiddenFault(line) : neutralFault(line);
}

/** A text of several words is no id, whatever its member is called. */
function isIdentifier(name: string, member: unknown): boolean {
  return IDENTIFIERS.has(name) && !(typeof member === 'string' && /\s/.test(member));
}

const KEYS_SHOWN_MAX = 4;
/** The names that zod gives to numbers. */
const NUMBERS: readonly string[] = ['number', 'int'];

/** Error messages for safeParse() that also say what to do, where zod's own do not. */
export const FAULT_WORDS = { error: faultWords } satisfies Parameters<z.ZodType['safeParse']>[1];

function faultWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') return unknownMembers(issue.keys, knownMembers(issue));
  if (issue.code === 'invalid_key') return badName(String(issue.input), issue.issues[0]?.message);
  const isLine = issue.code === 'invalid_type' && (issue.path ?? []).length === 0;
  if (isLine && issue.expected === 'object') return NO_OBJECT;
  const isFigure = issue.code === 'invalid_type' && NUMBERS.includes(issue.expected);
  if (isFigure && typeof issue.input === 'string') return figureFault(issue.input);
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  return isMissing ? MISSING : undefined;
}

/** For a line that holds a list, a number or a string, such as a whole file of readings in brackets. */
const NO_OBJECT = 'not an object; write one reading or row per line, each as a JSON object';

/** For a required member that neither the line nor its header has. */
export const MISSING = 'missing; give it in the line or in the header';

/** For a header after the first line. */
export const SECOND_HEADER = 'a header may only be the first line; start another file';

function unknownMembers(names: readonly string[], known: readonly string[]): string {
  const [only = ''] = names;
  const closest = nearest(only, known);
  if (names.length === 1 && closest !== null) {
    return `unknown member "${only}"; did you mean "${closest}"?`;
  }
  const shown = names.slice(0, KEYS_SHOWN_MAX).map((name) => {
    const near = nearest(name, known);
    return near === null ? `"${name}"` : `"${name}" (did you mean "${near}"?)`;
  });
  const all = names.length > KEYS_SHOWN_MAX ? [...shown, '…'] : shown;
  return names.length === 1
    ? `unknown member ${all.join()}; remove it, or see "signalpress lines"`
    : `unknown members ${all.join(', ')}; remove them, or see "signalpress lines"`;
}

function knownMembers({ inst }: z.core.$ZodRawIssue): string[] {
  return inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
}

const SNAKE_CASE = /^[a-z][a-z0-9_]*$/;

/** The naming rule that was broken, and the name in its correct form if that is known. */
function badName(name: string, rule = 'not a name that is allowed here'): string {
  const snake = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return snake !== name && SNAKE_CASE.test(snake) ? `${rule}; write "${snake}"` : rule;
}

export function jsonFaultText({ code, message }: JsonError): string {
  return code === 'number_not_finite'
    ? 'too large for a number; correct it, or store null'
    : message;
}
