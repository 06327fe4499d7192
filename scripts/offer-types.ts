import type { Catalog } from '../compiler/catalog/catalog.ts';
import { bodySchemas } from '../compiler/describe/body-schemas.ts';
import { TABLE } from '../compiler/products/products.ts';
import { takenParams } from '../compiler/products/shapes/product.ts';

/** The types of `compiler/client/offers.ts`, written out: what each path takes, and the JSON Schema of its body as a type. */
export function offerTypes(catalog: Catalog): string {
  const rows = catalog.operations;
  const sold = rows.filter(({ priceUsd, method }) => priceUsd !== null && method === 'GET');
  const isTerm = new Set<string>(TABLE.filter((row) => 'term' in row).map(({ path }) => path));
  const free = rows.filter(({ priceUsd, path }) => priceUsd === null || isTerm.has(path));
  const { components, nameOf } = bodySchemas(sold, catalog);
  const types = Object.entries(components).map(([name, node]) => `type ${name} = ${typeOf(node)};`);
  const bodies = sold.map((row) => {
    const body = nameOf(row) ?? 'JsonValue';
    return `${quoted(row.path)}: ${row.answer === 'series' ? `${body} | null` : body};`;
  });
  const params = rows.map((row) => `${quoted(row.path)}: ${union(Object.keys(takenParams(row)))};`);
  return `
type JsonValue = null | boolean | number | string | JsonValue[] | { readonly [name: string]: JsonValue };
${types.join('\n')}
/** The body of each path in its usual form. */
interface SoldBodies { ${bodies.join(' ')} }
interface Params { ${params.join(' ')} }
type BundlePath = \`/gauge/\${string}-region\`;
export type SoldPath = keyof SoldBodies | BundlePath;
export type FreePath = ${union(free.map(({ path }) => path))};
export type SoldBody<Path extends SoldPath> = Path extends keyof SoldBodies ? SoldBodies[Path] : JsonValue;
export type CallParams<Path extends string> = Readonly<Partial<Record<Path extends keyof Params ? Params[Path] : string, string | number | undefined>>>;
export interface Found {
  readonly id: string;
  readonly title: string;
  readonly answers: string;
  readonly price_usd: string | null;
  readonly request: string;
  readonly open?: readonly string[];
}
`;
}

const quoted = (text: unknown): string => JSON.stringify(text);
const union = (names: readonly string[]): string =>
  names.length === 0 ? 'never' : names.map(quoted).join(' | ');

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '');
  if ('const' in schema) return quoted(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(quoted).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return either.map((one) => `(${typeOf(one)})`).join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'JsonValue' : types.map((type) => named(type, schema)).join(' | ');
}

function named(type: string, schema: Schema): string {
  const { properties = {}, required = [], additionalProperties, items, prefixItems } = schema;
  if (type === 'integer') return 'number';
  if (type === 'array') {
    if (prefixItems !== undefined) return `readonly [${prefixItems.map(typeOf).join(', ')}]`;
    return `readonly (${items === undefined ? 'JsonValue' : typeOf(items)})[]`;
  }
  if (type !== 'object') return type;
  const own = Object.entries(properties).map(
    ([name, one]) =>
      `readonly ${quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(one)};`,
  );
  if (own.length > 0) return `{ ${own.join(' ')} }`;
  const other =
    typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'JsonValue';
  return `{ readonly [name: string]: ${other} }`;
}
