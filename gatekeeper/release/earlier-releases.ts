import { setImmediate } from 'node:timers/promises';
import { AS_OF_PATH } from '../../compiler/contract/catalog/signal-terms.ts';
import { grouped } from '../../compiler/contract/grouped.ts';
import type { Release } from '../../compiler/contract/release.ts';
import { costOfLooking } from '../http/cost.ts';
import { messageOf } from '../system/message-of.ts';
import { isOfDisk } from '../system/plain-file.ts';
import { headHash } from './log-tip.ts';
import { DamagedFileError } from './read-body.ts';
import { checkHead, checkIssuer } from './release-head.ts';
import type { ReleaseIndex, ReleaseReader } from './release-index.ts';
import type { ReleaseFolder } from './release-source.ts';

// Each head names the hash of the one before it, so the head that is served proves every earlier one. What is kept reaches
// back as far as nothing in that chain is missing: behind a gap nobody could say which release was the newest at a time.

/** As much of a head as has to be held: a folder may keep thousands. */
type HeldHead = Pick<
  Release,
  'sequence' | 'as_of' | 'base_url' | 'issuer_did' | 'previous' | 'files_sha256'
>;

/** A release that was served before, and is still kept. */
export interface EarlierRelease {
  readonly name: string;
  readonly head: HeldHead;
  readonly hash: string;
  /** Epoch milliseconds. */
  readonly asOfMs: number;
}

/** The earlier releases of one that is served, the newest first. */
interface EarlierReleases {
  readonly releases: readonly EarlierRelease[];
  /** Why nobody can tell whether more are kept behind them; null where none are. */
  readonly doubt: DamagedFileError | null;
}

/** They as they were read at a time. */
interface Chain {
  /** Of the folder, when it was looked at; null where that has to be done again. */
  mark: string | null;
  readonly earlier: Promise<EarlierReleases>;
}

/** Heads that are looked at before requests have their turn. */
const HEADS_A_TURN = 256;

const chains = new WeakMap<ReleaseIndex, Chain>();
/** Heads of a folder that were checked before, by name. */
const checked = new WeakMap<ReleaseFolder, ReadonlyMap<string, EarlierRelease>>();

/** The earlier releases that are kept; rejects where nobody can tell of any. */
export async function earlierReleases(release: ReleaseIndex): Promise<EarlierReleases> {
  return (chains.get(release) ?? begin(release, null)).earlier;
}

/**
 * Takes up what came or went, so that no request has to wait for it; nothing is read for a shop that does not sell by time.
 * Never rejects.
 */
export async function renewEarlier(release: ReleaseIndex): Promise<void> {
  const { place, catalog } = release;
  if (place.folder === undefined || !catalog.operationByPath.has(AS_OF_PATH)) return;
  const mark = await place.folder.mark().catch(() => null);
  const known = chains.get(release);
  if (known === undefined || known.mark === null || known.mark !== mark) begin(release, mark);
}

/** Whether an earlier release is gone; looks again, at the cost of who asks. Rejects where nobody can tell. */
export async function isGone(
  earlier: EarlierRelease,
  { release, spend }: ReleaseReader,
): Promise<boolean> {
  const { releases, doubt } = await begin(release, null).earlier;
  spend(costOfLooking(releases.length));
  return doubt === null && !releases.includes(earlier);
}

/** What its operator should know of a shop that sells by time; null for nothing. */
export function earlierWarning({ place, catalog }: ReleaseIndex): string | null {
  if (place.folder !== undefined || !catalog.operationByPath.has(AS_OF_PATH)) return null;
  return `"${AS_OF_PATH}" answers as of the newest release alone: earlier ones are read from a folder, not from a host`;
}

function begin(release: ReleaseIndex, mark: string | null): Chain {
  const { folder } = release.place;
  const earlier = folder === undefined ? Promise.resolve(NONE) : chainBack(release, folder);
  const chain: Chain = { mark, earlier };
  chains.set(release, chain);
  const lookAgain = (): void => {
    chain.mark = null;
  };
  earlier.then(({ doubt }) => (doubt === null ? undefined : lookAgain()), lookAgain);
  return chain;
}

const NONE: EarlierReleases = { releases: [], doubt: null };

async function chainBack(release: ReleaseIndex, folder: ReleaseFolder): Promise<EarlierReleases> {
  const names = await namesBySequence(folder);
  const releases: EarlierRelease[] = [];
  let after: HeldHead = release.head;
  let doubt: DamagedFileError | null = null;
  for (;;) {
    const named = { names: names.get(after.sequence - 1) ?? [], hash: after.previous };
    const earlier = await releaseBefore(named, folder, release).catch(nobodyKnows);
    if (earlier instanceof DamagedFileError) doubt = earlier;
    if (earlier instanceof DamagedFileError || earlier === null) break;
    if (!isServable(earlier.head, release)) break;
    releases.push(earlier);
    after = earlier.head;
    if (releases.length % HEADS_A_TURN === 0) await setImmediate();
  }
  checked.set(folder, new Map(releases.map((earlier) => [earlier.name, earlier])));
  return { releases, doubt };
}

/** A sequence may have several: a release that was never served may have been left behind. */
async function namesBySequence(
  folder: ReleaseFolder,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const names = await folder.names().catch((error: unknown) => {
    throw nobodyKnows(error);
  });
  return grouped(names, (name) => Number(name.split('-')[0]));
}

function nobodyKnows(cause: unknown): DamagedFileError {
  const state = `nobody can tell which are kept (${messageOf(cause)}); look at the disk`;
  return new DamagedFileError(`Cannot serve an earlier release: ${state}`, { cause });
}

interface NamedRelease {
  readonly names: readonly string[];
  /** As the release behind it says. */
  readonly hash: string | null;
}

/** Null where none of the names is that release; rejects where nobody can tell. */
async function releaseBefore(
  { names, hash }: NamedRelease,
  folder: ReleaseFolder,
  release: ReleaseIndex,
): Promise<EarlierRelease | null> {
  const known = checked.get(folder);
  for (const name of names) {
    const earlier = known?.get(name) ?? (await headIn(folder, name, release));
    if (earlier?.hash === hash) return earlier;
  }
  return null;
}

/** Null for one that is gone, damaged, or not of this version or address; rejects where the disk does not tell. */
async function headIn(
  folder: ReleaseFolder,
  name: string,
  { head: served }: ReleaseIndex,
): Promise<EarlierRelease | null> {
  try {
    const terms = { issuerDid: null, baseUrl: served.base_url };
    const head = checkHead(await folder.head(name), terms);
    const { sequence, as_of, base_url, issuer_did, previous, files_sha256 } = head;
    const held = { sequence, as_of, base_url, issuer_did, previous, files_sha256 };
    return { name, head: held, hash: headHash(head), asOfMs: Date.parse(as_of) };
  } catch (error) {
    if (isOfDisk(error)) throw error;
    return null;
  }
}

/** Whether buyers would accept a body of this release today: its key may have been revoked since. */
function isServable(head: HeldHead, { head: served, keys }: ReleaseIndex): boolean {
  if (head.base_url !== served.base_url) return false;
  try {
    checkIssuer(head, keys, null);
    return true;
  } catch {
    return false;
  }
}
