import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { defined } from '../format/errors.ts';
import { findProduct, formOf } from '../products/products.ts';
import { legMember } from '../products/shapes/line.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import { JSON_SCHEMA } from './body-schemas.ts';

/** The words of JSON Schema that zod writes. */
interface Node {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly prefixItems?: readonly Node[];
  readonly format?: string;
  readonly minimum?: number;
  readonly examples?: readonly unknown[];
}
/** What zod wrote of a schema, which never changes. */
const nodes = new WeakMap<z.ZodType, Node>();
type InventedMembers = Readonly<Record<string, unknown>>;

/**
 * A complete, invented body of each operation, by its row: null where no schema is declared. It is made from the schema and
 * its examples alone, so no example can give away what is sold; of the catalogue it has the signals, and the legs of bundles.
 */
export function inventedBodies(catalog: Catalog): (row: Endpoint) => object | null {
  return (row) => {
    const schema = formOf(row)?.body;
    if (schema === undefined) return null;
    const node = nodes.get(schema) ?? (z.toJSONSchema(schema, JSON_SCHEMA) as Node);
    nodes.set(schema, node);
    return invented('', node, ownValues(row, node, catalog)) as object;
  };
}

/** What depends on the catalogue and on the operation, by member name, where the schema has no example of it. */
function ownValues(
  { path, params }: Endpoint,
  { properties = {} }: Node,
  catalog: Catalog,
): InventedMembers {
  const word = path.slice(path.lastIndexOf('/') + 1);
  const subject = params.loc === undefined ? { entity: ENTITY } : { location: ENTITY };
  const own = {
    ...subjectOf(catalog, findProduct(path)?.signals),
    ...subject,
    dim: word,
    addon: word,
    operation: path,
  };
  const { bundle } = catalog.lines.find((line) => line.bundle?.path === path) ?? {};
  const leg = properties.legs?.additionalProperties;
  if (bundle === undefined || typeof leg !== 'object') return own;
  const legs = bundle.legs.flatMap(({ name, signals }, at) =>
    signals.map((id) => {
      const values = { ...own, ...readingOf(id, catalog), leg: name, position: at + 1 };
      return [legMember(id), invented('', leg, values)];
    }),
  );
  return { ...own, legs: Object.fromEntries(legs) };
}

const ENTITY = 'example-city';

/** The signal that examples name: one of those that the operation reads, the usual one, or the first of the catalogue. */
function subjectOf(catalog: Catalog, read: readonly string[] = []): InventedMembers {
  const { entryById } = catalog;
  const [first] = entryById.keys();
  const id = [...read, 'airquality.aqi'].find((one) => entryById.has(one)) ?? first;
  if (id === undefined) return {};
  const { id: line, industry } = defined(entryById.get(id), 'the signal of an example').line;
  const target = `/gauge?entity=${ENTITY}&signal_id=${id}`;
  return {
    ...readingOf(id, catalog),
    line,
    industry,
    item: `${industry}:${ENTITY}`,
    how: `GET ${target}`,
    input_example_request: target,
    example_request: target,
    output_example: { signal_id: id, entity: ENTITY },
  };
}

/** An invented reading of a signal, in its own metric and its mildest band. */
function readingOf(signalId: string, { entryById }: Catalog): InventedMembers {
  const { signal } = defined(entryById.get(signalId), 'the signal of an example');
  const { metrics, bands, measures } = signal;
  const [metric] = metrics;
  const value = metric === 'state' ? 'operating' : 42;
  const current = { [metric]: value };
  return { signal_id: signalId, signal: signalId, measures, current, band: bands?.[0] ?? null };
}

/** The example of a member, else what the operation says of it, else the simplest value that its schema allows. */
function invented(name: string, node: Node, own: InventedMembers): unknown {
  const [example] = node.examples ?? [];
  if (example !== undefined) return example;
  if (node.const !== undefined) return node.const;
  const choices = node.anyOf ?? node.oneOf;
  if (name in own && isOfType(node, own[name])) return own[name];
  if (node.enum !== undefined) return node.enum[0];
  if (choices !== undefined) {
    return invented(name, choices.find((choice) => typesOf(choice)[0] !== 'null') ?? {}, own);
  }
  switch (typesOf(node)[0]) {
    case 'object':
      return inventedObject(node, own);
    case 'array':
      return inventedList(name, node, own);
    case 'number':
    case 'integer':
      return Math.max(1, node.minimum ?? 1);
    case 'boolean':
      return true;
    default:
      return TEXTS[node.format ?? ''] ?? `invented ${name.replaceAll('_', ' ')}`;
  }
}

/** Texts by their format. */
const TEXTS: Readonly<Record<string, string>> = {
  uri: 'https://example.com/',
  date: '2026-01-15',
  'date-time': '2026-01-15T12:00:00Z',
};

/** One item; of a closed list of words all of them. */
function inventedList(name: string, node: Node, own: InventedMembers): unknown[] {
  const { prefixItems, items = {} } = node;
  if (items.enum !== undefined) return [...items.enum];
  return (prefixItems ?? [items]).map((item) => invented(name, item, own));
}

/** With every member that must be there, and with those others that have an example; the rest belongs to special cases. */
function inventedObject(node: Node, own: InventedMembers): object {
  const { properties, required = [], additionalProperties: other } = node;
  if (properties === undefined) {
    const [key = 'example'] = (node.propertyNames?.enum ?? []) as string[];
    return { [key]: invented(key, typeof other === 'object' ? other : {}, own) };
  }
  const members = Object.entries(properties).filter(
    ([name, { examples }]) => required.includes(name) || examples !== undefined || name in own,
  );
  return Object.fromEntries(members.map(([name, form]) => [name, invented(name, form, own)]));
}

function typesOf({ type, anyOf = [] }: Node): readonly string[] {
  return type === undefined ? anyOf.flatMap(typesOf) : [type].flat();
}

/** Whether a value of the operation is one that the member can have: a name can mean an object here and a text there. */
function isOfType(node: Node, value: unknown): boolean {
  if (node.enum !== undefined) return node.enum.includes(value);
  const type = value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;
  return typesOf(node).includes(type);
}
