import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  firstHistory,
  historyOf,
  isContinued,
  type KeyHistory,
  keyStanding,
  keysInWords,
  type ReceiptKey,
  type Rotation,
  readKeyHistory,
  receiptKeyStanding,
  statementBytes,
  validKeysAt,
  vouchedDids,
  withReceiptKeys,
  withRoots,
} from '../../compiler/format/key-history.ts';
import {
  ROOT_VERSIONS_MAX,
  type RootStatement,
  rootBytes,
} from '../../compiler/format/root-statement.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';
import { issuerDid, signBytes, signingKey } from '../../compiler/system/sealer.ts';
import {
  believedDids,
  judgeSigner,
  listFault,
  type Trusted,
  trustedBy,
} from '../../compiler/verify/key-trust.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';

const key = (fill: number) => {
  const secret = signingKey(new Uint8Array(32).fill(fill));
  return { secret, did: issuerDid(secret) };
};
type Key = ReturnType<typeof key>;
const [K1, K2, K3, THIEF, RECEIPTS] = [key(1), key(2), key(3), key(99), key(50)];
const [A, B, C, D, E] = [key(21), key(22), key(23), key(24), key(25)];
const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T00:00:00Z`;

function rotation(old: Key, next: Key, at = 5): Rotation {
  const signed = {
    type: 'rotation' as const,
    old_did: old.did,
    new_did: next.did,
    stated_at: day(at),
    valid_from: day(at + 5),
    overlap_until: day(at + 10),
    signature: '',
  };
  return { ...signed, signature: signBytes(statementBytes(signed), old.secret) };
}

type Stated = RootStatement['issuer_keys'][number];
const stated = ({ did }: Key, members: Partial<Stated> = {}): Stated => {
  return { did, valid_from: null, valid_until: null, revoked_from: null, ...members };
};
const SECOND = { valid_from: day(10) };

/** A version with these signatures, by default that of two root keys and of the present issuer key. */
function root(change: Partial<RootStatement>, signers: readonly Key[] = [A, B, K2]): RootStatement {
  const statement: RootStatement = {
    type: 'root',
    issuer: K1.did,
    version: 1,
    stated_at: day(12),
    threshold: 2,
    root_keys: [A.did, B.did, C.did],
    issuer_keys: [stated(K1, { valid_until: day(15) }), stated(K2, SECOND)],
    receipt_keys: [],
    ...change,
    signatures: [],
  };
  const signatures = signers.map(({ did, secret }) => {
    return { did, signature: signBytes(rootBytes(statement), secret) };
  });
  return { ...statement, signatures };
}

const TWO = historyOf(K1.did, [rotation(K1, K2)], []);
const ADOPTED = withRoots(TWO, [root({})]);
/** The theft of the first key, noticed after it was rotated away: it is revoked from before it announced the second. */
const behind = { issuer_keys: [stated(K1, { revoked_from: day(4) }), stated(K2, SECOND)] };
const second = (change: Partial<RootStatement> = {}, signers: readonly Key[] = [B, C]) =>
  root({ version: 2, stated_at: day(20), ...change }, signers);
const under = (...roots: RootStatement[]): KeyHistory => withRoots(TWO, roots);

const readAgain = (history: unknown): KeyHistory =>
  readKeyHistory(JSON.parse(JSON.stringify(history)), isSignedBy);
const fault = (value: unknown): string => {
  try {
    readAgain(value);
    return '';
  } catch (error) {
    return error instanceof RangeError ? error.message : `not a RangeError: ${error}`;
  }
};

describe('a list of keys under a root', () => {
  it('I28: takes the first version with two of three root keys and the present issuer key', () => {
    expect(readAgain(ADOPTED)).toEqual(ADOPTED);
    expect(ADOPTED.format).toBe('signalpress-keys/2');
    expect(ADOPTED.keys.map(({ statement }) => statement?.new_did ?? null)).toEqual([null, K2.did]);
    expect(fault(under(root({}, [A, B, C, K2])))).toBe('');
    expect(fault(withRoots(firstHistory(K1.did), [ONE_KEY]))).toBe('');
  });

  it.each<[string, RootStatement, string]>([
    ['one root key of three', root({}, [A, K2]), 'root keys of its own: 1 of the 2'],
    ['no present issuer key', root({}, [A, B]), `the signature of "${K2.did}"`],
    ['only the issuer key of before', root({}, [A, B, K1]), `the signature of "${K2.did}"`],
    ['the same root key twice', root({}, [A, A, K2]), `"${A.did}" signed version 1`],
    ['another issuer', root({ issuer: K2.did }), `is about "${K2.did}"`],
    ['a later version first', root({ version: 2 }), 'version 2 of the root stands where 1'],
    ['a threshold of one', root({ threshold: 1 }), '"roots.0.threshold" is malformed'],
    ['a threshold above its keys', root({ threshold: 4 }), 'asks for 4 of 3 keys'],
    ['a root key twice', root({ root_keys: [A.did, B.did, A.did] }), `"${A.did}" twice`],
    ['an issuer key as a root key', root({ root_keys: [A.did, B.did, K1.did] }), 'twice'],
    [
      'an issuer key as a receipt key',
      root({ receipt_keys: [{ did: K1.did, since: day(1), until: null }] }),
      `"${K1.did}" twice`,
    ],
    [
      'a key of before left out',
      root({ issuer_keys: [stated(K1)] }),
      `the signature of "${K1.did}"`,
    ],
    [
      'another order',
      root({ issuer_keys: [stated(K2), stated(K1, SECOND)] }),
      `is about "${K1.did}"`,
    ],
    [
      'a new key that did not sign',
      root({ issuer_keys: [...behind.issuer_keys, stated(K3, SECOND)] }),
      `the signature of "${K3.did}"`,
    ],
    [
      'a window that ends before it begins',
      root({ issuer_keys: [stated(K1), stated(K2, { ...SECOND, valid_until: day(9) })] }),
      'ends before it begins',
    ],
    [
      'a later key without a beginning',
      root({ issuer_keys: [stated(K1), stated(K2)] }),
      'no time from which it is valid',
    ],
  ])('I29: refuses %s', (_, statement, says) => {
    expect(fault(under(statement))).toContain(says);
  });

  it('I29: refuses what was changed after it was signed, a malformed signature and another member', () => {
    const [signed] = [root({})];
    const later = { ...signed, stated_at: day(13) };
    expect(fault(under(later))).toContain('the signature under version 1 of the root');
    const [first, ...rest] = signed.signatures;
    const cut = { ...signed, signatures: [{ ...first, did: A.did, signature: '?' }, ...rest] };
    expect(fault(under(cut))).toContain('malformed');
    expect(fault({ ...ADOPTED, roots: [{ ...signed, more: 1 }] })).toContain('malformed');
    expect(fault({ ...ADOPTED, roots: [] })).toContain('"roots" is malformed');
    expect(fault({ ...ADOPTED, format: 'signalpress-keys/1' })).toContain('do not follow');
    expect(fault({ ...TWO, format: 'signalpress-keys/2' })).toContain('do not follow');
    const [one, two] = ADOPTED.keys;
    const freed = { ...ADOPTED, keys: [{ ...one, valid_until: null }, two] };
    expect(fault(freed)).toContain('do not follow');
  });

  it('I29: the signature of a stranger adds nothing to a threshold', () => {
    expect(fault(under(root({}, [A, THIEF, K2])))).toContain('1 of the 2');
    expect(fault(under(root({}, [A, B, THIEF, K2])))).toBe('');
  });
});

const ONE_KEY = root({ issuer_keys: [stated(K1)] }, [A, C, K1]);

describe('a later version of a root', () => {
  it('I29: revokes a key from before its rotation, and the key that it announced goes on', () => {
    const history = readAgain(under(root({}), second(behind)));
    expect(keyStanding(history, K1.did, day(3))).toBe('suspect');
    expect(keyStanding(history, K1.did, day(4))).toBe('revoked');
    expect(validKeysAt(history, day(20)).map(({ did }) => did)).toEqual([K2.did]);
    expect(vouchedDids(history, { issuers: [K1.did] })).toEqual([K1.did, K2.did]);
  });

  it('I29: puts the true successor in the place of one that a thief announced', () => {
    const forged = historyOf(K1.did, [rotation(K1, THIEF)], []);
    const first = root({ issuer_keys: [stated(K1)] }, [A, B, K1]);
    const issuer_keys = [stated(K1, { revoked_from: day(4) }), stated(K2, { valid_from: day(10) })];
    const history = readAgain(
      withRoots(firstHistory(K1.did), [first, second({ issuer_keys }, [A, C, K2])]),
    );
    expect(validKeysAt(history, day(20)).map(({ did }) => did)).toEqual([K2.did]);
    const known = withRoots(firstHistory(K1.did), [first]);
    expect(isContinued(known, history)).toBe(true);
    expect(isContinued(known, readAgain(forged))).toBe(false);
  });

  it('I29: needs a threshold of the keys before it and of its own', () => {
    const moved = { root_keys: [C.did, D.did, E.did] };
    expect(fault(under(root({}), second(moved, [A, B, D, E])))).toBe('');
    expect(fault(under(root({}), second(moved, [B, C, D])))).toBe('');
    expect(fault(under(root({}), second(moved, [C, D, E])))).toContain(
      'root keys of version 1: 1 of the 2',
    );
    expect(fault(under(root({}), second(moved, [A, B, D])))).toContain('of its own: 1 of the 2');
    const raised = { threshold: 3 };
    expect(fault(under(root({}), second(raised, [A, B])))).toContain('of its own: 2 of the 3');
    expect(fault(under(root({}), second({}, [K1, K2])))).toContain('0 of the 2');
  });

  it('I29: refuses versions out of order, a gap, the same twice and one that is older', () => {
    const two = second();
    expect(fault(under(two))).toContain('version 2 of the root stands where 1');
    expect(fault(under(root({}), root({})))).toContain('version 1 of the root stands where 2');
    expect(fault(under(root({}), second({ version: 3 })))).toContain('version 3');
    expect(fault(under(root({}), second({ stated_at: day(11) })))).toContain(
      'older than version 1',
    );
    expect(fault(under(root({}), two))).toBe('');
  });

  it('I29: names a new issuer key, which signs too', () => {
    const issuer_keys = [...behind.issuer_keys, stated(K3, { valid_from: day(19) })];
    expect(fault(under(root({}), second({ issuer_keys }, [A, C])))).toContain(K3.did);
    const history = readAgain(under(root({}), second({ issuer_keys }, [A, C, K3])));
    expect(vouchedDids(history, { issuers: [K3.did] })).toEqual([K3.did]);
    expect(vouchedDids(history, { issuers: [K2.did] })).toEqual([K2.did, K3.did]);
    const known = [root({}), second({ issuer_keys }, [A, C, K3])];
    const dropped = under(...known, second({ version: 3 }, [A, B]));
    expect(fault(dropped)).toContain(`version 3 of the root does not name "${K3.did}"`);
    expect(fault(under(...known, second({ version: 3, issuer_keys }, [A, B])))).toBe('');
  });

  it('I43: takes as many versions as a root may have, and refuses one more', () => {
    const versions = Array.from({ length: ROOT_VERSIONS_MAX + 1 }, (_, at) =>
      at === 0 ? root({}) : second({ version: at + 1 }),
    );
    expect(fault(under(...versions.slice(0, -1)))).toBe('');
    expect(fault(under(...versions))).toContain('"roots" is malformed');
  });
});

/** That an issuer key lists the receipt key. */
function listedBy({ did, secret }: Key): ReceiptKey {
  const unsigned = {
    type: 'receipt_key' as const,
    did: RECEIPTS.did,
    since: day(1),
    until: null,
    stated_at: day(2),
    signed_by: did,
    signature: '',
  };
  return { ...unsigned, signature: signBytes(statementBytes(unsigned), secret) };
}

describe('receipt keys under a root', () => {
  it('I28: count as the newest version says, whatever issuer keys stated before', () => {
    const before = withReceiptKeys(TWO, [listedBy(K1)]);
    expect(receiptKeyStanding(before, RECEIPTS.did, day(20))).toBe('listed');
    expect(
      receiptKeyStanding(readAgain(withRoots(before, [root({})])), RECEIPTS.did, day(20)),
    ).toBe('unlisted');
    const receipt_keys = [{ did: RECEIPTS.did, since: day(3), until: day(21) }];
    const history = readAgain(withRoots(before, [root({ receipt_keys })]));
    const at = [2, 3, 21, 22].map((each) => receiptKeyStanding(history, RECEIPTS.did, day(each)));
    expect(at).toEqual(['early', 'listed', 'listed', 'ended']);
    expect(receiptKeyStanding(history, K2.did, day(20))).toBe('unlisted');
  });
});

describe('isContinued()', () => {
  it('I29: a newer list drops no version of a root, and changes none', () => {
    const longer = under(root({}), second(behind));
    expect(isContinued(TWO, ADOPTED)).toBe(true);
    expect(isContinued(ADOPTED, longer)).toBe(true);
    expect(isContinued(longer, ADOPTED)).toBe(false);
    expect(isContinued(ADOPTED, TWO)).toBe(false);
    expect(isContinued(ADOPTED, under(root({ stated_at: day(13) })))).toBe(false);
    expect(isContinued(ADOPTED, under(root({}, [A, B, C, K2])))).toBe(true);
    const added = withRoots(withReceiptKeys(TWO, [listedBy(K1)]), [root({})]);
    expect(fault(added)).toBe('');
    expect(isContinued(ADOPTED, added)).toBe(false);
    expect(isContinued(added, ADOPTED)).toBe(false);
    expect(isContinued(TWO, added)).toBe(true);
    const rotated = historyOf(K1.did, [rotation(K1, K2), rotation(K2, THIEF, 14)], []);
    expect(isContinued(ADOPTED, rotated)).toBe(false);
  });
});

describe('keysInWords()', () => {
  it('says how many keys are valid and revoked, and what stands above them', () => {
    expect(keysInWords(firstHistory(K1.did), day(20))).toBeNull();
    expect(keysInWords(TWO, day(12))).toBe(
      `2 issuer keys: 2 valid at ${day(12)}, 0 revoked; no root keys stand above them`,
    );
    expect(keysInWords(under(root({}), second(behind)), day(20))).toBe(
      `2 issuer keys: 1 valid at ${day(20)}, 1 revoked; named by version 2 of a root, 2 of 3 keys`,
    );
  });
});

describe('vouchedDids()', () => {
  const history = () => readAgain(ADOPTED);
  const by = (...keys: Key[]) => {
    return vouchedDids(history(), { issuers: [], roots: keys.map(({ did }) => did) });
  };

  it('I29: a threshold of root keys that signed reaches every key, fewer or others reach none', () => {
    expect(by(A, B)).toEqual([K1.did, K2.did]);
    expect(by(A, B, C)).toEqual([K1.did, K2.did]);
    for (const few of [by(A), by(A, C), by(A, THIEF), by(K1, K2)]) expect(few).toEqual([]);
  });

  it('I29: root keys in the place of an issuer reach none, and beside root keys no issuer does', () => {
    expect(vouchedDids(history(), { issuers: [A.did, B.did] })).toEqual([]);
    const both = { issuers: [K1.did], roots: [A.did, C.did] };
    expect(vouchedDids(history(), both)).toEqual([]);
    expect(vouchedDids(readAgain(TWO), { issuers: [K1.did], roots: [A.did, B.did] })).toEqual([]);
  });

  it('I29: keys of an older version reach what later ones name', () => {
    const moved = { root_keys: [C.did, D.did, E.did] };
    const longer = readAgain(under(root({}), second(moved, [A, B, D, E])));
    const reached = (...keys: Key[]) =>
      vouchedDids(longer, { issuers: [], roots: keys.map(({ did }) => did) }).length;
    expect([reached(A, B), reached(D, E), reached(A, D)]).toEqual([2, 2, 0]);
  });
});

describe('whom a reader trusts', () => {
  const list = () => readAgain(ADOPTED);
  const judged = (trusted: Trusted, { did }: Key) =>
    judgeSigner({ ...trusted, keys: list() }, did, day(12)).status;

  it('I29: a root key signs nothing that an issuer says, however it is trusted', () => {
    const roots = trustedBy([], [A.did, B.did]);
    expect([judged(roots, K2), judged(roots, A)]).toEqual(['trusted', 'refused']);
    const asIssuers = trustedBy([A.did, B.did]);
    expect([judged(asIssuers, K2), judged(asIssuers, A)]).toEqual(['refused', 'refused']);
    const nobody = trustedBy();
    expect([judged(nobody, K2), judged(nobody, A)]).toEqual(['unpinned', 'refused']);
  });

  it('I29: what no list shows is believed of no root key', () => {
    expect(believedDids(trustedBy([], [A.did, B.did]), undefined)).toEqual([]);
    expect(believedDids({ ...trustedBy([], [A.did, B.did]), keys: list() }, undefined)).toEqual([
      K1.did,
      K2.did,
    ]);
    expect(believedDids({ ...trustedBy([A.did, K2.did]), keys: list() }, undefined)).toEqual([
      K2.did,
    ]);
    expect(believedDids({ trust: 'any', keys: list() }, K1.did)).toEqual([K1.did, K2.did]);
    expect(believedDids({ trust: 'any', keys: list() }, THIEF.did)).toEqual([THIEF.did]);
  });

  it('I29: refuses a list that the root keys did not sign, and a root key in the place of an issuer', () => {
    expect(listFault(list(), trustedBy([], [A.did, B.did]))).toBeNull();
    expect(listFault(list(), trustedBy([], [A.did, C.did]))).toContain('enough of the trusted');
    expect(listFault(TWO, trustedBy([], [A.did, B.did]))).toContain('enough of the trusted');
    expect(listFault(TWO, trustedBy([K1.did]))).toBeNull();
    expect(listFault(list(), trustedBy([A.did]))).toContain(`${A.did} is a root key`);
    expect(() => trustedBy([A.did], [A.did])).toThrow('is a root key');
    expect(() => trustedBy([], ['did:web:example.org'])).toThrow('did:key');
  });
});

const TEXT = readFileSync(new URL('../../compiler/format/AUDIT.md', import.meta.url), 'utf8');
const ROOTS = TEXT.slice(TEXT.indexOf('## 5. Roots'), TEXT.indexOf('## 6. Receipts'));
const [, statement = ''] = /```json\n(.*)\n```/.exec(ROOTS) ?? [];
const shown = parseJson(statement) as unknown as RootStatement;
const listWith = (root: RootStatement) => withRoots(firstHistory(shown.issuer), [root]);

describe('AUDIT.md on roots', () => {
  it('I29: shows a version that two of three root keys and the key of FORMAT.md signed', () => {
    const list = listWith(shown);
    expect(readKeyHistory(JSON.parse(JSON.stringify(list)), isSignedBy)).toEqual(list);
    expect(canonicalJson(shown)).toBe(statement);
    const seeds = ['a1', 'b2', 'c3'].map((byte) => Buffer.from(byte.repeat(32), 'hex'));
    expect(shown.root_keys).toEqual(seeds.map((seed) => issuerDid(signingKey(seed))));
    const fewer = { ...shown, signatures: shown.signatures.slice(1) };
    expect(() => readKeyHistory(listWith(fewer), isSignedBy)).toThrow('1 of the 2');
    const lower = { ...shown, stated_at: '2026-11-19T00:00:00Z' };
    expect(() => readKeyHistory(listWith(lower), isSignedBy)).toThrow('is not that of');
  });

  it('names every member of a version', () => {
    const [, listed = ''] = /A version is `\{([^`]+)\}`/.exec(ROOTS) ?? [];
    const names = [...listed.matchAll(/(\w+)(?=[:,]|$)/g)].map(([name]) => name);
    expect(names.sort()).toEqual(Object.keys(shown).sort());
  });
});
