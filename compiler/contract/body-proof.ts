// The proof that a sold body is in the log of its issuer: a tlog-proof@v1 text that comes with it. Whoever delivers the body
// adds it by bytes, directly in front of the citation, which is the last member. Nothing that is hashed or signed covers it.

import { z } from 'zod';
import { RECORD_HASH } from './record-hash.ts';
import { isObject, type JsonObject, type JsonValue } from './strict-json.ts';

/** Name of the member, at the top of a body. */
export const PROOF_MEMBER = '_proof';

/** The member in a schema; a body that was asked for with `proof=0` has none. */
export const proofTextSchema = z.string().regex(/^c2sp\.org\/tlog-proof@v1\n/);

/** A delivered body as it was signed, and the proof that came with it; undefined where none did. */
export interface ParsedDelivery {
  readonly body: JsonValue;
  readonly proof: JsonValue | undefined;
}

/** Takes the proof out of a delivered body; one deeper inside is no proof of it and stays. */
export function withoutProof(delivered: JsonValue): ParsedDelivery {
  if (!isObject(delivered) || !Object.hasOwn(delivered, PROOF_MEMBER)) {
    return { body: delivered, proof: undefined };
  }
  const { [PROOF_MEMBER]: proof, ...body } = delivered;
  return { body, proof };
}

/** A hash whose entry in the log proves a body, and what it is the hash of. */
export interface ProvableHash {
  readonly hash: string;
  readonly of: 'reading' | 'statement';
}

/**
 * The hashes of which one has to be the leaf of a body's proof, the best first: the record hash of the one reading that it
 * is about, else its signed statement. What a settlement answer follows from is signed in its `coverage`.
 */
export function provableHashes(body: JsonValue): ProvableHash[] {
  if (!isObject(body)) return [];
  const { record_hash, coverage } = body;
  const covered = isObject(coverage) && repeatsPart(body) ? statementHash(coverage) : null;
  if (covered !== null) return [{ hash: covered, of: 'statement' }];
  const own = typeof record_hash === 'string' && RECORD_HASH.test(record_hash) ? record_hash : null;
  const statement = statementHash(body);
  return [
    ...(own === null ? [] : [{ hash: own, of: 'reading' as const }]),
    ...(statement === null ? [] : [{ hash: statement, of: 'statement' as const }]),
  ];
}

/**
 * A settlement answer has no citation of its own and repeats that of a part. No signed body can: its content would hold its own
 * hash. So nobody makes another's proof pass by putting what it proves into a member `coverage`.
 */
function repeatsPart(body: JsonObject): boolean {
  const { candidate_sources: rows, evidence, coverage } = body;
  const parts = [Array.isArray(rows) ? rows[0] : undefined, evidence, coverage];
  const own = statementHash(body);
  return own !== null && parts.some((part) => isObject(part) && statementHash(part) === own);
}

function statementHash({ _citation }: JsonObject): string | null {
  const hash = isObject(_citation) ? _citation.record_hash : undefined;
  return typeof hash === 'string' && RECORD_HASH.test(hash) ? hash : null;
}
