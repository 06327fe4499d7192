/**
 * Whoever continues a log takes a turn, so that a folder which was restored, lost or copied never forks it:
 *
 *  1. The release stands beside the others, and its entry and tiles are on the disk: it is staged.
 *  2. A memory outside of the data folder swaps the size and root that it knows for those.
 *  3. The checkpoint is signed and published, and the release switched to.
 *
 * Who is killed in between leaves a staged entry, which the next turn finishes: no other one of that sequence is ever made.
 * A memory that knows more than the folder, or another history, ends the turn before anything is read.
 */

import { type Checkpoint, checkpointText } from '../../format/checkpoint.ts';
import { messageOf } from '../../format/errors.ts';
import { firstHistory } from '../../format/key-history.ts';
import { releaseName } from '../../format/release.ts';
import { forgetStaged, logAt, openLog, refused, stagedLog } from '../../release/log-folder.ts';
import { hexOf } from '../../release/log-tree.ts';
import { readRelease } from '../../release/release-folders.ts';
import { type LogTurn, switchCurrent } from '../../release/release-store.ts';
import { CompileError } from '../../system/compile-error.ts';
import { lockData } from '../../system/data-lock.ts';
import { canonicalDigest } from '../../system/jcs.ts';
import { issuerDid, makeSealer, signingKey } from '../../system/sealer.ts';
import { refuseKey } from '../keys/key-command.ts';
import { readKeys } from '../keys/key-store.ts';
import { signLog } from './continue-log.ts';

/** What remembers the newest size and root of a log outside of the data folder. */
export interface LogMemory {
  /** For people; it holds no secret. */
  readonly name: string;
  /** What is known; null for nothing yet. Throws where it is not in reach. */
  read(): Promise<Checkpoint | null>;
  /**
   * Remembers `next` where `expected` is known, or `next` already; answers whether it does. What can only be read answers
   * whether that is so. Throws where nobody can tell what is remembered now.
   */
  swap(expected: Checkpoint | null, next: Checkpoint): Promise<boolean>;
}

/** Whether two texts state one size and root: an address may have changed its name meanwhile. */
export function isSameLog(one: Checkpoint | null, other: Checkpoint | null): boolean {
  const sameAs = (log: Checkpoint | null) => log && checkpointText({ ...log, origin: 'log' });
  return sameAs(one) === sameAs(other);
}

interface Turn {
  /** Null to go without. */
  readonly memory: LogMemory | null;
  /** 32-byte Ed25519 seed of the key that signs. */
  readonly seed: Uint8Array;
  /** When it signs, ISO-8601 UTC. */
  readonly asOf: string;
}

/** How a log that is lost here comes back. */
const ADOPT =
  'take the log back with "signalpress adopt" from the shop, its static host or a mirror, then run this again';

/**
 * Takes the turn: finishes the entry that is staged, and compares the log with what is remembered. Throws a CompileError
 * where the memory is out of reach or knows more or something else, and a KeyError where this key may not finish the entry.
 */
export async function takeTurn(data: string, { memory, ...signs }: Turn): Promise<LogTurn> {
  const refuse = (state: string): never => {
    const message = `${state}; nothing was signed`;
    throw new CompileError([{ code: 'log_refused', file: memory?.name ?? data, message }]);
  };
  const known = await Promise.resolve(memory?.read() ?? null).catch((cause: unknown) => {
    const state = `the memory of the log is out of reach: ${messageOf(cause)}; bring it back, or pass`;
    const proviso = 'where no other machine publishes and this folder is the newest';
    return refuse(`${state} --no-log-memory once, ${proviso}`);
  });
  const turnAfter = (expected: Checkpoint | null): LogTurn => ({
    async swap(next) {
      if (memory === null) return;
      const isTaken = await memory.swap(expected, next).catch((cause: unknown) => {
        const state = `nobody can tell whether it took the next size of the log: ${messageOf(cause)}`;
        return refuse(`${state}; run this again, which publishes the staged release`);
      });
      if (isTaken) return;
      forgetStaged(data);
      refuse(`another machine went on with this log meanwhile; ${ADOPT}`);
    },
  });
  const unlock = lockData(data);
  try {
    const log = openLog(data);
    const staged = stagedLog(data);
    if (staged !== null && isSameLog(known, staged)) {
      publishStaged(data, staged, signs);
      return turnAfter(staged);
    }
    const size = log?.signed.size ?? 0;
    if (known !== null && known.size > size) {
      const here = size === 0 ? 'has none: it is new, or was lost' : `has ${size}: it was restored`;
      refuse(
        `a log of ${known.size} entries is remembered, and "${data}" ${here}, or another machine went on; ${ADOPT}`,
      );
    }
    if (known !== null && log !== null) {
      const then = log.hashOf({ start: 0, end: known.size });
      if (hexOf(then) !== hexOf(known.root)) {
        refuse(
          `another history of ${known.size} entries is remembered than "${data}" has; ${ADOPT}`,
        );
      }
    }
    if (staged === null) return turnAfter(known);
    if (!isWhole(data, staged)) {
      // Nobody remembers it, and it was never signed.
      forgetStaged(data);
      return turnAfter(known);
    }
    await turnAfter(known).swap(staged);
    publishStaged(data, staged, signs);
    return turnAfter(staged);
  } finally {
    unlock();
  }
}

/** The release whose entry is staged; throws where it is not whole. */
function stagedRelease(data: string, staged: Checkpoint) {
  const { last } = logAt(data, staged);
  const name = releaseName(last);
  const head = readRelease(data, name);
  if (canonicalDigest(head) !== last.head) throw refused(name, 'another release of it is staged');
  return { name, head };
}

function isWhole(data: string, staged: Checkpoint): boolean {
  try {
    stagedRelease(data, staged);
    return true;
  } catch {
    return false;
  }
}

/** Signs the log with the entry that is staged, and switches to its release. */
function publishStaged(
  data: string,
  staged: Checkpoint,
  { seed, asOf }: Omit<Turn, 'memory'>,
): void {
  const { name, head } = stagedRelease(data, staged);
  const key = signingKey(seed);
  const did = issuerDid(key);
  refuseKey(readKeys(data) ?? firstHistory(head.issuer_did), did, asOf);
  const issuer = { name: head.issuer_name, did, keyId: did, baseUrl: head.base_url };
  signLog(data, staged, { issuer, sealer: makeSealer(issuer, key) });
  switchCurrent(data, name);
  forgetStaged(data);
}
