import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { checkpointText, formatNote, noteKeyHash } from '../../compiler/format/checkpoint.ts';
import { PROOF_MEMBER } from '../../compiler/format/citation.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import { defined } from '../../compiler/format/errors.ts';
import { firstHistory, readKeyHistory } from '../../compiler/format/key-history.ts';
import { leafHash } from '../../compiler/format/merkle.ts';
import { type HashedRecord, hashCore } from '../../compiler/format/record-hash.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../compiler/format/strict-json.ts';
import { logEntry } from '../../compiler/format/tiles.ts';
import { formatTlogProof, parseTlogProof } from '../../compiler/format/tlog-proof.ts';
import { issuerDid, signBytes, signingKey } from '../../compiler/system/sealer.ts';
import { type BodyReport, canonicalHash } from '../../compiler/verify/body-check.ts';
import { expectingProof, withDemands } from '../../compiler/verify/demand-checks.ts';
import { type Format2Trust, isFormat2, judgeFormat2 } from '../../compiler/verify/format-2.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';
import { InventedWitness, withNote } from '../publish/witness/invented-log.ts';
import { seed } from '../seeded-keys.ts';
import { BASE_URL, type Body, KEY } from '../shop.ts';
import { alterations, leafChanges } from './alterations.ts';
import { reseal } from './resign.ts';

// The fixture was bought from the last shop of format 2. Its first key ended on the 8th, its second one was stolen on the
// 15th, its third one signs the rest. The verdicts in it are those of the judge of that format.

const ORIGIN = `${new URL(BASE_URL).host}/log`;
const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

/** A log of one entry, by any key and of any service. */
function proofBy(hash: string, { key = KEY, origin = ORIGIN } = {}): string {
  const root = leafHash(logEntry(hash), sha256);
  const text = checkpointText({ origin, size: 1, root });
  const keyHash = noteKeyHash(origin, parseDidKey(issuerDid(key)), sha256);
  const signature = Buffer.from(signBytes(Buffer.from(text), key), 'base64url');
  const checkpoint = formatNote({ text, signatures: [{ name: origin, keyHash, signature }] });
  return formatTlogProof({ index: 0, hashes: [], checkpoint });
}

const FIXTURE = join(import.meta.dirname, '../fixtures/format-2.json');
const texts: Readonly<Record<string, string>> = JSON.parse(readFileSync(FIXTURE, 'utf8'));
const text = (name: string): string => defined(texts[name], `the file "${name}"`);
const bodyOf = (name: string): Body => parseJson(text(name)) as Body;

type Reader =
  | 'keys'
  | 'keys_and_policy'
  | 'signer_alone'
  | 'nobody'
  | 'other_issuer'
  | 'other_request';
interface Expected {
  readonly now: string;
  readonly issuer: string;
  readonly other_issuer: string;
  readonly policy: string;
  readonly bodies: Readonly<
    Record<string, { request: string; signed_by: string; verdicts: Record<Reader, string> }>
  >;
}
const expected = JSON.parse(text('expected.json')) as Expected;
const NAMES = Object.keys(expected.bodies);
const SOUND = NAMES.filter((name) => expected.bodies[name]?.verdicts.keys === 'verified');

const keys = readKeyHistory(parseJson(text('keys.json')), isSignedBy);
const policy = readPolicy(Buffer.from(expected.policy));
const now = Date.parse(expected.now);
const KEYS: Format2Trust = { trust: [expected.issuer], keys, now, proof: 'noted' };
const [FIRST, STOLEN, NEWEST] = [seed(91), seed(92), seed(93)];

const judge = (body: JsonValue, trust: Format2Trust = KEYS): BodyReport =>
  judgeFormat2(body, trust);
const failures = (report: BodyReport): string[] =>
  report.checks.flatMap(({ check, where, status }) =>
    status === 'fail' ? [`${check} ${where}`] : [],
  );
const checkOf = (report: BodyReport, name: string) =>
  report.checks.find(({ check }) => check === name);

