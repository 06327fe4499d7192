import { createPublicKey, hash, verify } from 'node:crypto';
import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import {
  compiledCatalog,
  parseCatalog,
  releaseCatalog,
  WHOLE_CATALOG_PATH,
} from '../../../compiler/catalog/whole-catalog.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { decodeBase64Url, encodeBase64Url, parseDidKey } from '../../../compiler/format/did-key.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import {
  firstHistory,
  KEYS_PATH,
  type KeyHistory,
  keyStanding,
  readKeyHistory,
  vouchedDids,
} from '../../../compiler/format/key-history.ts';
import {
  CONTRACT_VERSION,
  FILE_LINE_BYTES_MAX,
  type Release,
  releaseSchema,
} from '../../../compiler/format/release.ts';
import { BLOCKS_PATH } from '../../../compiler/format/statement-tree.ts';
import { decodeUtf8, parseJson } from '../../../compiler/format/strict-json.ts';
import { endpointAt } from '../../../compiler/products/products.ts';
import { knownFilePath } from '../../../compiler/products/shapes/path.ts';
import { FOR_EVERYBODY } from '../../wire/cost.ts';
import { StartError } from '../../wire/start-error.ts';
import { hexInTurns, ListedFiles } from './listed-files.ts';
import { DamagedFileError, UnreachableFileError } from './read-body.ts';
import { type ReadOptions, ReleaseIndex } from './release-index.ts';
import type { Offer, Offers, ReleasePlace, ReleaseSource } from './release-source.ts';

export interface PlaceTerms extends ReleaseTerms, ReadOptions {}

/** Verifies the newest release of a source; throws a StartError that tells what to do. */
export async function openRelease({
  source,
  ...terms
}: PlaceTerms & { source: ReleaseSource }): Promise<ReleaseIndex> {
  return openPlace(await source.newest(), terms);
}

/** Reads and verifies the release at a place; throws a StartError that tells what to do. */
export async function openPlace(place: ReleasePlace, terms: PlaceTerms): Promise<ReleaseIndex> {
  const head = checkHead(place.head, terms);
  // The signed count bounds what is worth reading.
  const list = await place.list(head, head.files_count * FILE_LINE_BYTES_MAX);
  const files = await checkFiles(list, head);
  // What a release cannot be opened without is a reason not to start, and no fault of the program.
  const bytesOf = async (path: string): Promise<Buffer | null> => {
    const entry = files.get(path);
    if (entry === undefined) return null;
    return place.body(entry, FOR_EVERYBODY).catch((cause: unknown) => {
      if (cause instanceof UnreachableFileError) throw new StartError(messageOf(cause), { cause });
      if (!(cause instanceof DamagedFileError)) throw cause;
      throw new DamagedReleaseError(
        `Cannot serve release ${head.sequence}: "${path}" is missing or damaged; restore dist-data from a copy, or compile again with --full`,
        { cause },
      );
    });
  };
  const keys = keysOf(head, await bytesOf(KEYS_PATH));
  checkIssuer(head, keys, terms.issuerDid);
  const catalog = catalogIn(head, await bytesOf(WHOLE_CATALOG_PATH));
  const manifest = await bytesOf(OFFERS_PATH);
  if (manifest === null) {
    throw new StartError(`Cannot serve release: it has no "${OFFERS_PATH}"; compile again`);
  }
  const offers = parseOffers(manifest);
  if (!files.has(BLOCKS_PATH)) {
    refuse(`it lists no "${BLOCKS_PATH}", so nothing of it can be proven; compile again`);
  }
  return new ReleaseIndex(place, { head, keys, files, catalog, offers }, terms);
}

/** What the operator requires of a release beyond its own consistency. */
export interface ReleaseTerms {
  /** The only issuer to serve, by this key or one that follows it; the release's own when null. */
  readonly issuerDid: string | null;
  /** The address that the release must have been compiled for; any when null. */
  readonly baseUrl: string | null;
}

