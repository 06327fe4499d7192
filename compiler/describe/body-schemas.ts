import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { citationSchema } from '../format/citation.ts';
import { defined } from '../format/errors.ts';
import { formOf } from '../products/products.ts';
import { factSchema } from '../products/shapes/fact.ts';
import type { Endpoint, Param } from '../products/shapes/product.ts';
import { RECORD_PARTS } from '../products/shapes/record.ts';
import { filingRowSchema } from '../products/shapes/resolve-bodies.ts';

/** JSON Schemas of bodies: one component for each schema, however many operations share it. */
export interface BodySchemas {
  readonly components: Readonly<Record<string, object>>;
  /** Name of the component that an operation's plain 200 body meets; null where none is declared. */
  nameOf(endpoint: Endpoint): string | null;
  /** Components of every form that the parameters of an operation can choose, the plain one first; each 200 meets one. */
  namesOf(endpoint: Endpoint): readonly string[];
}

/** The schemas that some operations answer with, and the parts that several of them share. */
export function bodySchemas(rows: readonly Endpoint[], catalog: Catalog): BodySchemas {
  const { operationByPath } = catalog;
  const names = new Map<z.ZodType, string>();
  const allForms = (row: Endpoint): BodyForm[] => [
    ...ownForms(row),
    ...redirects(row)
      .flatMap((path) => operationByPath.get(path) ?? [])
      .flatMap(plainForms),
  ];
  for (const { schema, name } of rows.flatMap(allForms)) {
    if (!names.has(schema)) names.set(schema, name);
  }
  const named = ({ schema }: BodyForm): string =>
    defined(names.get(schema), 'the name of the schema');
  return {
    components: componentsOf(names),
    nameOf: (endpoint) => plainForms(endpoint).map(named)[0] ?? null,
    namesOf: (endpoint) => [...new Set(allForms(endpoint).map(named))],
  };
}

const SCHEMA_POINTER = '#/components/schemas/';

function componentsOf(names: ReadonlyMap<z.ZodType, string>): Record<string, object> {
  const all = schemasNamed(names);
  const used = withReferred([...names.values()], all);
  return Object.fromEntries([...all].filter(([name]) => used.has(name)));
}

/** Wherever one schema holds another, or a shared part, it refers to that. */
function schemasNamed(names: ReadonlyMap<z.ZodType, string>): ReadonlyMap<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of [...names, ...SHARED]) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...JSON_SCHEMA,
    uri: (id) => SCHEMA_POINTER + id,
  });
  return new Map(Object.entries(schemas).map(([name, schema]) => [name, component(schema)]));
}

function component({ $schema, $id, ...schema }: Readonly<Record<string, unknown>>): object {
  return loose(schema) as object;
}

/** Names of schemas, and of those that they refer to. */
function withReferred(
  names: readonly string[],
  all: ReadonlyMap<string, object>,
): ReadonlySet<string> {
  const found = new Set(names);
  for (const name of found) {
    const text = JSON.stringify(defined(all.get(name), `the schema "${name}"`));
    for (const [, other] of text.matchAll(REFERENCE)) found.add(defined(other, 'a name'));
  }
  return found;
}

const REFERENCE = /"#\/components\/schemas\/([A-Za-z0-9]+)"/g;

/** Parts of bodies, by the name that the document gives them. */
const SHARED: readonly (readonly [z.ZodType, string])[] = [
  ...Object.entries(RECORD_PARTS).map(([name, schema]) => [schema, name] as const),
  [citationSchema, 'Citation'],
  [filingRowSchema, 'FilingRow'],
];

interface BodyForm {
  readonly schema: z.ZodType;
  readonly name: string;
}

const paramsOf = ({ params }: Endpoint): readonly Param[] => Object.values(params);

function plainForms(row: Endpoint): BodyForm[] {
  const schema = formOf(row)?.body;
  return schema === undefined ? [] : [{ schema, name: componentName(row.path) }];
}

function ownForms(row: Endpoint): BodyForm[] {
  const variants = paramsOf(row).flatMap(({ variant = {} }) => Object.values(variant));
  const chosen = variants.flatMap((variant) => {
    const schema = formOf(row, variant)?.body;
    return schema === undefined ? [] : [{ schema, name: componentName(`${row.path}/${variant}`) }];
  });
  const isShown = paramsOf(row).some(({ fact }) => fact !== undefined);
  return [
    ...plainForms(row),
    ...chosen,
    ...(isShown ? [{ schema: factSchema, name: 'Fact' }] : []),
  ];
}

/** A parameter may also ask for another operation, which answers with forms of its own. */
function redirects(row: Endpoint): string[] {
  return paramsOf(row).flatMap(({ redirect = {} }) => Object.values(redirect));
}

/** Named after the first operation that answers with it: `/gauge/history-series` is `GaugeHistorySeries`. */
export function componentName(path: string): string {
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/**
 * Clients must not break when a member is added: what is strict inside is open in the description. What says nothing is
 * left out: the pattern of a format, the bound of every integer of JSON, and examples, which a whole body shows better.
 */
function loose(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(loose);
  if (typeof value !== 'object' || value === null) return value;
  const hasFormat = 'format' in value;
  const members = Object.entries(value).filter(([name, member]) => {
    if (name === 'additionalProperties') return member !== false;
    if (name === 'maximum') return member !== Number.MAX_SAFE_INTEGER;
    if (name === 'examples') return !Array.isArray(member);
    return !(name === 'pattern' && hasFormat);
  });
  return Object.fromEntries(members.map(([name, member]) => [name, loose(member)]));
}

/** How bodies are written as JSON Schema: what may be sent, and nothing of what only a program can say. */
export const JSON_SCHEMA = { io: 'input', unrepresentable: 'any' } as const;
