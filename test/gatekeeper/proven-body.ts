import { hash } from 'node:crypto';
import { citationSchema, citedTarget, withoutProof } from '../../compiler/format/citation.ts';
import { leafHash } from '../../compiler/format/merkle.ts';
import { isObject, type JsonValue } from '../../compiler/format/strict-json.ts';
import { isLeafProven, parseTlogProof } from '../../compiler/format/tlog-proof.ts';
import { isStatementProven, parseProofExtra } from '../../compiler/products/shapes/body-proof.ts';
import { bodyOfText } from '../../compiler/products/shapes/series-csv.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** A delivered body taken apart: what its proof states, and whether that leads from its statement to the root of the log. */
export function openedProof(delivered: string) {
  const { body, proof } = withoutProof(bodyOfText(delivered));
  const read = parseTlogProof(String(proof));
  const extra = parseProofExtra(read.extra ?? new Uint8Array(0));
  const signed = isObject(body) && isObject(body.sample) ? body.sample : body;
  const citation = citationSchema.parse((signed as { _citation?: JsonValue })._citation);
  const statement = { target: citedTarget(citation) ?? '', statement: citation.record_hash };
  return {
    body,
    read,
    entry: extra.entry,
    isProven:
      isLeafProven(read, leafHash(extra.entryBytes, sha256), sha256) &&
      isStatementProven(extra, statement, sha256),
  };
}
