import { sign } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { exportCredential } from '../../compiler/commands/export-command.ts';
import {
  type Credential,
  credentialDigest,
  signedCredential,
} from '../../compiler/contract/credential.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { issuerDid, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { type BodyTrust, verifyBody } from '../../compiler/verify/verify-body.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { reseal } from './reseal.ts';
import { type Body, KEY, SEED, type SmallRelease, smallRelease } from './small-release.ts';

const RECORD = 'record/hydrology.river-level/07010000.json';
const NOW = Date.parse('2026-11-21T12:00:00Z');
const UNTIL = '2026-12-01T00:00:00Z';
const OTHER_SEED = new Uint8Array(32).fill(8);
const OTHER_DID = issuerDid(signingKey(OTHER_SEED));

let release: SmallRelease;
let exported: string;
beforeAll(async () => {
  release = await smallRelease();
  exported = exportCredential(release.body(RECORD), { seed: SEED, now: NOW, validUntil: UNTIL });
});
afterAll(() => release.dispose());

const fresh = (): Body => parseJson(exported) as Body;
const judge = (value: unknown, trust: Partial<BodyTrust> = {}) =>
  verifyBody(value as Body, { trust: [release.did], now: NOW, ...trust });
const failures = (value: unknown, trust: Partial<BodyTrust> = {}): string[] =>
  judge(value, trust)
    .checks.filter(({ status }) => status === 'fail')
    .map(({ check, where }) => `${check} ${where}`);

/** Signed once more as only the holder of a key can, so that nothing but the contradiction is left. */
function signed(change: (credential: Body) => Body, key = KEY): Credential {
  const unsigned = change(fresh()) as unknown as Credential;
  const signature = sign(null, credentialDigest(unsigned, sha256), key);
  return signedCredential(unsigned, new Uint8Array(signature));
}
const withProof = (change: Body) => (credential: Body) =>
  ({ ...credential, proof: { ...(credential.proof as Body), ...change } }) as Body;

