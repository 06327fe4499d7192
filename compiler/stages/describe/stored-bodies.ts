import type { Endpoint } from '../../contract/endpoints.ts';
import { filePath, parseFilePath, type Values } from '../../contract/path.ts';

/** One stored answer of an operation: the values that ask for it and the file that holds it. */
export interface StoredBody {
  readonly values: Values;
  readonly path: string;
}

/** What a release holds, asked by operation. */
export interface StoredBodies {
  /** The answer to the examples of the table where it is stored, else the first in path order; null for none. */
  of(endpoint: Endpoint): StoredBody | null;
  read(path: string): unknown;
  /** As read, undefined for a path that the release does not hold. */
  find(path: string): unknown;
}

/** What is described: paths in order, and the bytes behind them. */
export interface Shelf {
  readonly paths: readonly string[];
  readonly read: (path: string) => Uint8Array;
}

export function storedBodies({ paths, read }: Shelf): StoredBodies {
  const known = new Set(paths);
  const bodies = new Map<string, unknown>();
  const parsed = (path: string): unknown => {
    if (!bodies.has(path)) bodies.set(path, JSON.parse(new TextDecoder().decode(read(path))));
    return bodies.get(path);
  };
  return {
    of: (endpoint) => exampleOf(endpoint, known) ?? firstOf(endpoint, paths),
    read: parsed,
    find: (path) => (known.has(path) ? parsed(path) : undefined),
  };
}

/** The table's own example of every parameter that the file is named by. */
function exampleOf(endpoint: Endpoint, known: ReadonlySet<string>): StoredBody | null {
  const values: Record<string, string> = {};
  for (const [name, param] of Object.entries(endpoint.params)) {
    const [example] = param.examples;
    if (isNaming(endpoint, name) && example !== undefined) values[name] = example;
  }
  const path = filePath(endpoint, values);
  return path !== null && known.has(path) ? { values, path } : null;
}

function isNaming({ file }: Endpoint, name: string): boolean {
  return file?.includes(`{${name}}`) === true;
}

function firstOf(endpoint: Endpoint, paths: readonly string[]): StoredBody | null {
  const { file } = endpoint;
  if (file === undefined) return null;
  const prefix = file.slice(0, file.search(/\{|$/));
  for (let at = firstAtLeast(paths, prefix); paths[at]?.startsWith(prefix); at += 1) {
    const path = paths[at] ?? '';
    const values = parseFilePath(endpoint, path);
    if (values !== null) return { values, path };
  }
  return null;
}

function firstAtLeast(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `path?name=value`, members in the order of the table, the form that every link of ours has. */
export function requestText({ path, params }: Endpoint, values: Values): string {
  const slot = /\/:([a-z_]+)$/.exec(path)?.[1];
  if (slot !== undefined) return path.replace(`:${slot}`, values[slot] ?? '');
  const names = Object.keys(params).filter((name) => values[name] !== undefined);
  const query = names.map((name) => `${name}=${encodeURIComponent(values[name] ?? '')}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}
