import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  type Citation,
  citationStatement,
  citedBase,
  verifyUrl,
} from '../../compiler/format/citation.ts';
import type { JsonObject } from '../../compiler/format/strict-json.ts';
import { issuerDid, signBytes, signingKey } from '../../compiler/system/sealer.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';

/** A key of nobody, told apart by a number. */
export function keyOf(fill: number) {
  const seed = new Uint8Array(32).fill(fill);
  const secret = signingKey(seed);
  return { seed, secret, did: issuerDid(secret) };
}
export type Key = ReturnType<typeof keyOf>;

/** A body with a statement that has no claim, signed with this key. */
export function inOtherForm(body: JsonObject, { did, secret }: Pick<Key, 'did' | 'secret'>) {
  const cited = body._citation as unknown as Citation;
  const { claim: _, ...statement } = citationStatement(cited);
  const record_hash = canonicalHash(statement);
  const signature = signBytes(new TextEncoder().encode(canonicalJson(statement)), secret);
  const verify_url = verifyUrl(citedBase(cited), record_hash);
  const seal = { record_hash, signature, key_id: 'kid-1', issuer_DID: did, verify_url };
  return { ...body, _citation: { ...statement, ...seal } };
}
