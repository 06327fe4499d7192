import { z } from 'zod';
import { CADENCES } from '../freshness.ts';
import { nearest } from '../nearest.ts';

// The format of a catalogue file: what is measured, of whom, against which official scales, and what is joined. A catalogue
// is one such file or several. Each row stands in one of them; whatever refers to a row names it by its id. Notes are for
// those who read the file, and nothing else reads them.

/** The word that every file says in its member `format`. */
export const CATALOG_FORMAT = 'signalpress-catalog/1';

const TEXT_CHARS_MAX = 2000;
const WORD = /^[a-z0-9]+([_-][a-z0-9]+)*$/;

const text = z.string().min(1).max(TEXT_CHARS_MAX);
const word = (what: string) =>
  z.string().max(64).regex(WORD, `${what} is lower-case letters and digits, with - or _ between`);
const entityId = z
  .string()
  .max(120)
  .regex(/^[!-~]+$/, 'an entity is printable ASCII without blanks');
const signalId = z
  .string()
  .max(120)
  .regex(/^[a-z][a-z0-9-]*\.[a-z0-9][a-z0-9_-]*$/, 'a signal id is written genus.species');
const metric = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a metric name is lower snake case');
const band = z.string().regex(/^[!-~]{1,64}$/, 'a band is one word of printable ASCII');
const bundlePath = z
  .string()
  .max(120)
  .regex(/^\/gauge\/[a-z0-9]+(-[a-z0-9]+)*$/, 'a bundle has a path such as /gauge/tide-region');
const bands = z.array(band).min(2).max(32);
const metrics = z.tuple([metric], metric);

const limits = z.strictObject({ from: z.number(), to: z.number().exactOptional() });
const edge = z.enum(['worse', 'milder']);

/** USDC has six decimals; a number of JSON would be a float. */
const price = z
  .string('write a price as a text, such as "0.05"')
  .regex(
    /^(?!0(\.0*)?$)(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$/,
    'a price is a decimal number of USD above 0 with at most 6 decimals, such as 0.05',
  );

const ruler = z.strictObject({
  note: text.exactOptional(),
  scale: text,
  metric,
  unit: text,
  direction: z.enum(['up', 'down']),
  edge,
  actionBand: band.nullable(),
  provenance: text,
  since: z.iso.date().exactOptional(),
  steps: z
    .array(z.strictObject({ band, at: z.number(), edge: edge.exactOptional() }))
    .min(2)
    .max(32),
  beside: word('a ruler id').exactOptional(),
});

const place = z.strictObject({
  id: entityId,
  name: text,
  latitude: z.number().min(-90).max(90).exactOptional(),
  longitude: z.number().min(-180).max(180).exactOptional(),
  zone: z.string().max(64).exactOptional(),
});

const signal = z.strictObject({
  id: signalId,
  measures: text,
  note: text.exactOptional(),
  cadence: z.enum(CADENCES),
  metrics,
  range: limits.exactOptional(),
  bands: bands.exactOptional(),
  rulers: z.array(word('a ruler id')).min(1).exactOptional(),
  ownThresholds: z.array(band).min(1).exactOptional(),
  seasonal: z.boolean().exactOptional(),
  entities: z.literal('open').exactOptional(),
});

const leg = z.strictObject({ name: word('the name of a leg'), signals: z.array(signalId).min(1) });

const lifecycleLeg = z.strictObject({
  name: word('the name of a leg'),
  measures: text,
  metrics,
  range: limits.exactOptional(),
  bands,
});

const line = z.strictObject({
  id: word('the id of a line'),
  industry: word('an industry'),
  title: text,
  note: text.exactOptional(),
  open: z.boolean().exactOptional(),
  upperCase: z.boolean().exactOptional(),
  emptyUntilKeyed: z.boolean().exactOptional(),
  entityAliases: z.array(word('an alias')).exactOptional(),
  signals: z.array(signal).min(1).exactOptional(),
  bundle: z
    .strictObject({
      path: bundlePath,
      param: z.enum(['loc', 'entity']),
      legs: z.array(leg).min(2).exactOptional(),
    })
    .exactOptional(),
  lifecycle: z
    .strictObject({
      path: bundlePath,
      terms: z.array(word('a state')),
      legs: z.tuple([lifecycleLeg, lifecycleLeg]),
    })
    .exactOptional(),
  entities: z.array(z.union([entityId, place])),
  places: z.array(place).exactOptional(),
  entityOf: z
    .array(
      z.strictObject({
        signals: z.array(signalId).min(1),
        entities: z.record(entityId, entityId),
      }),
    )
    .exactOptional(),
});

/** One file of a catalogue. */
export const catalogFileSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  format: z.literal(CATALOG_FORMAT),
  /** `builtin` adds to the built-in catalogue; null begins with nothing. */
  extends: z.literal('builtin').nullable(),
  note: text.exactOptional(),
  rulers: z.record(word('a ruler id'), ruler).exactOptional(),
  lines: z.array(line).exactOptional(),
  /** By the path of an operation, or `bundle` for every bundle without a price of its own. */
  prices: z.record(z.string().min(1).max(120), price).exactOptional(),
});

