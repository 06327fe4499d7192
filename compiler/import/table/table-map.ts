import { z } from 'zod';
import { BUILTIN } from '../../contract/catalog/builtin.ts';
import type { Catalog } from '../../contract/catalog/catalog.ts';
import { COLLECTIONS, type CollectionId } from '../../contract/collections.ts';
import { nearest } from '../../contract/nearest.ts';
import { sourceSchema } from '../../contract/record.ts';
import { decodeUtf8, parseJson } from '../../contract/strict-json.ts';
import { metricUnit } from '../../contract/units.ts';
import { address } from '../../stages/intake/reading.ts';
import { isZone } from '../local-time.ts';
import { ImportError } from '../payload.ts';
import { formatFault, needsZone } from './table-time.ts';

const name = z.string().min(1);
const ZONES = 'write "UTC", "+02:00", "EST" or "America/Chicago"';

/** What a column says, in words of the table or by a list of them, or what is the same in every row. */
const partShape = {
  column: name.optional(),
  constant: z.string().optional(),
  values: z.record(name, z.string()).optional(),
};
interface PartShape {
  readonly column?: string | undefined;
  readonly constant?: unknown;
  readonly values?: unknown;
}
function checkPart({ column, constant, values }: PartShape, context: z.RefinementCtx): void {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if ((column === undefined) === (constant === undefined))
    refuse('give either "column" or "constant"');
  else if (column === undefined && values !== undefined) refuse('"values" needs a "column"');
}
const part = z.strictObject(partShape).superRefine(checkPart);
export type MappedPart = z.infer<typeof part>;
const member = z
  .strictObject({
    ...partShape,
    constant: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
    type: z.enum(['number', 'text', 'boolean']).default('text'),
  })
  .superRefine(checkPart);
export type Member = z.infer<typeof member>;

const time = z
  .strictObject({
    column: name,
    format: z.string(),
    zone: z.string().optional(),
    zone_column: name.optional(),
  })
  .superRefine((written, context) => {
    const fault = timeFault(written);
    if (fault !== null) context.addIssue({ code: 'custom', path: [fault[0]], message: fault[1] });
  });
type Time = z.infer<typeof time>;

/** The member of a time that is at fault, and why; null where none is. */
function timeFault({ format, zone, zone_column }: Time): readonly [string, string] | null {
  const fault = formatFault(format);
  if (fault !== null) return ['format', `"${format}" ${fault}`];
  const given = zone ?? zone_column;
  if (zone !== undefined && zone_column !== undefined)
    return ['zone', 'give either "zone" or "zone_column"'];
  if (needsZone(format) && given === undefined) return ['zone', `missing; ${ZONES}`];
  if (!needsZone(format) && given !== undefined)
    return ['zone', `a time that is written as "${format}" takes none; remove it`];
  if (zone !== undefined && !isZone(zone)) return ['zone', `"${zone}" is not known; ${ZONES}`];
  return null;
}

const metric = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a metric name is lower snake case'),
    column: name,
    type: z.enum(['number', 'text']).default('number'),
    unit: z.string().optional(),
    unit_column: name.optional(),
  })
  .superRefine((written, context) => {
    const message = unitFault(written);
    if (message !== null) context.addIssue({ code: 'custom', path: ['unit'], message });
  });
type Metric = z.infer<typeof metric>;

/** Nothing is converted, so the unit of a column is the one in the name of its metric. */
function unitFault({ name, type, unit, unit_column }: Metric): string | null {
  const own = type === 'text' ? '' : metricUnit(name).unit;
  if (type === 'text' && (unit ?? unit_column) !== undefined) return 'text has none; remove it';
  if (own !== '' && unit === undefined)
    return `missing; say which unit the column is in, as in "unit": "${own}"`;
  if (own !== '' && unit_column === undefined && unit !== own)
    return `"${unit}" is not the unit of "${name}"; nothing is converted, so the column must be in "${own}"`;
  return unit_column !== undefined && unit === undefined ? 'missing beside "unit_column"' : null;
}

