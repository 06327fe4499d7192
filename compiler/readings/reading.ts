import { z } from 'zod';
import { entitiesOf } from '../catalog/catalog.ts';
import { foreignUnit } from '../catalog/units.ts';
import type { Line, Signal, SignalEntry, Units } from '../products/shapes/line.ts';
import { nearest } from '../products/shapes/nearest.ts';
import { fitsSegment } from '../products/shapes/path.ts';
import { evidenceSchema, sourceSchema } from '../products/shapes/record.ts';
import type { InputFault } from '../system/compile-error.ts';
import {
  dayOrTime,
  FAULT_WORDS,
  figureFault,
  figureFaults,
  fitsName,
  isNumberText,
  type MemberFault,
  MISSING,
  utcTime,
  wordFaults,
} from './field-rules.ts';

/** Longest entity id; it must also fit one path segment. */
const ENTITY_CHARS_MAX = 120;
const TEXT_CHARS_MAX = 2000;

const HTTP_ADDRESS = /^https?:\/\/\S+$/i;
/** A web address as it is written: readers make a link of it, so it is nothing that a browser would run. */
export const address = z
  .string()
  .refine(
    (text) => HTTP_ADDRESS.test(text) && URL.canParse(text),
    'not an address such as https://…, or null',
  );
export const label = z.string().min(1).max(TEXT_CHARS_MAX);
const metricName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a metric name is lower snake case');
export const scalar = z.union([z.number(), z.string().max(TEXT_CHARS_MAX), z.boolean(), z.null()]);
const metricValue = z.union([scalar, z.array(scalar).max(64)], {
  error: 'a metric is a number, text, true, false, null or a flat list',
});
/** Numbers that sources use for "no data"; a reading must hold null instead. */
const NO_DATA_CODES: readonly number[] = [-999, -999.9, -9999, -999_999];
/** Splicing at request time rests on the first word being ours alone; the second is a member of `change`. */
const RESERVED_METRICS: readonly string[] = ['provenance', 'period'];

/** A word may stand for what a source says, as of a life-cycle state, but no number that is written as text. */
const source = sourceSchema.extend({
  value: z
    .union([
      z.number(),
      z.string().refine((text) => !isNumberText(text), {
        error: ({ input }) => figureFault(input),
      }),
      z.null(),
    ])
    .optional(),
});

/** Fields of a reading; any of them may stand in the header line of its file instead. */
export const fieldsSchema = z.strictObject({
  entity: z
    .string()
    .min(1)
    .max(ENTITY_CHARS_MAX)
    .regex(/^[!-~]+$/, 'an entity is printable ASCII'),
  entity_name: label.nullable(),
  observed_at: utcTime,
  collected_at: utcTime,
  current: z.record(metricName, metricValue),
  sources: z.array(source).min(1).max(16),
  source_ref: address.nullable(),
  source_tier: z
    .string()
    .regex(
      /^(T1|T2|T2-[a-z-]+|screen-viewpoint)$/,
      'T1, T2, T2-<subtype>, screen-viewpoint or null',
    )
    .nullable(),
  thresholds: z.record(z.string(), z.number()),
  thresholds_agency: label.nullable(),
  lifecycle: z.strictObject({
    state: label,
    birth_at: dayOrTime.nullable(),
    end_at: dayOrTime.nullable(),
    death_type: z.string().nullable(),
    context: z.record(z.string(), scalar).nullable(),
  }),
  grade: label.nullable(),
  scope: label.nullable(),
  validation_status: label,
  qualifiers: z.array(label).max(16),
  uncertainty: label,
  /** Which payload it was imported from; every importer says so. */
  evidence: evidenceSchema.extend({ url: address, fetched_at: utcTime }),
});
const partSchema = fieldsSchema.partial();
const headerSchema = z.strictObject({ header: partSchema });
type Fields = z.infer<typeof fieldsSchema>;
type PartFields = z.infer<typeof partSchema>;

/** What every reading says, in its line or in the header. */
export const REQUIRED = [
  'entity',
  'observed_at',
  'collected_at',
  'current',
  'sources',
  'source_ref',
  'source_tier',
] as const;

/** One stored reading after intake; what a snapshot leaves out is absent here too. */
export type Reading = Pick<Fields, (typeof REQUIRED)[number]> &
  Partial<Omit<Fields, (typeof REQUIRED)[number]>>;

/** What went wrong with one line, without its place; only what is wrong elsewhere names a line. */
export type LineFault = Omit<InputFault, 'file'>;
export type Outcome<T> = { readonly ok: T } | { readonly faults: readonly LineFault[] };