export type CatalogFile = z.infer<typeof catalogFileSchema>;
export type LineRow = z.infer<typeof line>;
export type SignalRow = z.infer<typeof signal>;
export type RulerRow = z.infer<typeof ruler>;
export type PlaceRow = z.infer<typeof place>;

/** What is wrong with a catalogue, and where: the file as the publisher knows it, and a JSON pointer in it. */
export interface CatalogFault {
  readonly file: string;
  readonly pointer: string;
  readonly reason: string;
}

/** One file of a catalogue with its name; `value` is its parsed JSON. */
export interface NamedFile<Value> {
  readonly file: string;
  readonly value: Value;
}

/** Everything in which a parsed file differs from the format; empty for a file that has it. */
export function formatFaults({ file, value }: NamedFile<unknown>): CatalogFault[] {
  const parsed = catalogFileSchema.safeParse(value, { error: reasonOf });
  if (parsed.success) return [];
  return parsed.error.issues.flatMap(leaves).map(({ path, message }) => ({
    file,
    pointer: pointerOf(path),
    reason: message,
  }));
}

/** A JSON pointer (RFC 6901) to the member at a path; '' for the whole document. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** The JSON Schema of a file, which editors complete and check by. */
export function catalogJsonSchema(): object {
  return { ...z.toJSONSchema(catalogFileSchema), title: 'Signalpress catalogue' };
}

type Issue = z.core.$ZodIssue;

/** An entity is a text or an object: an object is judged as one, so that its own fault is named. */
function leaves(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const nested = issue.errors.find((branch) =>
    branch.some(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  if (nested === undefined) return [issue];
  return nested.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

const NO_ENTITY = 'not an entity; write its id as a text, or an object with id and name';

function reasonOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') return unknownMembers(issue.keys, membersOf(issue));
  if (issue.code === 'invalid_union') return NO_ENTITY;
  if (issue.code === 'invalid_value') return unknownWord(issue.input, issue.values);
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'missing; add it';
  return undefined;
}

function membersOf({ inst }: z.core.$ZodRawIssue): string[] {
  return inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
}

function unknownMembers(names: readonly string[], known: readonly string[]): string {
  return names
    .map((name) => `unknown member "${name}"; ${meantOr(name, known, 'remove it')}`)
    .join('; ');
}

function unknownWord(input: unknown, values: readonly unknown[]): string {
  const known = values.map(String);
  if (input === undefined) return `missing; write one of ${known.join(', ')}`;
  if (typeof input !== 'string') return `not one of ${known.join(', ')}`;
  return `"${input}" is not known; ${meantOr(input, known, `write one of ${known.join(', ')}`)}`;
}

/** `did you mean "…"?` where a known name is near, else what to do instead. */
export function meantOr(name: string, known: readonly string[], advice: string): string {
  const meant = nearest(name, known);
  return meant === null ? advice : `did you mean "${meant}"?`;
}
