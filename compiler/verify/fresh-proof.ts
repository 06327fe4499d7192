import { PROOF_MEMBER, withoutProof } from '../contract/citation.ts';
import { isObject, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { parseTlogProof } from '../contract/tlog-proof.ts';
import { tlogProofOf } from './log-answer.ts';

/**
 * A body with a proof that was fetched later in the place of its own: a tlog-proof@v1 text, or the saved answer of
 * `/proof/<hash>`. Throws a RangeError for anything else; whether it proves the body is judged with the body.
 */
export function withFreshProof(body: JsonValue, text: string): JsonValue {
  const proof = tlogProofIn(text);
  if (!isObject(body)) return body;
  const { body: bare } = withoutProof(body);
  return { ...(bare as typeof body), [PROOF_MEMBER]: proof };
}

function tlogProofIn(text: string): string {
  try {
    const proof = text.startsWith('{') ? tlogProofOf(parseJson(text)) : text;
    if (proof === null) throw new RangeError('the answer holds no proof');
    parseTlogProof(proof);
    return proof;
  } catch (cause) {
    throw new RangeError(
      'Cannot use the fresh proof: not a tlog-proof@v1, nor an answer of /proof/<hash> with one; save that answer as it is',
      { cause },
    );
  }
}
