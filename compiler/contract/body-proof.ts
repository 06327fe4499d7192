// The proof that a sold body is in the log of its issuer: a tlog-proof@v1 text that comes with it. Whoever delivers the body
// adds it by bytes, directly in front of the citation, which is the last member. Nothing that is hashed or signed covers it.

import { z } from 'zod';
import { citationSchema } from './citation.ts';
import type { Endpoint } from './endpoints.ts';
import { isObject, type JsonObject, type JsonValue } from './strict-json.ts';

/** Name of the member, at the top of a body. */
export const PROOF_MEMBER = '_proof';

/** The member in a schema; a body that was asked for with `proof=0` has none. */
export const proofTextSchema = z.string().regex(/^c2sp\.org\/tlog-proof@v1\n/);

/** A delivered body as it was signed, and the proof that came with it; undefined where none did. */
interface ParsedDelivery {
  readonly body: JsonValue;
  readonly proof: JsonValue | undefined;
}

/** Takes the proof out of a delivered body, or of the record in a sample; one deeper inside is no proof of it and stays. */
export function withoutProof(delivered: JsonValue): ParsedDelivery {
  const record = sampleIn(delivered);
  const holder = record ?? delivered;
  if (!isObject(holder) || !Object.hasOwn(holder, PROOF_MEMBER)) {
    return { body: delivered, proof: undefined };
  }
  const { [PROOF_MEMBER]: proof, ...body } = holder;
  return { body: record === null ? body : { sample: body }, proof };
}

/** Files of one reading by its signal and entity, and of one row of a collection. */
const OF_READING = /^[a-z]+\/\{signal_id\}\/\{entity\}\.json$/;
const OF_ROW = /^(subject|document)\//;

/** What the record hash at the top of an operation's bodies is that of: the one reading or row that they are about; null for bodies that join several. */
export function hashedIn({ file = '' }: Pick<Endpoint, 'file'>): 'reading' | 'row' | null {
  if (OF_READING.test(file)) return 'reading';
  return OF_ROW.test(file) ? 'row' : null;
}

/** The record that is the only member of a free sample; null for any other body. */
export function sampleIn(body: JsonValue): JsonObject | null {
  if (!isObject(body) || !isObject(body.sample)) return null;
  return Object.keys(body).length === 1 ? body.sample : null;
}

/**
 * Whether a body like this one is delivered with a proof: one citation of this contract signs all of it, or of the record in a
 * sample. Whoever carries a body can change nothing of that.
 */
export function owesProof(body: JsonValue): boolean {
  const signed = sampleIn(body) ?? body;
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  return cited.success && cited.data.claim !== undefined;
}
