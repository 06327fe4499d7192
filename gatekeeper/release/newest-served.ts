import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import {
  isOfSeen,
  rootDid,
  seenKey,
  seenKeysFault,
  seenKeysOf,
  seenKeysSchema,
} from '../../compiler/contract/key-history.ts';
import { goesBack, type Release } from '../../compiler/contract/release.ts';
import { readOwnFile } from '../system/plain-file.ts';
import { replaceFile } from '../system/replace-file.ts';
import { StartError } from '../system/start-error.ts';
import type { ReleaseIndex } from './release-index.ts';

/** File of the state folder that names the newest release ever served from it. */
export const NEWEST_NAME = 'newest-release.json';
/** A list of keys at its longest has 1,024 hashes and names. */
const NEWEST_BYTES_MAX = 131_072;

const newestSchema = z.strictObject({
  /** The first key of the issuer. */
  issuer_did: z.string(),
  sequence: z.int(),
  head_sha256: z.string(),
  /** Hash of the head before it, as it states it; absent in the note of an earlier version. */
  previous: z.string().nullable().exactOptional(),
  /** Absent in the note of an earlier version. */
  as_of: z.iso.datetime().exactOptional(),
  /** Absent in the note of an earlier version. */
  keys: seenKeysSchema.exactOptional(),
});
type Newest = z.infer<typeof newestSchema>;

/** A release with the keys of its issuer, who stays the same through all rotations. */
type Served = Pick<ReleaseIndex, 'head' | 'keys'>;

/** Hashes of heads that nobody can replace by others: of the newest release that was served, and of the one before it. */
export function provenHeads(stateDir: string): readonly string[] {
  const newest = readNewest(stateDir);
  if (newest === null) return [];
  const { head_sha256, previous = null } = newest;
  return [`sha256:${head_sha256}`, ...(previous === null ? [] : [previous])];
}

/**
 * Refuses a release that is older than one that was served before, that differs from the one served under the same
 * number, or whose list of keys forgets anything; throws a StartError. `isProven` lets an older one pass of which it is
 * proven that it led to the one served, and nothing else.
 */
export function refuseOlder(stateDir: string, { head, keys }: Served, isProven = false): void {
  const newest = readNewest(stateDir);
  if (newest === null) return;
  const known = newest.keys ?? seenKey(newest.issuer_did);
  if (!isOfSeen(keys, known)) return;
  if (head.sequence < newest.sequence && !isProven) {
    refuse(
      stateDir,
      `release ${head.sequence}: older than release ${newest.sequence}, which was already served`,
    );
  }
  if (head.sequence === newest.sequence && digestOf(head) !== newest.head_sha256) {
    refuse(
      stateDir,
      `release ${head.sequence}: a different release with this number was already served`,
    );
  }
  const lack = seenKeysFault(keys, known, hexDigest);
  if (lack !== null) refuse(stateDir, `release ${head.sequence}: ${lack}`);
  const { sequence, as_of = head.as_of } = newest;
  if (head.sequence > sequence && goesBack({ sequence, as_of }, head, keys)) {
    refuse(
      stateDir,
      `release ${head.sequence}: as of ${head.as_of}, which is before release ${sequence}, as of ${as_of}`,
    );
  }
}

/** Remembers what is served now; a crash in between leaves the older note, which refuses less. */
export function keepNewest(stateDir: string, { head, keys }: Served): void {
  const { sequence, as_of } = head;
  const noted = readNewest(stateDir);
  // Another process with the same folder may be ahead.
  if (noted?.issuer_did === rootDid(keys) && noted.sequence > sequence) return;
  const newest: Newest = {
    issuer_did: rootDid(keys),
    sequence,
    head_sha256: digestOf(head),
    previous: head.previous,
    as_of,
    keys: seenKeysOf(keys, hexDigest),
  };
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  replaceFile(join(stateDir, NEWEST_NAME), `${JSON.stringify(newest)}\n`);
}

function readNewest(stateDir: string): Newest | null {
  const path = join(stateDir, NEWEST_NAME);
  if (!existsSync(path)) return null;
  try {
    return newestSchema.parse(
      JSON.parse(readOwnFile(path, NEWEST_BYTES_MAX).bytes.toString('utf8')),
    );
  } catch (cause) {
    throw new StartError(`Cannot read "${path}": damaged; restore it, or delete it to start over`, {
      cause,
    });
  }
}

function digestOf(head: Release): string {
  return hexDigest(Buffer.from(canonicalJson(head), 'utf8'));
}

function hexDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function refuse(stateDir: string, state: string): never {
  throw new StartError(
    `Cannot serve ${state}; publish a newer one ("signalpress releases rollback" makes one from older files), ` +
      `or delete "${join(stateDir, NEWEST_NAME)}" if this is intended`,
  );
}