/** The verdict with what a reader of the command demands. */
function demanded(body: JsonValue, trust: Format2Trust, expect?: string): string {
  const report = withDemands(judge(body, trust), body, { now, expect, catalog: BUILTIN });
  return expectingProof(report).verdict;
}

const OTHER_REQUEST = '/gauge?entity=08158000&signal_id=hydrology.river-level';

describe('judgeFormat2() on bodies as they were bought', () => {
  it.each(NAMES)('says of %s what the judge of format 2 said, to every reader', (name) => {
    const { request, signed_by, verdicts } = expected.bodies[name] as Expected['bodies'][string];
    const body = bodyOf(name);
    const alone = (trust: Format2Trust['trust']): Format2Trust => ({ trust, now, proof: 'noted' });
    expect({
      keys: demanded(body, KEYS, request),
      keys_and_policy: demanded(body, { ...KEYS, policy }, request),
      signer_alone: demanded(body, alone([signed_by]), request),
      nobody: demanded(body, alone('any'), request),
      other_issuer: demanded(body, alone([expected.other_issuer]), request),
      other_request: demanded(body, KEYS, OTHER_REQUEST),
    }).toEqual(verdicts);
    expect(judge(body).issuer).toBe(signed_by);
  });

  it.each(NAMES)('says last of %s that its words of time are not judged', (name) => {
    const last = judge(bodyOf(name)).checks.at(-1);
    expect(last?.status).toBe('not_applicable');
    expect(last?.detail).toBe('words of time: not judged (format 2)');
  });

  it('takes other words of time, and none, but not in another place', () => {
    const body = bodyOf('record.json');
    const { freshness: _, ...rest } = body.provenance as Body;
    expect(judge({ ...body, provenance: { ...rest, age_hours_now: 0 } }).verdict).toBe('verified');
    expect(judge({ ...body, freshness: 'fresh' }).verdict).toBe('failed');
  });

  it('takes a free sample, which brings the record and its proof', () => {
    const report = judge({ sample: bodyOf('record.json') });
    expect(report.verdict).toBe('verified');
    expect(checkOf(report, 'logged')?.where).toBe('sample._proof');
    const scope = { ...bodyOf('record.json'), scope: 'other' };
    expect(judge({ sample: scope }).verdict).toBe('failed');
  });

  it('judges of an answer of /resolve the parts alone, and never verifies it', () => {
    // Such an answer repeats the citation of a part.
    const { [PROOF_MEMBER]: _, ...part } = bodyOf('row.json');
    const answer = { outcome: null, coverage: part, _citation: part._citation } as Body;
    const report = judge(answer);
    expect(report.verdict).toBe('unsigned');
    expect(checkOf(report, 'cover')?.detail).toContain('the last program of format 2');
    expect(judge({ ...answer, outcome: 'other' }).verdict).toBe('unsigned');
    const altered = { ...answer, coverage: { ...part, status: 'gone' } } as Body;
    expect(failures(judge(altered))).toContain('content coverage._citation.source.content_hash');
  });

  it('fails what is no object', () => {
    for (const value of [null, [], 'x', 1]) expect(judge(value).verdict).toBe('failed');
  });
});

/** Words of time are not judged. One day more of a series may reach the same rows. */
const isFree = (path: string): boolean =>
  /(^|\.)(age_hours_now|freshness|freshness_leg|dead_source|update_status)(\.|$)/.test(path) ||
  path === 'days';

