import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  firstHistory,
  KEYS_PATH,
  type KeyHistory,
  type SeenKeys,
  seenKeysFault,
  seenKeysOf,
} from '../contract/key-history.ts';
import { goesBack, RELEASE_NAME, type Release } from '../contract/release.ts';
import { canonicalHash } from './body-check.ts';
import type { Disk } from './disk.ts';
import { endOf, WHOEVER_HAS_IT } from './key-trust.ts';
import { Faults } from './release-fault.ts';
import { readHeadAlone } from './release-head.ts';
import type { KnownRelease } from './release-memory.ts';
import { sequenceOf } from './release-root.ts';

/** More releases than one every five minutes for ten years: nobody published these. */
const SEQUENCE_JUMP_MAX = 1_000_000;

interface SeenCheck {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
  /** The newest release of this issuer that was verified before. */
  readonly seen: KnownRelease;
  /** Every key of the issuer, where they are known. */
  readonly keys?: KeyHistory;
  /** Clock of the reader, milliseconds since 1970. */
  readonly now: number | undefined;
}

/** What to remember of a list of keys. */
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
  checkKeys(check);
  const before = faults.count;
  checkHead(check);
  const end = keys === undefined ? null : endOf(head.issuer_did, [keys], now);
  if (faults.count > before && end !== null) {
    faults.add(RELEASE_NAME, 'issuer_did', `in use until ${end}: ${WHOEVER_HAS_IT}`);
  }
}

function checkKeys({ head, faults, seen, keys }: SeenCheck): void {
  const history = keys ?? firstHistory(head.issuer_did);
  const lack = seenKeysFault(history, seen.keys, hexDigest);
  if (lack !== null) faults.add(KEYS_PATH, '', `rollback: ${lack}`);
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