/** Reads the members of the optional first line `{"header": {…}}`. */
export function parseHeader(header: unknown, { units }: SignalEntry): Outcome<PartFields> {
  const parsed = headerSchema.safeParse({ header }, FAULT_WORDS);
  if (!parsed.success) return { faults: zodFaults(parsed.error.issues) };
  const figures = unfitFigures(parsed.data.header, units, ['header']);
  const faults = zodFaults(figures.length > 0 ? figures : wordFaults(parsed.data));
  return faults.length > 0 ? { faults } : { ok: parsed.data.header };
}

/** Reads one line of a signal's file; fields that it leaves out come from the header. */
export function parseReading(
  value: unknown,
  header: PartFields,
  entry: SignalEntry,
): Outcome<Reading> {
  const parsed = partSchema.safeParse(value, FAULT_WORDS);
  if (!parsed.success) return { faults: zodFaults(parsed.error.issues) };
  const figures = unfitFigures(parsed.data, entry.units);
  if (figures.length > 0) return { faults: zodFaults(figures) };
  // A spread of two objects of varying shape costs microseconds a line, this does not.
  const merged: PartFields = Object.assign({}, header, parsed.data);
  const missing = REQUIRED.filter((name) => merged[name] === undefined);
  if (missing.length > 0)
    return {
      faults: missing.map((field: string) => ({ code: 'bad_field', field, message: MISSING })),
    };
  const reading = merged as Reading;
  // The header was looked through when it was read.
  const faults = [...zodFaults(wordFaults(parsed.data)), ...checkAgainstEntry(reading, entry)];
  return faults.length > 0 ? { faults } : { ok: reading };
}

/** What stands under a name that ends in a unit, and is no figure; `place` leads to the reading. */
export function unfitFigures(
  { current = {}, lifecycle }: Pick<PartFields, 'current' | 'lifecycle'>,
  units: Units,
  place: readonly string[] = [],
): MemberFault[] {
  const below = (member: string, values: Readonly<Record<string, unknown>>) =>
    figureFaults(values, units).map(({ path, message }) => {
      return { path: [...place, member, ...path], message };
    });
  return [...below('current', current), ...below('lifecycle.context', lifecycle?.context ?? {})];
}

/** What a schema, or a look at the words, found wrong with a line. */
export function zodFaults(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): LineFault[] {
  return issues.map(({ path, message }) => ({
    code: 'bad_field',
    field: path.join('.') || 'line',
    message,
  }));
}

function checkAgainstEntry(reading: Reading, entry: SignalEntry): LineFault[] {
  const { signal } = entry;
  return [
    ...entityFaults(reading, entry),
    ...metricFaults(reading, entry),
    ...valueFaults(reading, signal),
    ...sourceFaults(reading, entry),
    ...bandFaults(reading, signal),
    ...thresholdFaults(reading, signal),
    ...stateFaults(reading, entry),
    ...timeFaults(reading),
  ];
}

function entityFaults(reading: Reading, entry: SignalEntry): LineFault[] {
  const legal = entitiesOf(entry);
  if (!fitsSegment(reading.entity)) {
    const message = `"${reading.entity}" does not fit a file name; shorten it`;
    return [{ code: 'bad_field', field: 'entity', message }];
  }
  if (entry.line.upperCase && reading.entity !== reading.entity.toUpperCase()) {
    const message = `"${reading.entity}" is not upper case`;
    return [{ code: 'bad_field', field: 'entity', message }];
  }
  if (legal === 'open' || legal.includes(reading.entity)) return [];
  const message = `"${reading.entity}" is ${unknownEntity(reading.entity, legal, entry.signal.id)}`;
  return [{ code: 'unknown_entity', field: 'entity', message }];
}

/** Entities of a closed list that a message names; of a longer list it says where the others are. */
const ENTITIES_NAMED_MAX = 6;

function unknownEntity(entity: string, legal: readonly string[], signalId: string): string {
  const closest = nearest(entity, legal);
  const command = `"signalpress lines ${signalId}" lists them`;
  if (closest !== null)
    return `not an entity of this signal; did you mean "${closest}"? ${command}`;
  const named = legal.slice(0, ENTITIES_NAMED_MAX).join(', ');
  return legal.length > ENTITIES_NAMED_MAX
    ? `not one of ${named}, …; ${command}`
    : `not one of ${named}; correct it, or add it to "entities" of the line`;
}

function metricFaults(reading: Reading, { signal, units }: SignalEntry): LineFault[] {
  const names = Object.keys(reading.current);
  const faults: LineFault[] = [];
  for (const name of names) {
    const declared = foreignUnit(name, signal.metrics, units);
    const field = `current.${name}`;
    if (declared !== null) {
      const message = `wrong unit; this signal stores "${declared}"; convert the value before you store it`;
      faults.push({ code: 'foreign_unit', field, message });
    }
    if (RESERVED_METRICS.includes(name)) {
      const message = 'reserved name; choose another metric name';
      faults.push({ code: 'bad_field', field, message });
    }
  }
  const main = signal.metrics[0];
  if (faults.length === 0 && reading.current[main] === undefined) {
    const closest = nearest(main, names);
    const near = closest === null ? '' : ` is it your "${closest}"?`;
    const message = `main metric missing;${near} store it, or null if the source gives none`;
    faults.push({ code: 'bad_field', field: `current.${main}`, message });
  }
  return faults;
}

