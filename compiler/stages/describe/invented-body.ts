import type { Catalog } from '../../contract/catalog/catalog.ts';
import { legMember } from '../../contract/catalog/line.ts';
import { defined } from '../../contract/defined.ts';
import { CITY_ADD_ONS } from '../../products/cities.ts';
import type { Endpoint } from '../../products/product.ts';
import { formOf } from '../../products/products.ts';
import { jsonSchemaOf } from './body-schemas.ts';
import { INVENTED_HASH, INVENTED_KEYS, INVENTED_VALUES, USUAL_MEMBERS } from './invented-values.ts';

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
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}
type InventedMembers = Readonly<Record<string, unknown>>;

/**
 * A complete, invented body of an operation, with every member of an ordinary answer. It is made from the schema alone,
 * so no example can give away what is sold. Null where no schema is declared.
 */
export function inventedBody(row: Endpoint, catalog: Catalog): object | null {
  const known = made.get(row);
  if (known !== undefined) return known;
  const body = madeUp(row, catalog);
  if (body !== null) made.set(row, body);
  return body;
}

/** A body follows from its row and the catalogue that the row is of. */
const made = new WeakMap<Endpoint, object>();

function madeUp(row: Endpoint, catalog: Catalog): object | null {
  const schema = formOf(row)?.body;
  if (schema === undefined) return null;
  const node = jsonSchemaOf(schema) as Node;
  const common = { ...INVENTED_VALUES, ...subjectOf(catalog) };
  const body = invented('', node, { ...common, ...ownValues(row, catalog) }) as InventedMembers;
  const bundle = bundleMembers(row, node, { catalog, common });
  if (bundle === null) return body;
  const { entity, ...others } = body;
  return { ...others, ...bundle };
}

/** The signal that invented answers name: the usual one, or the first of a catalogue that lacks it. */
function subjectOf(catalog: Catalog): InventedMembers {
  const [first] = catalog.entryById.values();
  if (first === undefined || catalog.entryById.has(String(INVENTED_VALUES.signal_id))) return {};
  const { id } = first.signal;
  const { id: line, industry } = first.line;
  const entity = String(INVENTED_VALUES.entity);
  const target = `/gauge?entity=${entity}&signal_id=${id}`;
  return {
    ...readingOf(id, catalog),
    line,
    industry,
    item: `${industry}:${entity}`,
    how: `GET ${target}`,
    input_example_request: target,
    example_request: target,
    output_example: { signal_id: id, entity },
  };
}

/** What the answer of this operation says otherwise than others. */
function ownValues({ path, params }: Endpoint, catalog: Catalog): InventedMembers {
  const word = path.slice(path.lastIndexOf('/') + 1);
  const city = Object.entries(CITY_ADD_ONS).find(([addon]) => path === `/gauge/${addon}`);
  const read = city?.[1].find((id) => catalog.entryById.has(id));
  return {
    dim: word,
    addon: word,
    operation: path,
    ...(read === undefined ? {} : readingOf(read, catalog)),
    ...(path === '/stable/coin' ? { current: { price_in_peg: 1, peg: 'USD' } } : {}),
    ...(path.endsWith('/graveyard') ? { state: 'absent' } : {}),
    ...(params.cutoff === undefined ? {} : { entity: 'EXMPL', entity_name: 'Invented Corp' }),
    ...(path === '/verify' ? { issuer: INVENTED_VALUES.issuer_DID } : {}),
  };
}

/** An invented reading of a signal, in its own metric and its mildest band. */
function readingOf(signalId: string, { entryById }: Catalog): InventedMembers {
  const { signal } = defined(entryById.get(signalId), 'the signal of an example');
  const { metrics, bands, measures } = signal;
  const [metric] = metrics;
  const band = bands?.[0] ?? null;
  const value = metric === 'state' ? 'operating' : 42;
  return { signal_id: signalId, signal: signalId, measures, current: { [metric]: value }, band };
}

/** The subject of a bundle, and its legs as its line calls them; null for any other operation. */
function bundleMembers(
  { path, params }: Endpoint,
  { properties = {} }: Node,
  { catalog, common }: { readonly catalog: Catalog; readonly common: InventedMembers },
): object | null {
  const { entity } = INVENTED_VALUES;
  const { bundle } = catalog.lines.find((line) => line.bundle?.path === path) ?? {};
  const { legs: node } = properties;
  if (bundle === undefined || typeof node?.additionalProperties !== 'object') return null;
  const form = node.additionalProperties;
  const legs = bundle.legs.flatMap(({ name, signals }, at) =>
    signals.map((id) => {
      const own = { ...common, ...readingOf(id, catalog), leg: name, position: at + 1 };
      return [legMember(id), invented('', form, own)];
    }),
  );
  const subject = params.loc === undefined ? { entity } : { location: entity };
  return { ...subject, legs: Object.fromEntries(legs) };
}