describe('verifyBody() on a credential', () => {
  it.each([
    RECORD,
    'strata/hydrology.river-level/07010000.json',
    'history/hydrology.river-level/07010000.json',
    'bundle/environment/us-denver.json',
  ])('verifies that of %s', (path) => {
    const text = exportCredential(release.body(path), { seed: SEED, now: NOW });
    expect(failures(parseJson(text))).toEqual([]);
    expect(judge(parseJson(text))).toMatchObject({ verdict: 'verified', issuer: release.did });
  });

  it('refuses another issuer, and knows none where nobody was named', () => {
    expect(failures(fresh(), { trust: [OTHER_DID] })).toEqual([
      'citation credentialSubject.body._citation.issuer_DID',
    ]);
    expect(judge(fresh(), { trust: 'any' }).verdict).toBe('issuer_unknown');
  });

  it('I66: fails whatever leaf of it is altered, added or taken away', () => {
    const paths = [...leaves(fresh())].filter(([top]) => top !== 'credentialSubject');
    expect(paths.length).toBeGreaterThan(12);
    for (const path of paths) {
      expect([path, judge(altered(fresh(), path, 'x')).verdict]).toEqual([path, 'failed']);
      expect([path, judge(altered(fresh(), path, undefined)).verdict]).toEqual([path, 'failed']);
    }
    for (const name of Object.keys(fresh())) {
      const { [name]: _, ...rest } = fresh();
      expect([name, judge(rest).verdict]).toEqual([name, 'failed']);
    }
    expect(failures({ ...fresh(), credentialStatus: {} })).toEqual(['credential credentialStatus']);
  });

  it('fails a member of the body, by the proof too where the body leaves it unsigned', () => {
    const { credentialSubject } = fresh() as { credentialSubject: { body: Body } };
    const { body } = credentialSubject;
    const dearer = { ...body, current: { stage_ft: 13.7 } };
    expect(failures({ ...fresh(), credentialSubject: { body: dearer } })).toContain(
      'credential proof.proofValue',
    );
    const proven = { ...fresh(), credentialSubject: { body: { ...body, _proof: 'x' } } };
    expect(failures(proven)).toContain('credential proof.proofValue');
    expect(failures({ ...fresh(), credentialSubject: { body: {} } })).toContain(
      'credential issuer',
    );
  });

  it('fails what its issuer signed, but may not say', () => {
    const wrong: readonly (readonly [string, (credential: Body) => Body])[] = [
      ['validFrom', (all) => ({ ...all, validFrom: '2026-11-19T00:00:00Z' })],
      ['proof.created', withProof({ created: '2026-11-20T00:00:00Z' })],
      ['proof.created', withProof({ created: '2026-11-21T12:05:01Z' })],
      ['proof.proofPurpose', withProof({ proofPurpose: 'authentication' })],
      ['proof.verificationMethod', withProof({ verificationMethod: `${OTHER_DID}#x` })],
      ['validUntil', (all) => ({ ...all, validUntil: '2026-11-21T11:59:59Z' })],
      ['validUntil', (all) => ({ ...all, validUntil: 'soon' })],
      ['proof.expires', withProof({ expires: UNTIL })],
      [
        'credentialSubject.id',
        (all) => ({
          ...all,
          credentialSubject: { ...(all.credentialSubject as Body), id: 'urn:x' },
        }),
      ],
    ];
    expect(failures(signed((all) => all))).toEqual([]);
    for (const [where, change] of wrong) {
      expect(failures(signed(change))).toEqual([`credential ${where}`]);
    }
  });

  it('fails a credential whose issuer is not that of the body', () => {
    const method = `${OTHER_DID}#${OTHER_DID.slice('did:key:'.length)}`;
    const stolen = signed(
      (all) => withProof({ verificationMethod: method })({ ...all, issuer: OTHER_DID }),
      signingKey(OTHER_SEED),
    );
    expect(failures(stolen, { trust: [release.did, OTHER_DID] })).toEqual(['credential issuer']);
    const cited = reseal(release.body(RECORD), OTHER_SEED);
    const other = exportCredential(cited, { seed: OTHER_SEED, now: NOW });
    expect(judge(parseJson(other), { trust: [OTHER_DID] }).verdict).toBe('verified');
  });

  it('I66: judges its end by the clock of the reader, and not without one', () => {
    const until = (now?: number) => {
      const by = { trust: [release.did], ...(now === undefined ? {} : { now }) };
      return verifyBody(fresh(), by).checks.find(({ where }) => where === 'validUntil')?.status;
    };
    expect(until(Date.parse(UNTIL))).toBe('pass');
    expect(until(Date.parse(UNTIL) + 1)).toBe('fail');
    expect(until()).toBe('not_applicable');
  });

  it('holds one body: neither a credential nor a basket stands inside', () => {
    const within = (body: Body) => signed((all) => ({ ...all, credentialSubject: { body } }));
    expect(judge(within(fresh())).verdict).toBe('failed');
    expect(judge(within({ parts: [], total_usd: '0' })).verdict).toBe('failed');
  });

  it('I66: judges a key that ended or was revoked by when the credential was signed', () => {
    const key = { did: release.did, valid_from: null, valid_until: null, revoked_from: null };
    const keysOf = (change: object) =>
      ({ keys: [{ ...key, ...change }], revocations: [] }) as unknown as NonNullable<
        BodyTrust['keys']
      >;
    const at = (change: object) => judge(fresh(), { keys: keysOf(change) });
    expect(at({ revoked_from: '2026-11-21T12:00:00Z' }).verdict).toBe('failed');
    const later = at({ revoked_from: '2026-11-22T00:00:00Z' });
    expect(later.verdict).toBe('unsigned');
    expect(later.checks.filter(({ check }) => check === 'anchor')[0]?.where).toBe('proof');
    expect(failures(fresh(), { keys: keysOf({ valid_until: '2026-11-21T00:00:00Z' }) })).toEqual([
      'credential proof.created',
    ]);
  });
});

