import { type Key, keyOf } from '../../verify/alterations.ts';
import { DAY_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import { historyOf, type KeyHistory, type ReceiptKey, type Revocation, type Rotation, statementBytes, withReceiptKeys, withRoots } from '../../../compiler/format/key-history.ts';
import { rootBytes, type RootStatement } from '../../../compiler/format/root-statement.ts';
import { signBytes } from '../../../compiler/system/sealer.ts';
import { type Delivery, editedValues, type Open, type Random } from '../forgeries/body-forgeries.ts';
import { defined } from '../../../compiler/format/errors.ts';
import type { JsonObject } from '../../../compiler/format/strict-json.ts';
import { reseal } from '../../verify/resign.ts';
import { chosen } from '../forgeries/plan.ts';
import type { ReaderCase, ReaderDemands } from './body-vector.ts';

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

/** Lists with one value changed. */
const EDITS = 120;

/** Who signed a body, the verdict, and what its reader knows of keys. */
type Row = readonly [about: string, signer: Key, want: ReaderCase['want'], reader: ReaderDemands];

/** A body of one key or the other, judged with lists of keys that say different things of it. */
export function keyCases({ target, body }: Delivery, random: Random): ReaderCase[] {
  const { retrieved_at } = body._citation as unknown as { readonly retrieved_at: string };
  const by = statementsAround(retrieved_at);
  const { _proof, ...bare } = body;
  const texts = new Map([FIRST, SECOND, THIEF].map((key) => [key, resealed(bare, key)]));
  const rows: Row[] = [
    ...windowRows(by),
    ...rootCases(by).map(([about, want, reader]): Row => [about, SECOND, want, reader]),
    ...edits(by.rooted(by.root(), second(by)), random),
    ...edits(by.list(2, [by.revocation(1)]), random),
  ];
  return rows.map(([about, signer, want, reader]) => ({
    class: 'keys',
    about: `${target} ${about}`,
    text: defined(texts.get(signer), 'a body of the key'),
    want,
    reader: { issuers: [FIRST.did], demands_proof: false, ...reader },
  }));
}

/** Days that no reader lives to see. */
const YEARS = 36_500;

/** What a list says of the time at which a body was collected. */
function windowRows(by: Statements): Row[] {
  const rotated = list(by.list(2));
  const revoked = list(by.list(0.5, [by.revocation(-1)]));
  const later = list(by.list(2, [by.revocation(1)]));
  // A revocation counts only if it is by the key itself or by one behind it.
  const stranger = list(by.list(YEARS, [by.revocation(-1, THIEF)]));
  return [
    ['of the trusted key', FIRST, 'verified', list(by.list(YEARS))],
    ['of a key that ended since', FIRST, 'unsigned', rotated],
    ['of the key behind it', SECOND, 'verified', rotated],
    ['of the key behind it, no list', SECOND, 'failed', {}],
    ['of the key before it', FIRST, 'failed', { ...rotated, issuers: [SECOND.did] }],
    ['of another key', THIEF, 'failed', rotated],
    ['of a key that had ended', FIRST, 'failed', list(by.list(-1))],
    ['of a revoked key', FIRST, 'failed', revoked],
    ['of a key that was revoked later', FIRST, 'unsigned', later],
    ['revoked by a stranger', FIRST, 'verified', stranger],
    ['announced by a stranger', FIRST, 'undecided', list(announced(by.rotation(2, THIEF)))],
    ['under a root', SECOND, 'verified', list(by.rooted(by.root()))],
    ['revoked by the root', FIRST, 'failed', list(by.rooted(by.root(stolen(by.at))))],
  ];
}

type Statements = ReturnType<typeof statementsAround>;

/** Versions of a root, and root keys that are trusted, for a body of the second key. */
function rootCases(by: Statements): [string, ReaderCase['want'], ReaderDemands][] {
  const trusting = (...keys: Key[]): ReaderDemands => ({
    issuers: [],
    roots: keys.map(({ did }) => did),
    ...list(by.rooted(by.root())),
  });
  const lists = (...roots: Parameters<Statements['rooted']>): ReaderDemands =>
    list(by.rooted(...roots));
  const noSigner = (signers: readonly Key[]) => lists(by.root({}, signers));
  return [
    ['by two root keys', 'verified', trusting(ROOT_A, ROOT_B)],
    ['by one root key', 'undecided', trusting(ROOT_A)],
    ['by a root key that did not sign', 'undecided', trusting(ROOT_A, ROOT_C)],
    ['by root keys of another', 'undecided', trusting(ROOT_D, keyOf(25))],
    ['by root keys without a list', 'undecided', { issuers: [], roots: [ROOT_A.did, ROOT_B.did] }],
    ['a root key as an issuer', 'undecided', { ...trusting(), roots: [], issuers: [ROOT_A.did] }],
    ['a second version', 'verified', lists(by.root(), second(by))],
    ['a second version alone', 'undecided', lists(second(by))],
    ['a version of one root key', 'undecided', noSigner([ROOT_A, SECOND])],
    ['a version that no issuer key adopts', 'undecided', noSigner([ROOT_A, ROOT_B])],
    ['a version of a stranger too', 'verified', noSigner([ROOT_A, ROOT_B, SECOND, THIEF])],
    ['a version signed twice', 'undecided', noSigner([ROOT_A, ROOT_B, ROOT_B, SECOND])],
    ['a threshold of one', 'undecided', lists(by.root({ threshold: 1 }))],
    ['a threshold above its keys', 'undecided', lists(by.root({ threshold: 4 }))],
    ['of another issuer', 'undecided', lists(by.root({ issuer: SECOND.did }))],
    [
      'a root key that signs too',
      'undecided',
      lists(by.root({ root_keys: [ROOT_A.did, ROOT_B.did, FIRST.did] })),
    ],
    ['a second version of before', 'undecided', lists(by.root(), second(by, by.at(2)))],
    ['a second version of its own keys', 'undecided', lists(by.root(), usurped(by))],
  ];
}

function second(by: Statements, stated_at = by.at(4)) {
  return by.root({ version: 2, stated_at }, [ROOT_B, ROOT_C]);
}

/** New root keys that those of before did not sign. */
function usurped(by: Statements) {
  const root_keys = [ROOT_D.did, keyOf(25).did];
  return by.root({ version: 2, stated_at: by.at(4), root_keys }, [ROOT_D, keyOf(25)]);
}

/** The theft of the first key, noticed after it was rotated away. */
function stolen(at: Statements['at']) {
  const none = { valid_from: null, valid_until: null, revoked_from: null };
  return {
    issuer_keys: [
      { did: FIRST.did, ...none, revoked_from: at(-1) },
      { did: SECOND.did, ...none, valid_from: at(1) },
    ],
  };
}

function announced(rotation: Parameters<typeof historyOf>[1][number]): KeyHistory {
  return historyOf(FIRST.did, [rotation], []);
}

function list(history: KeyHistory): ReaderDemands {
  return { keys: JSON.stringify(history) };
}

function resealed(body: JsonObject, { seed }: Key): string {
  return JSON.stringify(reseal(body as Open, seed));
}

/**
 * A revocation counts once, however often it is there, and signatures of a root in any order. A list without its newest version
 * is an older list, which was true.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'revocations first twice',
  'revocations last twice',
  'roots.0.signatures reversed',
  'roots.1.signatures reversed',
  'roots.1 removed',
]);

/** Lists with one value changed, which do not follow from what was signed. */
function edits(history: KeyHistory, random: Random): Row[] {
  const body = history as unknown as Open;
  return chosen(editedValues({ target: '', body }), { most: EDITS / 2, random }).map(
    ({ where, make }): Row => {
      const want = HARMLESS.has(where) ? 'verified' : 'undecided';
      return [`a list: ${where}`, SECOND, want, { keys: make() }];
    },
  );
}
