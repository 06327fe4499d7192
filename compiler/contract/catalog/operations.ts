import { isBasket } from '../basket.ts';
import {
  type Endpoint,
  OTHER_ROWS,
  oneOf,
  type Param,
  SIGNAL_ROWS,
  type TableParam,
  type TablePath,
  type TableRow,
  text,
  thin,
} from '../endpoints.ts';
import { CITY_ADD_ONS, signalPrices } from '../products.ts';
import type { Line } from './line.ts';

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
  const known = (row: TableRow): Endpoint[] => {
    const own = bySignal.get(row.path);
    const made = hasReadings(row, lines) ? operationOf(row, names, prices) : [];
    return own === undefined ? made : made.map((each) => ({ ...each, signalPrices: own }));
  };
  const bundles = lines.flatMap((line) => bundleOperation(line, prices));
  const all = [...SIGNAL_ROWS.flatMap(known), ...bundles, ...OTHER_ROWS.flatMap(known)];
  const kept = all.filter(({ path }) => !leftOut.has(path));
  const priced = kept.filter(({ priceUsd }) => priceUsd !== null).map(({ path }) => path);
  const offered = kept.filter((row) => {
    if (isBasket(row)) return priced.length > 0;
    if (!row.path.endsWith(PREVIEW) || neededFor(row.path) !== null) return true;
    const shown = row.path.slice(0, -PREVIEW.length);
    return priced.some((path) => path === shown || path.startsWith(`${shown}/`));
  });
  const paths = new Set<string>(offered.map(({ path }) => path));
  return offered.filter(({ path }) => paths.has(NEEDS[path as TablePath] ?? path));
}

/** Whether the cities have a signal that the add-on of a city reads; true for every other operation. */
function hasReadings({ path }: TableRow, lines: readonly Line[]): boolean {
  const read = Object.entries(CITY_ADD_ONS).find(([addon]) => path === `/gauge/${addon}`)?.[1];
  if (read === undefined) return true;
  const cities = lines.find(({ id }) => id === CITY_LINE);
  return cities?.signals.some(({ id }) => (read as readonly string[]).includes(id)) === true;
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
  const { paid, ...rest } = row;
  const priceUsd = paid ? priceAt(row.path, prices) : null;
  const params = Object.entries(row.params).map(
    ([name, param]) => [name, offeredForms(paramOf(param, names), prices)] as const,
  );
  // Some rows of the table belong to certain signals only.
  const isKnown = names.shown.signals.has;
  const cannotBeAsked = params.some(([name, { enum: legal }]) => {
    return name === 'signal_id' ? legal?.some(isKnown) === false : legal?.length === 0;
  });
  if (priceUsd === undefined || cannotBeAsked) return [];
  return [{ ...rest, priceUsd, params: Object.fromEntries(params) }];
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

function bundleOperation(line: Line, prices: Prices): Endpoint[] {
  if (line.bundle === undefined) return [];
  const { path, param, legs } = line.bundle;
  const priceUsd = priceAt(path, prices) ?? priceAt(BUNDLE_PRICE, prices);
  if (priceUsd === undefined) return [];
  const { title, entities, entityAliases: aliases, upperCase } = line;
  const open = {
    ...text(`one of the ${title}`, ...entities.slice(0, EXAMPLES_MAX)),
    ...(aliases ? { aliases } : {}),
    ...(upperCase ? { upperCase } : {}),
  };
  const subject = line.open ? open : oneOf(`one of the ${title}`, entities);
  return [
    {
      path,
      method: 'GET',
      priceUsd,
      token: false,
      tag: '[3-LEG]',
      params: { [param]: subject, format: thin },
      answer: 'file',
      file: `bundle/${line.id}/{${param}}.json`,
      summary: `${title}: ${legs.map((leg) => leg.name).join(', then ')}, in causal order`,
    },
  ];
}

// What a shop need not offer. A paid operation is left out by having no price; a catalogue that takes prices over, or that
// has no use for a free operation, names it.

const VERIFY = 'buyers verify by it';
const FIND = 'answers, descriptions and the page lead to it';

const PREVIEW = '/preview';

/** Free operations that every shop offers, and why. */
const NEEDED: Readonly<Partial<Record<TablePath, string>>> = {
  '/gauge/verify': VERIFY,
  '/v/:record_hash': VERIFY,
  '/verify': VERIFY,
  '/proof/:record_hash': VERIFY,
  '/gauge/anchor': VERIFY,
  '/gauge/coverage': FIND,
  '/gauge/catalog': FIND,
  '/gauge/preview': FIND,
  '/gauge/sample': FIND,
  '/gauge/history-preview': FIND,
  '/gauge/channels': FIND,
  '/manifest': FIND,
  '/.well-known/x402': FIND,
  '/.well-known/agent-card.json': FIND,
  '/.well-known/agent.json': FIND,
  '/mcp': FIND,
};

const NEEDS: Readonly<Partial<Record<TablePath, TablePath>>> = {
  '/resolve': '/resolve/preview',
  '/resolve/proposer': '/resolve/preview',
  '/gauge/watch': '/gauge/subscribe',
  '/gauge/watch-changes': '/gauge/subscribe',
  '/gauge/manifest-sweep': '/gauge/subscribe',
};

/** Why an operation cannot be left out, as the predicate of a sentence; null for one that can. */
export function neededFor(path: string): string | null {
  return NEEDED[path as TablePath] ?? null;
}

/** An operation that is offered and cannot be without a path; null where none is. */
export function userOf(path: string, offered: ReadonlySet<string>): string | null {
  const users = Object.entries(NEEDS).filter(
    ([user, other]) => other === path && offered.has(user),
  );
  return users[0]?.[0] ?? null;
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
