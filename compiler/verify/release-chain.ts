import { RELEASE_NAME, type Release } from '../contract/release.ts';
import { canonicalHash } from './body-check.ts';
import type { Disk } from './disk.ts';
import { Faults } from './release-fault.ts';
import { readHeadAlone } from './release-head.ts';
import { folderName, sequenceOf } from './release-root.ts';

export interface ChainedRelease {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
}

interface Link {
  readonly file: string;
  readonly head: Release;
}

/** Compares the releases that are kept beside one another: each names the one before; answers how many were read. */
export function checkChain({ disk, root, head, faults }: ChainedRelease): number {
  const own = folderName(disk, root);
  const links: Link[] = [{ file: RELEASE_NAME, head }];
  for (const { name, kind } of disk.list(`${root}/..`)) {
    if (name === own || kind !== 'folder' || sequenceOf(name) === null) continue;
    const file = `releases/${name}/${RELEASE_NAME}`;
    const read = readKept(disk, `${root}/../${name}`);
    if (read !== null) links.push({ file, head: read });
    // A compile may remove old releases meanwhile, or have been killed over it: that is no other than one that is gone.
    else if (disk.entry(`${root}/../${name}/${RELEASE_NAME}`) !== null) {
      faults.add(file, '', 'not the signed head of a release');
    }
  }
  links.sort((a, b) => a.head.sequence - b.head.sequence || (a.file < b.file ? -1 : 1));
  for (const [at, link] of links.entries()) {
    const before = links[at - 1];
    if (before !== undefined) checkLink(before, link, faults);
  }
  return links.length;
}

/** The head of another release by itself; its files are not looked at. */
function readKept(disk: Disk, root: string): Release | null {
  const own = new Faults();
  const head = readHeadAlone({ disk, root, trust: 'any', faults: own });
  return own.count === 0 ? head : null;
}

function checkLink(before: Link, { file, head }: Link, faults: Faults): void {
  const { sequence } = before.head;
  if (head.sequence === sequence) {
    faults.add(file, 'sequence', `${sequence}, like another release that is kept`);
    return;
  }
  if (Date.parse(head.as_of) < Date.parse(before.head.as_of)) {
    faults.add(file, 'as_of', `before that of release ${sequence}`);
  }
  // Between two that are not neighbours releases were removed.
  if (head.sequence !== sequence + 1) return;
  if (head.previous !== canonicalHash(before.head)) {
    faults.add(file, 'previous', `not the hash of release ${sequence}`);
  }
}
