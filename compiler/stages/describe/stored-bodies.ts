import type { Endpoint } from '../../contract/endpoints.ts';
import { filePath, parseFilePath, type Values } from '../../contract/path.ts';
import { canonicalTarget } from '../../contract/route.ts';

/** One stored answer of an operation: the values that ask for it and the file that holds it. */
interface StoredAnswer {
  readonly values: Values;
  readonly path: string;
}

/** What a release holds, asked by operation. */
export interface ReleaseBodies {
  /** The answer to the examples of the table where it is stored, else the first in path order; null for none. */
  of(endpoint: Endpoint): StoredAnswer | null;
  read(path: string): unknown;
  /** As read, undefined for a path that the release does not hold. */
  find(path: string): unknown;
  /** Paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** What is described, by path. */
export interface Shelf {
  readonly has: (path: string) => boolean;
  /** Paths that begin with a prefix, in order. */
  readonly under: (prefix: string) => Iterable<string>;
  readonly read: (path: string) => Uint8Array;
}

export function storedBodies({ has, under, read }: Shelf): ReleaseBodies {
  const bodies = new Map<string, unknown>();
  const parsed = (path: string): unknown => {
    if (!bodies.has(path)) bodies.set(path, JSON.parse(new TextDecoder().decode(read(path))));
    return bodies.get(path);
  };
  return {
    of: (endpoint) => exampleOf(endpoint, has) ?? firstOf(endpoint, under),
    read: parsed,
    find: (path) => (has(path) ? parsed(path) : undefined),
    under,
  };
}

/** The table's own example of every parameter that the file is named by. */
function exampleOf(endpoint: Endpoint, has: Shelf['has']): StoredAnswer | null {
  const values: Record<string, string> = {};
  for (const [name, param] of Object.entries(endpoint.params)) {
    const [example] = param.examples;
    if (isNaming(endpoint, name) && example !== undefined) values[name] = example;
  }
  const path = filePath(endpoint, values);
  return path !== null && has(path) ? { values, path } : null;
}

function isNaming({ file }: Endpoint, name: string): boolean {
  return file?.includes(`{${name}}`) === true;
}

function firstOf(endpoint: Endpoint, under: Shelf['under']): StoredAnswer | null {
  const { file } = endpoint;
  if (file === undefined) return null;
  for (const path of under(file.slice(0, file.search(/\{|$/)))) {
    const values = parseFilePath(endpoint, path);
    if (values !== null) return { values, path };
  }
  return null;
}

/** Files of every release that are written after what they describe. */
export function isDescriptionFile({ file }: Endpoint): boolean {
  return file?.startsWith('well-known/') === true;
}

/** The target that asks an operation for these values, in its one spelling. */
export function requestText({ path }: Endpoint, values: Values): string {
  const slot = /\/:([a-z_]+)$/.exec(path)?.[1];
  if (slot === undefined) return canonicalTarget(path, values);
  const value = values[slot];
  if (value === undefined) throw new RangeError(`Cannot ask "${path}": no value for "${slot}"`);
  return path.replace(`:${slot}`, value);
}
