import { z } from 'zod';
import { nearest } from '../../contract/nearest.ts';
import type { JsonError } from '../../contract/strict-json.ts';
import { figureFault } from './figures.ts';

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

/** The members that the object of an issue may have. */
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

/** What is wrong with a line that is not valid JSON. */
export function jsonFaultText({ code, message }: JsonError): string {
  return code === 'number_not_finite'
    ? 'too large for a number; correct it, or store null'
    : message;
}
