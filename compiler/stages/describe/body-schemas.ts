import { z } from 'zod';
import { bodySchemaOf, variantSchemaOf } from '../../contract/bodies.ts';
import type { Catalog } from '../../contract/catalog/catalog.ts';
import { defined } from '../../contract/defined.ts';
import type { Endpoint, Param } from '../../contract/endpoints.ts';

/** JSON Schemas of bodies: one component for each schema, however many operations share it. */
export interface BodySchemas {
  readonly components: Readonly<Record<string, object>>;
  /** Name of the component that an operation's plain 200 body meets; null where none is declared. */
  nameOf(endpoint: Endpoint): string | null;
  /** Components of every form that the parameters of an operation can choose, the plain one first; each 200 meets one. */
  namesOf(endpoint: Endpoint): readonly string[];
}

/** The schemas that some operations answer with. */
export function bodySchemas(rows: readonly Endpoint[], { operationByPath }: Catalog): BodySchemas {
  const names = new Map<z.ZodType, string>();
  const components: Record<string, object> = {};
  const allForms = (row: Endpoint): BodyForm[] => [
    ...ownForms(row),
    ...redirects(row)
      .flatMap((path) => operationByPath.get(path) ?? [])
      .flatMap(plainForms),
  ];
  for (const { schema, name } of rows.flatMap(allForms)) {
    if (names.has(schema)) continue;
    names.set(schema, name);
    components[name] = loose(jsonSchemaOf(schema)) as object;
  }
  const named = ({ schema }: BodyForm): string =>
    defined(names.get(schema), 'the name of the schema');
  return {
    components,
    nameOf: (endpoint) => plainForms(endpoint).map(named)[0] ?? null,
    namesOf: (endpoint) => [...new Set(allForms(endpoint).map(named))],
  };
}

interface BodyForm {
  readonly schema: z.ZodType;
  readonly name: string;
}

const paramsOf = ({ params }: Endpoint): readonly Param[] => Object.values(params);

function plainForms(row: Endpoint): BodyForm[] {
  const schema = bodySchemaOf(row);
  return schema === null ? [] : [{ schema, name: componentName(row.path) }];
}

function ownForms(row: Endpoint): BodyForm[] {
  const variants = paramsOf(row).flatMap(({ variant = {} }) => Object.values(variant));
  const chosen = variants.flatMap((variant) => {
    const schema = variantSchemaOf(row, variant);
    return schema === null ? [] : [{ schema, name: componentName(`${row.path}/${variant}`) }];
  });
  return [...plainForms(row), ...chosen];
}

/** A parameter may also ask for another operation, which answers with forms of its own. */
function redirects(row: Endpoint): string[] {
  return paramsOf(row).flatMap(({ redirect = {} }) => Object.values(redirect));
}

/** Named after the first operation that answers with it: `/gauge/history-series` is `GaugeHistorySeries`. */
function componentName(path: string): string {
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Clients must not break when a member is added: what is strict inside is open in the description. */
function loose(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(loose);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => !(name === 'additionalProperties' && member === false),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, loose(member)]));
}

/** A schema never changes, and many operations share one. */
const known = new WeakMap<z.ZodType, object>();

/** The JSON Schema of what a body may be, without the name of its dialect. */
export function jsonSchemaOf(schema: z.ZodType): object {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  known.set(schema, rest);
  return rest;
}
