import { isoTime } from '../../../compiler/format/iso-time.ts';
import { firstHistory, type KeyHistory } from '../../../compiler/format/key-history.ts';
import { changeKeys, keepKeys, readKeys } from '../../../compiler/publish/keys/key-store.ts';
import {
  adoptedList,
  draftRoot,
  type RootChange,
  signDraft,
} from '../../../compiler/publish/keys/root-draft.ts';
import { issuerDid, signingKey } from '../../../compiler/system/sealer.ts';

/** In which month each event falls; the first month is 1. */
export interface Plan {
  readonly months: number;
  /** A root of three keys is adopted. */
  readonly root: number;
  readonly firstRotation: number;
  /** One of three witnesses answers no more. */
  readonly witnessDies: number;
  /** The second key is stolen; nobody notices. Not before the rotation that follows where it never is. */
  readonly theft: number;
  readonly secondRotation: number;
  /** The theft is noticed: the root revokes the second key from the theft on, behind the rotation. */
  readonly noticed: number;
  /** The service shows the release of the month before. */
  readonly rollback: number;
  /** A second history of the log is published at another address. */
  readonly fork: number;
  /** The release of the month before is shown on, beyond the time that it promised. */
  readonly freeze: number;
  /** Whether every product is bought each month, or one after the other. */
  readonly buysAll: boolean;
}

/** Sixty months, and a body bought in each. */
export const FIVE_YEARS: Plan = {
  months: 60,
  root: 4,
  firstRotation: 14,
  witnessDies: 20,
  theft: 26,
  secondRotation: 32,
  noticed: 38,
  rollback: 44,
  fork: 48,
  freeze: 54,
  buysAll: false,
};

/** The same events in the same order, in less time. */
export const SHORT: Plan = {
  months: 9,
  root: 2,
  firstRotation: 3,
  witnessDies: 3,
  theft: 4,
  secondRotation: 5,
  noticed: 6,
  rollback: 7,
  fork: 7,
  freeze: 8,
  buysAll: true,
};

/** An event that does not happen. */
const NEVER = 0;

/** A year in which nothing goes wrong, with two rotations. */
export const YEAR: Plan = {
  months: 12,
  root: 2,
  firstRotation: 4,
  witnessDies: NEVER,
  theft: 8,
  secondRotation: 8,
  noticed: NEVER,
  rollback: NEVER,
  fork: NEVER,
  freeze: NEVER,
  buysAll: true,
};

/** When the release of a month is published, or so many days later, ISO-8601. */
export function monthTime(month: number, days = 0): string {
  return isoTime(Date.UTC(2026, 10 + month, 5 + days, 12));
}

/** Days before the release of its month that the second key was stolen. */
const THEFT_DAYS = 3;

/** From when the second key is revoked. */
function theftTime({ theft }: Plan): string {
  return monthTime(theft, -THEFT_DAYS);
}

/** Who signed what was bought in a month. */
export type Signed = 'first key' | 'second key' | 'second key, stolen' | 'third key';

export function signedIn(month: number, { firstRotation, theft, secondRotation }: Plan): Signed {
  if (month < firstRotation) return 'first key';
  if (month < theft) return 'second key';
  return month < secondRotation ? 'second key, stolen' : 'third key';
}

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
