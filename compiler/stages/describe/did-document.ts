import { type KeyHistory, keyStanding } from '../../contract/key-history.ts';
import type { Issuer } from '../seal/sealer.ts';

const DID_CONTEXT = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'];

export interface DidParts {
  readonly issuer: Issuer;
  readonly keys: KeyHistory;
  /** The time that the document speaks about. */
  readonly asOf: string;
}

/** The did:web document of the service's address: every issuer key, the current one first; only those that may sign assert. */
export function didDocument({ issuer, keys, asOf }: DidParts) {
  const current = (did: string): boolean => did === issuer.did;
  const listed = [...keys.keys].sort((a, b) => Number(current(b.did)) - Number(current(a.did)));
  const valid = listed.filter((key) => keyStanding(keys, key.did, asOf) === 'valid');
  return {
    '@context': DID_CONTEXT,
    id: didWeb(issuer.baseUrl),
    alsoKnownAs: listed.map((key) => key.did),
    verificationMethod: listed.map((key) => ({
      id: key.key_id,
      type: 'Multikey',
      controller: key.did,
      publicKeyMultibase: key.did.slice('did:key:'.length),
      ...(key.valid_until === null ? {} : { expires: key.valid_until }),
      ...(key.revoked_from === null ? {} : { revoked: key.revoked_from }),
    })),
    assertionMethod: valid.map((key) => key.key_id),
  };
}

/** did:web spells host and port with `%3A`, and path segments with colons. */
function didWeb(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  const path = pathname.split('/').filter((part) => part !== '');
  return ['did:web', host.replace(':', '%3A'), ...path].join(':');
}