/** Parses and checks a release head: shape, version, issuer, address, signature; throws a StartError. */
export function checkHead(bytes: Buffer, terms: ReleaseTerms): Release {
  const head = parseHead(bytes);
  refuseForeign(head);
  if (terms.baseUrl !== null && head.base_url !== terms.baseUrl) {
    refuse(
      `compiled for "${head.base_url}" instead of "${terms.baseUrl}"; ` +
        'compile again with this base URL, or set SIGNALPRESS_BASE_URL to the one of the release',
    );
  }
  checkSignature(head);
  return head;
}

/** From this contract on, a gatekeeper of the next one serves it too. */
const SERVED_BY_NEXT = 5;

/** A release of a contract that another version of this program serves. */
export class ForeignContractError extends StartError {
  override readonly name = 'ForeignContractError';
}

/** Its own contract and the one before, so that compiler and gatekeepers are upgraded in any order. */
function refuseForeign({ contract_version: version }: Release): void {
  const isBefore = version === CONTRACT_VERSION - 1 && version >= SERVED_BY_NEXT;
  if (version === CONTRACT_VERSION || isBefore) return;
  const remedy =
    version > CONTRACT_VERSION
      ? 'run the signalpress-gate of the version that compiled it'
      : 'compile again with the signalpress of this version';
  throw new ForeignContractError(
    `Cannot serve release: of contract ${version}, this program is of contract ${CONTRACT_VERSION}; ${remedy}`,
  );
}

/** The list of keys that a release carries, checked from its first key on; throws a StartError. */
export function keysOf(head: Release, bytes: Buffer | null): KeyHistory {
  if (bytes === null) return firstHistory(head.issuer_did);
  try {
    return readKeyHistory(parseJson(decodeUtf8(bytes)), isSignedBy);
  } catch (cause) {
    refuseDamaged(`its list of keys does not hold (${messageOf(cause)}); compile again`, cause);
  }
}

/** Refuses a release whose key was not valid at its time, or is not linked by statements to the required issuer. */
export function checkIssuer(
  { issuer_did, as_of }: Pick<Release, 'issuer_did' | 'as_of'>,
  keys: KeyHistory,
  issuerDid: string | null,
): void {
  if (issuerDid !== null && !vouchedDids(keys, { issuers: [issuerDid] }).includes(issuer_did)) {
    refuse(
      `issued by "${issuer_did}" instead of "${issuerDid}"; ` +
        'set SIGNALPRESS_ISSUER_DID to the issuer you trust, or compile with its key',
    );
  }
  const standing = keyStanding(keys, issuer_did, as_of);
  if (standing !== 'valid') {
    refuse(`its key "${issuer_did}" is ${standing} at ${as_of}; compile again with a valid key`);
  }
}

/** The catalogue that a release was compiled from, given its checked `catalog.json` if it has one; throws a StartError. */
export function catalogIn(head: Release, bytes: Buffer | null): Catalog {
  const file = bytes === null ? null : { bytes, sha256: hash('sha256', bytes) };
  const digestOf = (value: unknown): string => `sha256:${hash('sha256', canonicalJson(value))}`;
  try {
    // Its tables are those of the contract before; the catalogue that its head signs tells what it sells.
    const isBefore = head.contract_version < CONTRACT_VERSION;
    if (isBefore && file !== null && head.catalog_sha256 === `sha256:${file.sha256}`)
      return parseCatalog(file.bytes);
    return releaseCatalog({ head, file, digestOf, read: compiledCatalog });
  } catch (cause) {
    refuse(messageOf(cause), cause);
  }
}

function refuse(state: string, cause?: unknown): never {
  throw new StartError(`Cannot serve release: ${state}`, { cause });
}

/** Its bytes are not what its issuer signed: a fault of the disk, or of who wrote to it, and not of the settings. */
export class DamagedReleaseError extends StartError {
  override readonly name = 'DamagedReleaseError';
}

