import { bundleOf } from '../products/bundle.ts';
import { findProduct, OTHER_PRODUCTS, SIGNAL_PRODUCTS, TABLE } from '../products/products.ts';
import { isBasket } from '../products/shapes/basket.ts';
import type { Line } from '../products/shapes/line.ts';
import type {
  Endpoint,
  Param,
  Params,
  Product,
  TableParam,
  TableRow,
} from '../products/shapes/product.ts';
import { signalPrices } from '../products/signal-products.ts';

/** Decimal USD by the path of an operation. */
type Prices = Readonly<Record<string, string>>;

/** What stands for every bundle that has no price of its own. */
export const BUNDLE_PRICE = 'bundle';

/** The line whose entities are the cities of the city operations. */
const CITY_LINE = 'environment';

interface ShownNames {
  readonly has: (name: string) => boolean;
  readonly first: readonly string[];
}

const EXAMPLES_MAX = 3;

/**
 * The operations of a catalogue in the order of the specification: those of the table that can answer, and a bundle for each
 * line that has one. What costs and has no price is not offered; nor is what takes a value of which there is none, nor the
 * preview of what is not offered.
 */
export function operationsOf(
  lines: readonly Line[],
  { prices, leftOut }: { readonly prices: Prices; readonly leftOut: ReadonlySet<string> },
): readonly Endpoint[] {
  const names = namesOf(lines);
  const bySignal = signalPrices(lines.flatMap(({ signals }) => signals));
  const known = (row: Product): Endpoint[] => {
    const own = bySignal.get(row.path);
    const made = hasReadings(row, lines) ? operationOf(row, names, prices) : [];
    return own === undefined ? made : made.map((each) => ({ ...each, signalPrices: own }));
  };
  const bundles = lines.flatMap((line) => {
    const bundle = bundleOf(line);
    if (bundle === null) return [];
    const priceUsd = priceAt(bundle.path, prices) ?? priceAt(BUNDLE_PRICE, prices);
    return priceUsd === undefined ? [] : [offered(bundle, priceUsd, bundle.params)];
  });
  const all = [...SIGNAL_PRODUCTS.flatMap(known), ...bundles, ...OTHER_PRODUCTS.flatMap(known)];
  const kept = all.filter(({ path }) => !leftOut.has(path));
  const priced = kept.filter(({ priceUsd }) => priceUsd !== null).map(({ path }) => path);
  const chosen = kept.filter((row) => {
    if (isBasket(row)) return priced.length > 0;
    if (!row.path.endsWith(PREVIEW) || neededFor(row.path) !== null) return true;
    const shown = row.path.slice(0, -PREVIEW.length);
    return priced.some((path) => path === shown || path.startsWith(`${shown}/`));
  });
  const paths = new Set<string>(chosen.map(({ path }) => path));
  return chosen.filter(({ path }) => paths.has(findProduct(path)?.beside ?? path));
}

/** Whether the cities have a signal that the add-on of a city reads; true for every other operation. */
function hasReadings({ signals }: Product, lines: readonly Line[]): boolean {
  if (signals === undefined) return true;
  const cities = lines.find(({ id }) => id === CITY_LINE);
  return cities?.signals.some(({ id }) => signals.includes(id)) === true;
}

/** Names of the catalogue that parameters of the table take: the only legal values, and those that examples show. */
function namesOf(lines: readonly Line[]) {
  const signals = lines.flatMap((line) => line.signals.map(({ id }) => id));
  const cities = lines.find(({ id }) => id === CITY_LINE)?.entities ?? [];
  const industries = [...new Set(lines.map(({ industry }) => industry))];
  const first = lines.flatMap(({ industry, entities }) =>
    entities.slice(0, EXAMPLES_MAX).map((entity) => ({ industry, entity })),
  );
  return {
    values: { signals, cities },
    shown: {
      signals: listed(signals),
      measures: listed(lines.flatMap((line) => line.signals.map(({ measures }) => measures))),
      industries: listed(industries),
      entities: {
        has: (name: string) => lines.some(({ entities }) => entities.includes(name)),
        first: first.map(({ entity }) => entity),
      },
      items: {
        has: (name: string) =>
          lines.some(({ industry, entities }) => {
            const isOf = name.startsWith(`${industry}:`);
            return isOf && entities.includes(name.slice(industry.length + 1));
          }),
        first: first.map(({ industry, entity }) => `${industry}:${entity}`),
      },
    },
  };
}

