import type { Catalog } from '../catalog/catalog.ts';
import { type Citation, citedBase, type Statement } from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { endpointAt } from '../products/products.ts';
import { filePath } from '../products/shapes/path.ts';
import type { SignalRecord } from '../products/shapes/record.ts';
import { memberPath } from './body-check.ts';
import type { Counted } from './release-fault.ts';
import type { StoredBodies } from './stored-bodies.ts';

/** Differences of one body that are named. */
const DIFFERENCES_MAX = 10;
const DIFFERS = 'differs from what it repeats';

/** A body whose statements about other bodies are compared with them. */
export interface Related {
  readonly path: string;
  readonly body: JsonObject;
  readonly bodies: StoredBodies;
  /** Whose words and rows the release is made of, where `ownTables` says so. */
  readonly catalog: Catalog;
  /** False where the release was compiled from tables that this program cannot make again. */
  readonly ownTables: boolean;
  fault(where: string, detail: string): void;
  count(name: Counted, more?: number): void;
}

/** A body to compare with is not the listed file, which is named where that file is checked. */
class DamagedError extends Error {}

/** A body of the release; null for one that is not listed. Throws what `checkMade` lets pass where it is damaged. */
export function storedBody(bodies: StoredBodies, path: string): JsonObject | null {
  const body = bodies.get(path);
  if (body === 'damaged') throw new DamagedError(path);
  return body === 'absent' ? null : body;
}

export function storedRecord(
  bodies: StoredBodies,
  { signal_id, entity }: { readonly signal_id: string; readonly entity: string },
): SignalRecord | null {
  const path = filePath(endpointAt('/gauge'), { signal_id, entity });
  return path === null ? null : (storedBody(bodies, path) as SignalRecord | null);
}

/** Compares a body whole with what is made again out of the bodies that it repeats; null is of bodies that are not there. */
export function checkMade({ body, fault }: Related, make: () => object | null): void {
  try {
    const made = make();
    if (made === null) {
      fault('', 'repeats what is not in the release');
      return;
    }
    let named = 0;
    for (const where of differences(body, made as JsonObject)) {
      fault(where, DIFFERS);
      named += 1;
      if (named === DIFFERENCES_MAX) break;
    }
  } catch (error) {
    if (error instanceof DamagedError) return;
    fault('', `cannot be made again: ${messageOf(error)}`);
  }
}

/** What was made, with the citation of the body as its statement has to be. */
export function cited(made: object, { _citation }: JsonObject, says: Statement): object {
  const own = _citation as unknown as Citation;
  const { claim, fact, retrieved_at, target, observed_at } = says;
  const source = { ...own.source, url: citedBase(own) + target, published_at: observed_at };
  return { ...made, _citation: { ...own, claim, fact, retrieved_at, source } };
}

/** Where two JSON values differ: none for those of the same canonical JSON. */
export function* differences(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  path = '',
): Generator<string> {
  if (one === other) return;
  const pair = parallel(one, other);
  if (pair === null) {
    yield path;
    return;
  }
  const [left, right] = pair;
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    yield* differences(left[name], right[name], memberPath(path, name));
  }
}

type Container = Readonly<Record<string, JsonValue | undefined>>;

/** Two objects, or two lists of one length; null for any other two. */
function parallel(one: unknown, other: unknown): readonly [Container, Container] | null {
  const isPair = [one, other].every((each) => typeof each === 'object' && each !== null);
  if (!isPair || Array.isArray(one) !== Array.isArray(other)) return null;
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return null;
  return [one as Container, other as Container];
}

export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return differences(a, b).next().done === true;
}

/** Names of members that both objects have, but not alike. */
export function differing(
  one: JsonObject,
  other: JsonObject,
  except: ReadonlySet<string> = new Set(),
) {
  return Object.keys(one).filter(
    (name) => !except.has(name) && Object.hasOwn(other, name) && !isSame(one[name], other[name]),
  );
}

export function rowsOf(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? (list as JsonValue[]).filter(isObject) : [];
}
