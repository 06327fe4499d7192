import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { z } from 'zod';
import {
  firstHistory,
  isOfSeen,
  KEYS_PATH,
  type KeyHistory,
  rootDid,
  type SeenKeys,
  seenKey,
  seenKeysFault,
  seenKeysOf,
} from '../format/key-history.ts';
import { goesBack, RELEASE_NAME, type Release } from '../format/release.ts';
import { parseJson } from '../format/strict-json.ts';
import type { Disk } from '../system/disk.ts';
import { canonicalHash } from './body-check.ts';
import { endOf, WHOEVER_HAS_IT } from './key-trust.ts';
import { Faults } from './release-fault.ts';
import { folderName, type OpenRelease, readHeadAlone, sequenceOf } from './release-head.ts';
import { type SeenRelease, seenReleases } from './trust-file.ts';

interface ChainedRelease extends OpenRelease {
  /** Keys that the issuer had before; a kept release may be signed by any of them. */
  readonly keys?: KeyHistory | undefined;
}

interface Link {
  readonly file: string;
  readonly head: Release;
}

/** Compares the releases that are kept beside one another: each names the one before; answers the heads that were read. */
export function checkChain(own: ChainedRelease): Release[] {
  const { disk, root, head } = own;
  const served = folderName(disk, root);
  const kept = disk
    .list(`${root}/..`)
    .filter(({ name, kind }) => name !== served && kind === 'folder' && sequenceOf(name) !== null);
  const links = [
    { file: RELEASE_NAME, head },
    ...kept.flatMap(({ name }) => keptLink(own, name)),
  ].sort((a, b) => a.head.sequence - b.head.sequence || (a.file < b.file ? -1 : 1));
  for (const [at, link] of links.entries()) {
    const before = links[at - 1];
    if (before !== undefined) checkLink(before, link, own);
  }
  return links.map((link) => link.head);
}

/** Another release of this issuer; none, and a fault, for one that it did not sign. */
function keptLink({ disk, root, head, faults, keys }: ChainedRelease, name: string): Link[] {
  const file = `releases/${name}/${RELEASE_NAME}`;
  const folder = `${root}/../${name}`;
  // Its files are not looked at.
  const own = new Faults();
  const read = readHeadAlone({ disk, root: folder, trust: 'any', faults: own });
  if (read === null || own.count > 0) {
    // A compile may remove old releases meanwhile, or have been killed over it: that is no other than one that is gone.
    const isThere = disk.entry(`${folder}/${RELEASE_NAME}`) !== null;
    if (isThere) faults.add(file, '', 'not the signed head of a release');
    return [];
  }
  const known = [head.issuer_did, ...(keys?.keys ?? []).map(({ did }) => did)];
  if (known.includes(read.issuer_did)) return [{ file, head: read }];
  faults.add(file, 'issuer_did', `${read.issuer_did} is no key of this issuer`);
  return [];
}

function checkLink(before: Link, { file, head }: Link, own: ChainedRelease): void {
  const { faults, keys } = own;
  const { sequence } = before.head;
  if (head.sequence === sequence) {
    faults.add(file, 'sequence', `${sequence}, like another release that is kept`);
    return;
  }
  if (goesBack(before.head, head, keys)) {
    faults.add(file, 'as_of', `before that of release ${sequence}`);
  }
  // Between two that are not neighbours releases were removed.
  if (head.sequence !== sequence + 1) return;
  if (head.previous !== canonicalHash(before.head)) {
    faults.add(file, 'previous', `not the hash of release ${sequence}`);
  }
}

/** More releases than one every five minutes for ten years: nobody published these. */
const SEQUENCE_JUMP_MAX = 1_000_000;

interface SeenCheck extends OpenRelease {
  readonly seen: KnownRelease;
  readonly keys?: KeyHistory | undefined;
  /** Clock of the reader, milliseconds since 1970. */
  readonly now: number | undefined;
}

export function keysSeenIn(keys: KeyHistory): SeenKeys {
  return seenKeysOf(keys, hexDigest);
}

