import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { historyOf } from '../../compiler/format/key-history.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';
import { deliveredText } from '../../compiler/products/shapes/request-time.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { FOREIGN_BODIES } from '../foreign-texts.ts';
import { type Body, type Shop, smallShop } from '../shop.ts';
import { alterations } from './alterations.ts';
import { type MadeCase, madeCases } from './made-cases.ts';
import { firstVerdict, hasPython, pythonOn, pythonVerdicts } from './python-judge.ts';
import { reseal } from './resign.ts';

let release: Shop;
beforeAll(async () => {
  release = await smallShop();
});
afterAll(() => release.dispose());

const SIGNED = [
  'record/hydrology.river-level/07010000.json',
  'ruler/hydrology.river-level/07010000.json',
  'calibrated/hydrology.river-level/07010000.json',
  'thin/calibrated/hydrology.river-level/07010000.json',
  'strata/hydrology.river-level/07010000.json',
  'history/hydrology.river-level/07010000.json',
  'bundle/environment/us-denver.json',
  'thin/bundle/environment/us-denver.json',
  'bundle/climate-policy/kyoto-protocol.json',
  'air/us-denver.json',
  'lifecycle/kyoto-protocol.json',
  'free/sample/airquality.aqi.json',
] as const;
const UNSIGNED = [
  'free/raw/hydrology.river-level/07010000.json',
  'free/history-preview/hydrology.river-level/07010000.json',
] as const;
const [RECORD, RULER] = SIGNED;
const BUNDLE = 'bundle/environment/us-denver.json';
const OTHER_DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

const judge = (body: unknown, more: { isStored?: boolean } = {}) =>
  verifyBody(body as Body, { trust: [release.did], ...more });
const failures = (body: unknown): string[] =>
  judge(body)
    .checks.filter((each) => each.status === 'fail')
    .map((each) => `${each.check} ${each.where}`);

/** Long after the readings: every source is silent by then. */
const ASKED_AT = Date.parse('2029-03-04T05:06:07Z');

/** What a client saves: the compiled body with the members that are filled in when it is asked for. */
function delivered(path: string, now = ASKED_AT): Body {
  return parseJson(deliveredText(release.text(path), now)) as Body;
}

describe('verifyBody() on compiled bodies', () => {
  it.each(SIGNED)('verifies %s as a release holds it, and not with words of time', (path) => {
    const stored = release.body(path);
    expect(judge(stored, { isStored: true }).verdict).toBe('verified');
    const isTimed = JSON.stringify(stored) !== JSON.stringify(delivered(path));
    const word = isTimed ? 'failed' : 'verified';
    expect(judge(stored).verdict).toBe(word);
    expect(judge(delivered(path), { isStored: true }).verdict).toBe(word);
  });

  it.each(SIGNED)('verifies %s as it is delivered', (path) => {
    expect(judge(delivered(path)).verdict).toBe('verified');
  });

  it.each(SIGNED)('refuses %s for another issuer', (path) => {
    const report = verifyBody(release.delivered(path), { trust: [OTHER_DID] });
    expect(report.verdict).toBe('failed');
    expect(report.checks.filter((each) => each.status === 'fail')).toHaveLength(1);
  });

  it.each(SIGNED)('calls the issuer of %s unknown where nobody was named', (path) => {
    const loose = (body: Body) => verifyBody(body, { trust: 'any' }).verdict;
    expect(loose(release.delivered(path))).toBe('issuer_unknown');
    expect(loose({ ...release.delivered(path), grade: 'x' })).not.toBe('issuer_unknown');
  });

  it.each(UNSIGNED)('calls %s unsigned', (path) => {
    expect(judge(release.delivered(path)).verdict).toBe('unsigned');
  });

  it('recomputes the record hash of a record, of readings and of a bare record', () => {
    const recomputed = (path: string): string[] =>
      judge(release.delivered(path))
        .checks.filter((each) => each.check === 'record_hash' && each.status === 'pass')
        .map((each) => each.where);
    expect(recomputed(RECORD)).toEqual(['record_hash']);
    expect(recomputed('air/us-denver.json')).toEqual([
      'readings.0.record_hash',
      'readings.1.record_hash',
    ]);
    expect(recomputed('free/sample/airquality.aqi.json')).toEqual(['sample.record_hash']);
    expect(recomputed(UNSIGNED[0])).toEqual(['record_hash']);
    expect(recomputed(UNSIGNED[1])).toEqual([]);
  });

  it('fails a bare record whose reading was altered, although nobody signed it', () => {
    expect(failures({ ...release.delivered(UNSIGNED[0]), current: { stage_ft: 13.7 } })).toEqual([
      'record_hash record_hash',
    ]);
  });

  it('names the issuer that the citation names', () => {
    expect(judge(release.delivered(RECORD)).issuer).toBe(release.did);
    expect(judge(release.delivered(UNSIGNED[0])).issuer).toBeNull();
  });
});

