import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openNote } from '../../compiler/format/checkpoint.ts';
import { type Citation, contentOf, keyIdOf } from '../../compiler/format/citation.ts';
import { leafHash } from '../../compiler/format/merkle.ts';
import {
  formatFiles,
  isPublicPath,
  parseFiles,
  type Release,
} from '../../compiler/format/release.ts';
import { parseReleaseEntry, releaseEntryBytes } from '../../compiler/format/release-entry.ts';
import {
  bundleEntries,
  CHECKPOINT_PATH,
  encodeBundle,
  LOG_FOLDER,
  parseTilePath,
  tilePath,
} from '../../compiler/format/tiles.ts';
import { seriesHead } from '../../compiler/products/shapes/series.ts';
import { signCheckpoint } from '../../compiler/publish/log/continue-log.ts';
import { jcs } from '../../compiler/system/jcs.ts';
import { issuerDid, makeSealer, type Sealer, signingKey } from '../../compiler/system/sealer.ts';
import { isSeries } from '../../compiler/verify/series-checks.ts';
import type { Body } from '../shop.ts';
import { SEED } from '../snapshot-folder.ts';
import { sha256, Tree } from './invented-issuer.ts';

/** The hash of a head as the next release names it. */
export function headHash(head: object): string {
  return `sha256:${createHash('sha256').update(jcs(head)).digest('hex')}`;
}

export function readHeadOf(root: string): Release {
  return JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')) as Release;
}

/**
 * Replaces the entry of a release in the log beside it by that of another head, as only an issuer can; nothing for a folder
 * without a log. The log has less than a tile of entries.
 */
export function proveAgain(
  root: string,
  release: Release,
  { sealer }: { readonly sealer: Sealer },
): void {
  const data = join(realpathSync(root), '../..');
  const note = join(data, CHECKPOINT_PATH);
  if (!existsSync(note)) return;
  const origin = openNote(readFileSync(note, 'utf8'))?.checkpoint.origin ?? '';
  const names = readdirSync(join(data, LOG_FOLDER), { recursive: true, encoding: 'utf8' });
  const tiles = names.flatMap((name) => parseTilePath(`${LOG_FOLDER}/${name}`) ?? []);
  const size = Math.max(...tiles.map(({ width }) => width));
  const newest = tilePath({ level: 'entries', index: 0, width: size });
  const entries = bundleEntries(readFileSync(join(data, newest))).map((bytes) => {
    const entry = parseReleaseEntry(bytes);
    if (entry?.sequence !== release.sequence) return bytes;
    const { as_of, valid_until = null } = release;
    return releaseEntryBytes({ ...entry, as_of, valid_until, head: headHash(release) });
  });
  const tree = new Tree(entries.map((entry) => leafHash(entry, sha256)));
  for (const tile of tiles) {
    const own = entries.slice(0, tile.width);
    const hashes = own.map((entry) => leafHash(entry, sha256));
    const bytes = tile.level === 'entries' ? encodeBundle(own) : Buffer.concat(hashes);
    writeFileSync(join(data, tilePath(tile)), bytes);
  }
  const checkpoint = { origin, size, root: tree.root() };
  writeFileSync(note, signCheckpoint(checkpoint, sealer));
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
  proveAgain(root, signed, { sealer });
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

/**
 * A body signed once more, as only the holder of a key can, so that nothing but its inner contradictions is left. Its proof no
 * longer fits, and is left out.
 */
export function reseal(body: Body, seed: Uint8Array = SEED): Body {
  const { _citation, _proof, ...rest } = body;
  const cited = _citation as unknown as Citation;
  const { issuer, url, published_at } = cited.source;
  const baseUrl = cited.verify_url.slice(0, cited.verify_url.lastIndexOf('/v/'));
  const key = signingKey(seed);
  const did = issuerDid(key);
  const by = { name: issuer, did, keyId: keyIdOf(did), baseUrl };
  const content = contentOf(isSeries(rest as Body) ? seriesHead(rest) : rest);
  const sealed = makeSealer(by, key).seal(content, {
    claim: cited.claim ?? '',
    fact: cited.fact,
    target: (url ?? '').slice(baseUrl.length),
    observed_at: published_at ?? '',
    retrieved_at: cited.retrieved_at,
  });
  return { ...rest, _citation: sealed._citation as unknown as Body } as Body;
}
