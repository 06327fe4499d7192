import type { Catalog } from '../catalog/catalog.ts';
import { describedParams } from '../catalog/route.ts';
import { NAMED_FILES } from '../catalog/static-files.ts';
import { defined } from '../format/errors.ts';
import { isObject } from '../format/strict-json.ts';
import { basketRange, isBasket } from '../products/shapes/basket.ts';
import { atomicAmount, priceBySignal } from '../products/shapes/price.ts';
import type { Endpoint, Params } from '../products/shapes/product.ts';
import { needsTokens } from '../products/signal-products.ts';
import {
  type ExampleBody,
  exampleBodies,
  exampleValues,
  releaseExamples,
  requestText,
  type Shelf,
  storedBodies,
} from './examples.ts';
import { subjectsOf } from './subjects.ts';

/** One operation as `/manifest` describes it. */
export interface ManifestEntry {
  readonly path: string;
  readonly method: string;
  readonly price_usd: string;
  readonly price_atomic: string;
  /** Decimal USD of the signals that cost something else, '0' for free. */
  readonly price_by_signal?: Readonly<Record<string, string>>;
  /** Decimal USD of the cheapest and the dearest basket, whose price is the sum of what is in it. */
  readonly price_range_usd?: { readonly min: string; readonly max: string };
  readonly description: string;
  /** What it is about, of what costs: words that people search a directory by. */
  readonly subjects?: readonly string[];
  readonly input_required: readonly string[];
  /** Answers 402 or 200 on this very release; without a query where nothing is stored for the operation. */
  readonly input_example_request: string;
  readonly params: Params;
  readonly returns: string;
  /** Main members of an answer, of what costs. */
  readonly output_example?: object;
  readonly sells_now: boolean;
}

/** What a release holds and how it answers: the source of every description. */
export interface Described {
  /** Every operation that is offered, stored or not, in the order of the catalogue. */
  readonly entries: readonly ManifestEntry[];
  /** Example answers by path. */
  readonly bodies: ReadonlyMap<string, ExampleBody>;
}

/** Looks at everything that is stored, once for all descriptions. */
export function described(shelf: Shelf, catalog: Catalog, subscriptions: boolean): Described {
  const stored = storedBodies(shelf);
  const examples = releaseExamples(shelf);
  const bodies = exampleBodies(stored, catalog);
  const has = (signalId: string): boolean => {
    for (const _ of shelf.under(`record/${signalId}/`)) return true;
    return false;
  };
  const rows = catalog.operations.filter(
    (row) => row.answer !== 'gone' && (subscriptions || !needsTokens(row)),
  );
  const entries = rows.map((row) => {
    const values = exampleValues(row, { stored, examples, catalog });
    const entry = { ...entryOf(row, values, bodies.get(row.path)), ...range(row, catalog) };
    const subjects = row.priceUsd === null ? [] : subjectsOf(row, { catalog, has });
    return subjects.length === 0 ? entry : { ...entry, subjects };
  });
  return { entries, bodies };
}

function entryOf(
  row: Endpoint,
  values: ReturnType<typeof exampleValues>,
  body: ExampleBody | undefined,
): ManifestEntry {
  const price = row.priceUsd ?? '0';
  const bySignal = priceBySignal(row);
  return {
    path: row.path,
    method: row.method,
    price_usd: price,
    price_atomic: atomicAmount(price),
    ...(bySignal === null ? {} : { price_by_signal: bySignal }),
    description: `${row.tag} ${row.summary}`,
    input_required: Object.keys(row.params).filter((name) => row.params[name]?.required),
    input_example_request: requestText(row, values ?? {}),
    params: describedParams(row),
    returns: 'application/json',
    ...(row.priceUsd === null || body === undefined ? {} : { output_example: outline(body.value) }),
    sells_now: values !== null,
  };
}

/** The price of what has none of its own: a basket costs the sum of what is in it. */
function range(row: Endpoint, { operations }: Catalog): Pick<ManifestEntry, 'price_range_usd'> {
  return isBasket(row) ? { price_range_usd: basketRange(operations) } : {};
}

export function rowOf({ path }: ManifestEntry, { operationByPath }: Catalog): Endpoint {
  return defined(operationByPath.get(path), `the operation "${path}"`);
}

/** The operations that can answer now: every description except `/manifest?all=1` names only these. */
export function forSale(entries: readonly ManifestEntry[]): ManifestEntry[] {
  return entries.filter((entry) => entry.sells_now);
}

const NOTE =
  'sells_now is false where nothing is stored at present; all=1 lists those too, with an example of each answer';

/** What an agent chooses and asks by: an example of each answer would be half of the list. */
export function withoutExamples(entries: readonly ManifestEntry[]): ManifestEntry[] {
  return entries.map(({ output_example, ...entry }) => entry);
}

/** The body of `/manifest`: what can be asked for now, or everything. */
export function manifestBody(entries: readonly ManifestEntry[]): object {
  return { x402Version: 1, count: entries.length, note: NOTE, entries, files: NAMED_FILES };
}

/** Members that say how a body was made; a buyer decides by the others. */
const LEFT_OUT: readonly string[] = [
  '_citation',
  'provenance',
  'decision_points',
  'record_hash_verifiable',
  'update_status',
  'previous',
  'change',
  'trend_7d',
  'sources',
  'summary_en',
  'summary_zh',
  'coverage',
  'evidence',
  'columns',
  'retained',
];
/** Members that every buyer looks for: they are shown however long the others are. */
const FIRST: readonly string[] = ['current', 'record_hash'];
/** Characters of JSON that one member may have, and all of them together. */
const MEMBER_CHARS_MAX = 520;
const OUTLINE_CHARS_MAX = 1200;

/**
 * The main members of an example body, short enough for a challenge and its header. Lists are cut to their first item,
 * and an object that is still too long to its first member; no value is changed.
 */
export function outline(body: object): Readonly<Record<string, unknown>> {
  const short = Object.entries(body)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, value]) => [name, fitting(shortened(value))] as const);
  const kept = new Set(namesThatFit(short));
  return Object.fromEntries(short.filter(([name]) => kept.has(name)));
}

/** Names of members as far as there is room: first those that go first, then the others in their order. */
function namesThatFit(members: readonly (readonly [string, unknown])[]): string[] {
  const rank = (name: string): number => (FIRST.includes(name) ? 0 : 1);
  let room = OUTLINE_CHARS_MAX;
  return members
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .flatMap(([name, value]) => {
      const chars = JSON.stringify(value).length + name.length;
      if (chars > Math.min(room, MEMBER_CHARS_MAX)) return [];
      room -= chars;
      return [name];
    });
}

function fitting(value: unknown): unknown {
  if (JSON.stringify(value).length <= MEMBER_CHARS_MAX || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).slice(0, 1));
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shortened);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => !LEFT_OUT.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, shortened(member)]));
}
