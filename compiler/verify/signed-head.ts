import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Catalog } from '../catalog/catalog.ts';
import { parseCatalog, WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { canonicalJson } from '../format/canonical.ts';
import { keyIdOf } from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import { type KeyHistory, keyStanding } from '../format/key-history.ts';
import { CONTRACT_VERSION, RELEASE_NAME, type Release, releaseSchema } from '../format/release.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../format/strict-json.ts';
import { judgeSigner, type KeyTrust } from './key-trust.ts';
import { isSignedBy } from './verify-citation.ts';

export type ReportHeadFault = (where: string, detail: string) => void;

/** The head of a release in its bytes, checked by itself; null where it cannot be read as one. */
export function signedHead(
  bytes: Uint8Array,
  trusted: KeyTrust,
  fault: ReportHeadFault,
): Release | null {
  const head = parseHead(bytes, fault);
  if (head === null) return null;
  const { signature, ...signed } = head;
  const unsigned = signatureFault(signature, utf8ToBytes(canonicalJson(signed)), head.issuer_did);
  if (unsigned !== null) fault('signature', unsigned);
  const untrusted = signerFault(trusted, head);
  if (untrusted !== null) fault('issuer_did', untrusted);
  if (head.key_id !== keyIdOf(head.issuer_did)) fault('key_id', 'not the key of the issuer DID');
  return head;
}

/** Why the key of a head is not one that may sign a release of its time; null when it may. */
function signerFault(trusted: KeyTrust, { issuer_did, as_of }: Release): string | null {
  const { keys } = trusted;
  const { status, detail } = judgeSigner(trusted, issuer_did, as_of);
  if (status === 'refused' || status === 'suspect') return detail;
  const isEarly = keys !== undefined && keyStanding(keys, issuer_did, as_of) === 'early';
  return isEarly ? `signed by ${issuer_did} before that key was valid` : null;
}

function parseHead(bytes: Uint8Array, fault: ReportHeadFault): Release | null {
  let value: JsonValue;
  let text: string;
  try {
    text = decodeUtf8(bytes);
    value = parseJson(text);
  } catch (error) {
    fault('', messageOf(error));
    return null;
  }
  const parsed = releaseSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    fault(issue?.path.join('.') ?? '', issue?.message ?? 'not the head of a release');
    return null;
  }
  // One head has one spelling: the text as compile writes it.
  if (text !== `${JSON.stringify(value, null, 2)}\n`) fault('', 'not spelled as compile writes it');
  return parsed.data;
}

function signatureFault(signature: string, bytes: Uint8Array, did: string): string | null {
  try {
    const isSigned = isSignedBy(did, bytes, signature);
    return isSigned ? null : `not a signature of ${did} over this head`;
  } catch (error) {
    return `not verifiable: ${messageOf(error)}`;
  }
}

export interface ProvenCatalog {
  readonly catalog: Catalog;
  readonly head: Release;
}

/**
 * The catalogue in bytes that anybody may have sent, proven by the head of its release: one that is not signed by the issuer
 * could turn any verdict. Throws a RangeError that says what does not hold.
 */
export function provenCatalog({
  catalog,
  head: bytes,
  ...trusted
}: KeyTrust & { catalog: Uint8Array; head: Uint8Array }): ProvenCatalog {
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
  const found = `sha256:${bytesToHex(sha256(catalog))}`;
  if (head.catalog_sha256 === undefined) {
    refuse(`release ${head.sequence} is older, and its head signs no catalogue`);
  }
  if (head.catalog_sha256 !== found) {
    refuse(`it hashes to ${found}, and the head of release ${head.sequence} signs another one`);
  }
  return { catalog: parseCatalog(catalog), head };
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
