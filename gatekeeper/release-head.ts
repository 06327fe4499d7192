import { createHash, createPublicKey, verify } from 'node:crypto';
import { canonicalJson } from '../compiler/contract/canonical.ts';
import { decodeBase64Url, encodeBase64Url, parseDidKey } from '../compiler/contract/did-key.ts';
import {
  CONTRACT_VERSION,
  type FileEntry,
  parseFiles,
  type Release,
  releaseSchema,
  tables,
} from '../compiler/contract/release.ts';
import { decodeUtf8, parseJson } from '../compiler/contract/strict-json.ts';
import { StartError } from './start-error.ts';

/** What the operator demands of a release beyond its own consistency. */
export interface ReleaseTerms {
  /** The only issuer to serve; the release's own when null. */
  readonly issuerDid: string | null;
  /** The address that the release must have been compiled for; any when null. */
  readonly baseUrl: string | null;
}

/** Parses and checks a release head: shape, versions, tables, issuer, address, signature; throws a StartError. */
export function checkHead(bytes: Buffer, terms: ReleaseTerms): Release {
  const head = parseHead(bytes);
  if (head.contract_version !== CONTRACT_VERSION || head.table_digest !== tableDigest()) {
    refuse('compiled with another table of lines and endpoints; compile again with this version');
  }
  if (terms.issuerDid !== null && head.issuer_did !== terms.issuerDid) {
    refuse(
      `issued by "${head.issuer_did}" instead of "${terms.issuerDid}"; ` +
        'set SIGNALPRESS_ISSUER_DID to the issuer you trust, or compile with its key',
    );
  }
  if (terms.baseUrl !== null && head.base_url !== terms.baseUrl) {
    refuse(
      `compiled for "${head.base_url}" instead of "${terms.baseUrl}"; ` +
        'compile again with this base URL, or set SIGNALPRESS_BASE_URL to the one of the release',
    );
  }
  checkSignature(head);
  return head;
}

/** The digest that a release of this version carries for the two tables. */
export function tableDigest(): string {
  return sha256Text(canonicalJson(tables()));
}

function sha256Text(data: string | Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

function refuse(state: string, cause?: unknown): never {
  throw new StartError(`Cannot serve release: ${state}`, { cause });
}

function parseHead(bytes: Buffer): Release {
  let json: unknown;
  try {
    json = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    refuse('release.json is not strict JSON; compile again', cause);
  }
  const parsed = releaseSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'its members';
  refuse(`release.json differs from this version at "${where}"; compile again`, parsed.error);
}

function checkSignature(head: Release): void {
  const { signature, ...signed } = head;
  // A DID URL names its key inside the DID; any other key id is the operator's own name for it.
  if (head.key_id.startsWith('did:') && !head.key_id.startsWith(`${head.issuer_did}#`)) {
    refuse('its key id belongs to another issuer; compile again');
  }
  let genuine = false;
  try {
    const x = encodeBase64Url(parseDidKey(head.issuer_did));
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    genuine = verify(null, Buffer.from(canonicalJson(signed)), key, decodeBase64Url(signature));
  } catch (cause) {
    refuse('its issuer key or signature is malformed; compile again', cause);
  }
  if (!genuine) {
    refuse('its signature is not that of its issuer; restore dist-data or compile again');
  }
}

/** Checks the list of files against its head and returns it by path; throws a StartError. */
export function checkFiles(bytes: Buffer, head: Release): ReadonlyMap<string, FileEntry> {
  if (sha256Text(bytes) !== head.files_sha256) {
    refuse('files.txt differs from what release.json signs; restore dist-data or compile again');
  }
  let entries: FileEntry[];
  try {
    entries = parseFiles(decodeUtf8(bytes));
  } catch (cause) {
    refuse('files.txt is malformed; compile again', cause);
  }
  if (entries.length !== head.files_count) {
    refuse('files.txt is not as long as release.json says; compile again');
  }
  return new Map(entries.map((entry) => [entry.path, entry]));
}
