import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { contentOf, keyIdOf } from '../../compiler/format/citation.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';
import { jcs } from '../../compiler/system/jcs.ts';
import { citationOf, issuerDid, makeSealer, signingKey } from '../../compiler/system/sealer.ts';
import { isSignedBy, isVerified, verifyCitation } from '../../compiler/verify/verify-citation.ts';
import { ACCEPTED, ILLEGAL, LEGAL } from '../products/shapes/json-texts.ts';
import { sha256Text } from '../snapshot-folder.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

describe('jcs()', () => {
  it.each(LEGAL)('writes %s', (_name, value, text) => {
    expect(jcs(value)).toBe(text);
  });
  it.each(ILLEGAL)('I35: refuses %s', (_name, value, path) => {
    expect(() => jcs(value)).toThrow(TypeError);
    if (path !== '') expect(() => jcs(value)).toThrow(`"${path}"`);
  });
  it.each(ACCEPTED)('I35: writes what parseJson() accepts as %s', (_comment, text, canonical) => {
    expect(jcs(parseJson(text))).toBe(canonical);
  });
});

describe('laws', () => {
  // Any UTF-16 units: halves of pairs must be refused by both or by neither.
  const units = fc
    .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0xd83d, 0xde00, 0x22, 0x5c, 0x7f)), {
      maxLength: 6,
    })
    .map((codes) => String.fromCharCode(...codes));
  const text = fc.oneof({ weight: 9, arbitrary: fc.string({ unit: 'binary' }) }, units);
  const odd = fc.constantFrom(undefined, Number.NaN, 1n, new Date(0), () => 1, Object(1));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double(),
      text,
      fc.array(tie('value')),
      fc.dictionary(text, tie('value'), { maxKeys: 40 }),
      { weight: 1, arbitrary: odd },
    ),
  }));
  const written = (write: (value: unknown) => string, any: unknown): string => {
    try {
      return write(any);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      return 'refused';
    }
  };

  it('I35: jcs() writes what canonicalJson() writes and refuses what it refuses', () => {
    fc.assert(
      fc.property(value, (any) => {
        expect(written(jcs, any)).toBe(written(canonicalJson, any));
      }),
      { numRuns: RUNS },
    );
  });
  it('I18: jcs() does not see the order in which members were added', () => {
    const members = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), fc.integer()), {
      selector: ([key]) => key,
      maxLength: 60,
    });
    fc.assert(
      fc.property(members, (entries) => {
        const backwards = Object.fromEntries([...entries].reverse());
        expect(jcs(Object.fromEntries(entries))).toBe(jcs(backwards));
      }),
      { numRuns: RUNS },
    );
  });
});

const KEY = signingKey(new Uint8Array(32).fill(7));
const DID = issuerDid(KEY);
const ISSUER = { name: 'Test', did: DID, keyId: keyIdOf(DID), baseUrl: 'https://example.org' };
const STATEMENT = {
  claim: 'a claim',
  fact: 'a fact',
  target: '/gauge?entity=x&signal_id=y',
  observed_at: '2026-11-20T10:00:00Z',
  retrieved_at: '2026-11-20T11:00:00Z',
};
const BODY = { nature: 'n', record_hash: 'r', provenance: { data_as_of: 'x', list: [1, 2.5] } };
const sealer = makeSealer(ISSUER, KEY);

