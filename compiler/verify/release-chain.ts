import type { KeyHistory } from '../contract/key-history.ts';
import { goesBack, RELEASE_NAME, type Release } from '../contract/release.ts';
import { canonicalHash } from './body-check.ts';
import type { Disk } from './disk.ts';
import { Faults } from './release-fault.ts';
import { readHeadAlone } from './release-head.ts';
import { folderName, sequenceOf } from './release-root.ts';

interface ChainedRelease {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
  /** Keys that the issuer had before; a kept release may be signed by any of them. */
  readonly keys?: KeyHistory;
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
  const read = readKept(disk, folder);
  if (read === null) {
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

/** The head of another release by itself; its files are not looked at. */
function readKept(disk: Disk, root: string): Release | null {
  const own = new Faults();
  const head = readHeadAlone({ disk, root, trust: 'any', faults: own });
  return own.count === 0 ? head : null;
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