describe('signalpress verify on a credential', () => {
  const verified = (options: object) =>
    runVerify('-', {
      issuer: [release.did],
      now: NOW,
      json: true,
      proof: false,
      readStdin: async () => Buffer.from(exported),
      ...options,
    });

  it('says what the body inside is about, and compares it with what is demanded', async () => {
    const target = 'GET /gauge?signal_id=hydrology.river-level&entity=07010000';
    const { exitCode, text } = await verified({ expect: target, maxAgeMs: 172_800_000 });
    expect([exitCode, JSON.parse(text).about.observed_at]).toEqual([0, '2026-11-20T10:45:00Z']);
    const other = await verified({ expect: target.replace('07010000', '07010001') });
    expect(other.exitCode).toBe(1);
    expect((await verified({ now: Date.parse(UNTIL) + 1000 })).exitCode).toBe(1);
    expect((await verified({ issuer: [] })).exitCode).toBe(2);
    const words = await verified({ json: false });
    expect(words.text).toContain('the proof of the credential, its key and its times hold');
  });

  it('agrees with the client, which tells it as a step', () => {
    const { verdict, steps } = verify(exported, {
      issuer: release.did,
      now: NOW,
      demandsProof: false,
    });
    expect([verdict, steps.find(({ id }) => id === 'credential')?.status]).toEqual([
      'verified',
      'pass',
    ]);
    const bare = verify(release.text(RECORD), { issuer: release.did, now: NOW });
    expect(bare.steps.some(({ id }) => id === 'credential')).toBe(false);
  });
});

describe('exportCredential()', () => {
  const exporting = (body: Body, seed = SEED, more: object = {}) =>
    exportCredential(body, { seed, now: NOW, ...more });

  it('signs nothing that does not hold, and says why', () => {
    const body = release.body(RECORD);
    const cases: readonly (readonly [() => string, string])[] = [
      [() => exporting({ ...body, current: { stage_ft: 1 } }), '_citation.source.content_hash'],
      [() => exporting(body, OTHER_SEED), 'pass the key of the body'],
      [() => exporting(fresh()), 'it is a credential already'],
      [() => exporting({ sample: body }), 'it has no citation of its own'],
      [() => exporting(body, SEED, { validUntil: '2026-11-21T00:00:00Z' }), 'validUntil'],
      [() => exporting(body, SEED, { now: Date.parse('2026-11-20T00:00:00Z') }), 'Cannot export'],
      [() => exporting({ ...body, _proof: 'x' }), 'credentialSubject.body._proof'],
    ];
    for (const [made, why] of cases) expect(made).toThrow(why);
  });

  it('does not sign with a key that its list revoked', () => {
    const key = { did: release.did, valid_from: null, valid_until: null };
    const keys = { keys: [{ ...key, revoked_from: '2026-11-21T00:00:00Z' }] };
    expect(() => exporting(release.body(RECORD), SEED, { keys })).toThrow('is revoked from');
    const later = { keys: [{ ...key, revoked_from: '2026-11-23T00:00:00Z' }] };
    expect(() => exporting(release.body(RECORD), SEED, { keys: later })).toThrow('not all of it');
  });
});

type Path = readonly (string | number)[];

function* leaves(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return yield path;
  for (const [key, member] of Object.entries(value)) {
    yield* leaves(member, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** A copy with another leaf; without it for undefined. */
function altered(value: unknown, [step, ...rest]: Path, leaf: unknown): unknown {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => {
      if (at !== step) return [item];
      const other = altered(item, rest, leaf);
      return other === undefined ? [] : [other];
    });
  }
  const members = Object.entries(value as object).map(([key, member]) => [
    key,
    key === step ? altered(member, rest, leaf) : member,
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}
