import { createHash } from 'node:crypto';
import { z } from 'zod';
import { BUILTIN } from '../../catalog/builtin.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { metricUnit } from '../../catalog/units.ts';
import { isRealDay } from '../../format/cutoff.ts';
import { defined } from '../../format/errors.ts';
import { hasIsoYear, isoTime } from '../../format/iso-time.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../../format/strict-json.ts';
import { COLLECTIONS, type CollectionId } from '../../products/collections.ts';
import type { Units } from '../../products/shapes/line.ts';
import { nearest } from '../../products/shapes/nearest.ts';
import { sourceSchema } from '../../products/shapes/record.ts';
import { memberNames, ROW_SCHEMAS } from '../../readings/collection-rows.ts';
import { address, type Reading } from '../../readings/reading.ts';
import { isZone, zoneInstants } from './local-time.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  numberOf,
  type Payload,
  parsePayload,
} from './payload.ts';
import { csvRows } from './payload-formats.ts';
import { ReadingList } from './readings.ts';
import type { Source } from './source.ts';

/** Ways to write a time that need no pattern. */
const TIME_WORDS = ['iso', 'epoch-seconds', 'epoch-milliseconds'] as const;

const PARTS: ReadonlyMap<string, string> = new Map([
  ['YYYY', String.raw`(?<year>\d{4})`],
  ['MM', String.raw`(?<month>\d{2})`],
  ['DD', String.raw`(?<day>\d{2})`],
  ['HH', String.raw`(?<hour>\d{2})`],
  ['mm', String.raw`(?<minute>\d{2})`],
  ['ss', String.raw`(?<second>\d{2})`],
]);
const PART = /YYYY|MM|DD|HH|mm|ss/g;
const ISO = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Why a format cannot be read by; null for one of TIME_WORDS, or a pattern with each part once such as `DD.MM.YYYY HH:mm`. */
function formatFault(format: string): string | null {
  if (TIME_WORDS.some((word) => word === format)) return null;
  const parts: readonly string[] = format.match(PART) ?? [];
  const lacks = ['YYYY', 'MM', 'DD'].find((part) => !parts.includes(part));
  if (lacks !== undefined) return `has no ${lacks}; write it like "YYYY-MM-DD HH:mm" or "iso"`;
  if (new Set(parts).size < parts.length) return 'has a part twice';
  if (/[A-Za-z]/.test(format.replace(PART, '').replace('T', '')))
    return 'has letters that are no part of a time; the parts are YYYY, MM, DD, HH, mm and ss';
  return parts.includes('HH') || !(parts.includes('mm') || parts.includes('ss'))
    ? null
    : 'has no HH';
}

/** Whether a time by this format is a wall clock's, so that its zone must be known. */
function needsZone(format: string): boolean {
  return formatFault(format) === null && format.includes('HH');
}

/** Epoch milliseconds of a time, or why it cannot be read. A day alone stands at 00:00Z (ours). */
function timeOf(text: string, format: string, zone: string | null): number | string {
  const shown = `"${text.slice(0, 40)}"`;
  const wall = wallClock(text, format);
  if (wall === null) return `${shown} is not a time that is written as "${format}"`;
  if (!needsZone(format)) return wall;
  if (zone === null) return `${shown} has no zone`;
  const [instant, ...others] = zoneInstants(wall, zone);
  if (instant === undefined) return `${shown} does not exist in the zone "${zone}"`;
  return others.length === 0 ? instant : `${shown} comes twice in the zone "${zone}"`;
}

/** What is written, as if it were UTC. */
function wallClock(text: string, format: string): number | null {
  const epochMs =
    format === 'iso' ? isoMs(text) : (epochOf(text, format) ?? patternMs(text, format));
  return epochMs === null || Number.isNaN(epochMs) || !hasIsoYear(epochMs) ? null : epochMs;
}

function isoMs(text: string): number | null {
  const day = ISO.exec(text)?.[1];
  return day !== undefined && isRealDay(day) ? Date.parse(text) : null;
}

/** Seconds have ten digits since 2001, milliseconds thirteen: one in place of the other is not read. */
function epochOf(text: string, format: string): number | null {
  if (format === 'epoch-seconds') return /^\d{9,10}$/.test(text) ? Number(text) * 1000 : Number.NaN;
  if (format === 'epoch-milliseconds') return /^\d{12,13}$/.test(text) ? Number(text) : Number.NaN;
  return null;
}

