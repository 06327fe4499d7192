import { hash } from 'node:crypto';

// The sealer's own RFC 8785 writer. It shares nothing with the canonical JSON that the verifier trusts, so that an error
// in one of the two shows as a difference instead of a wrong hash on both sides.

const DEPTH_MAX = 64;
const SORT_BY_HAND_MAX = 24;
/** Printable ASCII without quote and backslash stands for itself. */
const PLAIN = /^[ !#-[\]-~]*$/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** The RFC 8785 text of a JSON value; throws a TypeError for anything JSON cannot carry unchanged. */
export function jcs(value: unknown): string {
  return write(value, '', 0);
}

function write(value: unknown, key: string, depth: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      if (!Number.isFinite(value)) throw refusal(`${value}`, key);
      return `${value}`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : writeContainer(value, key, depth);
    default:
      throw refusal(typeof value, key);
  }
}

function writeContainer(value: object, key: string, depth: number): string {
  if (depth >= DEPTH_MAX) throw refusal('a cycle or too many open containers', key);
  if (Object.getOwnPropertySymbols(value).length > 0) throw refusal('a symbol as key', key);
  return Array.isArray(value) ? writeArray(value, key, depth) : writeObject(value, key, depth);
}

function writeArray(array: readonly unknown[], key: string, depth: number): string {
  if (Object.keys(array).length !== array.length) throw refusal('a hole or a named member', key);
  let text = '[';
  for (let i = 0; i < array.length; i += 1) {
    if (i > 0) text += ',';
    text += write(array[i], `${key}[]`, depth + 1);
  }
  return `${text}]`;
}

function writeObject(object: object, key: string, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw refusal('a class', key);
  let text = '';
  for (const name of sorted(Object.keys(object))) {
    const member = (object as Record<string, unknown>)[name];
    text += `${text === '' ? '' : ','}${quoteName(name)}:${write(member, name, depth + 1)}`;
  }
  return `{${text}}`;
}

/** Member names are few and come again with every body. */
const NAMES_MAX = 1024;
const quotedNames = new Map<string, string>();

function quoteName(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const quoted = quote(name);
  if (quotedNames.size < NAMES_MAX) quotedNames.set(name, quoted);
  return quoted;
}

function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (LONE_SURROGATE.test(text)) throw refusal('a lone surrogate', text);
  return JSON.stringify(text);
}

/** Sorts in place by UTF-16 units, as `<` compares strings; by hand where that is the faster way. */
function sorted(keys: string[]): string[] {
  if (keys.length > SORT_BY_HAND_MAX) return keys.sort();
  for (let i = 1; i < keys.length; i += 1) {
    const key = keys[i] as string;
    let to = i;
    for (; to > 0 && (keys[to - 1] as string) > key; to -= 1) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return keys;
}

function refusal(what: string, key: string): TypeError {
  return new TypeError(`Cannot hash ${JSON.stringify(key.slice(0, 120))}: ${what} is not JSON`);
}

/** `sha256:<hex>` of the RFC 8785 text of a JSON value. */
export function canonicalDigest(value: unknown): string {
  return `sha256:${hash('sha256', jcs(value), 'hex')}`;
}
