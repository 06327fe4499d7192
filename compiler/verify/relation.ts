import { canonicalJson } from '../contract/canonical.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isObject, type JsonObject } from './object-nodes.ts';
import type { StoredBodies } from './stored-bodies.ts';
import type { Counted } from './tally.ts';

/** A body whose statements about other bodies are compared with them. */
export interface Related {
  readonly path: string;
  readonly body: JsonObject;
  readonly bodies: StoredBodies;
  /** False where the release was compiled from other tables than those of this program. */
  readonly ownTables: boolean;
  fault(where: string, detail: string): void;
  count(name: Counted, more?: number): void;
}

export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** Names of members that both objects have, but not alike. */
export function differing(
  one: JsonObject,
  other: JsonObject,
  { except = NONE }: { readonly except?: ReadonlySet<string> } = {},
): string[] {
  return Object.keys(one).filter(
    (name) => !except.has(name) && Object.hasOwn(other, name) && !isSame(one[name], other[name]),
  );
}

const NONE: ReadonlySet<string> = new Set();

/** The objects of a list, or none. */
export function rowsOf(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? (list as JsonValue[]).filter(isObject) : [];
}

/** The band of a record: its official class, else the one that its publisher gave, else null. */
export function bandOf({ standard_ruler, current }: JsonObject): JsonValue {
  if (isObject(standard_ruler)) return standard_ruler.band ?? null;
  return isObject(current) && typeof current.band === 'string' ? current.band : null;
}
