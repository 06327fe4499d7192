import { describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../compiler/format/did-key.ts';
import {
  firstHistory,
  historyOf,
  isContinued,
  type KeyHistory,
  keyStanding,
  type ReceiptKey,
  type Revocation,
  type Rotation,
  readKeyHistory,
  receiptKeyStanding,
  statementBytes,
  validKeysAt,
  vouchedDids,
  withReceiptKeys,
} from '../../compiler/format/key-history.ts';
import { issuerDid, signBytes, signingKey } from '../../compiler/system/sealer.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';

const KEYS_MAX = 256;

const key = (fill: number) => {
  const secret = signingKey(new Uint8Array(32).fill(fill));
  return { secret, did: issuerDid(secret) };
};
const [K1, K2, K3, THIEF] = [key(1), key(2), key(3), key(99)];
type Key = typeof K1;

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T00:00:00Z`;

/** Members to change, and whose signature to put under them. */
type By<T> = Partial<T> & { readonly by?: Key };

function rotation(old: Key, next: Key, change: By<Rotation> = {}): Rotation {
  const { by = old, ...members } = change;
  const signed = {
    type: 'rotation' as const,
    old_did: old.did,
    new_did: next.did,
    stated_at: day(5),
    valid_from: day(10),
    overlap_until: day(15),
    signature: '',
    ...members,
  };
  return { ...signed, signature: signBytes(statementBytes(signed), by.secret) };
}

function revocation(of: Key, signer: Key, change: By<Revocation> = {}): Revocation {
  const { by = signer, ...members } = change;
  const signed = {
    type: 'revocation' as const,
    did: of.did,
    revoked_from: day(12),
    stated_at: day(12),
    signed_by: signer.did,
    signature: '',
    ...members,
  };
  return { ...signed, signature: signBytes(statementBytes(signed), by.secret) };
}

const TWO = historyOf(K1.did, [rotation(K1, K2)], []);
const later = { stated_at: day(16), valid_from: day(20), overlap_until: day(25) };
const THREE = historyOf(K1.did, [rotation(K1, K2), rotation(K2, K3, later)], []);
const revoked = (...statements: Revocation[]): KeyHistory =>
  historyOf(K1.did, [rotation(K1, K2), rotation(K2, K3, later)], statements);
const fault = (value: unknown): string => {
  try {
    readKeyHistory(value, isSignedBy);
    return '';
  } catch (error) {
    return error instanceof RangeError ? error.message : `not a RangeError: ${error}`;
  }
};

describe('readKeyHistory()', () => {
  it('I28: takes a first key, a rotation, two rotations and a revocation', () => {
    for (const history of [firstHistory(K1.did), TWO, THREE, revoked(revocation(K1, K2))]) {
      expect(readKeyHistory(JSON.parse(JSON.stringify(history)), isSignedBy)).toEqual(history);
    }
  });

  it.each<[string, unknown, string]>([
    ['another shape', { ...TWO, more: 1 }, 'malformed'],
    ['no key', { ...TWO, keys: [] }, '"keys"'],
    [
      'a rotation that the new key signed',
      historyOf(K1.did, [rotation(K1, K2, { by: K2 })], []),
      'K1',
    ],
    [
      'a rotation that a stranger signed',
      historyOf(K1.did, [rotation(K1, K2, { by: THIEF })], []),
      'K1',
    ],
    ['a rotation of another key', historyOf(K1.did, [rotation(THIEF, K2)], []), 'vouch'],
    ['a key twice', historyOf(K1.did, [rotation(K1, K2), rotation(K2, K1, later)], []), 'twice'],
    ['a key that nobody vouches for', unvouched(), 'no statement vouches'],
    ['a member that no statement says', derived({ valid_until: null }), 'do not follow'],
    [
      'a revocation left out of the keys',
      { ...TWO, revocations: [revocation(K1, K2)] },
      'do not follow',
    ],
    ['a key id of another key', derived({ key_id: `${K2.did}#x` }), 'do not follow'],
    [
      'a revocation that a stranger signed',
      revoked(revocation(K1, K2, { by: THIEF })),
      'revocation',
    ],
    [
      'a time without any key',
      historyOf(K1.did, [rotation(K1, K2, { overlap_until: day(9) })], []),
      'without a valid key',
    ],
    [
      'a key that is valid before its predecessor',
      historyOf(K1.did, [rotation(K1, K2), rotation(K2, K3, { valid_from: day(9) })], []),
      'before the key',
    ],
    [
      'a key that a revoked one announced',
      revoked(revocation(K1, K2, { revoked_from: day(4) })),
      'already revoked',
    ],
    [
      'a malformed signature',
      historyOf(K1.did, [{ ...rotation(K1, K2), signature: 'AA==' }], []),
      'malformed',
    ],
  ])('I28: refuses %s', (_, value, says) => {
    expect(fault(value)).toContain(says === 'K1' ? K1.did : says);
  });

  it('I43: takes as many keys and revocations as an issuer may have', () => {
    expect(fault(chainOf(KEYS_MAX))).toBe('');
    expect(fault(repeated(KEYS_MAX))).toBe('');
  });

  it('I43: refuses one key or one revocation more', () => {
    expect(fault(chainOf(KEYS_MAX + 1))).toContain('"keys" is malformed');
    expect(fault(repeated(KEYS_MAX + 1))).toContain('"revocations" is malformed');
  });

  it('refuses a key of small order', () => {
    const neutral = Uint8Array.from([0xed, 0x01, 0x01, ...new Array<number>(31).fill(0)]);
    const weak = `did:key:z${encodeBase58(neutral)}`;
    expect(weak).toMatch(/^did:key:z6Mk/);
    expect(fault(firstHistory(weak))).toContain('is not a usable key');
  });
});

