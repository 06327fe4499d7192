import { z } from 'zod';
import { hiddenFault, hiddenSign } from '../format/hidden-signs.ts';
import { CADENCES } from '../products/shapes/freshness.ts';
import { nearest } from '../products/shapes/nearest.ts';
import { SIGNAL_TERMS } from '../products/signal-products.ts';

// The format of a catalogue file: what is measured, of whom, against which official scales, and what is joined. A catalogue
// is one such file or several. Each row stands in one of them; whatever refers to a row names it by its id. Notes are for
// those who read the file, and nothing else reads them.

/** The word that every file says in its member `format`. */
export const CATALOG_FORMAT = 'signalpress-catalog/1';

const DISCOUNT_PHASES = ['free', 'half_price'] as const;

const TEXT_CHARS_MAX = 2000;
const WORD = /^[a-z0-9]+([_-][a-z0-9]+)*$/;

const plain = (written: z.ZodString) =>
  written.refine((value) => hiddenSign(value) === null, {
    error: ({ input }) => hiddenFault(String(input)) ?? undefined,
  });
const lines = z.string().min(1).max(TEXT_CHARS_MAX);
const text = plain(lines);
const word = (what: string) =>
  z
    .string()
    .max(64)
    .regex(WORD, `write ${what} in lower-case letters and digits, with - or _ between`);
const entityId = z
  .string()
  .max(120)
  .regex(/^[!-~]+$/, 'write the id of an entity in printable ASCII without blanks');
const signalId = z
  .string()
  .max(120)
  .regex(
    /^[a-z][a-z0-9-]*\.[a-z0-9][a-z0-9_-]*$/,
    'write the id of a signal as genus.species, such as tides.level',
  );
const metric = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'write a metric in lower snake case, such as level_m');
const band = z.string().regex(/^[!-~]{1,64}$/, 'write a band as one word of printable ASCII');
/** Paths that a catalogue of a publisher may add to those of the table. */
export const BUNDLE_PATH = /^\/gauge\/[a-z0-9]+(-[a-z0-9]+)*$/;
const bundlePath = z
  .string()
  .max(120)
  .regex(BUNDLE_PATH, 'write the path of a bundle as in /gauge/tide-region');
const symbol = z
  .string()
  .max(32)
  .regex(/^[a-z0-9]+(_[a-z0-9]+)*$/, 'write the symbol of a unit in lower snake case, such as ms');
const alias = z.string().min(1).max(80);
const abbreviation = z.string().regex(/^\S{1,16}$/, 'write one word');
const bands = z.array(band).min(2).max(32);
const metrics = z.tuple([metric], metric);

const note = lines.describe('For those who read the file. Nothing else reads it.');
const span = (unitName: string) =>
  z.strictObject({
    from: z.number().describe(`The least value, in ${unitName}.`),
    to: z
      .number()
      .describe('The greatest value, in the same unit. Leave it out where there is none.')
      .exactOptional(),
  });
const limits = span('the unit of the main metric').describe(
  'Values that the main metric can have. A reading outside of them is refused.',
);
const edge = z.enum(['worse', 'milder']);

const unit = z
  .strictObject({
    note: note.exactOptional(),
    name: text.describe('What the unit is called, in the singular: "metre per second".'),
    quantity: text.describe('What is measured in it: "speed".'),
    label: plain(z.string().max(32)).describe(
      'What people read after a number: "m/s", "days". Empty where they read nothing.',
    ),
    range: span('the unit')
      .describe('Values that a reading in it can have: from 0 for what cannot be negative.')
      .exactOptional(),
  })
  .describe('A unit that names of metrics end in.');