function refuseDamaged(state: string, cause?: unknown): never {
  throw new DamagedReleaseError(`Cannot serve release: ${state}`, { cause });
}

function parseHead(bytes: Buffer): Release {
  let json: unknown;
  try {
    json = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    refuseDamaged('release.json is not strict JSON; restore dist-data or compile again', cause);
  }
  const parsed = releaseSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'its members';
  refuseDamaged(
    `release.json differs from this version at "${where}"; compile again`,
    parsed.error,
  );
}

function checkSignature(head: Release): void {
  const { signature, ...signed } = head;
  // A DID URL names its key inside the DID; any other key id is the operator's own name for it.
  if (head.key_id.startsWith('did:') && !head.key_id.startsWith(`${head.issuer_did}#`)) {
    refuse('its key id belongs to another issuer; compile again');
  }
  let genuine = false;
  try {
    genuine = isSignedBy(head.issuer_did, Buffer.from(canonicalJson(signed)), signature);
  } catch (cause) {
    refuseDamaged('its issuer key or signature is malformed; compile again', cause);
  }
  if (!genuine) {
    refuseDamaged('its signature is not that of its issuer; restore dist-data or compile again');
  }
}

/** Whether the key of a DID made a signature, its bytes or their base64url. */
export function isSignedBy(
  did: string,
  bytes: Uint8Array,
  signature: string | Uint8Array,
): boolean {
  const x = encodeBase64Url(parseDidKey(did));
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const given = typeof signature === 'string' ? decodeBase64Url(signature) : signature;
  return verify(null, bytes, key, given);
}

/** The hash of a head, as the next one names it and as its entry in the log states it. */
export function headHash(head: Release): string {
  return `sha256:${hash('sha256', canonicalJson(head))}`;
}

/** Checks the list of files against its head, in turns with what is served meanwhile; throws a StartError. */
export async function checkFiles(bytes: Buffer, head: Release): Promise<ListedFiles> {
  const sha256 = `sha256:${await hexInTurns(bytes)}`;
  if (sha256 !== head.files_sha256) {
    // What `verify URL --mirror` keeps is a release without most of its files.
    if (sha256 === head.public_files?.sha256)
      refuse(
        'a mirror of what it gives away, without anything that is sold; set SIGNALPRESS_DATA to the folder that "signalpress compile" wrote, or to a copy of it',
      );
    refuseDamaged(
      'files.txt differs from what release.json signs; restore dist-data or compile again',
    );
  }
  let files: ListedFiles;
  try {
    files = await ListedFiles.inTurns(bytes);
  } catch (cause) {
    refuse('files.txt is malformed; compile again', cause);
  }
  if (files.size !== head.files_count) {
    refuse('files.txt is not as long as release.json says; compile again');
  }
  return files;
}

/** The manifest that lists every operation, sold now or not. */
export const OFFERS_PATH = knownFilePath(endpointAt('/manifest'), { all: '1' });

/** Reads the compiled manifest of a release, whose hash was checked already. */
function parseOffers(manifest: Buffer): Offers {
  const { entries } = JSON.parse(manifest.toString('utf8')) as {
    entries: readonly {
      path: string;
      sells_now: boolean;
      price_usd: string;
      price_by_signal?: Readonly<Record<string, string>>;
      input_example_request: string;
      output_example?: Readonly<Record<string, unknown>>;
      subjects?: readonly string[];
    }[];
  };
  const offers = entries.map(({ output_example: output = null, ...entry }): [string, Offer] => {
    const { path, sells_now: sellsNow, input_example_request: request } = entry;
    // The signal of the example may have a price of its own.
    const signalId = new URL(request, 'http://release').searchParams.get('signal_id') ?? '';
    const priceUsd = entry.price_by_signal?.[signalId] ?? entry.price_usd;
    return [path, { sellsNow, priceUsd, request, output, entry }];
  });
  return new Map(offers);
}
