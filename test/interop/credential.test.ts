import { contexts } from '@digitalbazaar/credentials-context';
import { DataIntegrityProof } from '@digitalbazaar/data-integrity';
import { createVerifyCryptosuite } from '@digitalbazaar/eddsa-jcs-2022-cryptosuite';
import jsonld from 'jsonld';
import signatures from 'jsonld-signatures';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportCredential } from '../../compiler/commands/export-command.ts';
import { keyIdOf } from '../../compiler/contract/citation.ts';
import type { Credential } from '../../compiler/contract/credential.ts';
import { SEED, type SmallRelease, smallRelease } from '../verify/small-release.ts';

/** Exported credentials before a verifier of others. It gets the key as a document, the contexts from a package, and no network. */
const PATHS = [
  'record/hydrology.river-level/07010000.json',
  'strata/hydrology.river-level/07010000.json',
  'bundle/environment/us-denver.json',
  'lifecycle/kyoto-protocol.json',
] as const;
const NOW = Date.parse('2026-11-21T12:00:00Z');
const DID_CONTEXT = 'https://www.w3.org/ns/did/v1';
const MULTIKEY_CONTEXT = 'https://w3id.org/security/multikey/v1';

let release: SmallRelease;
beforeAll(async () => {
  release = await smallRelease();
});
afterAll(() => release.dispose());

const exported = (path: string): Credential =>
  JSON.parse(
    exportCredential(release.body(path), {
      seed: SEED,
      now: NOW,
      validUntil: '2026-12-01T00:00:00Z',
    }),
  );

/** The documents that a did:key stands for, and the contexts; no other address is known. */
function loaderFor(did: string): (url: string) => Promise<object> {
  const id = keyIdOf(did);
  const publicKeyMultibase = id.slice(id.indexOf('#') + 1);
  const key = { id, type: 'Multikey', controller: did, publicKeyMultibase };
  const documents = new Map<string, object>([
    ...contexts,
    [id, { '@context': MULTIKEY_CONTEXT, ...key }],
    [
      did,
      {
        '@context': [DID_CONTEXT, MULTIKEY_CONTEXT],
        id: did,
        verificationMethod: [key],
        assertionMethod: [id],
      },
    ],
  ]);
  return async (url) => {
    const document = documents.get(url);
    if (document === undefined) throw new Error(`Cannot load "${url}": no network here`);
    return { documentUrl: url, document };
  };
}

async function verified(credential: Credential, did = release.did): Promise<boolean> {
  const suite = new DataIntegrityProof({ cryptosuite: createVerifyCryptosuite() });
  const purpose = new signatures.purposes.AssertionProofPurpose();
  const documentLoader = loaderFor(did);
  return (await signatures.verify(credential, { suite, purpose, documentLoader })).verified;
}

describe('an exported credential before the verifier of Digital Bazaar', () => {
  it.each(PATHS)('is verified: %s', async (path) => {
    expect(await verified(exported(path))).toBe(true);
  });

  it('is refused with any member altered, and for another key', async () => {
    const { credentialSubject, proof, ...rest } = exported(PATHS[0]);
    const whole = { ...rest, credentialSubject, proof };
    const body = { ...credentialSubject.body, current: { stage_ft: 13.7 } };
    expect(await verified(whole)).toBe(true);
    expect(await verified({ ...whole, credentialSubject: { body } })).toBe(false);
    expect(await verified({ ...whole, validUntil: '2027-01-01T00:00:00Z' })).toBe(false);
    const later = { ...proof, created: '2026-11-21T12:00:01Z' };
    expect(await verified({ ...whole, proof: later })).toBe(false);
    expect(await verified(whole, 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp')).toBe(
      false,
    );
  });

  it.each(PATHS)('is JSON-LD in which every member is defined: %s', async (path) => {
    const options = { documentLoader: loaderFor(release.did), safe: true };
    const [whole] = await jsonld.expand(exported(path), options);
    expect(Object.keys(whole ?? {})).toContain(
      'https://www.w3.org/2018/credentials#credentialSubject',
    );
  });
});
