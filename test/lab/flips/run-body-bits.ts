import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { storedPath } from '../../../compiler/contract/path.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/contract/release.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../../../compiler/contract/strict-json.ts';
import { bulkSignatureCheck } from '../../../compiler/verify/bulk-signature.ts';
import { placeOf } from '../../../compiler/verify/release-place.ts';
import { type BodyTrust, verifyBody } from '../../../compiler/verify/verify-body.ts';
import { splicePoints, spliceRequestTime } from '../../../gatekeeper/release/request-time.ts';
import type { BitOptions } from './run-bits.ts';
import type { FlipRelease } from './run-flips.ts';

/** Bodies are asked for at this instant, long enough after their facts for every member of the moment. */
const ASKED_AT = Date.UTC(2027, 6, 1);
/** The age at another moment of which all words are true too, and the look-back of a series, which its rows only have to agree with. */
const NOT_COVERED = /\.provenance\.age_hours_now$|^\.days$/;

interface BodyBitResult {
  readonly bodies: number;
  readonly bits: number;
  /** Changes that still verify and say the same: another spelling of the same value. */
  readonly sameValue: number;
  /** Changes that still verify, by the member outside every hash that they are in. */
  readonly notCovered: Readonly<Record<string, number>>;
  /** Changes of anything else that still verify. */
  readonly wrong: readonly string[];
}

/** Changes bits of the smallest signed body of each operation as it is delivered, and verifies it without its release. */
export function runBodyBits(release: FlipRelease, { random, bits }: BitOptions): BodyBitResult {
  const trust: BodyTrust = { trust: [release.did], isSignature: bulkSignatureCheck() };
  const result: BodyBitCounts = { bodies: 0, bits: 0, sameValue: 0, notCovered: {}, wrong: [] };
  const bodies = signedBodies(release, trust);
  for (const [operation, bytes] of bodies) {
    const body = parseJson(decodeUtf8(bytes));
    result.bodies += 1;
    for (const bit of bitsOf(bytes, Math.ceil(bits / bodies.size), random)) {
      result.bits += 1;
      const changed = verifiedChange(bytes, bit, trust);
      if (changed === undefined) continue;
      count(result, `${operation} bit ${bit}`, differences(body, changed));
    }
  }
  return result;
}

/** Every bit where there are no more than wanted, else as many random ones. */
function* bitsOf(bytes: Buffer, most: number, random: BitOptions['random']): Generator<number> {
  const all = bytes.length * 8;
  for (let at = 0; at < Math.min(all, most); at += 1) yield all <= most ? at : random(all);
}

interface BodyBitCounts extends BodyBitResult {
  bodies: number;
  bits: number;
  sameValue: number;
  readonly notCovered: Record<string, number>;
  readonly wrong: string[];
}

/** A change that verified, by the members that it changed. */
function count(result: BodyBitCounts, named: string, members: readonly string[]): void {
  if (members.length === 0) result.sameValue += 1;
  for (const member of members) {
    const name = member.slice(member.lastIndexOf('.') + 1);
    if (NOT_COVERED.test(member)) result.notCovered[name] = (result.notCovered[name] ?? 0) + 1;
    else result.wrong.push(`${named}: ${member}`);
  }
}

/** The smallest body of each operation that verifies by itself. */
function signedBodies({ root }: FlipRelease, trust: BodyTrust): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  const entries = parseFiles(readFileSync(join(root, FILES_NAME), 'utf8'));
  for (const { path, sha256 } of [...entries].sort((a, b) => a.size - b.size)) {
    const operation = placeOf(path, BUILTIN)?.endpoint.path;
    if (operation === undefined || found.has(operation) || !path.endsWith('.json')) continue;
    const stored = readFileSync(join(root, '../..', storedPath(path, sha256)));
    const bytes = spliceRequestTime(stored, splicePoints(stored), ASKED_AT);
    if (verifyBody(parseJson(decodeUtf8(bytes)), trust).verdict !== 'verified') continue;
    found.set(operation, bytes);
  }
  return found;
}

/** The body with one changed bit, where it verifies; undefined where that is noticed. */
function verifiedChange(bytes: Buffer, bit: number, trust: BodyTrust): JsonValue | undefined {
  const changed = Buffer.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  let body: JsonValue;
  try {
    body = parseJson(decodeUtf8(changed));
  } catch {
    return undefined;
  }
  return verifyBody(body, trust).verdict === 'verified' ? body : undefined;
}

/** Paths of the members in which two values differ; a member that only one has counts. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other) ? [] : [path];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], `${path}.${key}`));
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
