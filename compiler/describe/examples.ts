import type { Catalog } from '../catalog/catalog.ts';
import { defined } from '../format/errors.ts';
import { CATALOG_PATH, type CatalogRow, parseCatalogRow } from '../format/release.ts';
import { isObject } from '../format/strict-json.ts';
import { RECORD_VIEWS } from '../products/record-products.ts';
import { canonicalTarget, filePath, parseFilePath, type Values } from '../products/shapes/path.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import { knownName } from '../products/shapes/reading-text.ts';
import type { SignalRecord } from '../products/shapes/record.ts';
import { addOnOf } from '../products/shapes/record-views.ts';
import { inventedBodies } from './invented-body.ts';

/** Real values for the operations whose answer is computed when it is asked for. */
interface ExampleValues {
  /** A latest reading of the release; null for a release without readings. */
  readonly reading: CatalogRow | null;
}

const NO_HASH = `sha256:${'0'.repeat(64)}`;

export function releaseExamples({ has, read }: Shelf): ExampleValues {
  if (!has(CATALOG_PATH)) return { reading: null };
  const text = new TextDecoder().decode(read(CATALOG_PATH));
  const end = text.indexOf('\n');
  return { reading: end < 0 ? null : parseCatalogRow(text.slice(0, end)) };
}

/** Parameter values of a request that this release answers; null where nothing is stored for the operation. */
export function exampleValues(
  row: Endpoint,
  {
    stored,
    examples,
    catalog,
  }: { stored: ReleaseBodies; examples: ExampleValues; catalog: Catalog },
): Values | null {
  if (isDescriptionFile(row)) return {};
  if (row.file !== undefined) {
    return stored.of(row)?.values ?? null;
  }
  switch (row.answer) {
    case 'verify':
    case 'proof': {
      const hash = examples.reading?.record_hash ?? NO_HASH;
      return Object.fromEntries(Object.keys(row.params).map((name) => [name, hash]));
    }
    case 'watch':
      return row.params.items === undefined ? {} : watchValues(examples, catalog);
    case 'resolve':
      return resolveValues(row, stored);
    case 'search':
      return { q: searchQuestion(examples, catalog) };
    default:
      return {};
  }
}

function watchValues({ reading }: ExampleValues, { entryById }: Catalog): Values | null {
  if (reading === null) return null;
  const { line } = defined(entryById.get(reading.signal_id), 'the line of the signal');
  return { items: `${line.industry}:${reading.entity}` };
}

/** A question that this release answers. */
function searchQuestion({ reading }: ExampleValues, { entryById }: Catalog): string {
  if (reading === null) return 'sample';
  const entry = defined(entryById.get(reading.signal_id), 'the row of the signal');
  return `${entry.signal.measures} ${knownName(entry, reading.entity) ?? reading.entity}`;
}

const RESOLVE_PREVIEW = 'free/preview/resolve.json';

/** The preview of the stored filings names one that answers. */
function resolveValues(row: Endpoint, stored: ReleaseBodies): Values | null {
  const preview = stored.find(RESOLVE_PREVIEW);
  const request = isObject(preview) ? preview.example_request : undefined;
  if (typeof request !== 'string') return null;
  const query = new URL(request, 'http://release').searchParams;
  const named = Object.keys(row.params).flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(named);
}

/** One stored answer of an operation: the values that ask for it and the file that holds it. */
interface StoredAnswer {
  readonly values: Values;
  readonly path: string;
}