describe('judgeFormat2() on altered bodies', () => {
  it.each(SOUND)('refuses %s with one leaf changed, wherever it is', (name) => {
    const body = bodyOf(name);
    const { [PROOF_MEMBER]: _, ...unproven } = body;
    for (const { path, altered } of leafChanges(unproven)) {
      const { verdict } = judge({ ...(altered as Body), [PROOF_MEMBER]: body._proof as string });
      expect([path, verdict === 'failed']).toEqual([path, !isFree(path)]);
    }
  });

  it.each(['record.json', 'series-with-cores.json', 'roster-with-cores.json'])(
    'refuses %s with a member more or less, wherever it is',
    (name) => {
      const { [PROOF_MEMBER]: _, ...body } = bodyOf(name);
      for (const { path, altered } of alterations(body)) {
        if (path === 'days') continue;
        expect([path, judge(altered).verdict === 'verified']).toEqual([path, isFree(path)]);
      }
    },
  );

  it('refuses a series with days that its rows do not reach, or with other rows', () => {
    const body = bodyOf('series.json');
    const rows = body.rows as Body[];
    expect([body.days, rows.length]).toEqual([3, 2]);
    const short = rows.slice(1);
    const { days, ...rest } = body;
    for (const change of [{}, { days: 2 }, { days: 30 }, { days, rows: short, count: 1 }]) {
      expect(failures(judge({ ...rest, ...change } as Body))).toEqual(['series rows']);
    }
  });

  it.each(SOUND)('refuses %s with one bit of its proof turned, wherever it is', (name) => {
    const body = bodyOf(name);
    const proof = String(body._proof);
    for (let at = 0; at < proof.length; at += 3) {
      const turned = String.fromCharCode(proof.charCodeAt(at) ^ 1);
      const forged = proof.slice(0, at) + turned + proof.slice(at + 1);
      expect([at, judge({ ...body, _proof: forged }).verdict]).toEqual([at, 'failed']);
    }
  });

  it('refuses the proof of another body, of another log, and of a key of nobody', () => {
    const body = bodyOf('bundle.json');
    const statement = String((body._citation as Body).record_hash);
    const by = (key: Uint8Array, origin = 'readings.example/log') =>
      failures(judge({ ...body, _proof: proofBy(statement, { key: signingKey(key), origin }) }));
    expect(by(NEWEST)).toEqual([]);
    expect(by(NEWEST, 'other.example/log')).toEqual(['logged _proof']);
    expect(by(seed(94))).toEqual(['logged _proof']);
    const other = bodyOf('city.json')._proof as string;
    expect(failures(judge({ ...body, _proof: other }))).toEqual(['logged _proof']);
  });

  it('refuses a body that borrows the entry of a reading which it joins', () => {
    const body = bodyOf('bundle.json');
    const { aqi } = body.legs as Record<string, Body>;
    const _proof = proofBy(String(aqi?.record_hash), { key: signingKey(NEWEST) });
    expect(failures(judge({ ...body, _proof }))).toEqual(['logged _proof']);
  });

  it('refuses the entry of a reading for a body that is not about it, or lacks what is hashed', () => {
    const addressed = (body: Body, url: string): Body => {
      const cited = body._citation as Body;
      return reseal(
        { ...body, _citation: { ...cited, source: { ...(cited.source as Body), url } } },
        NEWEST,
      );
    };
    const { [PROOF_MEMBER]: proof, ...ruler } = bodyOf('ruler.json');
    const { [PROOF_MEMBER]: _, ...thin } = bodyOf('thin.json');
    const [core, address] = [
      bodyOf('series-with-cores.json').rows as Body[],
      'https://readings.example/gauge',
    ];
    const of = '?entity=07010000&signal_id=hydrology.river-level';
    const odd = [
      addressed(ruler, `${address}/ruler${of.replace('07010000', '08158000')}`),
      addressed(ruler, `${address}/region?loc=us-denver`),
      addressed(thin, `${address}${of}`),
      addressed({ ...thin, _hash_core: core.at(-1)?._hash_core ?? null }, `${address}${of}`),
    ];
    for (const body of odd) {
      expect(failures(judge(body))).toEqual([]);
      expect(failures(judge({ ...body, _proof: proof as string }))).toEqual(['logged _proof']);
    }
    // A core beside a record says nothing of its own members.
    const { [PROOF_MEMBER]: __, ...record } = bodyOf('record.json');
    const _hash_core = hashCore(record as unknown as HashedRecord) as unknown as Body;
    for (const current of [record.current, { stage_ft: 99 }]) {
      const body = reseal({ ...record, current, _hash_core } as Body, NEWEST);
      expect(failures(judge(body))).toEqual([]);
      expect(failures(judge({ ...body, _proof: proof as string }))).toEqual(['logged _proof']);
    }
    const own = addressed(ruler, `${address}/ruler${of}`);
    expect(judge({ ...own, _proof: proof as string }).verdict).toBe('verified');
  });

  it('refuses a citation at the address of another service, and one without a claim', () => {
    const { [PROOF_MEMBER]: _, ...body } = bodyOf('record.json');
    const cited = body._citation as Body;
    const { claim, record_hash, signature, key_id, issuer_DID, verify_url, ...statement } = cited;
    const moved = String(verify_url).replace('readings.example', 'other.example');
    const elsewhere = { ...body, _citation: { ...cited, verify_url: moved } };
    expect(failures(judge(elsewhere))).toEqual(['consistency _citation.verify_url']);
    const hash = canonicalHash(statement);
    const sealed = {
      record_hash: hash,
      signature: signBytes(Buffer.from(canonicalJson(statement)), signingKey(NEWEST)),
      verify_url: String(verify_url).replace(String(record_hash), hash),
    };
    const claimless = {
      ...body,
      _citation: { ...statement, key_id, issuer_DID, ...sealed },
    } as Body;
    expect(failures(judge(claimless))).toEqual(['content _citation.source.content_hash']);
  });

  it('asks for a proof where its reader does', () => {
    const { [PROOF_MEMBER]: _, ...body } = bodyOf('record.json');
    const { proof: __, ...loose } = KEYS;
    expect(demanded(body, loose)).toBe('verified');
    expect(demanded(body, KEYS)).toBe('unproven');
    expect(demanded(body, { ...KEYS, proof: 'demanded' })).toBe('failed');
    expect(demanded(body, { ...loose, policy })).toBe('failed');
  });
});

