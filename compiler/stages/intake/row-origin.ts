import { z } from 'zod';
import { fitsSegment } from '../../contract/path.ts';
import { checkFigures } from './figures.ts';
import { fieldsSchema, isAfter } from './reading.ts';
import { day } from './times.ts';

/** Where and when a stored row was read: the same members as of a reading, spelled the same. */
export const originFields = {
  ...fieldsSchema.pick({
    observed_at: true,
    collected_at: true,
    sources: true,
    source_ref: true,
    source_tier: true,
  }).shape,
  ...fieldsSchema
    .pick({ grade: true, scope: true, validation_status: true, uncertainty: true })
    .partial().shape,
};
const originSchema = z.strictObject(originFields);
export type RowOrigin = z.infer<typeof originSchema>;

const TEXT_CHARS_MAX = 2000;
const FACTS_MAX = 64;
/** Words that say something about a body wherever they stand. */
const RESERVED = ['provenance', 'record_hash', 'hash_core_version', '_citation', '_hash_core'];

export const text = z.string().min(1).max(TEXT_CHARS_MAX);
/** An id that is safe in a query and in a file name, and easy to read. */
export const rowId = z
  .string()
  .max(120)
  .regex(/^[A-Za-z0-9@][A-Za-z0-9._@/-]*$/, 'an id is made of letters, digits and . _ @ / -')
  .refine(fitsSegment, 'does not fit a file name; shorten it');
export const wholeNumber = z.int().min(0).nullable();

const scalar = z.union([z.number(), z.string().max(TEXT_CHARS_MAX), z.boolean(), z.null()]);
const factName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a name is lower snake case')
  .refine((name) => !RESERVED.includes(name), 'reserved name; choose another one');

/** Figures and words by name, as their source gives them; a name that ends in a unit holds a figure. */
export const facts = z
  .record(factName, scalar)
  .superRefine(checkFigures)
  .refine((value) => Object.keys(value).length <= FACTS_MAX, `more than ${FACTS_MAX} members`);

/** What every row of a roster has beside its subject. */
export const captureFields = {
  ...originFields,
  capture_date: day,
  /** Brought over from a collection that never hashed its rows: it stays without a hash. */
  imported: z.boolean().optional(),
  /** How the row came here, for people. */
  source_note: text.optional(),
  /** Which payload it was imported from. */
  evidence: fieldsSchema.shape.evidence.optional(),
};
const captureSchema = z.strictObject(captureFields);
export type CaptureRow = z.infer<typeof captureSchema>;

interface Times {
  readonly observed_at: string;
  readonly collected_at: string;
  readonly capture_date?: string;
}

/** Times that cannot be: nothing is observed or captured after it was collected. */
export function checkTimes(row: Times, refuse: (field: string, message: string) => void): void {
  if (isAfter(row.observed_at, row.collected_at)) {
    refuse('observed_at', `"${row.observed_at}" is after collected_at; correct one of the two`);
  }
  const { capture_date: captured } = row;
  if (captured !== undefined && captured > row.collected_at.slice(0, 10)) {
    refuse(
      'capture_date',
      `"${captured}" is after the day of collected_at; correct one of the two`,
    );
  }
}

/** Reports what a check of a whole row finds, at the member that it names. */
export function refusals(context: z.RefinementCtx): (field: string, message: string) => void {
  return (field, message) =>
    context.addIssue({ code: 'custom', path: field === '' ? [] : [field], message });
}