/** What a release holds, asked by operation. */
interface ReleaseBodies {
  /** The answer to the examples of the table where it is stored, else the first in path order; null for none. */
  of(endpoint: Endpoint): StoredAnswer | null;
  read(path: string): unknown;
  /** As read, undefined for a path that the release does not hold. */
  find(path: string): unknown;
  /** Paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** What is described, by path. */
export interface Shelf {
  readonly has: (path: string) => boolean;
  /** Paths that begin with a prefix, in order. */
  readonly under: (prefix: string) => Iterable<string>;
  readonly read: (path: string) => Uint8Array;
}

export function storedBodies({ has, under, read }: Shelf): ReleaseBodies {
  const bodies = new Map<string, unknown>();
  const parsed = (path: string): unknown => {
    if (!bodies.has(path)) bodies.set(path, JSON.parse(new TextDecoder().decode(read(path))));
    return bodies.get(path);
  };
  return {
    of: (endpoint) => exampleOf(endpoint, has) ?? firstOf(endpoint, under),
    read: parsed,
    find: (path) => (has(path) ? parsed(path) : undefined),
    under,
  };
}

/** The table's own example of every parameter that the file is named by. */
function exampleOf(endpoint: Endpoint, has: Shelf['has']): StoredAnswer | null {
  const values: Record<string, string> = {};
  for (const [name, param] of Object.entries(endpoint.params)) {
    const [example] = param.examples;
    if (endpoint.file?.includes(`{${name}}`) === true && example !== undefined)
      values[name] = example;
  }
  const path = filePath(endpoint, values);
  return path !== null && has(path) ? { values, path } : null;
}

function firstOf(endpoint: Endpoint, under: Shelf['under']): StoredAnswer | null {
  const { file } = endpoint;
  if (file === undefined) return null;
  for (const path of under(file.slice(0, file.search(/\{|$/)))) {
    const values = parseFilePath(endpoint, path);
    if (values !== null) return { values, path };
  }
  return null;
}

/** Files of every release that are written after what they describe. */
function isDescriptionFile({ file }: Endpoint): boolean {
  return file?.startsWith('well-known/') === true;
}

/** The target that asks an operation for these values, in its one spelling. */
export function requestText({ path }: Endpoint, values: Values): string {
  const slot = /\/:([a-z_]+)$/.exec(path)?.[1];
  if (slot === undefined) return canonicalTarget(path, values);
  const value = values[slot];
  if (value === undefined) throw new RangeError(`Cannot ask "${path}": no value for "${slot}"`);
  return path.replace(`:${slot}`, value);
}

/** What an operation answers, as every description shows it. */
export interface ExampleBody {
  readonly value: object;
  /** Where the value comes from: a free answer of this release, or nowhere. */
  readonly isInvented: boolean;
}

/** Longest free answer that is shown as it is; descriptions stay well under a megabyte. */
const SHOWN_CHARS_MAX = 12_000;

/**
 * One example by path for each operation whose body has a schema: what the release gives away anyway, else an invented one. Nothing that is sold is ever
 * shown, not even without its figures.
 */
export function exampleBodies(
  stored: ReleaseBodies,
  catalog: Catalog,
): ReadonlyMap<string, ExampleBody> {
  // Every member stands in a free sample; the add-ons lack the citation, which is what a purchase adds.
  const samples: SampleAnswers = Object.assign(
    {},
    ...sampleRecords(stored).map(answersAbout).reverse(),
  );
  const inventedBody = inventedBodies(catalog);
  const found = catalog.operations.flatMap((row): [string, ExampleBody][] => {
    const real = freeAnswer(row, stored) ?? samples[row.path];
    const value = real ?? inventedBody(row);
    return value === null ? [] : [[row.path, { value, isInvented: real === undefined }]];
  });
  return new Map(found);
}

/** The usual sample, and the first one of a subject that has a life cycle. */
function sampleRecords(stored: ReleaseBodies): SignalRecord[] {
  const paths = [...stored.under('free/sample/')];
  const usual = paths.find((path) => path === 'free/sample/~.json');
  const living = paths.find((path) => path.endsWith('.lifecycle.json'));
  return [usual, living].flatMap((path) => {
    const body = path === undefined ? null : (stored.read(path) as { sample?: SignalRecord });
    return body?.sample === undefined ? [] : [body.sample];
  });
}

/** What a free operation answers from a file; undefined for any other, and for one too long to be shown. */
function freeAnswer(row: Endpoint, stored: ReleaseBodies): object | undefined {
  const isGiven = row.priceUsd === null && !row.token && !isDescriptionFile(row);
  if (!isGiven || (row.answer !== 'file' && row.answer !== 'search')) return undefined;
  const path = stored.of(row)?.path;
  const value = path === undefined ? null : stored.read(path);
  const isShown = value !== null && JSON.stringify(value).length <= SHOWN_CHARS_MAX;
  return isShown ? (value as object) : undefined;
}

/** What the free sample record says already, by the operation that sells it: real answers that give nothing away. */
type SampleAnswers = Readonly<Record<string, object>>;

function answersAbout(record: SignalRecord): SampleAnswers {
  const { lifecycle } = record;
  const views = RECORD_VIEWS.flatMap(({ product, form, ofRecord }) => {
    const isSold = form === '' && product.paid;
    const body = isSold ? ofRecord(record, { percentile_table: null }) : null;
    return body === null ? [] : [[product.path, body] as const];
  });
  const subject = lifecycle && addOnOf(record, 'lifecycle', { lifecycle });
  return { ...Object.fromEntries(views), ...(subject && { '/gauge/lifecycle': subject }) };
}
