// Canonical JSON is RFC 8785 (JCS), not the OLPC dialect. The serialiser beneath equals it on every legal value but
// lets illegal ones through (NaN as null, a Date as text, undefined dropped), so a guard refuses those first.
import stringify from 'fast-json-stable-stringify';
import { JSON_DEPTH_MAX } from './strict-json.ts';

/**
 * The RFC 8785 text of a JSON value; throws a TypeError with the path of the first part that JSON cannot carry
 * unchanged, or that is nested deeper than JSON_DEPTH_MAX (which every cycle is).
 */
export function canonicalJson(value: unknown): string {
  guard(value, []);
  return stringify(value);
}

function guard(value: unknown, path: string[]): void {
  switch (typeof value) {
    case 'boolean':
      return;
    case 'string':
      guardText(value, path);
      return;
    case 'number':
      // RFC 8785 §3.2.2.3: NaN and Infinity must terminate with an error.
      if (!Number.isFinite(value)) refuse(String(value), path);
      return;
    case 'object':
      if (value !== null) {
        if (path.length >= JSON_DEPTH_MAX) refuse('a cycle or too many open containers', path);
        if (Object.getOwnPropertySymbols(value).length > 0) refuse('a symbol as key', path);
        for (const key of memberNames(value, path)) {
          path.push(key);
          guardText(key, path);
          guard((value as Record<string, unknown>)[key], path);
          path.pop();
        }
      }
      return;
    default:
      refuse(typeof value, path);
  }
}

function guardText(text: string, path: string[]): void {
  // RFC 8785 §3.2.2.2: lone surrogates must terminate with an error.
  if (/\p{Surrogate}/u.test(text)) refuse('a lone surrogate', path);
}

/** For an array every index, so that a hole is met as undefined. */
function memberNames(value: object, path: string[]): string[] {
  const names = Object.keys(value);
  if (!Array.isArray(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = prototype === Object.prototype || prototype === null;
    if (!isPlain) refuse('an object with a class', path);
    return names;
  }
  if (names.length !== value.length) refuse('an array with holes or named members', path);
  return Array.from(value.keys(), String);
}

function refuse(what: string, path: readonly string[]): never {
  const shown = JSON.stringify(path.join('.').slice(0, 120));
  throw new TypeError(`Cannot canonicalise ${shown}: ${what} is not JSON; pass plain data`);
}