/** So many keys, each announced by the one before it. */
function chainOf(count: number): KeyHistory {
  const keys = Array.from({ length: count }, (_, at) => numberedKey(at));
  const rotations = keys.slice(1).map((next, at) => rotation(keys[at] ?? K1, next));
  return historyOf(keys[0]?.did ?? '', rotations, []);
}

function numberedKey(at: number): Key {
  const secret = signingKey(Buffer.alloc(32, `key ${at} `));
  return { secret, did: issuerDid(secret) };
}

/** The same revocation, so many times. */
const repeated = (count: number): KeyHistory =>
  historyOf(K1.did, [], Array<Revocation>(count).fill(revocation(K1, K1)));

function derived(change: object): unknown {
  return { ...TWO, keys: [{ ...TWO.keys[0], ...change }, TWO.keys[1]] };
}

function unvouched(): unknown {
  return { ...TWO, keys: [TWO.keys[0], { ...TWO.keys[1], statement: null }] };
}

describe('keyStanding()', () => {
  it('I28: both keys of an overlap are valid, one before and one after it', () => {
    const at = (time: string) => validKeysAt(TWO, time).map(({ did }) => did);
    expect(at(day(9))).toEqual([K1.did]);
    expect(at(day(10))).toEqual([K1.did, K2.did]);
    expect(at(day(15))).toEqual([K1.did, K2.did]);
    expect(at('2026-11-15T00:00:00.001Z')).toEqual([K2.did]);
    expect(at('2026-11-09T23:59:59Z')).toEqual([K1.did]);
    expect(keyStanding(TWO, K1.did, 'no time')).toBe('stopped');
    expect(keyStanding(TWO, THIEF.did, day(1))).toBe('unknown');
  });

  it('I29: from its revocation a key is worth nothing, before it is suspect, and its successor takes over', () => {
    const history = revoked(revocation(K1, K2, { revoked_from: day(7) }));
    expect(keyStanding(history, K1.did, day(7))).toBe('revoked');
    expect(keyStanding(history, K1.did, day(6))).toBe('suspect');
    expect(keyStanding(history, K1.did, 'no time')).toBe('revoked');
    expect(keyStanding(history, K2.did, day(7))).toBe('valid');
    expect(keyStanding(history, K2.did, day(6))).toBe('early');
  });

  it('I29: the earliest revocation counts, a statement that is there twice counts once', () => {
    const early = revocation(K1, K1, { revoked_from: day(8) });
    const history = revoked(revocation(K1, K2), early, early, revocation(K1, K3));
    expect(history.keys[0]?.revoked_from).toBe(day(8));
    expect(fault(history)).toBe('');
  });

  it('I29: a revoked key cannot revoke another any more, and no key revokes a later one', () => {
    const silenced = revoked(
      revocation(K2, K2, { revoked_from: day(18) }),
      revocation(K1, K2, { stated_at: day(19) }),
    );
    expect(silenced.keys.map((each) => each.revoked_from)).toEqual([null, day(18), null]);
    expect(revoked(revocation(K3, K1)).keys[2]?.revoked_from).toBeNull();
  });
});

describe('vouchedDids()', () => {
  it('I28: trust reaches forwards from any key, never backwards or to a stranger', () => {
    expect(vouchedDids(THREE, { issuers: [K1.did] })).toEqual([K1.did, K2.did, K3.did]);
    expect(vouchedDids(THREE, { issuers: [K2.did] })).toEqual([K2.did, K3.did]);
    expect(vouchedDids(THREE, { issuers: [THIEF.did] })).toEqual([]);
  });
});

describe('isContinued()', () => {
  it('I29: a newer list says all that an older one said', () => {
    const known = revoked(revocation(K1, K2));
    expect(isContinued(TWO, THREE)).toBe(true);
    expect(isContinued(THREE, known)).toBe(true);
    expect(isContinued(THREE, TWO)).toBe(false);
    expect(isContinued(known, THREE)).toBe(false);
    expect(isContinued(TWO, historyOf(K1.did, [rotation(K1, THIEF)], []))).toBe(false);
    expect(isContinued(firstHistory(K1.did), firstHistory(THIEF.did))).toBe(false);
  });
});

