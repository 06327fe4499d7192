import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { isObject } from '../format/strict-json.ts';
import type { CollectionId } from '../products/collections.ts';
import { DOCUMENTS, documentForm } from '../products/documents.ts';
import { cikOf, FORM_TYPE } from '../products/shapes/filing.ts';
import { CADENCES } from '../products/shapes/freshness.ts';
import { filePath } from '../products/shapes/path.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import type { InputFault } from '../system/compile-error.ts';
import { day, FAULT_WORDS, utcTime, wordFaults } from './field-rules.ts';
import { batchTimes, type JudgeTime, type SnapshotFile } from './list-snapshots.ts';
import { LineReader, type LineRules, readLines } from './read-lines.ts';
import { Quarantine } from './read-signal.ts';
import { address, fieldsSchema, isAfter, unfitFigures, zodFaults } from './reading.ts';
import {
  checkTimes,
  facts,
  mcpServerRowSchema,
  originFields,
  type Refuse,
  refusals,
  stableCoinRowSchema,
  stablecoinDeathRowSchema,
  text,
  trustServiceRowSchema,
} from './roster-rows.ts';

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

const documentFields = {
  ...originFields,
  operation: z.enum(DOCUMENTS.map(({ path }) => path)),
  /** The required parameters of the operation, each with the value that asks for this document. */
  params: z.record(z.string(), z.string()),
  cadence: z.enum(CADENCES),
  title: text,
};

const legsRow = z.strictObject({
  ...documentFields,
  form: z.literal('legs'),
  legs: z.array(legSchema).min(1).max(LEGS_MAX),
});
const articleRow = z.strictObject({
  ...documentFields,
  form: z.literal('article'),
  text: z.string().min(1).max(TEXT_CHARS_MAX).nullable(),
  rows: z.array(facts).max(ROWS_MAX),
});
/** One whole document by itself: what an operation answers for one set of parameters. */
const documentRow = z.discriminatedUnion('form', [legsRow, articleRow]);
export type DocumentRow = z.infer<typeof documentRow>;
export type LegsDocument = Extract<DocumentRow, { form: 'legs' }>;
export type ArticleDocument = Extract<DocumentRow, { form: 'article' }>;

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
  { entryById, units }: Catalog,
  refuse: Refuse,
): void {
  const names = new Set(legs.map(({ signal_id }) => signal_id));
  if (names.size < legs.length)
    refuse('legs', 'two legs have the same signal; give each leg its own');
  for (const [at, leg] of legs.entries()) {
    const { signal_id, observed_at } = leg;
    for (const { path, message } of unfitFigures(leg, units, ['legs', String(at)])) {
      refuse(path.join('.'), message);
    }
    if (entryById.has(signal_id)) {
      refuse(
        'legs',
        `"${signal_id}" is a signal with readings of its own; store those, not a copy`,
      );
    }
    checkTimes({ observed_at, collected_at }, (_, message) => refuse('legs', message));
  }
}

/** The filing days of a page, and how many filings it holds where its source says so. */
const span = { from: day, to: day, count: z.int().min(1).optional() };

/** How the clock of a whole list was read; "contradictory" where its hours fit neither UTC nor New York. */
const listBasis = z.enum(['utc', 'new-york', 'undetermined', 'contradictory']).optional();

/** Filing days, first to last, that could not be read whole from the source's list. */
const gaps = z
  .array(
    z
      .strictObject({ from: day, to: day })
      .refine(({ from, to }) => from <= to, 'from is after to; swap them'),
  )
  .max(1000)
  .optional();

const filingFields = {
  /** Ten-digit CIK of the filer. */
  cik: z.string().refine((cik) => cikOf(cik) === cik, 'not a CIK of ten digits'),
  collected_at: utcTime,
  /** Who lists the filing, a slug: two sources of one filing are compared. */
  source: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'a source is a slug such as sec-edgar'),
  source_tier: z
    .string()
    .regex(/^(T1|T2|T2-[a-z-]+)$/, 'T1, T2, T2-<subtype> or null')
    .nullable(),
  /** What the row is fit for, where its source says so. */
  grade: text.nullable().optional(),
};

const filing = z
  .strictObject({
    ...filingFields,
    kind: z.literal('filing'),
    accession: z
      .string()
      .regex(/^\d{10}-\d{2}-\d{6}$/, 'not a number such as 0000320193-26-000006'),
    form: z.string().regex(FORM_TYPE, 'not a form type such as 10-K'),
    items: z.array(z.string().regex(/^[A-Za-z0-9.]{1,10}$/)).max(100),
    /** Period or event date. */
    event_time: day.nullable(),
    filing_date: day,
    disclosure_time: utcTime.nullable(),
    acceptance_basis: z.enum(['utc', 'new-york', 'undetermined']),
    /** Acceptance as the source writes it, where its list does not tell whether that is UTC or New York time. */
    acceptance_written: utcTime.optional(),
    source_ref: address.nullable(),
  })
  .refine(
    ({ disclosure_time, acceptance_basis }) =>
      (disclosure_time === null) === (acceptance_basis === 'undetermined'),
    'disclosure_time must be null if acceptance_basis is "undetermined", and only then',
  )
  .refine(
    ({ acceptance_written, acceptance_basis }) =>
      acceptance_written === undefined || acceptance_basis === 'undetermined',
    {
      path: ['acceptance_written'],
      message: 'only where acceptance_basis is "undetermined"; leave it out',
    },
  )
  .refine(
    ({ disclosure_time, collected_at }) =>
      disclosure_time === null || !isAfter(disclosure_time, collected_at),
    {
      path: ['disclosure_time'],
      message: 'after collected_at; a list cannot hold what was accepted later',
    },
  );