/** Values that cannot be real: a code for missing data, or a number outside the limits of its scale. */
function valueFaults({ current }: Reading, { metrics, unitOf, range }: Signal): LineFault[] {
  return metrics.flatMap((name) => {
    const value = current[name];
    if (typeof value !== 'number') return [];
    if (NO_DATA_CODES.includes(value)) {
      return [valueFault(name, `${value} is a no-data code; store null`)];
    }
    const own = name === metrics[0] ? range : undefined;
    const limits = own ?? unitOf[name]?.range;
    if (limits === undefined) return [];
    const { from, to } = limits;
    if (value >= from && value <= (to ?? Number.POSITIVE_INFINITY)) return [];
    const span = to === undefined ? `${from} and up` : `${from} to ${to}`;
    const message = `${value} is outside ${span}; correct it, or store null`;
    return [valueFault(name, message)];
  });
}

/** What a source says is a value of the main metric. */
function sourceFaults({ sources }: Reading, { signal, units }: SignalEntry): LineFault[] {
  const [main] = signal.metrics;
  return sources.flatMap(({ value = null }, at) => {
    if (fitsName(main, value, units)) return [];
    return [{ code: 'bad_field', field: `sources.${at}.value`, message: figureFault(value) }];
  });
}

function valueFault(name: string, message: string): LineFault {
  return { code: 'bad_field', field: `current.${name}`, message };
}

function bandFaults(reading: Reading, signal: Signal): LineFault[] {
  const band = reading.current.band;
  if (band === undefined || band === null) return [];
  const { bands } = signal;
  if (typeof band === 'string' && (bands?.includes(band) ?? true)) return [];
  const message = `band "${String(band)}" is not ${bands === undefined ? 'a word' : `one of ${bands.join(', ')}`}`;
  return [{ code: 'bad_field', field: 'current.band', message }];
}

/** Thresholds of the entity itself: known classes only, and a worse class never begins below a milder one. */
function thresholdFaults({ thresholds }: Reading, signal: Signal): LineFault[] {
  if (thresholds === undefined) return [];
  const known = signal.ownThresholds ?? [];
  const strange = Object.keys(thresholds).find((name) => !known.includes(name));
  if (strange !== undefined) {
    const message =
      known.length === 0
        ? 'this signal takes no thresholds; leave them out'
        : `"${strange}" is not one of ${known.join(', ')}`;
    return [{ code: 'bad_field', field: `thresholds.${strange}`, message }];
  }
  const given = known.filter((name) => thresholds[name] !== undefined);
  const low = given.find(
    (name, index) => Number(thresholds[name]) < Number(thresholds[given[index - 1] ?? name]),
  );
  if (low === undefined) return [];
  const message = `lower than the milder class before it; correct the order of ${given.join(', ')}`;
  return [{ code: 'bad_field', field: `thresholds.${low}`, message }];
}

/** A life-cycle state must be one that the line defines, and the same wherever the reading states it. */
function stateFaults(
  { current, lifecycle }: Reading,
  { signal, line: { states } }: SignalEntry,
): LineFault[] {
  if (states === undefined) return [];
  const stated = signal.metrics.includes('state') ? current.state : null;
  const faults = [
    ...stateFault('lifecycle.state', lifecycle?.state ?? null, states),
    ...stateFault('current.state', stated ?? null, states),
  ];
  if (faults.length > 0 || lifecycle === undefined || stated == null) return faults;
  if (stated === lifecycle.state) return [];
  const message = `"${String(stated)}" differs from the state "${lifecycle.state}" of lifecycle; correct one of the two`;
  return [{ code: 'bad_field', field: 'current.state', message }];
}

function stateFault(field: string, state: unknown, states: NonNullable<Line['states']>) {
  if (state === null || (typeof state === 'string' && states.includes(state))) return [];
  const message = `state "${String(state)}" is not one of ${states.join(', ')}`;
  return [{ code: 'bad_field' as const, field, message }];
}

function timeFaults(reading: Reading): LineFault[] {
  if (!isAfter(reading.observed_at, reading.collected_at)) return [];
  const message = `"${reading.observed_at}" is after collected_at; a reading is never in the future`;
  return [{ code: 'bad_field', field: 'observed_at', message }];
}

/** True when one ISO-8601 UTC time is later than another; equal lengths compare as text. */
export function isAfter(time: string, other: string): boolean {
  return time.length === other.length ? time > other : Date.parse(time) > Date.parse(other);
}
