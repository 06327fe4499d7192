import { setImmediate } from 'node:timers/promises';
import { AS_OF_PATH } from '../../compiler/contract/catalog/signal-terms.ts';
import type { Release } from '../../compiler/contract/release.ts';
import { messageOf } from '../system/message-of.ts';
import { headHash } from './log-tip.ts';
import { DamagedFileError } from './read-body.ts';
import { checkHead, checkIssuer } from './release-head.ts';
import type { ReleaseIndex } from './release-index.ts';
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

/** The earlier releases of one that is served. */
interface Chain {
  /** Of the folder, when it was looked at; null where that has to be done again. */
  mark: string | null;
  readonly releases: Promise<readonly EarlierRelease[]>;
}

/** Heads that are looked at before requests have their turn. */
const HEADS_A_TURN = 256;

const chains = new WeakMap<ReleaseIndex, Chain>();
/** Heads of a folder that were checked before, by name. */
const checked = new WeakMap<ReleaseFolder, ReadonlyMap<string, EarlierRelease>>();

/** The earlier releases that are kept, the newest first; rejects where nobody can tell. */
export async function earlierReleases(release: ReleaseIndex): Promise<readonly EarlierRelease[]> {
  return (chains.get(release) ?? begin(release, null)).releases;
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

/** Whether an earlier release is still there; looks again. Rejects where nobody can tell. */
export async function isKept(earlier: EarlierRelease, release: ReleaseIndex): Promise<boolean> {
  return (await begin(release, null).releases).includes(earlier);
}

/** What its operator should know of a shop that sells by time; null for nothing. */
export function earlierWarning({ place, catalog }: ReleaseIndex): string | null {
  if (place.folder !== undefined || !catalog.operationByPath.has(AS_OF_PATH)) return null;
  return `"${AS_OF_PATH}" answers as of the newest release alone: earlier ones are read from a folder, not from a host`;
}

function begin(release: ReleaseIndex, mark: string | null): Chain {
  const { folder } = release.place;
  const releases = folder === undefined ? Promise.resolve([]) : chainBack(release, folder);
  const chain: Chain = { mark, releases };
  chains.set(release, chain);
  releases.catch(() => {
    chain.mark = null;
  });
  return chain;
}

async function chainBack(
  release: ReleaseIndex,
  folder: ReleaseFolder,
): Promise<readonly EarlierRelease[]> {
  const names = await namesBySequence(folder);
  const known = checked.get(folder);
  const found: EarlierRelease[] = [];
  let after: HeldHead = release.head;
  for (;;) {
    const name = names.get(after.sequence - 1);
    if (name === undefined) break;
    const earlier = known?.get(name) ?? (await headIn(folder, name, release));
    if (earlier?.hash !== after.previous || !isServable(earlier.head, release)) break;
    found.push(earlier);
    after = earlier.head;
    if (found.length % HEADS_A_TURN === 0) await setImmediate();
  }
  checked.set(folder, new Map(found.map((earlier) => [earlier.name, earlier])));
  return found;
}

async function namesBySequence(folder: ReleaseFolder): Promise<ReadonlyMap<number, string>> {
  try {
    const names = await folder.names();
    return new Map(names.map((name) => [Number(name.split('-')[0]), name]));
  } catch (cause) {
    const state = `nobody can tell which are kept (${messageOf(cause)}); look at the disk`;
    throw new DamagedFileError(`Cannot serve an earlier release: ${state}`, { cause });
  }
}

/** Null for one that is gone, damaged, or not of this version or address. */
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
  } catch {
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