describe.each([RECORD, RULER, BUNDLE])('I30: %s', (path) => {
  it('I30: verifyBody() refuses it with any single member altered', () => {
    const accepted = [...alterations(delivered(path))].filter(({ altered }) => {
      return judge(altered).verdict === 'verified';
    });
    expect(accepted.map(({ path: at }) => at)).toEqual([]);
  });
});

describe('I30: verifyBody() refuses what is not canonical', () => {
  const edited = (edit: (citation: Body) => Body): Body => {
    const body = release.delivered(RECORD);
    return { ...body, _citation: edit(body._citation as Body) };
  };
  const last = (text: unknown): string => String(text).slice(0, -1);

  it.each<[string, (citation: Body) => Body]>([
    ['the signature padded', (c) => ({ ...c, signature: `${String(c.signature)}==` })],
    ['the signature in base64 of the other alphabet', (c) => otherAlphabet(c)],
    ['unused bits of the signature set', (c) => ({ ...c, signature: looseEnd(c.signature) })],
    ['the signature followed by a character', (c) => ({ ...c, signature: `${c.signature}A` })],
    ['the signature cut', (c) => ({ ...c, signature: last(c.signature) })],
    ['its hash in upper case', (c) => ({ ...c, record_hash: upper(c.record_hash) })],
    ['a key id of another kind', (c) => ({ ...c, key_id: 'kid-1' })],
    [
      'a verify_url elsewhere',
      (c) => ({ ...c, verify_url: `https://x.example/v/${c.record_hash}` }),
    ],
    ['a member more', (c) => ({ ...c, note: 'x' })],
    ['no claim', ({ claim, ...c }) => c],
  ])('%s', (_, edit) => {
    expect(judge(edited(edit)).verdict).toBe('failed');
  });

  it('a body without its citation is not verified', () => {
    const { _citation, ...rest } = release.delivered(RECORD);
    expect(judge(rest).verdict).toBe('unsigned');
  });

  it('a sample with something beside its record is not verified', () => {
    const sample = release.delivered('free/sample/airquality.aqi.json');
    expect(judge({ ...sample, advice: 'sell' }).verdict).toBe('unsigned');
  });

  it.each([[null], ['text'], [[]], [1]])('%j is not signed', (body) => {
    expect(judge(body).verdict).toBe('unsigned');
  });
});

function otherAlphabet(citation: Body): Body {
  const signature = Buffer.from(String(citation.signature), 'base64url').toString('base64');
  return { ...citation, signature };
}

function looseEnd(signature: unknown): string {
  const text = String(signature);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + alphabet.charAt(alphabet.indexOf(text.slice(-1)) + 1);
}

function upper(hash: unknown): string {
  return String(hash).toUpperCase().replace('SHA256', 'sha256');
}

