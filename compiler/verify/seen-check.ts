import type { KeyHistory } from '../contract/key-history.ts';
import { RELEASE_NAME, type Release } from '../contract/release.ts';
import { goesBack } from '../contract/release-time.ts';
import { canonicalHash } from './body-check.ts';
import type { Disk } from './disk.ts';
import { Faults } from './release-fault.ts';
import { readHeadAlone } from './release-head.ts';
import type { SeenRelease } from './release-memory.ts';
import { sequenceOf } from './release-root.ts';

/** More releases than one every five minutes for ten years: nobody published these. */
const SEQUENCE_JUMP_MAX = 1_000_000;

interface SeenCheck {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
  /** The newest release of this issuer that was verified before. */
  readonly seen: SeenRelease;
  /** Every key of the issuer, where they are known. */
  readonly keys?: KeyHistory;
}

/** Whether a release follows from the one that was seen: not older, not another of its number, and linked to it. */
export function checkSeen({ disk, root, head, faults, seen, keys }: SeenCheck): void {
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
