import { canonicalJson } from '../../../compiler/contract/canonical.ts';
import {
  type Citation,
  citationStatement,
  citedBase,
  keyIdOf,
  verifyUrl,
} from '../../../compiler/contract/citation.ts';
import { historyOf } from '../../../compiler/contract/key-history.ts';
import type { JsonObject } from '../../../compiler/contract/strict-json.ts';
import { signBytes } from '../../../compiler/stages/seal/sealer.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import type { Delivery } from '../forgeries/forgery.ts';
import { basketOf, partOf } from './basket-cases.ts';
import type { ReaderCase, ReaderDemands } from './body-vector.ts';
import { FIRST, type Key, SECOND } from './key-lists.ts';

type Row = readonly [about: string, want: ReaderCase['want'], body: object, reader?: ReaderDemands];

/** A body as another issuer signs it, whose citation has no claim: nothing signs the content, and ours never look so. */
export function otherFormCases({ target, body }: Delivery): ReaderCase[] {
  const { _proof, ...bare } = body;
  const genuine = inOtherForm(bare, FIRST);
  const { _citation } = genuine;
  const keyed = { ..._citation, key_id: keyIdOf(FIRST.did) };
  const basket = basketOf([partOf({ target, body: genuine as Delivery['body'] })]);
  const rows: Row[] = [
    ['as it came', 'partly_verified', genuine],
    ['with other content', 'partly_verified', { ...genuine, grade: 'other' }],
    ['with another fact', 'failed', { ...genuine, _citation: { ..._citation, fact: 'other' } }],
    ['with a claim', 'failed', { ...genuine, _citation: { ..._citation, claim: 'other' } }],
    ['of another issuer', 'failed', genuine, { issuers: [SECOND.did] }],
    ['with a DID URL as its key id', 'failed', { ...genuine, _citation: keyed }],
    ['with a proof', 'failed', { ...genuine, _proof: body._proof ?? 'c2sp.org/tlog-proof@v1\n' }],
    ['as a sample', 'failed', { sample: genuine }],
    ['beside another citation', 'failed', { ...genuine, more: { _citation } }],
    ['of a key in a list', 'failed', genuine, { keys: listOf(FIRST) }],
    ['for its request', 'failed', genuine, { expect: target }],
    ['where a proof is demanded', 'failed', genuine, { demands_proof: true }],
    ['by default', 'partly_verified', genuine, { demands_proof: null }],
    ['in a basket', 'unsigned', basket],
  ];
  return rows.map(([about, want, made, reader = {}]) => ({
    class: 'form of another issuer',
    about,
    text: JSON.stringify(made),
    want,
    reader: { issuers: [FIRST.did], demands_proof: false, ...reader },
  }));
}

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

function listOf({ did }: Key): string {
  return JSON.stringify(historyOf(did, [], []));
}
