import { firstHistory, type KeyHistory } from '../../../compiler/contract/key-history.ts';
import { changeKeys, keepKeys, readKeys } from '../../../compiler/keys/key-store.ts';
import {
  adoptedList,
  draftRoot,
  type RootChange,
  signDraft,
} from '../../../compiler/keys/root-draft.ts';
import { issuerDid, signingKey } from '../../../compiler/stages/seal/sealer.ts';
import { monthTime, type Plan, signedIn, theftTime } from './plan.ts';

const OVERLAP_DAYS = 40;
const UNCHANGED = { add: [], end: [], revoke: [], receipt: [], endReceipt: [] };

/** Seeds of three issuer keys and three root keys. */
export interface Seeds {
  readonly issuer: readonly [Uint8Array, Uint8Array, Uint8Array];
  readonly root: readonly [Uint8Array, Uint8Array, Uint8Array];
}

export function seedsOf(random: (below: number) => number): Seeds {
  const seed = (): Uint8Array => Uint8Array.from({ length: 32 }, () => random(256));
  return { issuer: [seed(), seed(), seed()], root: [seed(), seed(), seed()] };
}

export function didOf(seed: Uint8Array): string {
  return issuerDid(signingKey(seed));
}

/** The key that signs in a month, and the one that still signs the log beside it. */
export function signersIn(month: number, plan: Plan, { issuer }: Seeds) {
  const [first, second, third] = issuer;
  const signed = signedIn(month, plan);
  if (signed === 'first key') return { seed: first };
  if (signed !== 'third key') {
    return month === plan.firstRotation ? { seed: second, overlapSeed: first } : { seed: second };
  }
  return month === plan.secondRotation ? { seed: third, overlapSeed: second } : { seed: third };
}

/** Changes the list of keys as the plan has it, before the release of a month. */
export function keyEvents(data: string, month: number, by: { plan: Plan; seeds: Seeds }): void {
  const { plan, seeds } = by;
  const [first, second, third] = seeds.issuer;
  const added = (seed: Uint8Array) => [{ did: didOf(seed), at: monthTime(month) }];
  if (month === plan.root) {
    adopt(data, seeds, { month, change: { rootKeys: seeds.root.map(didOf) }, signs: first });
  }
  if (month === plan.firstRotation) {
    adopt(data, seeds, { month, change: { add: added(second) }, signs: second });
  }
  if (month === plan.secondRotation) {
    adopt(data, seeds, { month, change: { add: added(third) }, signs: third });
  }
  if (month === plan.noticed) {
    const revoke = [{ did: didOf(second), at: theftTime(plan) }];
    adopt(data, seeds, { month, change: { revoke }, signs: null });
  }
}

interface Adoption {
  readonly month: number;
  readonly change: Partial<RootChange>;
  /** An issuer key that has to sign too. */
  readonly signs: Uint8Array | null;
}

/** Two of the three root keys sign, a day before the release. */
function adopt(data: string, { issuer, root }: Seeds, { month, change, signs }: Adoption): void {
  const list: KeyHistory = readKeys(data) ?? firstHistory(didOf(issuer[0]));
  const now = monthTime(month, -1);
  const draft = draftRoot(list, { ...UNCHANGED, overlapDays: OVERLAP_DAYS, now, ...change });
  const signed = [...root.slice(1), ...(signs === null ? [] : [signs])].reduce(signDraft, draft);
  changeKeys(data, () => keepKeys(data, adoptedList(list, signed)));
}