describe('verifyBody() on bodies that the issuer signed wrongly', () => {
  const lineage = (body: Body): Body[] =>
    (body.provenance as Body).data_lineage as unknown as Body[];
  const withLineage = (body: Body, link: Body): Body => ({
    ...body,
    provenance: { ...(body.provenance as Body), data_lineage: [link] },
  });

  it('accepts a body that was only signed again', () => {
    expect(judge(reseal(release.delivered(RECORD))).verdict).toBe('verified');
  });

  it.each<[string, string, (body: Body) => Body]>([
    ['another value', 'record_hash record_hash', (b) => ({ ...b, current: { stage_ft: 1 } })],
    ['an unknown core version', 'record_hash record_hash', (b) => ({ ...b, hash_core_version: 4 })],
    [
      'a core version as text',
      'record_hash record_hash',
      (b) => ({ ...b, hash_core_version: '3' }),
    ],
    [
      'an upper-case hash',
      'record_hash record_hash',
      (b) => ({ ...b, record_hash: upper(b.record_hash) }),
    ],
    ['no record hash', 'record_hash record_hash', ({ record_hash, ...b }) => b],
    ['no sources', 'record_hash record_hash', ({ sources, ...b }) => b],
    ['another age', 'consistency data_age_hours', (b) => ({ ...b, data_age_hours: 9 })],
    [
      'lineage of another reading',
      'consistency provenance.data_lineage.0.record_hash',
      (b) => withLineage(b, { ...lineage(b)[0], record_hash: `sha256:${'0'.repeat(64)}` }),
    ],
    [
      'lineage of another signal',
      'consistency provenance.data_lineage.0.signal',
      (b) => withLineage(b, { ...lineage(b)[0], signal: 'x.y' }),
    ],
    [
      'another oldest time',
      'consistency provenance.oldest_leg_as_of',
      (b) => ({
        ...b,
        provenance: { ...(b.provenance as Body), oldest_leg_as_of: '2026-01-01T00:00:00Z' },
      }),
    ],
  ])('names %s', (_, where, edit) => {
    expect(failures(reseal(edit(release.delivered(RECORD))))).toContain(where);
  });

  it('names a leg that the lineage of its bundle leaves out', () => {
    const bundle = release.delivered(BUNDLE);
    const links = lineage(bundle).slice(1) as unknown as Body;
    const provenance = { ...(bundle.provenance as Body), data_lineage: links };
    expect(failures(reseal({ ...bundle, provenance }))).toContain(
      'consistency provenance.data_lineage',
    );
  });
});

describe('verifyBody() on a row with its hash core', () => {
  const row = (edit: (row: Body) => Body): Body => {
    const { hash_core_version, sources, ...record } = release.delivered(UNSIGNED[0]);
    const { signal_id, entity, snapshot_date, observed_at, current } = record;
    const cores = (sources as Body[]).map(({ name, weight, independent }) => {
      return { name, weight, independent };
    });
    const { source_ref = null, source_tier = null, lifecycle = null } = record;
    const core = { hash_core_version, signal_id, entity, snapshot_date, observed_at, current };
    const _hash_core = { ...core, source_ref, source_tier, sources: cores, lifecycle } as Body;
    return edit({ ...record, _hash_core });
  };

  it('recomputes the hash from it', () => {
    expect(failures(row((same) => same))).toEqual([]);
  });

  it.each<[string, (row: Body) => Body]>([
    ['of other facts', (r) => ({ ...r, _hash_core: { ...(r._hash_core as Body), current: null } })],
    ['of another entity', (r) => ({ ...r, entity: '1' })],
    [
      'of another version',
      (r) => ({ ...r, _hash_core: { ...(r._hash_core as Body), hash_core_version: 2 } }),
    ],
    ['that is no object', (r) => ({ ...r, _hash_core: 'x' })],
  ])('refuses one %s', (_, edit) => {
    expect(failures(row(edit))).toEqual(['record_hash record_hash']);
  });
});

