import { describedParams } from '../compiler/catalog/route.ts';
import { canonicalTarget } from '../compiler/products/shapes/path.ts';
import { atomicAmount } from '../compiler/products/shapes/price.ts';
import {
  type Endpoint,
  type Params,
  requestForModel,
} from '../compiler/products/shapes/product.ts';

/** What one description says of an operation; a member is left out where its format has no place for it. */
export interface Shown {
  /** Atomic units, '0' for free. */
  readonly price?: string;
  /** `name!` for one that is required, `name` for any other, in order. */
  readonly params?: readonly string[];
  /** Target of the example, without the address. */
  readonly example?: string;
}

/** One description of the service, read back into the words of the table. */
export interface Projection {
  readonly name: string;
  belongs(row: Endpoint): boolean;
  /** By `METHOD path`. */
  readonly shown: ReadonlyMap<string, Shown>;
  /** Whether a model reads it, and sends the examples as they stand. */
  readonly isForModel?: boolean;
}

export const keyOf = ({
  method,
  path,
}: {
  readonly method: string;
  readonly path: string;
}): string => `${method} ${path}`;

/** Everything that a description leaves out, adds, or says otherwise than the table; `examples` are by the same keys. */
export function gaps(
  rows: readonly Endpoint[],
  { name, belongs, shown, isForModel }: Projection,
  examples: ReadonlyMap<string, string>,
): string[] {
  const wanted = new Map(rows.filter(belongs).map((row) => [keyOf(row), row]));
  const extra = [...shown.keys()].filter((key) => !wanted.has(key));
  const found = [...wanted].flatMap(([key, row]) => {
    const reported = shown.get(key);
    if (reported === undefined) return [`${name}: ${key} is missing`];
    const table: Required<Shown> = {
      price: atomicAmount(row.priceUsd ?? '0'),
      params: paramNames(describedParams(row)),
      example:
        isForModel === true
          ? requestForModel(row, examples.get(key) ?? '')
          : (examples.get(key) ?? ''),
    };
    return (Object.keys(reported) as (keyof Shown)[])
      .filter((member) => String(reported[member]) !== String(table[member]))
      .map((member) => `${name}: ${key} has ${member} ${reported[member]}, not ${table[member]}`);
  });
  return [...extra.map((key) => `${name}: ${key} does not belong there`), ...found];
}

/** Parameters as challenges and OpenAPI list them. */
export type Listed = Readonly<Record<string, { readonly required?: boolean }>>;

/** Parameters as `Shown` spells them. */
export function paramNames(params: Params | Listed): string[] {
  return Object.entries(params).map(([name, { required }]) => name + (required ? '!' : ''));
}

interface OpenApiParameter {
  readonly name: string;
  readonly required: boolean;
  readonly example?: string | number;
}
interface OpenApiOperation {
  readonly parameters: readonly OpenApiParameter[];
  readonly 'x-payment-info'?: { readonly price: { readonly amount: string } };
}

/** Operations of an OpenAPI document; `examples` say which parameters belong to the example request. */
export function openApiShown(
  paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>,
  examples: ReadonlyMap<string, string>,
): Map<string, Shown> {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Shown] => {
      const own = path.replace(/\{([a-z_]+)\}$/, ':$1');
      const key = keyOf({ method: method.toUpperCase(), path: own });
      const { parameters } = operation;
      const price = atomicAmount(operation['x-payment-info']?.price.amount ?? '0');
      const params = paramNames(Object.fromEntries(parameters.map((each) => [each.name, each])));
      return [key, { price, params, example: exampleOf(own, parameters, examples.get(key) ?? '') }];
    }),
  );
  return new Map(operations);
}

function exampleOf(path: string, parameters: readonly OpenApiParameter[], asked: string): string {
  const named = new URL(asked, 'http://release').searchParams;
  const slot = parameters.find(({ name }) => path.endsWith(`/:${name}`));
  if (slot !== undefined) return path.replace(`:${slot.name}`, String(slot.example));
  const query = parameters.filter(({ name }) => named.has(name));
  const values = query.map(({ name, example }) => [name, String(example)]);
  return canonicalTarget(path, Object.fromEntries(values));
}

interface Skill {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
}

/** Skills of an agent card. */
export function skillsShown(skills: readonly Skill[], baseUrl: string): Map<string, Shown> {
  return new Map(
    skills.map(({ name, description, examples }) => {
      const price = atomicAmount(/ ([0-9.]+) USD a call/.exec(description)?.[1] ?? '0');
      return [name, { price, example: (examples[0] ?? '').slice(baseUrl.length) }];
    }),
  );
}

/** Lines of `/llms.txt` about operations: `- [path](url): [TAG] summary, 0.01 USD`, without a link for a POST. */
export function llmsShown(text: string, baseUrl: string): Map<string, Shown> {
  const lines = text.split('\n').flatMap((line): (readonly [string, Shown])[] => {
    const price = atomicAmount(/, ([0-9.]+) USD$/.exec(line)?.[1] ?? '0');
    const [, posted] = /^- POST (\/\S*): \[/.exec(line) ?? [];
    if (posted !== undefined) return [[`POST ${posted}`, { price }] as const];
    const [, path, url] = /^- \[(\/[^\]]*)\]\((\S+)\): \[/.exec(line) ?? [];
    if (path === undefined || url === undefined) return [];
    return [[`GET ${path}`, { price, example: url.slice(baseUrl.length) }] as const];
  });
  return new Map(lines);
}
