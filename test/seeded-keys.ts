import { defined } from '../compiler/format/errors.ts';
import { firstHistory, type KeyHistory, withRoots } from '../compiler/format/key-history.ts';
import { type RootStatement, rootBytes } from '../compiler/format/root-statement.ts';
import { changeKeys, keepKeys, readKeys } from '../compiler/publish/keys/key-store.ts';
import {
  adoptedList,
  draftRoot,
  type RootChange,
  signDraft,
} from '../compiler/publish/keys/root-draft.ts';
import { issuerDid, signBytes, signingKey } from '../compiler/system/sealer.ts';
import { formatTrust, type TrustFile } from '../compiler/verify/trust-file.ts';
import { DID, didOfSeed } from './verify/monitor/lying-service.ts';

/** The seed of a key that tests make: 32 bytes of one value. */
export function seed(fill: number): Uint8Array {
  return new Uint8Array(32).fill(fill);
}

/** The DID of that key. */
export function didOf(fill: number): string {
  return issuerDid(signingKey(seed(fill)));
}

const UNCHANGED = { add: [], end: [], revoke: [], receipt: [], endReceipt: [], overlapDays: 0 };

/** Adopts the next version of the root of a data folder, which the keys of these seeds sign. */
export function adoptRoot(
  data: string,
  change: Partial<RootChange> & Pick<RootChange, 'now'>,
  signers: readonly Uint8Array[],
): KeyHistory {
  const list = defined(readKeys(data) ?? undefined, 'the list of keys');
  const draft = draftRoot(list, { ...UNCHANGED, ...change });
  const signed = signers.reduce(signDraft, draft);
  return changeKeys(data, () => keepKeys(data, adoptedList(list, signed)));
}

/** Seed of the key that signs the releases. */
export const ISSUER = 7;

/** A version of a root of keys 21 and 22, signed by them and by these seeds. */
export function root(
  change: Partial<RootStatement>,
  signers: readonly number[] = [21, 22],
): RootStatement {
  const window = { valid_from: null, valid_until: null, revoked_from: null };
  const statement: RootStatement = {
    type: 'root',
    issuer: DID,
    version: 1,
    stated_at: '2026-11-20T12:00:00Z',
    threshold: 2,
    root_keys: [didOfSeed(21), didOfSeed(22)],
    issuer_keys: [{ did: DID, ...window }],
    receipt_keys: [],
    ...change,
    signatures: [],
  };
  const signatures = signers.map((seed) => {
    const secret = signingKey(new Uint8Array(32).fill(seed));
    return { did: didOfSeed(seed), signature: signBytes(rootBytes(statement), secret) };
  });
  return { ...statement, signatures };
}

/** The first version. */
export const FIRST = root({}, [21, 22, ISSUER]);

/** The list of keys under these versions. */
export const rooted = (...roots: RootStatement[]) => withRoots(firstHistory(DID), roots);

/** The text of a trust file with these members; the log is that of an invented shop. */
export function trustText(members: Partial<TrustFile>): string {
  return formatTrust({
    format: 'signalpress-trust/1',
    url: 'https://readings.example',
    issuers: [],
    roots: [],
    log: 'readings.example/log+1b817d15+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea',
    witnesses: [],
    max_age_hours: null,
    keys: null,
    seen: {},
    ...members,
  });
}