describe('verifyBody() on the members of request time', () => {
  const OBSERVED = Date.parse('2026-11-20T10:45:00Z');
  const later = (hours: number): number => OBSERVED + hours * 3_600_000;
  /** The record of an hourly source as served, with other words in its provenance. */
  const at = (hours: number, now: Body = {}): Body => {
    const body = delivered(RECORD, later(hours));
    return { ...body, provenance: { ...(body.provenance as Body), ...now } };
  };

  it.each<[number, Body]>([
    [2.9, { age_hours_now: 2.9, freshness: 'fresh' }],
    [3, { age_hours_now: 3, freshness: 'fresh' }],
    [3.01, { age_hours_now: 3, freshness: 'recent' }],
    [100, { age_hours_now: 100, freshness: 'stale' }],
    [200, { dead_source: 'no official reading since 2026-11-20T10:45:00Z' }],
  ])('accepts the record after %f hours: %j', (hours, words) => {
    expect(at(hours).provenance).toMatchObject(words);
    expect(judge(at(hours)).verdict).toBe('verified');
    expect(judge(at(hours, words)).verdict).toBe('verified');
  });

  it.each<[number, Body]>([
    [100, { freshness: 'fresh' }],
    [2, { freshness: 'buy now' }],
    [2, { age_hours_now: -1 }],
    [2, { age_hours_now: '2' }],
    [2, { age_hours_now: 2.04 }],
    [2, { age_hours_now: 0.2 }],
    [2, { age_hours_now: 2.1 }],
    [2, { answered_at: '2026-11-20T13:45:00Z' }],
    [2, { answered_at: '2026-11-20T12:45:00.000Z' }],
    [2, { answered_at: 1 }],
    [2, { age_hours_now: 1e300 }],
    [2, { freshness_leg: 'river' }],
    [2, { dead_source: 'no official reading since 2026-11-20T10:45:00Z' }],
    [200, { dead_source: 'silent' }],
    [200, { dead_source: { advice: 'sell' } }],
  ])('refuses the record after %f hours with %j', (hours, words) => {
    expect(judge(at(hours, words)).verdict).toBe('failed');
  });

  it('refuses a record without its update_status, or with that of another moment', () => {
    const { update_status, ...rest } = at(2);
    expect(failures(rest)).toEqual(['request_time update_status']);
    const other = at(100).update_status as Body;
    expect(failures({ ...rest, update_status: other })).toEqual(['request_time update_status']);
  });

  it('refuses a moment to come by the clock of the reader, and one before the collection', () => {
    const judged = (hours: number, clock: number) =>
      verifyBody(at(hours), { trust: [release.did], now: later(clock) }).verdict;
    expect([judged(2, 2), judged(2, 1.95), judged(2, 1.8)]).toEqual([
      'verified',
      'verified',
      'failed',
    ]);
    expect(failures(at(-3))).toEqual(['request_time provenance.answered_at']);
  });
});

