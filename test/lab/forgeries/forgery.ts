import type { JsonValue } from '../../../compiler/format/strict-json.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';

export type Open = Record<string, JsonValue>;

/** A genuine body: the bytes that a request was answered with. */
export interface Delivery {
  /** Canonical `path?query`. */
  readonly target: string;
  readonly body: Open;
}

/** What somebody without the key can hand on in place of a body; made only when it is judged. */
export interface Forgery {
  /** Which way of forging made it. */
  readonly kind: string;
  /** Request that it is handed out for. */
  readonly target: string;
  /** What was done to which member. */
  readonly where: string;
  /** True for what the issuer signed: it is no lie of a stranger, and only what the judges say of it is compared. */
  readonly isOfIssuer?: boolean;
  /** Its text. */
  make(): string;
}

/** Whom a judge believes, and when. */
export interface Trusted {
  readonly did: string;
  readonly service: Service;
  /** Clock of the reader, epoch milliseconds. */
  readonly now: number;
}

/** A text, and the request that it is handed out for; what its issuer signed again is taken without a proof. */
export interface Handed extends Pick<Forgery, 'target' | 'isOfIssuer'> {
  readonly text: string;
}

export type Path = readonly (string | number)[];

/** A copy of a value with another one at a path; without the member where the new value is undefined. */
export function withAt(value: JsonValue, path: Path, other: JsonValue | undefined): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined) return other ?? null;
  if (Array.isArray(value)) {
    const at = Number(key);
    const isRemoved = other === undefined && rest.length === 0;
    return isRemoved
      ? value.toSpliced(at, 1)
      : value.with(at, withAt(value[at] ?? null, rest, other));
  }
  const { [key]: inner = null, ...others } = value as Open;
  if (other === undefined && rest.length === 0) return others;
  return { ...(value as Open), [key]: withAt(inner, rest, other) };
}

/** What stands at a path; undefined where nothing does. */
export function valueAt(value: JsonValue, path: Path): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.hasOwn(at, key) ? (at as Open)[key] : undefined;
  }
  return at;
}

/** Every value inside of a value with its path, the value itself first. */
export function* valuesIn(value: JsonValue, path: Path = []): Generator<[Path, JsonValue]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries<JsonValue>(value as Open)) {
    yield* valuesIn(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** Bodies of all operations, each as it was served at several moments, in their order. */
export type Moments = ReadonlyMap<string, readonly Delivery[]>;

/** What a shop answers to a request at a moment, epoch milliseconds; null where it sells nothing. */
export type Ask = (target: string, now: number) => Promise<string | null>;

/**
 * Whether a text says nothing but what a genuine answer says: the answer to the request that it was handed out for (`asked`),
 * or to whatever request it repeats itself.
 */
export type IsTrue = (text: string, target: string, asked: boolean) => Promise<boolean>;

/** Numbers from 0 up to a limit. */
export type Random = (below: number) => number;