describe('judgeFormat2() on keys', () => {
  const census = bodyOf('ended-key-census.json');
  const statement = String((census._citation as Body).record_hash);
  const proven = (key: Uint8Array, of = census, hash = statement): Body => {
    return { ...of, _proof: proofBy(hash, { key: signingKey(key) }) };
  };

  it('I28: a key that ended needs a newer checkpoint over its statement; in its time it needs none', () => {
    const { _proof, ...bare } = census;
    expect(judge(proven(NEWEST)).verdict).toBe('verified');
    expect(checkOf(judge(proven(NEWEST)), 'anchor')?.status).toBe('pass');
    for (const body of [bare, proven(FIRST)]) expect(judge(body).verdict).toBe('unsigned');
    const early = { ...KEYS, keys: firstHistory(expected.issuer), now: Date.parse('2026-11-06') };
    for (const body of [bare, proven(FIRST)]) expect(judge(body, early).verdict).toBe('verified');
  });

  it('I29: whoever has an ended key now makes body, tree and checkpoint, and proves nothing', () => {
    const { _proof, ...bare } = census;
    const forged = reseal({ ...bare, scope: 'other words' }, FIRST);
    const own = String((forged._citation as Body).record_hash);
    expect(judge(forged).verdict).toBe('unsigned');
    expect(judge(proven(FIRST, forged, own)).verdict).toBe('unsigned');
    expect(judge({ ...forged, _proof: _proof as string }).verdict).toBe('failed');
    const demanding = { ...KEYS, proof: 'demanded' } as const;
    expect(judge(proven(FIRST, forged, own), demanding).verdict).toBe('failed');
  });

  it('I29: other words around a logged reading are not proven by its entry', () => {
    const { _proof, ...record } = bodyOf('ended-key-record.json');
    const forged = reseal({ ...record, scope: 'other words' }, FIRST);
    const report = judge(proven(NEWEST, forged, String(record.record_hash)));
    expect(report.verdict).toBe('unsigned');
    expect(checkOf(report, 'anchor')?.detail).toContain('only its reading is shown to be older');
  });

  it('a statement of after the end of its key, or after a theft, fails', () => {
    const { _proof, ...bare } = census;
    const late = { ...(bare._citation as Body), retrieved_at: '2026-11-16T11:00:00Z' };
    for (const key of [FIRST, STOLEN]) {
      const body = reseal({ ...bare, _citation: late }, key);
      expect(failures(judge(body))).toEqual(['citation _citation.issuer_DID']);
      expect(checkOf(judge(body), 'anchor')).toBeUndefined();
      const own = String((body._citation as Body).record_hash);
      expect(judge(proven(NEWEST, body, own)).verdict).toBe('failed');
    }
  });

  it('a stolen key counts where witnesses saw its statement before, and by nothing else', () => {
    const body = bodyOf('revoked-key-census.json');
    const own = String((body._citation as Body).record_hash);
    expect(judge(body, { ...KEYS, policy }).verdict).toBe('verified');
    expect(judge(body).verdict).toBe('unsigned');
    for (const key of [STOLEN, NEWEST])
      expect(judge(proven(key, body, own)).verdict).toBe('unsigned');
    const loose = readPolicy(Buffer.from(expected.policy.replace('quorum First', 'quorum none')));
    expect(judge(body, { ...KEYS, policy: loose }).verdict).toBe('unsigned');
  });

  it('a witnessed statement vouches for the body that it is about, not for a part by a stolen key', () => {
    const { _proof, ...part } = bodyOf('revoked-key-census.json');
    const { _proof: _, ...bare } = census;
    const body = reseal({ ...bare, part }, NEWEST);
    const witness = new InventedWitness('witness.example/1', 95);
    const proof = String(proven(NEWEST, body, String((body._citation as Body).record_hash))._proof);
    const seen = withNote(proof, (note) => witness.cosign(note, '2026-11-13T13:00:00Z'));
    const report = judge({ ...body, _proof: seen }, { ...KEYS, policy });
    expect(report.verdict).toBe('unsigned');
    expect(checkOf(report, 'anchor')?.where).toBe('part._citation');
    expect(checkOf(report, 'logged')?.status).toBe('pass');
  });

  it('a key that only the body names is nobody', () => {
    const { _proof, ...bare } = bodyOf('record.json');
    const forged = reseal(bare, seed(94));
    expect(failures(judge(forged))).toEqual(['citation _citation.issuer_DID']);
  });
});

