import {
  type Endpoint,
  OTHER_ROWS,
  oneOf,
  type Param,
  SIGNAL_ROWS,
  type TableParam,
  type TableRow,
  text,
  thin,
} from '../endpoints.ts';
import type { Line } from './line.ts';

/** Decimal USD by the path of an operation. */
export type Prices = Readonly<Record<string, string>>;

/** What stands for every bundle that has no price of its own. */
export const BUNDLE_PRICE = 'bundle';

/** The line whose entities are the cities of the city operations. */
const CITY_LINE = 'environment';

/** Legal values that parameters of the table take from the catalogue. */
type Values = Readonly<Record<NonNullable<TableParam['values']>, readonly string[]>>;

/**
 * The operations of a catalogue in the order of the specification: those of the table that can answer, and a bundle for each
 * line that has one. What costs and has no price is not offered; nor is what takes a value of which there is none.
 */
export function operationsOf(lines: readonly Line[], prices: Prices): readonly Endpoint[] {
  const values = {
    signals: lines.flatMap(({ signals }) => signals.map(({ id }) => id)),
    cities: lines.find(({ id }) => id === CITY_LINE)?.entities ?? [],
  };
  const known = (row: TableRow): Endpoint[] => operationOf(row, values, prices);
  const bundles = lines.flatMap((line) => bundleOperation(line, prices));
  return [...SIGNAL_ROWS.flatMap(known), ...bundles, ...OTHER_ROWS.flatMap(known)];
}

function operationOf(row: TableRow, values: Values, prices: Prices): Endpoint[] {
  const { paid, ...rest } = row;
  const priceUsd = paid ? priceAt(row.path, prices) : null;
  const params = Object.entries(row.params).map(
    ([name, param]) => [name, paramOf(param, values)] as const,
  );
  const cannotBeAsked = params.some(([, param]) => param.enum?.length === 0);
  if (priceUsd === undefined || cannotBeAsked) return [];
  return [{ ...rest, priceUsd, params: Object.fromEntries(params) }];
}

function priceAt(name: string, prices: Prices): string | undefined {
  return Object.hasOwn(prices, name) ? prices[name] : undefined;
}

/** A parameter with its legal values; an example that is none of them makes room for the first ones. */
function paramOf({ values: list, ...param }: TableParam, values: Values): Param {
  if (list === undefined) return param;
  const legal = values[list];
  const examples = param.examples.filter((example) => legal.includes(example));
  return { ...param, examples: examples.length > 0 ? examples : legal.slice(0, 3), enum: legal };
}

/** The bundle of a line; its values, legs and file follow from the line. */
function bundleOperation(line: Line, prices: Prices): Endpoint[] {
  if (line.bundle === undefined) return [];
  const { path, param, legs } = line.bundle;
  const priceUsd = priceAt(path, prices) ?? priceAt(BUNDLE_PRICE, prices);
  if (priceUsd === undefined) return [];
  const subject = line.open ? openEntity(line) : oneOf(`one of the ${line.title}`, line.entities);
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
      summary: `${line.title}: ${legs.map((leg) => leg.name).join(', then ')}, in causal order`,
    },
  ];
}

function openEntity({ title, entities, entityAliases, upperCase }: Line): Param {
  return {
    ...text(`one of the ${title}`, ...entities.slice(0, 3)),
    ...(entityAliases ? { aliases: entityAliases } : {}),
    ...(upperCase ? { upperCase: true } : {}),
  };
}
