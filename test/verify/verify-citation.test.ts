import { createPublicKey, sign } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Citation } from '../../compiler/format/citation.ts';
import { didKey, encodeBase64Url } from '../../compiler/format/did-key.ts';
import { bulkSignatureCheck } from '../../compiler/verify/bulk-signature.ts';
import { isStrictSignature } from '../../compiler/verify/strict-signature.ts';
import {
  type CitationTrust,
  isSignedBy,
  isVerified,
  verifyCitation,
} from '../../compiler/verify/verify-citation.ts';
import { FOREIGN_BODIES } from '../foreign-texts.ts';
import { flipBit } from '../public-part.ts';
import { KEY } from '../shop.ts';

const WYCHEPROOF = '../shared/vectors/ed25519/wycheproof_ed25519_test.json';
const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));

interface Row {
  readonly comment: string;
  readonly input: { readonly citation: Citation; readonly trust: CitationTrust['trust'] };
  readonly want?: Record<string, string>;
  readonly error?: readonly string[];
}
const ROWS = JSON.parse(readFileSync('test/vectors/citation.json', 'utf8')) as [Row, ...Row[]];

function failed(citation: unknown, trust: CitationTrust['trust']): string[] {
  const checks = verifyCitation(citation, { trust });
  return checks.filter(({ status }) => status === 'fail').map(({ check }) => check);
}

/** Every text inside a value with its last character changed, one change at a time. */
function* mutations(value: unknown): Generator<unknown> {
  if (typeof value === 'string') {
    yield `${value.slice(0, -1)}${value.endsWith('x') ? 'y' : 'x'}`;
  } else if (typeof value === 'boolean') {
    yield !value;
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      for (const changed of mutations(member)) yield { ...value, [key]: changed };
    }
  }
}

describe('verifyCitation() on the vectors', () => {
  it.each(ROWS)('I30: $comment', ({ input, want, error }) => {
    const checks = verifyCitation(input.citation, input);
    if (want === undefined) {
      expect(failed(input.citation, input.trust)).toEqual(error);
      expect(isVerified(checks)).toBe(false);
    } else {
      expect(Object.fromEntries(checks.map(({ check, status }) => [check, status]))).toEqual(want);
      expect(isVerified(checks)).toBe(true);
    }
  });
});

describe('verifyCitation()', () => {
  const { citation, trust } = ROWS[0].input;
  it('I30: no member but the fragment of key_id can change by a character', () => {
    // Outside the signature by contract: the fragment of key_id and the host of verify_url.
    const { key_id, ...bound } = citation;
    const changes = [...mutations(bound)].map((changed) => ({ ...(changed as object), key_id }));
    expect(changes).toHaveLength(17);
    for (const changed of changes) expect(failed(changed, trust)).not.toEqual([]);
    expect(failed(citation, trust)).toEqual([]);
  });
  it.each([null, undefined, 0, 'text', [], {}, { ...citation, source: [] }])(
    'refuses %j as a shape without throwing',
    (value) => {
      expect(failed(value, 'any')).toEqual(['shape']);
    },
  );
  it('believes nobody when nobody is trusted', () => {
    expect(failed(citation, [])).toEqual(['issuer']);
  });
  it('says in words what failed', () => {
    const checks = verifyCitation({ ...citation, signature: `${citation.signature}=` }, { trust });
    const detail = checks.find(({ check }) => check === 'signature')?.detail;
    expect(detail).toMatch(/^not verifiable: Cannot decode base64url/);
  });
});

describe('the citations of another service', () => {
  const citationOf = (text: string) => (JSON.parse(text) as { _citation: Citation })._citation;
  it.each(FOREIGN_BODIES)(
    'verifyCitation() accepts $name when its issuer is trusted',
    ({ text }) => {
      const citation = citationOf(text);
      const checks = verifyCitation(citation, { trust: [citation.issuer_DID] });
      expect(isVerified(checks)).toBe(true);
      expect(checks.find(({ check }) => check === 'key_id')?.status).toBe('not_applicable');
    },
  );
  it.each(FOREIGN_BODIES)(
    'verifyCitation() refuses $name when its issuer is not trusted',
    ({ text }) => {
      expect(failed(citationOf(text), [ROWS[0].input.citation.issuer_DID])).toEqual(['issuer']);
    },
  );
  it.each(FOREIGN_BODIES)(
    'I30: verifyCitation() refuses $name after a change of one character',
    ({ text }) => {
      const citation = citationOf(text);
      const { key_id, ...bound } = citation;
      for (const changed of mutations(bound)) {
        expect(failed({ ...(changed as object), key_id }, [citation.issuer_DID])).not.toEqual([]);
      }
    },
  );
});

