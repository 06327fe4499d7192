import { z } from 'zod';
import type { Catalog } from '../../contract/catalog/catalog.ts';
import { DOCUMENT_ENDPOINTS, documentForm } from '../../contract/document-bodies.ts';
import type { Endpoint } from '../../contract/endpoints.ts';
import { CADENCES } from '../../contract/freshness.ts';
import { filePath } from '../../contract/path.ts';
import { fieldsSchema } from './reading.ts';
import { checkTimes, facts, originFields, refusals, text } from './row-origin.ts';

const LEGS_MAX = 12;
const ROWS_MAX = 2000;
const TEXT_CHARS_MAX = 20_000;

const legSchema = z.strictObject({
  /** Name of the leg, in causal order. */
  leg: z.string().regex(/^[a-z][a-z0-9-]{0,60}$/, 'a leg name is lower case with hyphens'),
  signal_id: z
    .string()
    .regex(/^[a-z][a-z0-9-]*\.[a-z][a-z0-9_-]*$/, 'a signal id is genus.species'),
  measures: text,
  ...fieldsSchema.pick({
    entity: true,
    observed_at: true,
    current: true,
    sources: true,
    source_ref: true,
    source_tier: true,
  }).shape,
  ...fieldsSchema.pick({ entity_name: true, lifecycle: true }).partial().shape,
});
export type DocumentLeg = z.infer<typeof legSchema>;

const shared = {
  ...originFields,
  operation: z.enum(DOCUMENT_ENDPOINTS.map(({ path }) => path)),
  /** The required parameters of the operation, each with the value that asks for this document. */
  params: z.record(z.string(), z.string()),
  cadence: z.enum(CADENCES),
  title: text,
};

const legsRow = z.strictObject({
  ...shared,
  form: z.literal('legs'),
  legs: z.array(legSchema).min(1).max(LEGS_MAX),
});
const articleRow = z.strictObject({
  ...shared,
  form: z.literal('article'),
  text: z.string().min(1).max(TEXT_CHARS_MAX).nullable(),
  rows: z.array(facts).max(ROWS_MAX),
});
/** One whole document by itself: what an operation answers for one set of parameters. */
export const documentRow = z.discriminatedUnion('form', [legsRow, articleRow]);
export type DocumentRow = z.infer<typeof documentRow>;
export type LegsDocument = Extract<DocumentRow, { form: 'legs' }>;
export type ArticleDocument = Extract<DocumentRow, { form: 'article' }>;

type Refuse = (field: string, message: string) => void;

/** The same with what the catalogue says of it. */
export function documentRowSchema(catalog: Catalog): z.ZodType<DocumentRow> {
  return documentRow.superRefine((row, context) => {
    const refuse = refusals(context);
    checkTimes(row, refuse);
    checkOperation(row, catalog, refuse);
    if (row.form === 'legs') checkLegs(row, catalog, refuse);
  });
}

function checkOperation(row: DocumentRow, { operationByPath }: Catalog, refuse: Refuse): void {
  const endpoint = operationByPath.get(row.operation);
  if (endpoint === undefined) {
    refuse('operation', `"${row.operation}" has no price in the catalogue; add one`);
    return;
  }
  const form = documentForm(endpoint);
  if (form !== row.form) refuse('form', `"${row.operation}" answers with ${form}, not ${row.form}`);
  const wanted = Object.keys(endpoint.params).sort();
  const given = Object.keys(row.params).sort();
  if (wanted.join() !== given.join()) {
    refuse('params', `not the parameters of "${row.operation}": ${wanted.join(', ') || 'none'}`);
    return;
  }
  for (const [name, value] of Object.entries(row.params))
    checkValue(endpoint, [name, value], refuse);
  checkFile(endpoint, row, refuse);
}

function checkValue(endpoint: Endpoint, [name, value]: [string, string], refuse: Refuse): void {
  const legal = endpoint.params[name]?.enum;
  if (legal === undefined || legal.includes(value)) return;
  refuse('params', `${name} "${value}" is not one of ${legal.slice(0, 6).join(', ')}, …`);
}

function checkFile(endpoint: Endpoint, { params }: DocumentRow, refuse: Refuse): void {
  try {
    filePath(endpoint, params);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    refuse('params', `${error.message}; shorten it`);
  }
}

/** A leg is a reading of its own: its hash must not be that of a signal that is compiled beside it. */
function checkLegs(
  { legs, collected_at }: LegsDocument,
  { entryById }: Catalog,
  refuse: Refuse,
): void {
  const names = new Set(legs.map(({ signal_id }) => signal_id));
  if (names.size < legs.length)
    refuse('legs', 'two legs have the same signal; give each leg its own');
  for (const { signal_id, observed_at } of legs) {
    if (entryById.has(signal_id)) {
      refuse(
        'legs',
        `"${signal_id}" is a signal with readings of its own; store those, not a copy`,
      );
    }
    checkTimes({ observed_at, collected_at }, (_, message) => refuse('legs', message));
  }
}
