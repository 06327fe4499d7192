import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Citation } from '../../compiler/contract/citation.ts';
import { didKey, encodeBase64Url } from '../../compiler/contract/did-key.ts';
import {
  type CitationTrust,
  isSignedBy,
  isVerified,
  verifyCitation,
} from '../../compiler/verify/verify-citation.ts';

const INTEROP = '../shared/interop';
const ED25519 = '../shared/vectors/ed25519';
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

describe.skipIf(!existsSync(INTEROP))(
  'two foreign citations (skipped where ../shared/interop is absent)',
  () => {
    const names = ['stable_graveyard', 'trust_graveyard'];
    const read = (name: string) =>
      JSON.parse(readFileSync(`${INTEROP}/${name}.json`, 'utf8')) as { _citation: Citation };
    it.each(names)('verifyCitation() accepts %s when its issuer is trusted', (name) => {
      const { _citation } = read(name);
      const checks = verifyCitation(_citation, { trust: [_citation.issuer_DID] });
      expect(isVerified(checks)).toBe(true);
      expect(checks.find(({ check }) => check === 'key_id')?.status).toBe('not_applicable');
    });
    it.each(names)('verifyCitation() refuses %s when its issuer is not trusted', (name) => {
      expect(failed(read(name)._citation, [ROWS[0].input.citation.issuer_DID])).toEqual(['issuer']);
    });
    it.each(names)('I30: verifyCitation() refuses %s after a change of one character', (name) => {
      const { _citation } = read(name);
      const { key_id, ...bound } = _citation;
      for (const changed of mutations(bound)) {
        expect(failed({ ...(changed as object), key_id }, [_citation.issuer_DID])).not.toEqual([]);
      }
    });
  },
);

describe.skipIf(!existsSync(ED25519))(
  'Ed25519 test data (skipped where ../shared/vectors is absent)',
  () => {
    const read = (file: string) =>
      JSON.parse(readFileSync(`${ED25519}/${file}`, 'utf8')) as unknown;
    const accepts = (key: string, message: string, signature: string) => {
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
    it('isSignedBy() accepts every row of RFC 8032 and refuses it with a bit flipped', () => {
      const rows = read('rfc8032.json') as { pub: string; msg: string; sig: string }[];
      expect(rows.length).toBeGreaterThan(3);
      for (const { pub, msg, sig } of rows) {
        expect(accepts(pub, msg, sig)).toBe(true);
        expect(accepts(pub, `${msg}00`, sig)).toBe(false);
        const flipped = ((Number.parseInt(sig.slice(0, 2), 16) ^ 1) & 0xff)
          .toString(16)
          .padStart(2, '0');
        expect(accepts(pub, msg, flipped + sig.slice(2))).toBe(false);
      }
    });
    it('isSignedBy() agrees with every row of Wycheproof', () => {
      const { testGroups, numberOfTests } = read('wycheproof_ed25519_test.json') as {
        numberOfTests: number;
        testGroups: {
          publicKey: { pk: string };
          tests: { tcId: number; msg: string; sig: string; result: string }[];
        }[];
      };
      const rows = testGroups.flatMap(({ publicKey, tests }) =>
        tests.map((test) => ({ ...test, got: accepts(publicKey.pk, test.msg, test.sig) })),
      );
      expect(rows).toHaveLength(numberOfTests);
      const wrong = rows.filter(({ got, result }) => got !== (result === 'valid'));
      expect(wrong.map(({ tcId }) => tcId)).toEqual([]);
    });
  },
);
