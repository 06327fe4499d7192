import type { z } from 'zod';
import { RECORD_HASH } from '../../contract/record-hash.ts';

/** Rows of a list that an example shows. */
const ROWS_SHOWN = 2;
/** Rounds of fitting a stand-in into its schema; each one mends everything that is one level deeper. */
const ROUNDS_MAX = 8;

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Members that say what a body is, and nothing of whom it is about: who is on a roster, and in which state, is sold. */
const SHOWN: readonly string[] = [
  'nature',
  'dim',
  'tier',
  'addon',
  'signal_id',
  'signal',
  'line',
  'official_cadence',
  'freshness_basis',
  'served_from',
  'mode',
  'direction',
  'direction_reason',
  'hash_core_version',
  'ots_status',
  'schema_version',
  'statement_type',
  'issuer',
  'issuer_DID',
  'key_id',
  'grade',
  'scope',
];

/**
 * The shape of a body: figures are zero, texts, times and hashes stand-ins of the same form, lists cut short.
 * Where the schema allows only certain values the first of them stands. Null when no stand-in fits.
 */
export function maskedExample(body: unknown, schema: z.ZodType): unknown {
  const example = masked(body);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { success, error } = schema.safeParse(example);
    if (success) return example;
    for (const issue of error.issues) mend(example, body, issue);
  }
  return null;
}

function masked(value: unknown, name = ''): unknown {
  if (SHOWN.includes(name)) return value;
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return maskedText(value);
  if (Array.isArray(value)) return value.slice(0, ROWS_SHOWN).map((item) => masked(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, masked(member, key)]),
  );
}

function maskedText(text: string): string {
  if (RECORD_HASH.test(text)) return `sha256:${'0'.repeat(64)}`;
  if (TIME.test(text)) return '2000-01-01T00:00:00Z';
  if (DAY.test(text)) return '2000-01-01';
  if (/^https?:\/\//.test(text)) return 'https://example.org/';
  return '…';
}

/** Puts a value where the schema refuses the stand-in: one that it allows, or as many items as it asks for. */
function mend(example: unknown, body: unknown, issue: z.core.$ZodIssue): void {
  const place = issue.path.slice(0, -1);
  const name = issue.path.at(-1);
  const holder = at(example, place);
  if (name === undefined || !isHolder(holder)) return;
  const stored = at(body, issue.path);
  holder[name] = fitting(issue, stored);
}

function fitting(issue: z.core.$ZodIssue, stored: unknown): unknown {
  if (issue.code === 'invalid_value') return issue.values[0];
  if (issue.code === 'too_small' && !Array.isArray(stored)) return Number(issue.minimum);
  if (issue.code === 'too_small' && Array.isArray(stored)) {
    return stored.slice(0, Number(issue.minimum)).map((item) => masked(item));
  }
  return typeof stored === 'string' ? digitsMasked(stored) : masked(stored);
}

/** A text whose form matters, its figures gone: `0.09` is `0.00`. */
function digitsMasked(text: string): string {
  return text.replace(/[0-9]/g, '0');
}

type Holder = Record<PropertyKey, unknown>;

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((found, name) => (isHolder(found) ? found[name] : undefined), value);
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null;
}
