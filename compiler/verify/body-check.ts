import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../format/canonical.ts';
import { recordHashText } from '../format/record-hash.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import type { SoundVerdict } from './key-trust.ts';

export type CheckStatus = 'pass' | 'fail' | 'not_applicable';

export type BodyCheckName =
  | 'json'
  | 'citation'
  | 'anchor'
  | 'cover'
  | 'content'
  | 'record_hash'
  | 'series'
  | 'consistency'
  | 'request_time'
  | 'inclusion'
  | 'checkpoint'
  | 'logged'
  | 'echo'
  | 'expect'
  | 'max_age';

/** One check of a body; `where` is a path into it, like `legs.aqi.record_hash`. */
export interface BodyCheck {
  readonly check: BodyCheckName;
  readonly where: string;
  readonly status: CheckStatus;
  readonly detail: string;
}

/**
 * `issuer_unknown`: consistent and signed, but anybody could have made the key. `unsigned`: nothing contradicts the body,
 * but nobody signed all of it either. `partly_verified`: what holds says nothing of the content.
 */
export type BodyVerdict = SoundVerdict | 'partly_verified' | 'failed' | 'unsigned';

export interface BodyReport {
  readonly verdict: BodyVerdict;
  /** Who signed, where a readable citation says so. */
  readonly issuer: string | null;
  /** The release that the proof of a body leads to; absent where none does. */
  readonly release?: ReleaseEntry;
  readonly checks: readonly BodyCheck[];
}

export function checkAt(check: BodyCheckName, where: string) {
  const made = (status: CheckStatus, detail: string): BodyCheck => ({
    check,
    where,
    status,
    detail,
  });
  return {
    pass: (detail: string) => made('pass', detail),
    fail: (detail: string) => made('fail', detail),
    notApplicable: (detail: string) => made('not_applicable', detail),
  };
}

/** Whether what a body says twice agrees; `what` names the thing that it has to be. */
export function agreement(where: string, holds: boolean, what: string): BodyCheck {
  const at = checkAt('consistency', where);
  return holds ? at.pass(what) : at.fail(`not ${what}`);
}

/** `sha256:<hex>` of the canonical JSON of a value. */
export function canonicalHash(value: unknown): string {
  return recordHashText(bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))));
}

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
