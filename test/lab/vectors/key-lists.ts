import { type Key, keyOf } from '../../verify/other-form.ts';
import { DAY_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import {
  historyOf,
  type KeyHistory,
  type ReceiptKey,
  type Revocation,
  type Rotation,
  statementBytes,
  withReceiptKeys,
  withRoots,
} from '../../../compiler/format/key-history.ts';
import { type RootStatement, rootBytes } from '../../../compiler/format/root-statement.ts';
import { signBytes } from '../../../compiler/system/sealer.ts';


export const [FIRST, SECOND, THIEF, RECEIPTS] = [keyOf(1), keyOf(2), keyOf(99), keyOf(50)];
export const [ROOT_A, ROOT_B, ROOT_C, ROOT_D] = [keyOf(21), keyOf(22), keyOf(23), keyOf(24)];

/** Statements about keys, with times in days from the moment at which a body was collected. */
export function statementsAround(collected: string) {
  const at = (days: number): string => isoTime(Date.parse(collected) + days * DAY_MS);
  const signed = <Statement extends Rotation | Revocation | ReceiptKey>(
    statement: Statement,
    { secret }: Key,
  ): Statement => ({ ...statement, signature: signBytes(statementBytes(statement), secret) });

  /** The second key takes over; the first one ends so many days after. */
  function rotation(ends: number, by: Key = FIRST): Rotation {
    const days = { stated_at: at(ends - 2), valid_from: at(ends - 1), overlap_until: at(ends) };
    const [old_did, new_did] = [FIRST.did, SECOND.did];
    return signed({ type: 'rotation', old_did, new_did, ...days, signature: '' }, by);
  }

  function revocation(from: number, by: Key = SECOND): Revocation {
    const { did } = FIRST;
    const times = { revoked_from: at(from), stated_at: at(from + 1) };
    return signed({ type: 'revocation', did, ...times, signed_by: by.did, signature: '' }, by);
  }

  function receiptKey(since: number, until: number | null, by: Key = FIRST): ReceiptKey {
    const end = until === null ? null : at(until);
    const times = { since: at(since), until: end, stated_at: at(since) };
    const of = { did: RECEIPTS.did, signed_by: by.did, signature: '' };
    return signed({ type: 'receipt_key', ...times, ...of }, by);
  }

  const list = (ends: number, revocations: readonly Revocation[] = []): KeyHistory =>
    historyOf(FIRST.did, [rotation(ends)], revocations);

  /** A version of a root above both keys, the first of which ends or was stolen. */
  function root(
    change: Partial<RootStatement> = {},
    signers: readonly Key[] = [ROOT_A, ROOT_B, SECOND],
  ): RootStatement {
    const none = { valid_from: null, valid_until: null, revoked_from: null };
    const statement: RootStatement = {
      ...{ type: 'root', issuer: FIRST.did, version: 1, stated_at: at(3), threshold: 2 },
      root_keys: [ROOT_A.did, ROOT_B.did, ROOT_C.did],
      issuer_keys: [
        { did: FIRST.did, ...none, valid_until: at(2) },
        { did: SECOND.did, ...none, valid_from: at(1) },
      ],
      receipt_keys: [],
      ...change,
      signatures: [],
    };
    const signatures = signers.map(({ did, secret }) => {
      return { did, signature: signBytes(rootBytes(statement), secret) };
    });
    return { ...statement, signatures };
  }

  const rooted = (...roots: RootStatement[]): KeyHistory => withRoots(list(2), roots);
  const withReceipts = (history: KeyHistory, ...keys: ReceiptKey[]): KeyHistory =>
    withReceiptKeys(history, keys);
  return { at, rotation, revocation, receiptKey, list, root, rooted, withReceipts };
}
