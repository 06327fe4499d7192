import { sha256 } from '@noble/hashes/sha2.js';
import {
  type Credential,
  credentialDigest,
  signedCredential,
  unsignedCredential,
} from '../../compiler/contract/credential.ts';
import { decodeBase64Url } from '../../compiler/contract/did-key.ts';
import { signBytes } from '../../compiler/stages/seal/sealer.ts';
import { reseal } from '../../test/verify/reseal.ts';
import { editedValues } from '../forgery-campaign/edited-values.ts';
import type { Delivery, Open } from '../forgery-campaign/forgery.ts';
import { chosen } from '../forgery-campaign/plan.ts';
import type { Random } from '../forgery-campaign/spliced-answers.ts';
import type { ReaderCase, ReaderDemands } from './body-vector.ts';
import { FIRST, type Key, SECOND, statementsAround, THIEF } from './key-lists.ts';

/** Credentials with one value changed. */
const EDITS = 60;

/** What is said of a credential: a name, the verdict, itself, and what its reader knows. */
type Row = readonly [about: string, want: ReaderCase['want'], text: string, reader?: ReaderDemands];
type Make = (change?: object, created?: string, signer?: Key) => Credential;

/** Credentials of a body, judged by their times, their keys and the body inside. */
export function credentialCases({ target, body }: Delivery, random: Random): ReaderCase[] {
  const { _proof, ...bare } = body;
  const about = reseal(bare as Open, FIRST.seed);
  const { retrieved_at: validFrom } = body._citation as unknown as {
    readonly retrieved_at: string;
  };
  const by = statementsAround(validFrom);
  const make: Make = (change = {}, created = by.at(1), signer = FIRST) =>
    credential(
      { ...unsignedCredential(FIRST.did, about, { validFrom, created }), ...change },
      signer,
    );
  const rows = [
    ...bodyRows({ target, body: about }, make, by.at(1)),
    ...timeRows(by, make),
    ...edits(make(), random),
  ];
  return rows.map(([name, want, text, reader = {}]) => ({
    class: 'credential',
    about: `${target} ${name}`,
    text,
    want,
    reader: { issuers: [FIRST.did], demands_proof: false, ...reader },
  }));
}

/** Who signed it, and what stands inside. */
function bodyRows({ target, body }: Delivery, make: Make, created: string): Row[] {
  const genuine = JSON.stringify(make());
  const of = (inside: object): string =>
    JSON.stringify(make({ credentialSubject: { body: inside } }));
  const { proof: _, ...bare } = make();
  return [
    ['genuine', 'verified', genuine],
    ['for its request', 'verified', genuine, { expect: target }],
    ['for another request', 'failed', genuine, { expect: '/gauge/nas-region?entity=bos' }],
    ['of another issuer', 'failed', genuine, { issuers: [SECOND.did] }],
    ['signed by another', 'failed', JSON.stringify(make({}, created, THIEF))],
    ['named after another', 'failed', JSON.stringify(make({ issuer: THIEF.did }, created, THIEF))],
    ['of a body that is altered', 'failed', of({ ...body, x: 1 })],
    ['of a body that nobody signed', 'failed', of({ x: 1 })],
    ['of a credential', 'failed', of(make())],
    ['with a member more', 'failed', JSON.stringify(make({ name: 'x' }))],
    ['without its proof', 'failed', JSON.stringify(bare)],
  ];
}

/** By the clock of the reader, and by a list of keys. */
function timeRows(by: ReturnType<typeof statementsAround>, make: Make): Row[] {
  const of = (change: object, created?: string): string => JSON.stringify(make(change, created));
  const list = (ends: number, ...more: ReturnType<typeof by.revocation>[]): ReaderDemands => ({
    keys: JSON.stringify(by.list(ends, more)),
  });
  const genuine = of({});
  return [
    ['valid for years', 'verified', of({ validUntil: by.at(36_500) })],
    ['over', 'failed', of({ validUntil: by.at(2) })],
    ['over before it was signed', 'failed', of({ validUntil: by.at(0.5) })],
    ['valid from another time', 'failed', of({ validFrom: by.at(0.5) })],
    ['signed before the body was collected', 'failed', of({}, by.at(-1))],
    ['signed in a time to come', 'failed', of({}, by.at(36_500))],
    ['signed by a key that goes on', 'verified', genuine, list(36_500)],
    ['signed by a key that ended since', 'unsigned', genuine, list(2)],
    ['signed by a key that had ended', 'failed', genuine, list(0.5)],
    ['signed by a revoked key', 'failed', genuine, list(2, by.revocation(0.5))],
    ['signed by a key that was revoked later', 'unsigned', genuine, list(4, by.revocation(3))],
  ];
}

function credential(unsigned: Credential, { secret }: Key): Credential {
  const signature = signBytes(credentialDigest(unsigned, sha256), secret);
  return signedCredential(unsigned, decodeBase64Url(signature));
}

/** Each value outside of the body replaced. */
function edits(secured: Credential, random: Random): Row[] {
  const { credentialSubject, ...outside } = secured;
  const body = outside as unknown as Open;
  const found = [...editedValues({ target: '', body })].filter(
    ({ where }) => !where.startsWith(' '),
  );
  return chosen(found, { most: EDITS, random }).map(({ where, make }): Row => {
    const text = JSON.stringify({ credentialSubject, ...JSON.parse(make()) });
    return [where, 'failed', text];
  });
}
