/**
 * What is served at a start when the newest release is damaged: the newest whole one beside it. An older release is also
 * what somebody wants to be served who may write into the data folder and has no key, so it has to be proven:
 *
 *  - Each head names the hash of the one before it. A release counts only when a chain of such hashes leads to it, from
 *    the head that `current` names, if that one is whole, or from the newest release that this gatekeeper served
 *    (`newest-served.ts`). What was never published has no such chain, even if the issuer signed it.
 *  - Behind the newest release that was served, only the chain from that one leads. Its list of keys must still know
 *    every revocation that was seen.
 *
 * What is noted as the newest stays as it is, and the state of the service says at each start that a release is refused:
 * nobody can go back unnoticed, and any newer whole release ends it.
 */
import { headHash } from './log-tip.ts';
import { checkHead, type ReleaseTerms } from './release-head.ts';
import type { ReleaseIndex } from './release-index.ts';
import type { ReleaseFolder, ReleasePlace } from './release-source.ts';

/** Releases that are opened at most: each takes as long as a start. */
const OPENED_MAX = 16;

interface EarlierOptions {
  readonly folder: ReleaseFolder;
  /** Name of the release that is damaged; null where that is not known. */
  readonly damaged: string | null;
  /** Hashes of heads that the newest release served proves. */
  readonly proven: readonly string[];
  readonly terms: ReleaseTerms;
  /** Opens a release as at any start; `isProven` where the newest release that was served leads to it. */
  readonly open: (place: ReleasePlace, isProven: boolean) => Promise<ReleaseIndex>;
}

/** The newest whole release that history proves; null for none. */
export async function earlierWhole(options: EarlierOptions): Promise<ReleaseIndex | null> {
  let opened = 0;
  for await (const { place, isServed } of provenPlaces(options)) {
    const release = await options.open(place, isServed).catch(() => null);
    opened += 1;
    if (release !== null || opened === OPENED_MAX) return release;
  }
  return null;
}

/** The newest first; `isServed` where the newest release that was served leads to it, or is it. */
async function* provenPlaces(options: EarlierOptions) {
  const { folder, damaged, proven } = options;
  const [byServed, byCurrent] = [new Set(proven), new Set<string>()];
  const names = await folder.names().catch(() => []);
  for (const name of [...names].sort((one, other) => sequenceOf(other) - sequenceOf(one))) {
    const found = await headAt(options, name);
    if (found === null) continue;
    const { place, hash, previous } = found;
    if (name === damaged) byCurrent.add(hash);
    const chains = [byServed, byCurrent].filter((chain) => chain.has(hash));
    for (const chain of chains) chain.add(previous);
    if (chains.length > 0 && name !== damaged) yield { place, isServed: byServed.has(hash) };
  }
}

function sequenceOf(name: string): number {
  return Number(name.split('-')[0]);
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