function patternMs(text: string, format: string): number | null {
  const pattern = format
    .split(/(YYYY|MM|DD|HH|mm|ss)/)
    .map((piece) => PARTS.get(piece) ?? piece.replace(/[^\w\s]/g, String.raw`\$&`))
    .join('');
  const found = new RegExp(`^${pattern}$`).exec(text)?.groups;
  if (found === undefined) return null;
  const { year, month, day, hour = '00', minute = '00', second = '00' } = found;
  const date = `${year}-${month}-${day}`;
  const isClock = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  return isRealDay(date) && isClock ? Date.parse(`${date}T${hour}:${minute}:${second}Z`) : null;
}

const name = z.string().min(1);
const ZONES = 'write "UTC", "+02:00", "EST" or "America/Chicago"';

/** What a column says, in words of the table or by a list of them, or what is the same in every row. */
const partShape = {
  column: name.optional(),
  constant: z.string().optional(),
  values: z.record(name, z.string()).optional(),
};
function checkPart(
  written: { column?: string | undefined; constant?: unknown; values?: unknown },
  context: z.RefinementCtx,
): void {
  const { column, constant, values } = written;
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if ((column === undefined) === (constant === undefined))
    refuse('give either "column" or "constant"');
  else if (column === undefined && values !== undefined) refuse('"values" needs a "column"');
}
const part = z.strictObject(partShape).superRefine(checkPart);
const member = z
  .strictObject({
    ...partShape,
    constant: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
    type: z.enum(['number', 'text', 'boolean']).default('text'),
  })
  .superRefine(checkPart);
type Member = z.infer<typeof member>;

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

/** The member of a time that is at fault, and why; null where none is. */
function timeFault({
  format,
  zone,
  zone_column,
}: z.infer<typeof time>): readonly [string, string] | null {
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

const metric = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a metric name is lower snake case'),
  column: name,
  type: z.enum(['number', 'text']).default('number'),
  unit: z.string().optional(),
  unit_column: name.optional(),
});

/** Nothing is converted, so the unit of a column is the one in the name of its metric. */
function unitFault(
  { name, type, unit, unit_column }: z.infer<typeof metric>,
  units: Units,
): string | null {
  const own = type === 'text' ? '' : (metricUnit(name, units)?.symbol ?? '');
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
type ReadingsMap = z.infer<typeof readingsSchema>;
type RowsMap = z.infer<typeof rowsSchema> & { readonly collection: CollectionId };
type TableMap = ReadingsMap | RowsMap;

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

/** The format of a map of readings, for the signals and units of a catalogue. */
function readingsOf({ signals, units }: Catalog) {
  const metrics = z.array(
    metric.superRefine((written, context) => {
      const message = unitFault(written, units);
      if (message !== null) context.addIssue({ code: 'custom', path: ['unit'], message });
    }),
  );
  return readingsSchema.safeExtend({
    signal: oneOf(signals.map(({ id }) => id)),
    metrics: metrics.min(1),
  });
}

/** A map file as an operator gives it; `file` is what messages call it. */
interface MapFile {
  readonly bytes: Uint8Array;
  readonly file: string;
  /** Whose signals a map may name; the built-in one by default. */
  readonly catalog?: Catalog;
}

/** Reads a map file; throws an ImportError that names the member at fault. */
function parseTableMap({ bytes, file, catalog = BUILTIN }: MapFile): TableMap {
  let value: unknown;
  try {
    value = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    const state = 'the map is not JSON; correct it';
    throw new ImportError({ subject: file, state }, { cause });
  }
  const isRows = typeof value === 'object' && value !== null && 'collection' in value;
  const parsed = (isRows ? rowsSchema : readingsOf(catalog)).safeParse(value, { error: words });
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

type Cell = string | number | boolean | null;

/** One row of a table; its methods throw a RangeError that names row and column. */
class MappedRow {
  readonly #map: TableMap;
  readonly #values: unknown;
  readonly #at: number;

  constructor(values: unknown, at: number, map: TableMap) {
    this.#values = values;
    this.#at = at;
    this.#map = map;
  }

  fault(column: string, why: string): RangeError {
    return new RangeError(`row ${this.#at}, column "${column}": ${why}`);
  }

  /** The text of a column; null where the map calls it no data. */
  text(column: string): string | null {
    const cell = this.#cell(column);
    if (cell === null || typeof cell === 'string') return cell;
    throw this.fault(column, `${cell} is not text`);
  }

  /** The number of a column, in text or in JSON; null where the map calls it no data. */
  number(column: string): number | null {
    const cell = this.#cell(column);
    if (cell === null || typeof cell === 'number') return cell;
    const { decimal } = this.#map;
    const text = String(cell);
    const number =
      decimal === '.' ? numberOf(text) : numberOf(text.includes('.') ? '' : text.replace(',', '.'));
    if (number !== null) return number;
    throw this.fault(
      column,
      `"${text.slice(0, 40)}" is not a number; if it means none, add it to no_data`,
    );
  }

  boolean(column: string): boolean | null {
    const cell = this.#cell(column);
    const text = cell === null ? null : String(cell).toLowerCase();
    if (text === null || text === 'true' || text === 'false') return text && text === 'true';
    throw this.fault(column, `"${text.slice(0, 40)}" is neither true nor false`);
  }

  /** What a part says in this row; undefined for a word of the table that its list leaves out. */
  part({ column, constant, values }: z.infer<typeof part>): string | null | undefined {
    if (column === undefined) return constant;
    const text = this.text(column);
    if (values === undefined || text === null) return text;
    return Object.hasOwn(values, text) ? values[text] : undefined;
  }

  #cell(column: string): Cell {
    const cell = column.split('.').reduce<unknown>((part, name) => {
      if (typeof part === 'object' && part !== null && Object.hasOwn(part, name))
        return (part as Readonly<Record<string, unknown>>)[name];
      throw this.fault(column, `there is no "${name}"`);
    }, this.#own(column));
    if (typeof cell === 'object' && cell !== null)
      throw this.fault(column, 'a list or an object, not a value');
    if (this.#map.no_data.includes(String(cell))) return null;
    if (cell === '') throw this.fault(column, 'empty; if that means none, add "" to no_data');
    return cell as Cell;
  }

  /** A column of CSV may have dots in its name; only JSON has members of members. */
  #own(column: string): unknown {
    const row = this.#values as Readonly<Record<string, unknown>>;
    return Object.hasOwn(row, column)
      ? column.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), row[column])
      : row;
  }
}