describe('I62: a body without one of the words of time that it owes', () => {
  const timed = SIGNED.filter((path) => !path.startsWith('thin/'));
  const holderOf = (body: Body) => (body.sample ?? body) as Body;
  const withHolder = (body: Body, holder: Body): Body =>
    (body.sample === undefined ? holder : { sample: holder }) as Body;
  const withProvenance = (body: Body, edit: (provenance: Body) => Body): Body => {
    const holder = holderOf(body);
    return withHolder(body, { ...holder, provenance: edit(holder.provenance as Body) });
  };

  it.each(timed)('I62: %s fails, whichever is removed, and without the list', (path) => {
    const body = delivered(path);
    const holder = holderOf(body);
    const { at_request: list } = holder.provenance as Body;
    expect(list).toContain('answered_at');
    for (const name of [...(list as string[]), 'at_request']) {
      const without = edited(body, name);
      const removed = name === 'legs[].freshness' ? Object.keys(holder.legs as Body) : [null];
      for (const leg of removed) {
        const found = judge(without(leg));
        expect([name, leg, found.verdict]).toEqual([name, leg, 'failed']);
        // Without the list it is taken for a body of format 2, and its content is not the one that was signed.
        const check = name === 'at_request' ? 'content' : 'request_time';
        expect(found.checks.some((one) => one.check === check && one.status === 'fail')).toBe(true);
      }
    }
  });

  /** The body without a word; of the legs, without that of one of them. */
  function edited(body: Body, name: string) {
    const holder = holderOf(body);
    return (leg: string | null): Body => {
      if (name === 'update_status') {
        const { update_status, ...rest } = holder;
        return withHolder(body, rest);
      }
      if (leg === null) return withProvenance(body, ({ [name]: _, ...rest }) => rest);
      const legs = holder.legs as Body;
      const { freshness, ...rest } = legs[leg] as Body;
      return { ...body, legs: { ...legs, [leg]: rest } };
    };
  }

  it.each(timed)('I62: %s fails with a word more, and with another instant', (path) => {
    const body = delivered(path);
    const more = { freshness_leg: 'aqi', update_status: 'on_schedule', dead_source: 'dead' };
    for (const word of Object.entries(more)) {
      const wrong = withProvenance(body, (own) => ({ ...own, [word[0]]: word[1] }));
      expect([word, judge(wrong).verdict]).toEqual([word, 'failed']);
    }
    for (const answered_at of ['2029-03-04T06:06:07Z', '2026-11-01T00:00:00Z', '2029-03-04']) {
      const other = withProvenance(body, (own) => ({ ...own, answered_at }));
      expect([answered_at, judge(other).verdict]).toEqual([answered_at, 'failed']);
    }
  });

  it('I62: of a signed list that names more than follows, or in no order, no word is taken', () => {
    for (const list of [
      [
        'age_hours_now',
        'answered_at',
        'dead_source',
        'freshness',
        'legs[].freshness',
        'update_status',
      ],
      ['freshness', 'answered_at', 'age_hours_now', 'dead_source', 'update_status'],
      ['answered_at', 'mood'],
      ['answered_at', 'answered_at'],
    ]) {
      const signed = reseal(
        withProvenance(release.body(RECORD), (own) => ({ ...own, at_request: list })),
      );
      const text = deliveredText(JSON.stringify(signed), ASKED_AT);
      expect(failures(parseJson(text))).toContain('request_time provenance.at_request');
    }
  });

  it('I62: nothing is owed and nothing is taken where a signed list is empty', () => {
    const bare = reseal(
      withProvenance(release.body(RULER), (own) => ({ ...own, at_request: ['answered_at'] })),
    );
    const said = withProvenance(bare, (own) => ({ ...own, answered_at: '2029-03-04T05:06:07Z' }));
    expect(judge(said).verdict).toBe('verified');
    const word = withProvenance(said, (own) => ({ ...own, freshness: 'stale' }));
    expect(failures(word)).toEqual(['request_time provenance.freshness']);
  });

  it('says when it was answered, and how long ago that was', () => {
    const asked = Date.parse('2026-11-20T13:00:00Z');
    const said = (hours: number) =>
      verifyBody(delivered(RECORD, asked), {
        trust: [release.did],
        now: asked + hours * 3_600_000,
      }).checks.find(({ check }) => check === 'request_time')?.detail;
    const own = 'its words of time follow from signed members';
    expect(said(0)).toBe(`said fresh at 2026-11-20T13:00:00Z; ${own}`);
    expect(said(48)).toBe(
      `said fresh at 2026-11-20T13:00:00Z, 48 h ago by the clock of the judge; ${own}`,
    );
  });
});

