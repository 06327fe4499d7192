import { posix } from 'node:path';
import { RELEASE_NAME, type Release } from '../contract/release.ts';
import type { Disk } from './disk.ts';
import type { Faults } from './release-fault.ts';

/** Folders of releases are named after their sequence and time. */
const SEQUENCE = /^(\d{6,})-/;
const CURRENT_TARGET = /^releases\/[A-Za-z0-9-][A-Za-z0-9._-]*$/;

/** True for a folder that can be judged as a release: one, or a data folder with a `current` link. */
export function isReleaseFolder(disk: Disk, folder: string): boolean {
  return (
    disk.entry(`${folder}/${RELEASE_NAME}`) !== null || disk.entry(`${folder}/current`) !== null
  );
}

/** The release folder that a folder means; null, and a fault, where there is none. */
export function releaseRoot(disk: Disk, folder: string, faults: Faults): string | null {
  if (disk.entry(`${folder}/${RELEASE_NAME}`)?.kind === 'file') return folder;
  const current = `${folder}/current`;
  if (disk.entry(current)?.kind !== 'link') {
    faults.add(RELEASE_NAME, '', 'neither a release nor a data folder with a "current" link');
    return null;
  }
  const target = disk.link(current);
  if (!CURRENT_TARGET.test(target)) {
    faults.add('current', '', `points to "${target}", which is not below "releases"`);
    return null;
  }
  const root = `${folder}/${target}`;
  if (disk.entry(root)?.kind === 'folder') return root;
  faults.add('current', '', `points to "${target}", which is not a folder`);
  return null;
}

interface NamedRelease {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
}

/** An older release in the folder of a newer one: a folder is named after its sequence. */
export function checkName({ disk, root, head, faults }: NamedRelease): void {
  const name = folderName(disk, root);
  const own = sequenceOf(name);
  if (own !== null && own !== head.sequence) {
    faults.add(RELEASE_NAME, 'sequence', `${head.sequence}, but its folder is named "${name}"`);
  }
}

/**
 * Releases beside the one that is served that are newer than it. A compile that was killed right before the switch leaves
 * one; so does whoever turns `current` back, which only a reader who remembers what was served can tell.
 */
export function unservedReleases(disk: Disk, root: string, head: Release): string[] {
  const name = folderName(disk, root);
  if (!isServed(disk, root, name)) return [];
  return disk
    .list(`${root}/..`)
    .filter((other) => other.name !== name && (sequenceOf(other.name) ?? 0) > head.sequence)
    .map((other) => `releases/${other.name}`);
}

/** The sequence in the name of a release folder, or null for any other name. */
export function sequenceOf(name: string): number | null {
  const digits = SEQUENCE.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The name of a release folder, however a caller wrote it: `current/` and `.` mean the folder behind them. */
export function folderName(disk: Disk, root: string): string {
  return posix.basename(disk.real(root));
}

function isServed(disk: Disk, root: string, name: string): boolean {
  const current = `${root}/../../current`;
  return disk.entry(current)?.kind === 'link' && disk.link(current) === `releases/${name}`;
}
