import { hash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../compiler/format/errors.ts';
import {
  isOfSeen,
  rootDid,
  seenKey,
  seenKeysFault,
  seenKeysOf,
  seenKeysSchema,
} from '../../../compiler/format/key-history.ts';
import { goesBack } from '../../../compiler/format/release.ts';
import { readOwnFile, replaceFile } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';
import type { LogTree } from './log-files.ts';
import { logTip } from './log-tip.ts';
import { checkHead, headHash, type ReleaseTerms } from './open-release.ts';
import type { ReleaseIndex } from './release-index.ts';
import type { ReleaseFolder, ReleasePlace } from './release-source.ts';

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
  /** The log that its proofs led to; absent where none could be read. */
  log: z
    .strictObject({ size: z.int().min(1), root: z.string().regex(/^[0-9a-f]{64}$/) })
    .exactOptional(),
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
  const refuse = (why: string): never => {
    throw new StartError(
      `Cannot serve release ${head.sequence}: ${why}; publish a newer one ("signalpress releases rollback" makes one from ` +
        `older files), or delete "${join(stateDir, NEWEST_NAME)}" if this is intended`,
    );
  };
  if (head.sequence < newest.sequence && !isProven)
    refuse(`older than release ${newest.sequence}, which was already served`);
  if (head.sequence === newest.sequence && headHash(head) !== `sha256:${newest.head_sha256}`) {
    refuse('a different release with this number was already served');
  }
  const lack = seenKeysFault(keys, known, hexDigest);
  if (lack !== null) refuse(lack);
  const { sequence, as_of = head.as_of } = newest;
  if (head.sequence > sequence && goesBack({ sequence, as_of }, head, keys)) {
    refuse(`as of ${head.as_of}, which is before release ${sequence}, as of ${as_of}`);
  }
}

/**
 * Refuses a release whose log does not hold, entry by entry, the one that was served: a greater number proves nothing. Throws
 * a StartError; a log that cannot be read now stops nothing but what is new.
 */
export async function refuseFork(
  stateDir: string,
  release: ReleaseIndex,
  isProven = false,
): Promise<void> {
  const newest = readNewest(stateDir);
  const { keys: known = seenKey(newest?.issuer_did ?? ''), log } = newest ?? {};
  if (newest === null || log === undefined || !isOfSeen(release.keys, known)) return;
  const { head } = release;
  const refuse = (why: string, cause?: unknown): never => {
    throw new StartError(
      `Cannot serve release ${head.sequence}: ${why}; take the log back with "signalpress adopt" and compile again, or ` +
        `delete "${join(stateDir, NEWEST_NAME)}" if this is intended`,
      { cause },
    );
  };
  let root: Uint8Array;
  try {
    const { tree } = await logTip(release);
    if (tree.size < log.size)
      return refuse(`its log has ${tree.size} entries, and one of ${log.size} was already served`);
    root = await tree.rangeHash({ start: 0, end: log.size });
  } catch (error) {
    if (error instanceof StartError) throw error;
    const isServed = headHash(head) === `sha256:${newest.head_sha256}`;
    if (isProven || isServed) return;
    return refuse(`its log cannot be read: ${messageOf(error)}`, error);
  }
  if (Buffer.from(root).toString('hex') !== log.root)
    refuse(`its log is a fork: it has other entries than the ${log.size} that were already served`);
}

/** Remembers what is served now, with its log where that could be read; a crash in between leaves the older note, which refuses less. */
export function keepNewest(
  stateDir: string,
  { head, keys }: Served,
  tree: Pick<LogTree, 'size' | 'root'> | null = null,
): void {
  const { sequence, as_of } = head;
  const noted = readNewest(stateDir);
  // Another process with the same folder may be ahead.
  if (noted?.issuer_did === rootDid(keys) && noted.sequence > sequence) return;
  const newest: Newest = {
    issuer_did: rootDid(keys),
    sequence,
    head_sha256: headHash(head).slice('sha256:'.length),
    previous: head.previous,
    as_of,
    keys: seenKeysOf(keys, hexDigest),
  };
  const log =
    tree === null ? noted?.log : { size: tree.size, root: Buffer.from(tree.root).toString('hex') };
  const whole: Newest = log === undefined ? newest : { ...newest, log };
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  replaceFile(join(stateDir, NEWEST_NAME), `${JSON.stringify(whole)}\n`);
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

function hexDigest(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/**
 * What is served at a start when the newest release is damaged: the newest whole one beside it. An older release is also
 * what somebody wants to be served who may write into the data folder and has no key, so it has to be proven:
 *
 *  - Each head names the hash of the one before it. A release counts only when a chain of such hashes leads to it, from
 *    the head that `current` names, if that one is whole, or from the newest release that this gatekeeper served. What
 *    was never published has no such chain, even if the issuer signed it.
 *  - To what is older than the newest release that was served, only the chain from that one leads. Its list of keys must
 *    still know every revocation that was seen.
 *
 * What is noted as the newest stays as it is, and the state of the service says at each start that a release is refused:
 * nobody can go back unnoticed, and any newer whole release ends it.
 */

/** Releases that are opened at most: each takes as long as a start. */
const OPENED_MAX = 16;

interface EarlierOptions {
  folder: ReleaseFolder;
  /** Name of the release that is damaged; null where that is not known. */
  damaged: string | null;
  /** Hashes of heads that the newest release served proves. */
  proven: readonly string[];
  terms: ReleaseTerms;
  /** Opens a release as at any start; `isProven` where the newest release that was served leads to it. */
  open: (place: ReleasePlace, isProven: boolean) => Promise<ReleaseIndex>;
}

/** The newest whole release that history proves; null for none. */
export async function earlierWhole(options: EarlierOptions): Promise<ReleaseIndex | null> {
  const { folder, damaged, proven, open } = options;
  const [byServed, byCurrent] = [new Set(proven), new Set<string>()];
  const sequenceOf = (name: string): number => Number(name.split('-')[0]);
  const names = await folder.names().catch(() => []);
  let opened = 0;
  for (const name of [...names].sort((one, other) => sequenceOf(other) - sequenceOf(one))) {
    const found = await headAt(options, name);
    if (found === null) continue;
    const { place, hash, previous } = found;
    if (name === damaged) byCurrent.add(hash);
    const chains = [byServed, byCurrent].filter((chain) => chain.has(hash));
    for (const chain of chains) chain.add(previous);
    if (chains.length === 0 || name === damaged) continue;
    const release = await open(place, byServed.has(hash)).catch(() => null);
    opened += 1;
    if (release !== null || opened === OPENED_MAX) return release;
  }
  return null;
}

/** Null where no head stands that its issuer signed. */
async function headAt({ folder, terms }: EarlierOptions, name: string) {
  try {
    const place = await folder.place(name);
    const head = checkHead(place.head, terms);
    // The first release names none before it, which is the hash of nothing.
    return { place, hash: headHash(head), previous: head.previous ?? '' };
  } catch {
    return null;
  }
}