function listed(names: readonly string[]): ShownNames {
  return { has: (name) => names.includes(name), first: names };
}

function operationOf(row: TableRow, names: Names, prices: Prices): Endpoint[] {
  const priceUsd = row.paid ? priceAt(row.path, prices) : null;
  const params = Object.entries(row.params).map(
    ([name, param]) => [name, offeredForms(paramOf(param, names), prices)] as const,
  );
  // Some rows of the table belong to certain signals only.
  const isKnown = names.shown.signals.has;
  const cannotBeAsked = params.some(([name, { enum: legal }]) => {
    return name === 'signal_id' ? legal?.some(isKnown) === false : legal?.length === 0;
  });
  if (priceUsd === undefined || cannotBeAsked) return [];
  return [offered(row, priceUsd, Object.fromEntries(params))];
}

/** A row as a catalogue offers it: what the digest of its tables is taken of, and nothing else of the product. */
function offered(row: TableRow, priceUsd: string | null, params: Params): Endpoint {
  const { path, method, token, tag, answer, file, summary } = row;
  const terms = { path, method, priceUsd, token, tag, params, answer, summary };
  return file === undefined ? terms : { ...terms, file };
}

function priceAt(name: string, prices: Prices): string | undefined {
  return Object.hasOwn(prices, name) ? prices[name] : undefined;
}

/** A parameter with its legal values; an example that is none of them makes room for the first ones. */
function paramOf({ values, shows, ...param }: TableParam, names: Names): Param {
  if (values !== undefined) {
    const legal = names.values[values];
    return { ...param, examples: shownExamples(param.examples, listed(legal)), enum: legal };
  }
  if (shows === undefined) return param;
  return { ...param, examples: shownExamples(param.examples, names.shown[shows]) };
}

function shownExamples(examples: readonly string[], { has, first }: ShownNames): readonly string[] {
  const known = examples.filter(has);
  return known.length > 0 ? known : first.slice(0, EXAMPLES_MAX);
}

/** A parameter without the values that lead to an operation which is not offered: they must not be answered by another. */
function offeredForms(param: Param, prices: Prices): Param {
  const { redirect, enum: values = [] } = param;
  if (redirect === undefined) return param;
  const isOffered = (value: string): boolean => {
    const path = redirect[value];
    return path === undefined || priceAt(path, prices) !== undefined;
  };
  return {
    ...param,
    examples: param.examples.filter(isOffered),
    enum: values.filter(isOffered),
    redirect: Object.fromEntries(Object.entries(redirect).filter(([value]) => isOffered(value))),
  };
}

type Names = ReturnType<typeof namesOf>;

// What a shop need not offer. A paid operation is left out by having no price; a catalogue that takes prices over, or that
// has no use for a free operation, names it.

const PREVIEW = '/preview';

/** Why an operation cannot be left out, as the predicate of a sentence; null for one that can. */
export function neededFor(path: string): string | null {
  return findProduct(path)?.needed ?? null;
}

/** An operation that is offered and cannot be without a path; null where none is. */
export function userOf(path: string, offered: ReadonlySet<string>): string | null {
  const user = TABLE.find(
    (product: Product) => product.beside === path && offered.has(product.path),
  );
  return user?.path ?? null;
}

/** Where the files of operations lie. */
export interface OperationFolders {
  /** Operations by the first segment of their file. */
  readonly byFolder: ReadonlyMap<string, readonly Endpoint[]>;
  /** Folders of other compiled forms, like `thin`. */
  readonly variants: ReadonlySet<string>;
}

export function operationFolders(operations: readonly Endpoint[]): OperationFolders {
  const byFolder = new Map<string, Endpoint[]>();
  const variants = new Set<string>();
  for (const endpoint of operations) {
    const folder = endpoint.file?.split('/', 1)[0];
    if (folder !== undefined) byFolder.set(folder, [...(byFolder.get(folder) ?? []), endpoint]);
    for (const param of Object.values(endpoint.params)) {
      for (const variant of Object.values(param.variant ?? {})) variants.add(variant);
    }
  }
  return { byFolder, variants };
}

/** Most tags that directories of x402 keep of a listing, and how long one may be. */
const TAGS_MAX = 5;
const TAG = /^[\x20-\x7e]{1,32}$/;

/** As much of the words of an operation as a directory keeps. */
export function tagsOf(subjects: readonly string[]): readonly string[] {
  return subjects.filter((word) => TAG.test(word)).slice(0, TAGS_MAX);
}