describe('verifyBody() on the legs of a bundle', () => {
  const legs = (body: Body): Record<string, Body> => body.legs as unknown as Record<string, Body>;
  const withLeg = (body: Body, name: string, more: Body): Body =>
    ({ ...body, legs: { ...legs(body), [name]: { ...legs(body)[name], ...more } } }) as Body;
  const noon = Date.parse('2026-11-21T12:00:00Z');

  it('judges each leg by its own cadence, and the bundle by the worst, which is named', () => {
    const body = delivered(BUNDLE, noon);
    const words = Object.entries(legs(body)).map(([name, leg]) => [name, leg.freshness]);
    expect(words).toEqual([
      ['aqi', 'stale'],
      ['pm25', 'stale'],
      ['daily', 'recent'],
    ]);
    expect(body.provenance).toMatchObject({
      freshness: 'stale',
      freshness_leg: 'pm25',
      age_hours_now: 60,
      oldest_leg_as_of: '2026-11-19T00:00:00Z',
    });
    expect(judge(body).verdict).toBe('verified');
  });

  it.each<[string, Body, string]>([
    ['aqi', { freshness: 'fresh' }, 'request_time legs.aqi.freshness'],
    ['daily', { freshness: 'stale' }, 'request_time legs.daily.freshness'],
    ['daily', { dead_source: 'silent' }, 'request_time legs.daily.dead_source'],
  ])('refuses the leg %s with %j', (name, more, where) => {
    expect(failures(withLeg(delivered(BUNDLE, noon), name, more))).toEqual([where]);
  });

  it.each([
    ['another leg as the worst', { freshness_leg: 'aqi' }],
    ['the word of the oldest leg', { freshness: 'recent', freshness_leg: 'daily' }],
    ['the age of the worst leg', { age_hours_now: 27 }],
  ])('refuses %s', (_, words) => {
    const body = delivered(BUNDLE, noon);
    const provenance = { ...(body.provenance as Body), ...words };
    expect(judge({ ...body, provenance }).verdict).toBe('failed');
  });

  it.each<[string, (body: Body) => Body, string]>([
    ['a leg lit', (b) => withLeg(b, 'aqi', { lit: false }), 'consistency legs.aqi.lit'],
    [
      'a leg without a list lit',
      (b) => withLeg(b, 'daily', { lit: true }),
      'consistency legs.daily.lit',
    ],
    [
      'the count',
      (b) => ({ ...b, legs_lit: { count: 1, of: 3, names: ['aqi'] } }),
      'consistency legs_lit',
    ],
    [
      'a rule of other legs',
      (b) => ruled(b, 'the worst of 2 legs, each by its own freshness_basis'),
      'request_time provenance.at_request',
    ],
  ])('names %s that the issuer signed wrongly', (_, edit, where) => {
    expect(failures(reseal(edit(release.delivered(BUNDLE))))).toContain(where);
  });

  const ruled = (body: Body, freshness_rule: string): Body => ({
    ...body,
    provenance: { ...(body.provenance as Body), freshness_rule },
  });
});