/** A filer's list at the time of its collection: whole from a day on, older pages apart. */
const listing = z.strictObject({
  ...filingFields,
  kind: z.literal('listing'),
  name: text,
  tickers: z.array(z.string().regex(/^[A-Z0-9.-]{1,20}$/, 'not a ticker in upper case')).max(20),
  /** First filing day that the list is whole from: nothing of it and of later days is missing or unread; null for all days. */
  from: day.nullable(),
  /** Older pages of the list, newest first, as the list announces them. */
  pages: z.array(z.strictObject(span)).max(1000),
  gaps,
  acceptance_basis: listBasis,
  source_ref: address.nullable(),
});

const page = z.strictObject({
  ...filingFields,
  kind: z.literal('page'),
  ...span,
  gaps,
  acceptance_basis: listBasis,
});

export const storedFilingRowSchema = z.discriminatedUnion('kind', [filing, listing, page]);
export type StoredFilingRow = z.infer<typeof storedFilingRowSchema>;
export type StoredFiling = Extract<StoredFilingRow, { kind: 'filing' }>;
export type StoredListing = Extract<StoredFilingRow, { kind: 'listing' }>;
export type StoredPage = Extract<StoredFilingRow, { kind: 'page' }>;

export function memberNames(row: z.ZodType): string[] {
  return [...new Set(shapesOf(row).flatMap((shape) => Object.keys(shape)))];
}

/** Whether every form of a row needs this member. */
export function isRequired(row: z.ZodType, name: string): boolean {
  return shapesOf(row).every((shape) => shape[name]?.safeParse(undefined).success === false);
}

/** Any members of a row, each judged by itself; one that the forms of a row judge otherwise stays open. */
export function someMembers(row: z.ZodType): z.ZodType {
  const shapes = shapesOf(row);
  const members = memberNames(row).map((name): [string, z.ZodType] => {
    const [rule = z.unknown(), ...others] = new Set(shapes.flatMap((shape) => shape[name] ?? []));
    return [name, (others.length === 0 ? rule : z.unknown()).optional()];
  });
  return z.strictObject(Object.fromEntries(members));
}

function shapesOf(row: z.ZodType): Readonly<Record<string, z.ZodType>>[] {
  const forms: readonly unknown[] = row instanceof z.ZodDiscriminatedUnion ? row.options : [row];
  return forms.flatMap((form) => (form instanceof z.ZodObject ? [form.shape] : []));
}

export const ROW_SCHEMAS: Readonly<Record<CollectionId, z.ZodType<object>>> = {
  'trust.service': trustServiceRowSchema,
  'mcp.server': mcpServerRowSchema,
  'stable.coin': stableCoinRowSchema,
  'stablecoin.death': stablecoinDeathRowSchema,
  'filing.submission': storedFilingRowSchema,
  document: documentRow,
};

/** Most rows that one collection may hold; rosters are thousands, not millions. */
const COLLECTION_ROWS_MAX = 500_000;

/** A stored row with the place it came from. */
export interface StoredRow<Row> {
  readonly row: Row;
  /** Name of the write batch. */
  readonly batch: string;
  /** Path that faults name. */
  readonly file: string;
  readonly line: number;
}

/**
 * Reads every row of a collection, oldest batch first, then as stored. A first line `{"header": {…}}` gives members that
 * all rows of its file inherit, as in the files of signals. Bad lines are gathered, not thrown, and no share of them is left
 * out: in a roster an absent row means that the subject is gone, and a list of filings claims to be complete.
 */
export function readCollection<Row extends { readonly collected_at: string }>(
  { files, asOf }: { files: readonly SnapshotFile[]; asOf: string },
  schema: z.ZodType<Row>,
): { readonly rows: readonly StoredRow<Row>[]; readonly faults: readonly InputFault[] } {
  const rows: StoredRow<Row>[] = [];
  const faults: InputFault[] = [];
  for (const file of files) {
    const { batch, name } = file;
    const reader = new LineReader(rowRules(schema, batchTimes(asOf, batch)));
    const quarantine = new Quarantine(file, null);
    for (const line of readLines(file.path)) {
      const read = reader.read(line);
      if (read === null) continue;
      if ('faults' in read) quarantine.add(line, read);
      else rows.push({ row: read.ok, batch, file: name, line: line.number });
      if (rows.length > COLLECTION_ROWS_MAX) {
        const message = `more than ${COLLECTION_ROWS_MAX} rows in all batches; drop the oldest batches`;
        return { rows, faults: [{ code: 'too_many_readings', file: name, message }] };
      }
    }
    faults.push(...quarantine.close(0).faults);
  }
  return { rows, faults };
}

function rowRules<Row extends { readonly collected_at: string }>(
  schema: z.ZodType<Row>,
  judgeTime: JudgeTime,
): LineRules<Row> {
  const headerSchema = z.strictObject({ header: someMembers(schema) });
  return {
    stored: 'row',
    header(members) {
      const { error } = headerSchema.safeParse({ header: members }, FAULT_WORDS);
      return error === undefined ? { ok: members } : { faults: zodFaults(error.issues) };
    },
    line(value, header) {
      const parsed = schema.safeParse(
        isObject(value) ? { ...header, ...value } : value,
        FAULT_WORDS,
      );
      if (!parsed.success) return { faults: zodFaults(parsed.error.issues) };
      const faults = zodFaults(wordFaults(parsed.data));
      const time = judgeTime(parsed.data.collected_at);
      if (time !== null) {
        faults.push({ code: 'bad_field', field: 'collected_at', message: time.message });
      }
      return faults.length > 0 ? { faults } : { ok: parsed.data };
    },
  };
}