describe('isFormat2()', () => {
  const withExtra = (proof: unknown): string => {
    const { index, hashes, checkpoint } = parseTlogProof(String(proof));
    return formatTlogProof({ index, hashes, checkpoint, extra: Uint8Array.of(1) });
  };

  it.each(NAMES)('knows %s, also in a sample', (name) => {
    expect(isFormat2(bodyOf(name))).toBe(true);
    expect(isFormat2({ sample: bodyOf(name) })).toBe(true);
  });

  it('goes by the signed list of a provenance, whatever proof comes with it', () => {
    const body = bodyOf('record.json');
    const provenance = { ...(body.provenance as Body), at_request: ['freshness'] };
    const { [PROOF_MEMBER]: proof, ...unproven } = body;
    expect(isFormat2({ ...body, provenance })).toBe(false);
    expect(isFormat2({ ...unproven, provenance })).toBe(false);
    expect(isFormat2(unproven)).toBe(true);
    expect(isFormat2({ ...body, _proof: withExtra(proof) })).toBe(true);
    // Whoever takes the list out breaks what is signed.
    expect(judge(body).verdict).toBe('verified');
    expect(judge({ ...body, provenance }).verdict).toBe('failed');
  });

  it('goes by the proof where there is no provenance, and takes none for format 2', () => {
    const { [PROOF_MEMBER]: proof, ...thin } = bodyOf('thin.json');
    expect(isFormat2({ ...thin, _proof: withExtra(proof) })).toBe(false);
    expect(isFormat2(thin)).toBe(false);
  });

  it('takes no body without a citation of ours', () => {
    const { _citation, ...bare } = bodyOf('record.json');
    const { claim, ...foreign } = _citation as Body;
    const others: JsonValue[] = [
      bare,
      { ...bare, _citation: foreign as JsonObject },
      [],
      null,
      'x',
    ];
    for (const body of others) expect(isFormat2(body)).toBe(false);
  });
});