const shared = {
  /** Names of the members on the way to the list of rows of a JSON document; absent where the document is the list. */
  rows: z.array(name).min(1).optional(),
  separator: z.enum([',', ';', '\t', '|']).optional(),
  /** What numbers in text have before their fraction. */
  decimal: z.enum(['.', ',']).default('.'),
  /** Texts for "nothing there"; an empty cell is one only if it is listed. */
  no_data: z.array(z.string()).default([]),
  time,
  sources: z.array(sourceSchema.omit({ value: true, as_of: true })).min(1),
  source_ref: address,
  source_tier: z.string(),
  grade: name.optional(),
  scope: name.optional(),
  validation_status: name.optional(),
  uncertainty: name.optional(),
};
const readingsSchema = z
  .strictObject({
    /** One of the catalogue: `parseTableMap` looks. */
    signal: z.string(),
    entity: part,
    entity_name: part.optional(),
    metrics: z.array(metric).min(1),
    band: part.optional(),
    ...shared,
  })
  .superRefine(({ metrics }, context) => {
    const names = metrics.map((one) => one.name);
    const twice = names.findIndex((one, at) => names.indexOf(one) !== at);
    if (twice < 0) return;
    context.addIssue({ code: 'custom', path: ['metrics', twice, 'name'], message: 'given twice' });
  });
const rowsSchema = z
  .strictObject({
    collection: oneOf(COLLECTIONS.map(({ id }) => id)),
    members: z.record(
      z.string().regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/, 'a member is lower snake case'),
      member,
    ),
    ...shared,
  })
  .superRefine(({ members }, context) => {
    const names = Object.keys(members);
    const values = [...names, 'sources'];
    for (const name of names) {
      const outer = values.find((other) => name.startsWith(`${other}.`));
      if (outer === undefined) continue;
      const message = `"${outer}" has a value of its own already; give one of the two`;
      context.addIssue({ code: 'custom', path: ['members', name], message });
    }
  });
export type ReadingsMap = z.infer<typeof readingsSchema>;
export type RowsMap = z.infer<typeof rowsSchema> & { readonly collection: CollectionId };
/** How the columns of a table become readings of a signal, or rows of a collection. */
export type TableMap = ReadingsMap | RowsMap;

function oneOf<Id extends string>(ids: readonly Id[]) {
  return z.enum(ids as [Id, ...Id[]], {
    error: ({ input }) => {
      const suggestion = typeof input === 'string' ? nearest(input, ids) : null;
      const hint =
        suggestion === null ? '"signalpress lines" lists them' : `did you mean "${suggestion}"?`;
      return input === undefined ? 'missing' : `"${String(input)}" is not known; ${hint}`;
    },
  });
}

/** A map file as an operator gives it; `file` is what messages call it. */
export interface MapFile {
  readonly bytes: Uint8Array;
  readonly file: string;
  /** Whose signals a map may name; the built-in one by default. */
  readonly catalog?: Catalog;
}

/** Reads a map file; throws an ImportError that names the member at fault. */
export function parseTableMap({ bytes, file, catalog = BUILTIN }: MapFile): TableMap {
  let value: unknown;
  try {
    value = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    const state = 'the map is not JSON; correct it';
    throw new ImportError({ subject: file, state }, { cause });
  }
  const isRows = typeof value === 'object' && value !== null && 'collection' in value;
  const known = oneOf(catalog.signals.map(({ id }) => id));
  const ofReadings = readingsSchema.safeExtend({ signal: known });
  const parsed = (isRows ? rowsSchema : ofReadings).safeParse(value, { error: words });
  if (parsed.success) return parsed.data as TableMap;
  const faults = parsed.error.issues.map(({ path, message }) => {
    return `${path.join('.') || 'map'}: ${message}`;
  });
  const state = `${faults.join('; ')}; correct the map`;
  throw new ImportError({ subject: file, state }, { cause: parsed.error });
}

function words(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'missing';
  if (issue.code !== 'unrecognized_keys') return undefined;
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  return issue.keys
    .map((key) => {
      const suggestion = nearest(key, known);
      return `unknown member "${key}"${suggestion === null ? '' : ` (did you mean "${suggestion}"?)`}`;
    })
    .join(', ');
}
