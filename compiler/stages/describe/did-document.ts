import type { Issuer } from '../seal/sealer.ts';

const DID_CONTEXT = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'];

/** A key that this service has signed with. */
export interface ListedKey {
  readonly did: string;
  readonly key_id: string;
}

/** The did:web document of the service's address: every issuer key, the current one first. */
export function didDocument({ issuer, keys }: { issuer: Issuer; keys: readonly ListedKey[] }) {
  const id = didWeb(issuer.baseUrl);
  return {
    '@context': DID_CONTEXT,
    id,
    alsoKnownAs: keys.map((key) => key.did),
    verificationMethod: keys.map((key) => ({
      id: key.key_id,
      type: 'Multikey',
      controller: key.did,
      publicKeyMultibase: key.did.slice('did:key:'.length),
    })),
    assertionMethod: [issuer.keyId],
  };
}

/** did:web spells host and port with `%3A`, and path segments with colons. */
function didWeb(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  const path = pathname.split('/').filter((part) => part !== '');
  return ['did:web', host.replace(':', '%3A'), ...path].join(':');
}
