import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyIdOf } from '../../compiler/contract/citation.ts';
import {
  formatFiles,
  isPublicPath,
  parseFiles,
  type Release,
} from '../../compiler/contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { writeReleaseProof } from '../../compiler/stages/anchor/release-proof.ts';
import { jcs } from '../../compiler/stages/seal/jcs.ts';
import { issuerDid, makeSealer, signingKey } from '../../compiler/stages/seal/sealer.ts';

/** The hash of a head as the next release names it. */
export function headHash(head: object): string {
  return `sha256:${createHash('sha256').update(jcs(head)).digest('hex')}`;
}

export function readHeadOf(root: string): Release {
  return JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')) as Release;
}

/** Replaces the leaf of a release by that of another head, also in the memory of the data folder, as only an issuer can. */
export function proveAgain(
  root: string,
  release: Release,
  signer: Parameters<typeof writeReleaseProof>[2],
): void {
  const path = join(root, RELEASE_PROOF_NAME);
  if (!existsSync(path)) return;
  const { index, hashes, checkpoint } = parseTlogProof(readFileSync(path, 'utf8'));
  rmSync(path);
  const log = { size: index, peaks: [...hashes].reverse() };
  const note = writeReleaseProof(root, { release, ...log }, signer);
  const memory = join(realpathSync(root), '../../log-checkpoint');
  const isLast = existsSync(memory) && readFileSync(memory, 'utf8') === checkpoint;
  if (isLast) writeFileSync(memory, note);
}

/** Changes the head of a release and signs it again, with its list as it stands, as only an issuer can. */
export function resign(
  root: string,
  change: Partial<Release>,
  seed: Uint8Array = new Uint8Array(32).fill(7),
): void {
  const key = signingKey(seed);
  const did = issuerDid(key);
  const { signature, ...head } = readHeadOf(root);
  const own = { issuer_did: did, key_id: keyIdOf(did), ...statedList(root) };
  const unsigned = { ...head, ...own, ...change };
  const issuer = { name: head.issuer_name, did, keyId: keyIdOf(did), baseUrl: head.base_url };
  const sealer = makeSealer(issuer, key);
  const signed = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
  writeFileSync(join(root, 'release.json'), `${JSON.stringify(signed, null, 2)}\n`);
  proveAgain(root, signed, { issuer, sealer });
}

/** What a head says of the list beside it. */
function statedList(root: string): Pick<Release, 'files_sha256' | 'public_files'> {
  const list = readFileSync(join(root, 'files.txt'), 'utf8');
  const open = listedLines(list).filter(({ path }) => isPublicPath(path));
  const public_files = { sha256: sha256Of(formatFiles(open)), count: open.length };
  return { files_sha256: sha256Of(list), public_files };
}

/** None of a list that a test has broken. */
function listedLines(list: string) {
  try {
    return parseFiles(list);
  } catch {
    return [];
  }
}

function sha256Of(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