describe('foreign bodies', () => {
  const OTHER_DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

  describe('verifyBody() on bodies of another service', () => {
    const texts = FOREIGN_BODIES.map(({ text }) => text);
    const did = (text: string): string => /did:key:z6Mk\w+/.exec(text)?.[0] ?? '';
    const verdict = (text: string, trust = [did(text)]): string =>
      verifyBody(parseJson(text), { trust }).verdict;

    it('accepts their citation from a trusted issuer and says that their content hash is not recomputable', () => {
      for (const text of texts) {
        expect(verdict(text)).toBe('partly_verified');
        const { checks } = verifyBody(parseJson(text), { trust: [did(text)] });
        const content = checks.find((each) => each.check === 'content');
        expect(content).toMatchObject({ status: 'not_applicable' });
        expect(content?.detail).toMatch('not recomputable');
      }
    });

    it('says by command and library that nothing signs the content, whatever it is', async () => {
      for (const text of texts) {
        const issuer = [did(text)];
        const altered = JSON.stringify({ ...(parseJson(text) as Body), count: 1e6, deaths: [] });
        for (const body of [text, altered]) {
          const said = await runVerify('-', { issuer, readStdin: () => Buffer.from(body) });
          expect(said.exitCode).toBe(0);
          expect(said.text).toMatch(/^verified: its citation only {2}-\n/);
          expect(said.text).toMatch(
            /^ {2}Warning: .*not recomputable: .*nothing signs the content/m,
          );
          const { verdict: word, about } = verify(body, { issuer });
          expect([word, about?.answers]).toEqual(['partly_verified', null]);
          expect(verify(body, { issuer, maxAgeMs: 1e15 }).verdict).toBe('failed');
          expect(verify(body, { issuer, demandsProof: true }).verdict).toBe('failed');
        }
      }
    });

    it('I30: takes a citation without a claim in no other form: each of ours signs its content', () => {
      for (const text of texts) {
        const body = parseJson(text) as Body;
        const issuer = did(text);
        const keyed = { ...(body._citation as Body), key_id: `${issuer}#${issuer.slice(8)}` };
        const forms = { keyed: { ...body, _citation: keyed }, sample: { sample: body } };
        const more = { proven: { ...body, _proof: 'x' }, nested: { ...body, part: body } };
        for (const [name, form] of Object.entries({ ...forms, ...more })) {
          const report = verifyBody(form as unknown as Body, { trust: [issuer] });
          const content = report.checks.filter(({ check }) => check === 'content');
          expect([name, report.verdict, content[0]?.status]).toEqual([name, 'failed', 'fail']);
        }
        const keys = historyOf(issuer, [], []);
        expect(verifyBody(body, { trust: [issuer], keys }).verdict).toBe('failed');
      }
    });

    it('calls them consistent, of an unknown issuer, where nobody was named', () => {
      for (const text of texts) {
        expect(verifyBody(parseJson(text), { trust: 'any' }).verdict).toBe('issuer_unknown');
      }
    });

    it.skipIf(!hasPython)(
      'are judged alike by signalpress_verify.py (skipped without python3)',
      () => {
        const lines = texts.map((text) => JSON.stringify(JSON.parse(text)));
        const forged = lines.map((line) => line.replace('"translated":false', '"translated":true'));
        const judged = (issuers: readonly string[]) =>
          pythonVerdicts([...lines, ...forged], issuers);
        const dids = texts.map(did);
        const verdicts = (word: string) => [...texts.map(() => word), ...texts.map(() => 'failed')];
        expect(judged([]).map(({ verdict: word }) => word)).toEqual(verdicts('issuer_unknown'));
        expect(judged(dids).map(({ verdict: word }) => word)).toEqual(verdicts('partly_verified'));
        expect(judged([OTHER_DID])[0]?.verdict).toBe('failed');
      },
    );

    it('refuses them for other issuers', () => {
      for (const text of texts) expect(verdict(text, [OTHER_DID])).toBe('failed');
    });

    it('refuses them after one changed character anywhere in the citation', () => {
      for (const text of texts) {
        const body = parseJson(text) as Body;
        const citation = JSON.stringify(body._citation);
        for (let i = 0; i < citation.length; i += 5) {
          const changed = changeAt(citation, i);
          if (changed === null) continue;
          const forged = { ...body, _citation: changed } as unknown as Body;
          expect(verifyBody(forged, { trust: [did(text)] }).verdict, changedAt(citation, i)).toBe(
            'failed',
          );
        }
      }
    });
  });

  /** One other letter or digit at a place; null where that is no longer JSON, or is the unsigned key label. */
  function changeAt(text: string, at: number): unknown {
    if (changedAt(text, at).includes('"key_id"') || !/[a-z0-9]/i.test(text.charAt(at))) return null;
    const other = text.charAt(at) === 'b' ? 'c' : 'b';
    try {
      return parseJson(text.slice(0, at) + other + text.slice(at + 1));
    } catch {
      return null;
    }
  }

  function changedAt(text: string, at: number): string {
    return text.slice(Math.max(0, at - 20), at + 1);
  }
});

describe('verifyBody()', () => {
  it.each(madeCases().map((each) => [each.name, each] as const))(
    'I62: says of %s what FORMAT.md says',
    (_, { verdict, text, ...reader }: MadeCase) => {
      const { verdict: word, faults } = firstVerdict(text, reader);
      expect({ word, faults: word === verdict ? [] : faults }).toEqual({
        word: verdict,
        faults: [],
      });
    },
  );
});

describe.skipIf(!hasPython)('signalpress_verify.py (skipped without python3)', () => {
  const cases = madeCases();
  const found = hasPython ? pythonOn(cases) : [];

  it.each(cases.map((each, at) => [each.name, each, at] as const))(
    'I62: says of %s what FORMAT.md says',
    (_, { verdict }: MadeCase, at) => {
      expect(found[at]).toMatchObject({ verdict });
    },
  );
});