function tableRows(payload: Payload, map: TableMap, format: 'csv' | 'json'): MappedRow[] {
  const rows: readonly unknown[] =
    format === 'csv' ? csvRows(payload, [], map.separator) : jsonRows(payload, map.rows ?? []);
  return rows.map((row, index) => new MappedRow(row, index + 1, map));
}

function jsonRows({ bytes, subject }: Payload, path: readonly string[]): readonly object[] {
  const list = path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null && Object.hasOwn(part, name)
        ? (part as Readonly<Record<string, unknown>>)[name]
        : undefined,
    parsePayload(bytes, subject),
  );
  const where = path.length === 0 ? 'the document' : path.join('.');
  if (!Array.isArray(list))
    throw new ImportError({
      subject,
      state: `${where} is not a list of rows; correct "rows" of the map, or fetch it again`,
    });
  const strange = list.findIndex((row) => typeof row !== 'object' || row === null);
  if (strange < 0) return list;
  throw fetchAgain({ subject }, `${where}: row ${strange + 1} is not an object`);
}

type TableFormat = 'csv' | 'json';
/** Lines do not say where they end. */
const UNENDED =
  'nothing shows whether the table was cut where a line ends, and what it leaves out counts as gone; a note with "bytes" does';
const MAP_ID_CHARS = 12;

/** The source that a map describes. Its name tells which map it was, so that evidence of a reading does. */
export function tableSource(format: TableFormat, given: MapFile): Source {
  const { bytes, file } = given;
  const map = parseTableMap(given);
  const other = format === 'csv' ? 'rows' : 'separator';
  if (map[other] !== undefined) {
    const state = `${other}: a table in ${format} has none; remove it from the map`;
    throw new ImportError({ subject: file, state });
  }
  return {
    id: `${format}-map-${createHash('sha256').update(bytes).digest('hex').slice(0, MAP_ID_CHARS)}`,
    agency: map.sources[0]?.name ?? file,
    version: 1,
    format,
    feeds: ['signal' in map ? map.signal : map.collection],
    home: map.source_ref,
    read: (payload) => readTable(payload, map, format),
    row: null,
  };
}

function readTable(payload: Payload, map: TableMap, format: TableFormat): Imported {
  const rows = tableRows(payload, map, format);
  try {
    if ('signal' in map) return readings(rows, map, payload);
    const isEnded = format === 'json' || payload.note.bytes !== undefined;
    return { ...collected(rows, map, payload), remarks: isEnded ? [] : [UNENDED] };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const state = `${cause.message}; correct the map, or fetch it again`;
    throw new ImportError({ subject: payload.subject, state }, { cause });
  }
}

