import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../contract/canonical.ts';
import { keyIdOf } from '../contract/citation.ts';
import { keyStanding } from '../contract/key-history.ts';
import {
  CONTRACT_VERSION,
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  type Release,
  releaseSchema,
} from '../contract/release.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { type Disk, readAll } from './disk.ts';
import { judgeSigner, type KeyTrust } from './key-trust.ts';
import type { Faults } from './release-fault.ts';
import { isSignedBy } from './verify-citation.ts';

interface OpenHead extends KeyTrust {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
}

/** Reads and checks `release.json`, its version and the hash of the list; null when it cannot be read as one. */
export function readHead(open: OpenHead): Release | null {
  const head = readHeadAlone(open);
  if (head === null) return null;
  if (head.contract_version !== CONTRACT_VERSION) {
    const detail = `this program reads version ${CONTRACT_VERSION}; use its own`;
    open.faults.add(RELEASE_NAME, 'contract_version', detail);
  }
  const files = filesHash(open.disk, open.root, head.files_count);
  if (files !== head.files_sha256) {
    open.faults.add(RELEASE_NAME, 'files_sha256', `${FILES_NAME} hashes to ${files}`);
  }
  return head;
}

/** Reads and checks `release.json` by itself, of whatever version: its format says how it is signed. */
export function readHeadAlone(open: OpenHead): Release | null {
  const { disk, root, faults } = open;
  const fault = (where: string, detail: string): void => faults.add(RELEASE_NAME, where, detail);
  const head = parseHead(disk, root, fault);
  if (head === null) return null;
  const { signature, ...signed } = head;
  const unsigned = signatureFault(signature, utf8ToBytes(canonicalJson(signed)), head.issuer_did);
  if (unsigned !== null) fault('signature', unsigned);
  const untrusted = signerFault(open, head);
  if (untrusted !== null) fault('issuer_did', untrusted);
  if (head.key_id !== keyIdOf(head.issuer_did)) fault('key_id', 'not the key of the issuer DID');
  return head;
}

/** Why the key of a head is not one that may sign a release of its time; null when it may. */
function signerFault({ trust, keys }: OpenHead, { issuer_did, as_of }: Release): string | null {
  const known = keys === undefined ? {} : { keys };
  const { status, detail } = judgeSigner({ trust, ...known }, issuer_did, as_of);
  if (status === 'refused' || status === 'suspect') return detail;
  const isEarly = keys !== undefined && keyStanding(keys, issuer_did, as_of) === 'early';
  return isEarly ? `signed by ${issuer_did} before that key was valid` : null;
}

type ReportFault = (where: string, detail: string) => void;

function parseHead(disk: Disk, root: string, fault: ReportFault): Release | null {
  let value: JsonValue;
  let text: string;
  try {
    text = decodeUtf8(readAll(disk.chunks(`${root}/${RELEASE_NAME}`), HEAD_BYTES_MAX));
    value = parseJson(text);
  } catch (error) {
    fault('', reason(error));
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
    return `not verifiable: ${reason(error)}`;
  }
}

function filesHash(disk: Disk, root: string, count: number): string {
  const path = `${root}/${FILES_NAME}`;
  const found = disk.entry(path);
  const kind = found?.kind ?? 'missing file';
  if (kind !== 'file') return `nothing: it is a ${kind}`;
  // The signed count bounds what is worth reading.
  if ((found?.size ?? 0) > count * FILE_LINE_BYTES_MAX)
    return 'nothing: too long for its count of files';
  const hash = sha256.create();
  try {
    for (const chunk of disk.chunks(path)) hash.update(chunk);
  } catch (error) {
    return `nothing: ${reason(error)}`;
  }
  return `sha256:${bytesToHex(hash.digest())}`;
}