/** USDC has six decimals; a number of JSON would be a float. */
const price = z
  .string('write a price as a text, such as "0.05"')
  .regex(
    /^(?!0(\.0*)?$)(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$/,
    'write a price in USD above 0 with at most 6 decimals, such as "0.05"',
  )
  .describe('USD a call, as a text with at most 6 decimals, such as "0.05".');

const product = z.enum([...SIGNAL_TERMS.keys()]);

const step = z
  .strictObject({
    band: band.describe('The class, one word such as "flood".'),
    at: z.number().describe('Where the class begins, in the unit of the scale.'),
    edge: edge
      .describe('The class of a value that is exactly "at", for this step.')
      .exactOptional(),
    name: text.describe('What people call the class: "extreme drought (D3)".').exactOptional(),
    colour: z
      .string()
      .regex(/^#[0-9a-f]{6}$/, 'write a colour as # and six digits, such as "#ffaa00"')
      .describe('The colour that the agency gives the class, such as "#ffaa00".')
      .exactOptional(),
  })
  .describe('One class of a scale.');

const ruler = z
  .strictObject({
    note: note.exactOptional(),
    scale: text.describe('What the agency calls its scale, such as "NWS flood stages".'),
    metric: metric.describe('The metric that the scale is about, such as "level_m".'),
    unit: text.describe('The unit of the steps, as people read it, such as "m".'),
    direction: z.enum(['up', 'down']).describe('"up" where higher values are worse, else "down".'),
    edge: edge.describe('Whether a value exactly at a step is of the worse or the milder class.'),
    actionBand: band
      .nullable()
      .describe('The class from which the agency calls for action; null where it names none.'),
    provenance: text.describe('Who published the scale and where, as it is cited.'),
    agency: text
      .describe('The agency that published the scale. With "document" it is called official.')
      .exactOptional(),
    document: text
      .describe('The document of the agency that holds these thresholds.')
      .exactOptional(),
    since: z.iso
      .date('not a day of the calendar; write it as 2026-11-20')
      .describe('The UTC day from which it applies: 2026-11-20.')
      .exactOptional(),
    steps: z.array(step).min(2).max(32).describe('The classes, mildest first.'),
    beside: word('a ruler id')
      .describe('Another ruler with the same classes: the worse of both counts.')
      .exactOptional(),
  })
  .describe(
    'A scale: thresholds by which a value gets a class. It is official if it names agency and document.',
  );

const place = z.strictObject({
  id: entityId.describe('What readings and buyers call it: printable ASCII without blanks.'),
  name: text.describe('What people call it.'),
  latitude: z
    .number()
    .min(-90)
    .max(90)
    .describe('Degrees north, -90 to 90. Needs "longitude" beside it.')
    .exactOptional(),
  longitude: z
    .number()
    .min(-180)
    .max(180)
    .describe('Degrees east, -180 to 180. Needs "latitude" beside it.')
    .exactOptional(),
  zone: z
    .string()
    .max(64)
    .describe(
      'The IANA time zone by which its days are counted and its local time is told, such as "Europe/Berlin".',
    )
    .exactOptional(),
});

const cadence = z
  .enum(CADENCES)
  .describe('How often the source publishes. It decides how long a reading counts as fresh.');
const mainMetrics = metrics.describe(
  'What a reading holds, the main metric first. A name ends in its unit: "level_m", "wait_min".',
);
const mildestFirst = bands.describe('The classes that a reading may have, mildest first.');

const sentence = text.describe(
  'A whole sentence with metrics in braces: "The wind at {name} blows at {wind_kt}." ' +
    '{metric} is a number with its unit, {metric#} without, {metric:gauge|gauges} the word for one or many. ' +
    'A sentence is left out without its numbers, and with {metric+}, {metric-} or {metric=} unless the number is above, below or exactly 0.',
);
const words = z
  .strictObject({
    title: text.describe('What it is called, where "measures" does not read well.').exactOptional(),
    labels: z
      .record(metric, text)
      .describe('What each metric is called in a table, with its window: "quakes in 24 hours".')
      .exactOptional(),
    says: z
      .array(sentence)
      .min(1)
      .max(8)
      .describe('A reading in words. At least one sentence holds the main metric.')
      .exactOptional(),
    none: text
      .describe('What is said without a value of the main metric; may hold {name}.')
      .exactOptional(),
    classes: z
      .record(band, text)
      .describe('What people call a class or a state that its id does not spell.')
      .exactOptional(),
  })
  .describe('How people are told of a reading. Nothing of it is signed or hashed in a record.');

const signal = z
  .strictObject({
    id: signalId.describe('genus.species, such as "tides.level".'),
    measures: text.describe('What it measures, as a noun phrase: "water level at a tide gauge".'),
    note: note.exactOptional(),
    cadence,
    metrics: mainMetrics,
    words: words.exactOptional(),
    range: limits.exactOptional(),
    bands: mildestFirst.exactOptional(),
    rulers: z
      .array(word('a ruler id').describe('The id of a ruler.'))
      .min(1)
      .describe('Official scales by their ids, oldest first. They give the bands.')
      .exactOptional(),
    ownThresholds: z
      .array(band.describe('The name of a threshold, such as "minor".'))
      .min(1)
      .describe('Thresholds that each reading brings for its own entity, mildest first.')
      .exactOptional(),
    seasonal: z
      .boolean()
      .describe('Whether percentiles are of the same season of the last five years.')
      .exactOptional(),
    entities: z
      .literal('open')
      .describe('"open" takes readings of any entity, not only of those of the line.')
      .exactOptional(),
    free: z
      .array(product.describe('A product that is free.'))
      .min(1)
      .describe(
        'Products that cost nothing of this signal; "latest" frees the parts of the record too.',
      )
      .exactOptional(),
    prices: z
      .partialRecord(product, price)
      .describe('USD a call by product, where it is not what other signals cost.')
      .exactOptional(),
  })
  .describe('One measured signal.');

const leg = z
  .strictObject({
    name: word('the name of a leg').describe('The name of the leg, such as "waves".'),
    signals: z
      .array(signalId.describe('The id of a signal of this line.'))
      .min(1)
      .describe('The signals of the leg.'),
  })
  .describe('One position of a causal chain.');

const lifecycleLeg = z
  .strictObject({
    name: word('the name of a leg').describe(
      'The name of the leg. Its signal is "<line>.<name>", read as events come.',
    ),
    measures: text.describe('What it measures, as a noun phrase.'),
    metrics: mainMetrics,
    words: words.exactOptional(),
    range: limits.exactOptional(),
    bands: mildestFirst,
  })
  .describe('A leg beside the life cycle.');

const bundle = z
  .strictObject({
    path: bundlePath.describe('Where it is sold, such as "/gauge/tide-region".'),
    param: z
      .enum(['loc', 'entity'])
      .describe('The parameter that names the entity: "loc" for a place, else "entity".'),
    legs: z
      .array(leg)
      .min(2)
      .describe('Its legs in causal order. By default each signal of the line is one.')
      .exactOptional(),
  })
  .describe('All signals of the line for one entity, sold as one body.');

const lifecycle = z
  .strictObject({
    path: bundlePath.describe('Where its bundle is sold, such as "/gauge/berth-region".'),
    terms: z
      .array(word('a state').describe('A state, one word.'))
      .describe('States beside operating, at_risk, ended and dead.'),
    legs: z
      .tuple([lifecycleLeg, lifecycleLeg])
      .describe('The two legs beside the life cycle, in causal order.'),
  })
  .describe('In place of "signals" and "bundle", for subjects that begin and end.');

const otherEntities = z
  .strictObject({
    signals: z
      .array(signalId.describe('The id of a signal of this line.'))
      .min(1)
      .describe('The signals that are read elsewhere.'),
    entities: z
      .record(entityId, entityId.describe('Where it is read instead.'))
      .describe('By entity of the line, the entity at which these signals are read.'),
  })
  .describe('Where signals are read at another entity than that of the bundle.');

const line = z
  .strictObject({
    id: word('the id of a line').describe('The id of the line, such as "tides".'),
    industry: word('an industry').describe('Whom it is for, such as "ports"; buyers filter by it.'),
    title: text.describe('What its entities are, in the plural: "tide gauges".'),
    tagline: text
      .describe('What is known of them, in a few words: "Water level and waves at the coast".')
      .exactOptional(),
    note: note.exactOptional(),
    open: z
      .boolean()
      .describe('Whether any entity is legal; else only those of "entities".')
      .exactOptional(),
    upperCase: z
      .boolean()
      .describe('Whether entities are upper case. What a buyer asks for is then upper-cased.')
      .exactOptional(),
    emptyUntilKeyed: z
      .boolean()
      .describe('Whether its source needs a data key: the line is shown as empty until then.')
      .exactOptional(),
    entityAliases: z
      .array(word('an alias').describe('Another name of the parameter.'))
      .describe('Other names of the parameter that names the entity.')
      .exactOptional(),
    signals: z.array(signal).min(1).describe('What is measured of its entities.').exactOptional(),
    bundle: bundle.exactOptional(),
    lifecycle: lifecycle.exactOptional(),
    entities: z
      .array(
        z
          .union([entityId.describe('The id of an entity, without a name.'), place])
          .describe('An entity: its id, or an object with id, name and position.'),
      )
      .describe('Who is measured. An open line shows them as examples.'),
    places: z
      .array(place)
      .describe('Names and positions of other entities that readings name, such as buoys.')
      .exactOptional(),
    entityOf: z
      .array(otherEntities)
      .describe('Where a leg is read at another entity than that of the bundle.')
      .exactOptional(),
  })
  .describe('One subject: its signals, its entities, and the bundle that joins them.');

const discount = z
  .strictObject({
    phase: z.enum(DISCOUNT_PHASES).describe('What people pay: nothing, or half.'),
    until: z.iso.date().describe('Its last UTC day: 2026-12-31.'),
  })
  .describe('One phase of the prices for people.');

const catalogFileSchema = z.strictObject({
  $schema: z
    .string()
    .describe('The JSON Schema of this format, by which editors complete and check.')
    .exactOptional(),
  format: z.literal(CATALOG_FORMAT).describe('The format of this file.'),
  extends: z
    .literal(
      'builtin',
      'write "builtin" to add to the built-in catalogue, or null to begin with nothing',
    )
    .nullable()
    .describe('"builtin" adds to the built-in catalogue; null begins with nothing.'),
  note: note.exactOptional(),
  units: z
    .record(symbol, unit)
    .describe(
      'Units beside the built-in ones by their symbols: with "ms", "wind_speed_ms" is in metres per second.',
    )
    .exactOptional(),
  rulers: z
    .record(word('a ruler id'), ruler)
    .describe('Official scales by their ids, which signals name.')
    .exactOptional(),
  lines: z.array(line).describe('What is measured and sold, subject by subject.').exactOptional(),
  prices: z
    .record(z.string().min(1).max(120), price)
    .describe(
      'USD a call by path, such as "/gauge"; "bundle" is that of every bundle without one of its own. ' +
        'What has no price is not offered.',
    )
    .exactOptional(),
  humanTrack: z
    .array(discount)
    .describe(
      'Until when subscriptions for people cost less, in order; then the full price. Empty for never.',
    )
    .exactOptional(),
  leftOut: z
    .array(z.string().min(1).max(120).describe('The path of an operation.'))
    .describe('Operations that this shop does not offer, such as "/merkle/spec".')
    .exactOptional(),
  aliases: z
    .record(z.string().min(1).max(250), z.array(alias.describe('A word or a few.')).min(1).max(64))
    .describe(
      'Other words that people look for: by the id of a line or a signal, by "line/entity", or by the path of an operation.',
    )
    .exactOptional(),
  abbreviations: z
    .record(abbreviation, alias.describe('The whole word.'))
    .describe('What words in names of entities are short for: "Colorado" by "CO".')
    .exactOptional(),
});

export type CatalogFile = z.infer<typeof catalogFileSchema>;
export type LineRow = z.infer<typeof line>;
export type SignalRow = z.infer<typeof signal>;
export type UnitRow = Readonly<z.infer<typeof unit>>;
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

/** The same as the text of `catalog.schema.json`. */
export function catalogSchemaText(): string {
  return `${JSON.stringify(catalogJsonSchema(), null, 2)}\n`;
}

type SchemaIssue = z.core.$ZodIssue;

/** An entity is a text or an object: an object is judged as one, so that its own fault is named. */
function leaves(issue: SchemaIssue): SchemaIssue[] {
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
  if (issue.code === 'invalid_key') return issue.issues[0]?.message;
  if (issue.code === 'invalid_union') return NO_ENTITY;
  if (issue.code === 'invalid_value') return unknownWord(issue.input, issue.values);
  if (issue.code === 'invalid_type') return otherType(issue.input, issue.expected);
  if (issue.code === 'too_small') return outside(issue, `at least ${issue.minimum}`);
  if (issue.code === 'too_big') return outside(issue, `at most ${issue.maximum}`);
  return undefined;
}

const WRITTEN: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  number: 'a number without quotes',
  boolean: 'true or false',
  array: 'a list, [ … ]',
  tuple: 'a list, [ … ]',
  object: 'an object, { … }',
  record: 'an object, { … }',
};

function otherType(input: unknown, expected: string): string {
  if (input === undefined) return 'missing; add it';
  const kind = input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input;
  const found = WRITTEN[kind]?.split(/,| in | without /)[0] ?? kind;
  return `${found}, which it cannot be; write ${WRITTEN[expected] ?? expected}`;
}

const COUNTED: Readonly<Record<string, string>> = { array: ' items', string: ' characters' };

function outside({ origin }: { readonly origin: string }, limit: string): string {
  return `outside of what is allowed; write ${limit}${COUNTED[origin] ?? ''}`;
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
  const advice = known.length === 1 ? `write "${known[0]}"` : `write one of ${known.join(', ')}`;
  if (input === undefined) return `missing; ${advice}`;
  if (typeof input !== 'string') return `not known; ${advice}`;
  return `"${input}" is not known; ${meantOr(input, known, advice)}`;
}

/** `did you mean "…"?` where a known name is near, else what to do instead. */
export function meantOr(name: string, known: readonly string[], advice: string): string {
  const meant = nearest(name, known);
  return meant === null ? advice : `did you mean "${meant}"?`;
}