function readings(rows: readonly MappedRow[], map: ReadingsMap, payload: Payload): Imported {
  const list = new ReadingList();
  const seen = new Set<string>();
  for (const row of rows) {
    const entity = row.part(map.entity);
    const current = currentOf(row, map);
    if (entity === undefined) list.skips.add('row', 'its word is not in entity.values');
    else if (entity === null) list.skips.add('row', 'it names no entity');
    else if (Object.values(current).every((value) => value === null))
      list.skips.add(entity, 'no data');
    else {
      const reading = readingOf(row, { entity, current }, { map, payload });
      const key = `${entity} ${reading.observed_at}`;
      if (seen.has(key)) throw row.fault(map.time.column, `${key} is listed twice`);
      seen.add(key);
      list.add(map.signal, reading);
    }
  }
  return list.someOf(payload);
}

function currentOf(row: MappedRow, { metrics, band }: ReadingsMap): Reading['current'] {
  const measured = metrics.map(({ name, column, type, unit, unit_column }) => {
    const written = unit_column === undefined ? unit : row.text(unit_column);
    if (unit_column !== undefined && written !== unit)
      throw row.fault(unit_column, `"${written}", and the map says "${unit}"`);
    return [name, type === 'text' ? row.text(column) : row.number(column)] as const;
  });
  if (band === undefined) return Object.fromEntries(measured);
  const word = row.part(band);
  if (word === undefined)
    throw row.fault(
      defined(band.column, 'the column of the band'),
      'its word is not in band.values',
    );
  const [main, ...others] = measured;
  return Object.fromEntries([defined(main, 'the main metric'), ['band', word], ...others]);
}

function readingOf(
  row: MappedRow,
  { entity, current }: Pick<Reading, 'entity' | 'current'>,
  { map, payload }: { map: ReadingsMap; payload: Payload },
): Reading {
  const { metrics, entity_name, sources } = map;
  const observed_at = observedAt(row, map);
  const name = entity_name === undefined ? null : row.part(entity_name);
  const value = current[defined(metrics[0], 'the main metric').name];
  const main = typeof value === 'number' ? { value } : {};
  return {
    entity,
    ...(typeof name === 'string' ? { entity_name: name } : {}),
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: sources.map((source) => ({ ...source, ...main, as_of: observed_at })),
    ...origin(map),
  };
}

function observedAt(row: MappedRow, { time }: TableMap): string {
  const { column, format, zone, zone_column } = time;
  const written = String(format.startsWith('epoch') ? row.number(column) : row.text(column));
  const own = zone_column === undefined ? (zone ?? null) : row.text(zone_column);
  const instant = timeOf(written, format, own);
  if (typeof instant === 'string') throw row.fault(column, instant);
  return isoTime(instant);
}

function origin(map: TableMap) {
  const { source_ref, source_tier, grade, scope, validation_status, uncertainty } = map;
  return {
    source_ref,
    source_tier,
    ...(grade === undefined ? {} : { grade }),
    ...(scope === undefined ? {} : { scope }),
    ...(validation_status === undefined ? {} : { validation_status }),
    ...(uncertainty === undefined ? {} : { uncertainty }),
  };
}

/** Rows of a collection; whoever is not in the table counts as gone, so every row must be read. */
function collected(rows: readonly MappedRow[], map: RowsMap, payload: Payload): Imported {
  const { note } = payload;
  if (rows.length === 0) throw fetchAgain(payload, 'the table has no rows');
  const known = memberNames(ROW_SCHEMAS[map.collection]);
  const stored = rows.map((row) => {
    const members: Record<string, JsonValue> = {
      observed_at: observedAt(row, map),
      collected_at: note.fetched_at,
      ...(known.includes('capture_date') ? { capture_date: note.fetched_at.slice(0, 10) } : {}),
      sources: map.sources as unknown as JsonValue,
      ...origin(map),
    };
    for (const [name, member] of Object.entries(map.members))
      put(members, name.split('.'), memberOf(row, member));
    return members;
  });
  const listed = new Map([[map.collection, stored]]);
  return { readings: new Map(), rows: listed, skipped: [], remarks: [] };
}

function memberOf(row: MappedRow, member: Member): JsonValue {
  const { column, constant, type, values } = member;
  if (column === undefined) return constant ?? null;
  if (type === 'number') return row.number(column);
  if (type === 'boolean') return row.boolean(column);
  const word = row.part({ column, values });
  if (word === undefined) throw row.fault(column, 'its word is not in "values"');
  return word;
}

/** Puts a value at a member of a member, as `current.price_in_peg` names it. */
function put(
  members: Record<string, JsonValue>,
  [name = '', ...rest]: readonly string[],
  value: JsonValue,
): void {
  if (rest.length === 0) {
    members[name] = value;
    return;
  }
  const inner = (Object.hasOwn(members, name) ? members[name] : {}) as Record<string, JsonValue>;
  put(inner, rest, value);
  members[name] = inner;
}