/** The simplest value of a member that its schema allows, a listed one first. */
function invented(name: string, node: Node, values: InventedMembers): unknown {
  if (name in values && accepts(node, values[name])) return values[name];
  if (node.const !== undefined) return node.const;
  if (node.enum !== undefined) return node.enum[0];
  const choices = node.anyOf ?? node.oneOf;
  if (choices !== undefined) return chosen(name, choices, values);
  switch (typesOf(node)[0]) {
    case 'object':
      return inventedObject(name, node, values);
    case 'array':
      return inventedList(name, node, values);
    case 'number':
    case 'integer':
      return Math.max(1, node.minimum ?? 1);
    case 'boolean':
      return true;
    case 'string':
      return inventedText(name, node);
    default:
      return `invented ${name.replaceAll('_', ' ')}`;
  }
}

/** The first form of several that is not null; one that takes the listed value goes before it. */
function chosen(name: string, choices: readonly Node[], values: InventedMembers): unknown {
  const wanted = choices.find((choice) => name in values && accepts(choice, values[name]));
  const first = wanted ?? choices.find((choice) => typesOf(choice)[0] !== 'null') ?? {};
  return invented(name, first, values);
}

/** One item; of a closed list of words all of them. */
function inventedList(
  name: string,
  { prefixItems, items = {} }: Node,
  values: InventedMembers,
): unknown[] {
  if (items.enum !== undefined) return [...items.enum];
  return (prefixItems ?? [items]).map((item) => invented(name, item, values));
}

function inventedObject(name: string, node: Node, values: InventedMembers): object {
  const { properties, required = [], additionalProperties: other } = node;
  if (properties === undefined) {
    const [key = INVENTED_KEYS[name] ?? 'example'] = (node.propertyNames?.enum ?? []) as string[];
    return { [key]: invented(key, typeof other === 'object' ? other : {}, values) };
  }
  const members = Object.entries(properties).filter(
    ([member]) => required.includes(member) || USUAL_MEMBERS.includes(member),
  );
  return Object.fromEntries(
    members.map(([member, form]) => [member, invented(member, form, values)]),
  );
}

/** Texts by their form, longest pattern last. */
const TEXTS: readonly string[] = [
  '2026-01-15T12:00:00Z',
  '2026-01-15',
  INVENTED_HASH,
  'e7'.repeat(32),
  '0000000001',
  '/gauge',
];

function inventedText(name: string, node: Node): string {
  const plain = `invented ${name.replaceAll('_', ' ')}`;
  if (node.format === 'uri') return 'https://example.com/';
  return [plain, ...TEXTS].find((text) => accepts(node, text)) ?? plain;
}

function typesOf({ type }: Node): readonly string[] {
  return type === undefined ? [] : [type].flat();
}

/** Whether a value meets a schema, as far as a listed value could fail to. */
function accepts(node: Node, value: unknown): boolean {
  const choices = node.anyOf ?? node.oneOf;
  if (choices !== undefined) return choices.some((choice) => accepts(choice, value));
  if (node.const !== undefined) return node.const === value;
  if (node.enum !== undefined) return node.enum.includes(value);
  if (!hasType(node, value)) return false;
  if (typeof value === 'string') return fitsText(node, value);
  const { minimum = -Infinity, maximum = Infinity } = node;
  return typeof value !== 'number' || (value >= minimum && value <= maximum);
}

function hasType(node: Node, value: unknown): boolean {
  const types = typesOf(node);
  if (value === null) return types.includes('null');
  if (types.length === 0) return true;
  if (Array.isArray(value)) return types.includes('array');
  if (Number.isInteger(value) && types.includes('integer')) return true;
  return types.includes(typeof value) && (typeof value !== 'object' || hasMembers(node, value));
}

function hasMembers({ properties, required = [] }: Node, value: object): boolean {
  const isKnown = (name: string): boolean => properties === undefined || name in properties;
  return Object.keys(value).every(isKnown) && required.every((name) => name in value);
}

function fitsText({ pattern, format }: Node, text: string): boolean {
  if (format === 'uri' && !text.startsWith('https://')) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}