interface SignatureRow {
  readonly comment: string;
  readonly key: string;
  readonly message: string;
  readonly signature: string;
  readonly valid: boolean;
}

/** Project Wycheproof's rows, on a machine that has them. */
function wycheproofRows(): SignatureRow[] {
  if (!existsSync(WYCHEPROOF)) return [];
  const { testGroups } = JSON.parse(readFileSync(WYCHEPROOF, 'utf8')) as {
    testGroups: {
      publicKey: { pk: string };
      tests: { tcId: number; msg: string; sig: string; result: string }[];
    }[];
  };
  return testGroups.flatMap(({ publicKey, tests }) =>
    tests.map(({ tcId, msg, sig, result }) => ({
      comment: `Wycheproof ${tcId}`,
      key: publicKey.pk,
      message: msg,
      signature: sig,
      valid: result === 'valid',
    })),
  );
}

describe('isSignedBy()', () => {
  const own = JSON.parse(readFileSync('test/vectors/ed25519.json', 'utf8')) as SignatureRow[];
  const accepts = ({ key, message, signature }: SignatureRow) => {
    try {
      return isSignedBy(
        didKey(fromHex(key)),
        fromHex(message),
        encodeBase64Url(fromHex(signature)),
      );
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
      return false;
    }
  };
  it('agrees with every row of Ed25519 vectors', () => {
    expect(own.filter(({ valid }) => valid).length).toBeGreaterThan(25);
    expect(own.filter(({ valid }) => !valid).length).toBeGreaterThan(60);
    const wrong = [...own, ...wycheproofRows()].filter((row) => accepts(row) !== row.valid);
    expect(wrong.map(({ comment }) => comment)).toEqual([]);
  });
  it('refuses a signature of RFC 8032 with a bit flipped, or below another message', () => {
    const rows = own.filter(({ comment }) => comment.startsWith('RFC 8032'));
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      expect(accepts({ ...row, message: `${row.message}00` })).toBe(false);
      const flipped = ((Number.parseInt(row.signature.slice(0, 2), 16) ^ 1) & 0xff)
        .toString(16)
        .padStart(2, '0');
      expect(accepts({ ...row, signature: flipped + row.signature.slice(2) })).toBe(false);
    }
  });
});

const message = Buffer.from('a statement');
const publicKey = new Uint8Array(
  createPublicKey(KEY).export({ format: 'der', type: 'spki' }).subarray(-32),
);
const signature = new Uint8Array(sign(null, message, KEY));

describe('bulkSignatureCheck()', () => {
  const check = bulkSignatureCheck();

  it('I31: agrees with the strict check on a signature, and on each of its bits flipped', () => {
    expect(check(signature, message, publicKey)).toBe(true);
    expect(isStrictSignature(signature, message, publicKey)).toBe(true);
    for (let bit = 0; bit < signature.length * 8; bit += 7) {
      const bent = flipBit(signature, bit);
      expect([check(bent, message, publicKey), strict(bent)]).toEqual([false, false]);
    }
  });

  it('I30: refuses a second spelling of the scalar, and another message', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const scalar =
      BigInt(`0x${Buffer.from(signature.slice(32)).reverse().toString('hex')}`) + order;
    const hex = scalar.toString(16).padStart(64, '0');
    const other = Buffer.concat([signature.slice(0, 32), Buffer.from(hex, 'hex').reverse()]);
    expect([check(other, message, publicKey), strict(other)]).toEqual([false, false]);
    expect(check(signature, Buffer.from('another'), publicKey)).toBe(false);
  });
});

function strict(bytes: Uint8Array): boolean {
  try {
    return isStrictSignature(bytes, message, publicKey);
  } catch {
    return false;
  }
}