const [R1, R2] = [key(11), key(12)];

function receiptKey(of: Key, signer: Key, change: By<ReceiptKey> = {}): ReceiptKey {
  const { by = signer, ...members } = change;
  const signed = {
    type: 'receipt_key' as const,
    did: of.did,
    since: day(3),
    until: null,
    stated_at: day(4),
    signed_by: signer.did,
    signature: '',
    ...members,
  };
  return { ...signed, signature: signBytes(statementBytes(signed), by.secret) };
}

/** A history that was written and read again. */
const readAgain = (history: KeyHistory): KeyHistory =>
  readKeyHistory(JSON.parse(JSON.stringify(history)), isSignedBy);
const listing = (history: KeyHistory, ...statements: ReceiptKey[]): KeyHistory =>
  readAgain(withReceiptKeys(history, statements));

describe('receipt keys', () => {
  const listed = listing(TWO, receiptKey(R1, K1));

  it('I28: a listed key counts from its time on, and no other key does', () => {
    const at = (time: string, did = R1.did) => receiptKeyStanding(listed, did, time);
    expect([at(day(2)), at(day(3)), at(day(28))]).toEqual(['early', 'listed', 'listed']);
    expect(at(day(5), R2.did)).toBe('unlisted');
    expect(at(day(5), K1.did)).toBe('unlisted');
    expect(receiptKeyStanding(TWO, R1.did, day(5))).toBe('unlisted');
  });

  it('a list without receipt keys has no such member, so that readers of before take it', () => {
    expect(Object.keys(withReceiptKeys(listed, []))).toEqual(['format', 'keys', 'revocations']);
    expect(fault({ ...TWO, receipt_keys: [] })).toContain('malformed');
    expect(fault({ ...TWO, receipt_keys: undefined })).toContain('malformed');
  });

  it('I28: a later statement ends a key, and none makes it longer again', () => {
    const ended = receiptKey(R1, K1, { until: day(8) });
    const longer = receiptKey(R1, K1, { until: day(20) });
    for (const statements of [
      [receiptKey(R1, K1), ended],
      [ended, longer],
      [longer, ended],
    ]) {
      const history = listing(TWO, ...statements);
      const standings = [day(8), day(9)].map((at) => receiptKeyStanding(history, R1.did, at));
      expect(standings).toEqual(['listed', 'ended']);
    }
  });

  it('I28: what a key states while it is not valid counts for nothing', () => {
    const early = listing(TWO, receiptKey(R1, K2, { stated_at: day(9) }));
    expect(receiptKeyStanding(early, R1.did, day(20))).toBe('unlisted');
    const late = listing(TWO, receiptKey(R1, K1, { stated_at: day(16) }));
    expect(receiptKeyStanding(late, R1.did, day(20))).toBe('unlisted');
    const stranger = listing(TWO, receiptKey(R1, THIEF));
    expect(receiptKeyStanding(stranger, R1.did, day(20))).toBe('unlisted');
  });

  it('I28: what a revoked key stated counts for nothing until the next key states it', () => {
    const after = revoked(revocation(K1, K2));
    const statement = receiptKey(R1, K1);
    expect(receiptKeyStanding(listing(after, statement), R1.did, day(5))).toBe('unlisted');
    const again = listing(after, statement, receiptKey(R1, K2, { stated_at: day(13) }));
    expect(receiptKeyStanding(again, R1.did, day(5))).toBe('listed');
  });

  it.each([
    ['another signature', receiptKey(R1, K1, { by: THIEF }), 'the signature of a receipt_key'],
    ['a malformed signature', { ...receiptKey(R1, K1), signature: '?' }, 'malformed signature'],
    ['a later end than was signed', { ...receiptKey(R1, K1), until: day(9) }, 'the signature of a'],
    ['an issuer key', receiptKey(K2, K1), 'an issuer key and a receipt key'],
    ['another member', { ...receiptKey(R1, K1), use: 'all' }, '"receipt_keys.0" is malformed'],
    ['no end', { ...receiptKey(R1, K1), until: undefined }, '"receipt_keys.0.until" is malformed'],
  ])('I28: refuses %s', (_, statement, state) => {
    expect(fault({ ...TWO, receipt_keys: [statement] })).toContain(state);
  });

  it('I28: a newer list drops none of them', () => {
    const two = listing(TWO, receiptKey(R1, K1), receiptKey(R2, K1));
    expect(isContinued(listed, two)).toBe(true);
    expect(isContinued(TWO, listed)).toBe(true);
    expect(isContinued(two, listed)).toBe(false);
    expect(isContinued(listed, TWO)).toBe(false);
  });
});
