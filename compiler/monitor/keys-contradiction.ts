import { adoptedKeys, beforeRoots, type KeyHistory, rootDid } from '../contract/key-history.ts';
import { rootBytes } from '../contract/root-statement.ts';

/** What two lists contradict each other in, and the keys of the issuer that signed both sides. */
export interface KeysContradiction {
  readonly says: string;
  readonly signers: readonly string[];
  /** Whether root keys signed, whose time does not end. */
  readonly isByRoot: boolean;
}

/** Why two lists that hold cannot both be of one honest issuer; null where they can, one of them being older. */
export function keysContradiction(one: KeyHistory, other: KeyHistory): KeysContradiction | null {
  return rootContradiction(one, other) ?? successorContradiction(one, other);
}

/** A key announced two successors. What a root puts in place of one is announced by no key. */
function successorContradiction(one: KeyHistory, other: KeyHistory): KeysContradiction | null {
  const [first, second] = [one, other].map(({ keys }) =>
    keys.flatMap((key) => key.statement ?? []),
  );
  for (const [at, statement] of (first ?? []).entries()) {
    const also = second?.[at];
    if (also === undefined || also.old_did !== statement.old_did) return null;
    if (also.new_did === statement.new_did) continue;
    const says = `${also.old_did} announced two successors: ${statement.new_did} and ${also.new_did}`;
    return { says, signers: [also.old_did], isByRoot: false };
  }
  return null;
}

function rootContradiction(one: KeyHistory, other: KeyHistory): KeysContradiction | null {
  const { roots = [] } = one;
  const also = other.roots ?? [];
  const at = roots.findIndex((root, index) => {
    const second = also[index];
    return second !== undefined && Buffer.compare(rootBytes(root), rootBytes(second)) !== 0;
  });
  if (at < 0) return null;
  const says = `version ${at + 1} of the root is stated in two ways`;
  // The first version is signed by an issuer key, later ones by the root keys of the version before, which both lists have.
  const adopters = [one, other].flatMap((list) => adoptedKeys(beforeRoots(list)).adopter ?? []);
  return at === 0
    ? { says, signers: adopters, isByRoot: false }
    : { says, signers: [rootDid(one)], isByRoot: true };
}
