import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';

/** One object of a body and where it stands, like `legs.aqi`; the body itself is ``. */
export interface ObjectNode {
  readonly path: string;
  readonly value: JsonObject;
}

/** Members that hold facts or a signed statement under names of their own: no record stands inside. */
const CLOSED = new Set(['_citation', '_hash_core', 'current', 'previous', 'context']);

export function memberPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** Every object of a body that can be a record, a row, a leg or a link of lineage, outside first. */
export function* objectNodes(value: JsonValue, path = ''): Generator<ObjectNode> {
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value)) yield { path, value };
  for (const [key, member] of Object.entries<JsonValue>(value as JsonObject)) {
    // Most members are plain: no path is made for them.
    if (typeof member !== 'object' || member === null || CLOSED.has(key)) continue;
    yield* objectNodes(member, memberPath(path, key));
  }
}