describe('signingKey(), issuerDid()', () => {
  it('give the DID of RFC 8032 test key 1', () => {
    const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
    const did = issuerDid(signingKey(new Uint8Array(Buffer.from(seed, 'hex'))));
    expect(Buffer.from(parseDidKey(did)).toString('hex')).toBe(
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
  });

  it('refuse a seed that is too short', () => {
    expect(() => signingKey(new Uint8Array(31))).toThrow();
  });
});

describe('seal()', () => {
  const sealed = sealer.seal(BODY, STATEMENT);
  const { _citation } = sealed;

  it('puts the citation last and leaves the body as it was', () => {
    const { _citation: last, ...body } = sealed;
    expect(body).toEqual(BODY);
    expect(Object.keys(sealed).at(-1)).toBe('_citation');
    expect(Object.keys(last)).toEqual(
      (
        'schema_version statement_type not_advice claim fact source retrieved_at status translated ' +
        'record_hash signature key_id issuer_DID verify_url'
      ).split(' '),
    );
  });

  it('signs a citation that the other implementation verifies', () => {
    const checks = verifyCitation(_citation, { trust: [DID] });
    expect(checks.filter(({ status }) => status !== 'pass')).toEqual([]);
    expect(_citation.verify_url).toBe(`https://example.org/v/${_citation.record_hash}`);
  });

  it('binds the whole body by its content hash', () => {
    const want = `sha256:${sha256Text(canonicalJson(contentOf(sealed)))}`;
    expect(_citation.source).toEqual({
      issuer: 'Test',
      type: 'aggregator',
      url: 'https://example.org/gauge?entity=x&signal_id=y',
      content_hash: want,
      published_at: STATEMENT.observed_at,
    });
    const other = sealer.seal({ ...BODY, nature: 'm' }, STATEMENT);
    expect(other._citation.source.content_hash).not.toBe(want);
  });

  it.each(['claim', 'fact', 'retrieved_at', 'status'] as const)(
    'does not verify after a change of %s',
    (field) => {
      const altered = { ..._citation, [field]: `${_citation[field]}.` };
      const failed = verifyCitation(altered, { trust: [DID] }).filter(
        ({ status }) => status === 'fail',
      );
      expect(failed.map(({ check }) => check)).toEqual(['record_hash', 'signature']);
    },
  );

  it('is not believed under another issuer', () => {
    expect(isVerified(verifyCitation(_citation, { trust: ['did:key:z6MkOther'] }))).toBe(false);
  });

  it('gives the same bytes again', () => {
    expect(makeSealer(ISSUER, KEY).seal(BODY, STATEMENT)).toEqual(sealed);
  });

  it('refuses a body that JSON cannot carry', () => {
    for (const value of [Number.NaN, undefined, new Date(0), '\ud800']) {
      expect(() => sealer.seal({ value }, STATEMENT)).toThrow(TypeError);
    }
  });
});

describe('recordHash()', () => {
  const core = {
    signal_id: 'crypto.spot',
    entity: 'btc',
    snapshot_date: '2026-11-20T00:00:00Z',
    observed_at: '2026-11-20T10:00:00Z',
    current: { price_usd: 1.5 },
    source_ref: null,
    source_tier: null,
    sources: [{ name: 'a', weight: 1, independent: true, value: 5, role: 'r', as_of: 'x' }],
    lifecycle: null,
  };

  it('hashes the canonical core, written out here by hand', () => {
    const text =
      '{"current":{"price_usd":1.5},"entity":"btc","hash_core_version":3,"lifecycle":null,' +
      '"observed_at":"2026-11-20T10:00:00Z","signal_id":"crypto.spot",' +
      '"snapshot_date":"2026-11-20T00:00:00Z","source_ref":null,"source_tier":null,' +
      '"sources":[{"independent":true,"name":"a","weight":1}]}';
    expect(sealer.recordHash(core)).toBe(`sha256:${sha256Text(text)}`);
  });

  it('changes with every member, and with no value, role or time of a source', () => {
    const hash = sealer.recordHash(core);
    const sources = [{ name: 'a', weight: 1, independent: true }];
    expect(sealer.recordHash({ ...core, sources })).toBe(hash);
    for (const name of Object.keys(core)) {
      const other = name === 'sources' ? [] : 'other';
      expect(sealer.recordHash({ ...core, [name]: other }), name).not.toBe(hash);
    }
  });
});

describe('signText()', () => {
  it('signs the UTF-8 bytes', () => {
    const signature = sealer.signText('stufe 1 ü');
    expect(isSignedBy(DID, Buffer.from('stufe 1 ü', 'utf8'), signature)).toBe(true);
    expect(isSignedBy(DID, Buffer.from('stufe 2 ü', 'utf8'), signature)).toBe(false);
  });
});

describe('citationOf()', () => {
  it('finds the citation of a sealed body, none of another', () => {
    expect(citationOf(sealer.seal(BODY, STATEMENT))?.claim).toBe('a claim');
    expect(citationOf(BODY)).toBeUndefined();
  });
});
