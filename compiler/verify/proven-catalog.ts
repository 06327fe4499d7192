import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { parseCatalog, WHOLE_CATALOG_PATH } from '../contract/catalog/whole-catalog.ts';
import type { KeyHistory } from '../contract/key-history.ts';
import { CONTRACT_VERSION, RELEASE_NAME, type Release } from '../contract/release.ts';
import type { KeyTrust } from './key-trust.ts';
import { signedHead } from './signed-head.ts';

/** A catalogue, and the signed head that proves it. */
export interface ProvenCatalog {
  readonly catalog: Catalog;
  readonly head: Release;
}

interface CatalogProof extends KeyTrust {
  /** The bytes of `catalog.json`. */
  readonly catalog: Uint8Array;
  /** The bytes of `release.json`. */
  readonly head: Uint8Array;
}

/**
 * The catalogue in bytes that anybody may have sent, proven by the head of its release: one that is not signed by the issuer
 * could turn any verdict. Throws a RangeError that says what does not hold.
 */
export function provenCatalog({ catalog, head: bytes, ...trusted }: CatalogProof): ProvenCatalog {
  const head = provingHead(bytes, trusted);
  const found = `sha256:${bytesToHex(sha256(catalog))}`;
  if (head.catalog_sha256 === undefined) {
    refuse(`release ${head.sequence} is older, and its head signs no catalogue`);
  }
  if (head.catalog_sha256 !== found) {
    refuse(`it hashes to ${found}, and the head of release ${head.sequence} signs another one`);
  }
  return { catalog: parseCatalog(catalog), head };
}

function provingHead(bytes: Uint8Array, trusted: KeyTrust): Release {
  const faults: string[] = [];
  const head = signedHead(bytes, trusted, (where, detail) => {
    faults.push(where === '' ? detail : `${where}: ${detail}`);
  });
  const [fault] = faults;
  if (head === null || fault !== undefined) refuse(`its "${RELEASE_NAME}" does not hold: ${fault}`);
  if (head.contract_version !== CONTRACT_VERSION) {
    const { contract_version: version } = head;
    refuse(
      `release ${head.sequence} is of version ${version}, this program reads ${CONTRACT_VERSION}`,
    );
  }
  return head;
}

function refuse(why: string): never {
  throw new RangeError(`Cannot use "${WHOLE_CATALOG_PATH}": ${why}; get both files of one release`);
}

/** Whether a catalogue is that of who signed a body: itself, or another key of the same issuer. */
export function isOfSigner(
  { issuer_did }: Release,
  signer: string | null,
  keys?: KeyHistory,
): boolean {
  if (signer === issuer_did) return true;
  const known = keys?.keys.map(({ did }) => did) ?? [];
  return signer !== null && known.includes(signer) && known.includes(issuer_did);
}