function hexDigest(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/**
 * Whether a release follows from the one that was seen: not older, not another of its number, linked to it, and with every
 * key, statement and version of the root.
 */
export function checkSeen(check: SeenCheck): void {
  const { head, faults, keys, now } = check;
  const history = check.keys ?? firstHistory(check.head.issuer_did);
  const lack = seenKeysFault(history, check.seen.keys, hexDigest);
  if (lack !== null) check.faults.add(KEYS_PATH, '', `rollback: ${lack}`);
  const before = faults.count;
  checkHead(check);
  const end = keys === undefined ? null : endOf(head.issuer_did, [keys], now);
  if (faults.count > before && end !== null) {
    faults.add(RELEASE_NAME, 'issuer_did', `in use until ${end}: ${WHOEVER_HAS_IT}`);
  }
}

function checkHead({ disk, root, head, faults, seen, keys }: SeenCheck): void {
  const fault = (where: string, detail: string): void => faults.add(RELEASE_NAME, where, detail);
  const ahead = head.sequence - seen.sequence;
  if (ahead < 0) {
    fault('sequence', `rollback: ${head.sequence}, but ${seen.sequence} was seen before`);
    return;
  }
  if (ahead === 0) {
    const same = canonicalHash(head) === seen.head;
    if (!same) fault('sequence', `fork: another release ${seen.sequence} was seen before`);
    return;
  }
  if (ahead > SEQUENCE_JUMP_MAX) fault('sequence', `fast-forward: ${ahead} beyond what was seen`);
  if (goesBack(seen, head, keys)) {
    fault('as_of', `rollback: before ${seen.as_of}, which was seen before`);
  }
  const kept = ahead === 1 ? head.previous : keptHash(disk, root, seen.sequence);
  if (kept !== null && kept !== seen.head) {
    const where = ahead === 1 ? 'previous' : 'sequence';
    fault(where, `fork: does not follow the release ${seen.sequence} that was seen before`);
  }
}

/** The hash of a release that is kept beside this one; null when it was removed. */
function keptHash(disk: Disk, root: string, sequence: number): string | null {
  const folder = disk.list(`${root}/..`).find(({ name }) => sequenceOf(name) === sequence);
  if (folder === undefined) return null;
  const faults = new Faults();
  const head = readHeadAlone({ disk, root: `${root}/../${folder.name}`, trust: 'any', faults });
  return head === null ? null : canonicalHash(head);
}

/** Longest memory that is read: a few hundred bytes an issuer, and 80 for each key and each statement about one. */
export const MEMORY_BYTES_MAX = 1_048_576;

const memorySchema = z.strictObject({
  format: z.literal('signalpress-remembered/1'),
  issuers: seenReleases,
});

type SeenReleases = z.infer<typeof memorySchema>;

const EMPTY: SeenReleases = { format: 'signalpress-remembered/1', issuers: {} };

/** The inverse of the text that `remember` makes; null stands for nothing remembered yet. */
export function parseMemory(text: string | null): SeenReleases {
  if (text === null) return EMPTY;
  const parsed = memorySchema.safeParse(parsedOrNull(text));
  if (parsed.success) return parsed.data;
  throw new RangeError(
    'Cannot read what was verified before: verified.json of the mirror was not written by verify; remove it to begin again',
  );
}

function parsedOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** What was seen, with what is known of the keys in any case. */
type KnownRelease = SeenRelease & { readonly keys: SeenKeys };

/** What was seen of the issuer of a list of keys, whatever key the list begins with; undefined for a new issuer. */
export function seenOf(
  seen: Readonly<Record<string, SeenRelease>>,
  history: KeyHistory,
): KnownRelease | undefined {
  const known = Object.entries(seen).map(([did, release]): KnownRelease => {
    return { ...release, keys: release.keys ?? seenKey(did) };
  });
  const own = known.find(({ keys }) => keys.dids[0] === rootDid(history));
  return own ?? known.find(({ keys }) => isOfSeen(history, keys));
}

export function remember(memory: SeenReleases, did: string, seen: SeenRelease): string {
  return memoryOf({ ...memory.issuers, [did]: seen });
}

/** The text that holds what was seen of each issuer. */
export function memoryOf(issuers: SeenReleases['issuers']): string {
  const sorted = Object.entries(issuers).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ ...EMPTY, issuers: Object.fromEntries(sorted) }, null, 2)}\n`;
}
