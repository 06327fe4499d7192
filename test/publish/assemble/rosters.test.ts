import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { keyIdOf } from '../../../compiler/format/citation.ts';
import { CORE_FIELDS, hashCore } from '../../../compiler/format/record-hash.ts';
import { parseVerifyEntry, type VerifyEntry } from '../../../compiler/format/release.ts';
import type { JsonValue } from '../../../compiler/format/strict-json.ts';
import { rosterCore, rosterKindOf } from '../../../compiler/products/collections.ts';
import { formOf } from '../../../compiler/products/products.ts';
import { graveyardSchema } from '../../../compiler/products/shapes/roster-bodies.ts';
import { PERSISTENT_ABSENCES } from '../../../compiler/products/shapes/roster-views.ts';
import { COLLECTION_PARTS } from '../../../compiler/publish/assemble/collection-parts.ts';
import { previewValues } from '../../../compiler/publish/assemble/settle-rows.ts';
import { listSnapshots } from '../../../compiler/readings/list-snapshots.ts';
import type { Leaf } from '../../../compiler/release/leaf-store.ts';
import { makePress } from '../../../compiler/release/press.ts';
import type { InputFault } from '../../../compiler/system/compile-error.ts';
import { issuerDid, makeSealer, signingKey } from '../../../compiler/system/sealer.ts';
import { placeOf } from '../../../compiler/verify/release-index.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { FOREIGN_BODIES } from '../../foreign-texts.ts';
import {
  articleRow,
  coinRow,
  deathRow,
  legsRow,
  rosterFiles,
  rosterSet,
  serviceRow,
} from '../../roster-rows.ts';
import { AS_OF, removeFolders, SEED, sha256Text, writeSnapshots } from '../../snapshot-folder.ts';

let out: Printed;
beforeAll(() => {
  out = printed(rosterSet());
});
afterAll(removeFolders);

type Json = Readonly<Record<string, unknown>>;

/** Every object with a record hash, its provenance and citations left aside. */
function hashed(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value)
    .filter(([name]) => !['_citation', 'provenance', '_hash_core'].includes(name))
    .flatMap(([, member]) => hashed(member));
  return typeof (value as Json).record_hash === 'string' ? [value as Json, ...inside] : inside;
}

function coreOf(row: Json): unknown {
  if (row._hash_core !== undefined) return row._hash_core;
  const kind = rosterKindOf(row);
  if (kind !== null) return rosterCore(kind, row);
  if (!CORE_FIELDS.every((name) => Object.hasOwn(row, name))) return null;
  return hashCore(row as never);
}

describe('the bodies of rosters, registries and documents', () => {
  it('come without problems, one file an operation and subject', () => {
    expect(out.faults).toEqual([]);
    expect([...out.bodies.keys()].filter((path) => !path.startsWith('verifiable/')).sort()).toEqual(
      [
        'document/chatter/energy.json',
        'document/chokepoint-region/hormuz.json',
        'document/chokepoint-region/malacca.json',
        'document/macro-reconcile-full.json',
        'document/taiwan-region.json',
        'free/preview/mcp.json',
        'free/preview/stable.json',
        'free/preview/stablecoin-deaths.json',
        'free/preview/trust.json',
        'roster/mcp/census.json',
        'roster/mcp/graveyard.json',
        'roster/stable/census.json',
        'roster/stable/graveyard.json',
        'roster/stablecoin-deaths.json',
        'roster/trust/graveyard.json',
        'roster/trust/scorecard.json',
        'subject/mcp/gone-mcp.json',
        'subject/mcp/stays-mcp.json',
        'subject/stable/~4c~41~52~47~45.json',
        'subject/stable/~4c~41~54~45.json',
        'subject/stable/~4c~4f~53~54.json',
        'subject/stable/~57~52~45~43~4b.json',
        'subject/trust/back-example.json',
        'subject/trust/gone-example.json',
        'subject/trust/legacy-example.json',
        'subject/trust/stays-example.json',
      ],
    );
  });

  it('fit their strict schemas, and no longer with a member more or less', () => {
    for (const [path, body] of out.bodies) {
      const place = placeOf(path, BUILTIN);
      const schema = place === null ? undefined : formOf(place.endpoint)?.body;
      expect([path, schema?.safeParse(body).error?.issues]).toEqual([path, undefined]);
      expect(schema?.safeParse({ ...body, strange: 1 }).success, path).toBe(false);
      const { nature, ...less } = body;
      expect(schema?.safeParse(less).success, path).toBe(false);
    }
  });

  it('are verified by the second reader, and not with one fact changed', () => {
    for (const [path, body] of out.bodies) {
      if (path.startsWith('free/')) continue;
      const report = verifyBody(body, { trust: [out.did], isStored: true });
      const failed = report.checks.filter(({ status }) => status === 'fail');
      expect([path, report.verdict, failed]).toEqual([path, 'verified', []]);
      const forged = JSON.parse(JSON.stringify(body).replace('2026-11-1', '2026-11-0'));
      if (JSON.stringify(forged) === JSON.stringify(body)) continue;
      expect(verifyBody(forged, { trust: [out.did], isStored: true }).verdict, path).toBe('failed');
    }
  });

  it('I36: have one hash for a row wherever it stands, recomputed and looked up', () => {
    const listed = new Map(out.lookUps.map((entry) => [entry.record_hash, entry]));
    expect(listed.size).toBe(out.lookUps.length);
    const cores = new Map<string, string>();
    for (const [path, body] of out.bodies) {
      for (const row of hashed(body)) {
        const hash = String(row.record_hash);
        expect(listed.get(hash), path).toMatchObject({ kind: 'row', state: 'current' });
        const core = coreOf(row);
        if (core === null) continue;
        expect(`sha256:${sha256Text(canonicalJson(core))}`, path).toBe(hash);
        cores.set(hash, path);
      }
    }
    const current = out.lookUps.filter(({ kind }) => kind === 'row');
    expect([...cores.keys()].sort()).toEqual(current.map((entry) => entry.record_hash).sort());
  });

  it('name in each look-up a file whose row carries its core', () => {
    for (const { kind, file, record_hash } of out.lookUps) {
      if (kind !== 'row') continue;
      const rows = hashed(out.body(file ?? '')).filter((row) => row.record_hash === record_hash);
      expect(
        rows.some((row) => coreOf(row) !== null),
        file ?? '',
      ).toBe(true);
    }
  });

  it('put every hash of a row into the log, once', () => {
    const logged = new Map(out.leaves.map((leaf) => [leaf.record_hash, leaf]));
    expect(logged.size).toBe(out.leaves.length);
    for (const { state: _, file: __, ...facts } of out.lookUps) {
      if (facts.kind === 'row') expect(logged.get(facts.record_hash)).toMatchObject(facts);
    }
  });

  it('count exactly how many rows have a hash, and carry no pre-image for the others', () => {
    const census = out.body('verifiable/roster/mcp/census.json');
    expect(census.record_hash_verifiable).toMatchObject({
      mode: 'offline',
      with_hash: 1,
      total: 2,
    });
    expect(census.rows).toMatchObject([
      { entity: 'gone-mcp', record_hash: null, _hash_core: null },
      { entity: 'stays-mcp', _hash_core: { server_id: 'stays-mcp' } },
    ]);
    const graveyard = out.body('roster/mcp/graveyard.json');
    expect(graveyard.record_hash_verifiable).toMatchObject({
      mode: 'none',
      with_hash: 0,
      total: 1,
    });
    expect(out.body('roster/trust/scorecard.json').record_hash_verifiable).toMatchObject({
      mode: 'online',
      with_hash: 2,
      total: 2,
    });
  });

  it('are as fresh as their oldest row, with one link for each source', () => {
    const deaths = out.body('roster/trust/graveyard.json');
    expect(deaths).toMatchObject({
      observed_at: '2026-07-07T06:00:00Z',
      provenance: {
        oldest_leg_as_of: '2026-07-07T06:00:00Z',
        data_as_of: '2026-11-18T06:00:00Z',
        data_lineage: [{ traceable_to: 'test source', observed_at: '2026-07-07T06:00:00Z' }],
      },
    });
  });

  it('give nothing away in a preview that is sold, and say what a hash covers', () => {
    const free = [...out.bodies].filter(([path]) => path.startsWith('free/'));
    for (const [path, body] of free) {
      const { hash_core, ...rest } = body;
      expect(JSON.stringify(rest), path).not.toMatch(
        /pre_death_payload|score_total|demand_class|sha256|market_cap|price_in_peg/,
      );
      expect(hash_core).toMatchObject({ version: 3 });
      expect(verifyBody(body, { trust: [out.did], isStored: true }).verdict, path).toBe('unsigned');
      expect(JSON.stringify(body).length).toBeLessThan(20_000);
    }
  });
});

describe('an empty collection', () => {
  it('sells nothing, and its previews say so', () => {
    const empty = printed({ document: rosterSet().document ?? [] });
    const paths = [...empty.bodies.keys()].filter((path) => !path.startsWith('document/'));
    expect(paths.every((path) => path.startsWith('free/preview/'))).toBe(true);
    expect(empty.body('free/preview/trust.json')).toMatchObject({
      counts: { services: 0, newest_capture_date: null },
      example_request: null,
      values: [],
    });
  });
});

const deaths = (...rows: readonly object[]) => printed({ 'stablecoin.death': rows });
const records = (out: ReturnType<typeof printed>) =>
  out.body('roster/stablecoin-deaths.json').records as { name: string; record_hash: string }[];

describe('deathsPart()', () => {
  it('publishes two coins of one symbol that died of different facts', () => {
    const other = { name: 'Other Dollar', confirmed_dead_at: '2026-05-11T00:00:00Z' };
    const out = deaths(deathRow('ZED'), deathRow('ZED', other));
    expect(out.faults).toEqual([]);
    expect(new Set(records(out).map((row) => row.record_hash)).size).toBe(2);
  });

  it('I36: refuses two names for the same facts, in one batch and in two', () => {
    const renamed = deathRow('ZED', { name: 'Zed Classic' });
    const out = deaths(deathRow('ZED'), renamed);
    expect(out.faults).toMatchObject([{ code: 'conflict', line: 2, field: 'name' }]);
    expect(out.faults[0]?.message).toBe(
      '"Zed Classic" tells the same facts as "ZED Dollar" in line 1 of "2026-11-19/stablecoin.death.ndjson", ' +
        'and the record hash holds no name; keep one of the two',
    );
    const later = deaths(deathRow('ZED'), { ...renamed, collected_at: '2026-11-20T07:00:00Z' });
    expect(later.faults).toMatchObject([{ file: '2026-11-20/stablecoin.death.ndjson', line: 1 }]);
  });

  it('I36: refuses a name for facts that another one had before its revision', () => {
    const at = (day: string) => ({ collected_at: `${day}T07:00:00Z` });
    const revised = deathRow('ZED', { death_type: 'redemption-halt', ...at('2026-11-20') });
    const renamed = deathRow('ZED', { name: 'Zed Classic', ...at('2026-11-20') });
    expect(deaths(deathRow('ZED'), revised).faults).toEqual([]);
    expect(deaths(deathRow('ZED'), revised, renamed).faults).toMatchObject([
      { code: 'conflict', line: 2, field: 'name' },
    ]);
  });

  it('takes the same name again for a repeat, and lets rows without a hash be', () => {
    const again = { collected_at: '2026-11-20T07:00:00Z' };
    const repeat = deaths(deathRow('ZED'), deathRow('ZED', again));
    expect([repeat.faults, records(repeat).length]).toEqual([[], 1]);
    const imported = deaths(
      deathRow('ZED', { imported: true }),
      deathRow('ZED', { imported: true, name: 'Zed Classic' }),
    );
    expect([imported.faults, records(imported).length]).toEqual([[], 2]);
  });
});

const names = (value: unknown): string[] => Object.keys(value as object).sort();
/** A note about an import is only there where rows have one. */
const isRequired = (name: string): boolean => name !== 'source_note';

describe('graveyards beside bodies of another service of the contract', () => {
  it.each(FOREIGN_BODIES)('$name: spell every member the same', ({ name, text }) => {
    const theirs = JSON.parse(text);
    const which = name.startsWith('stable') ? 'stable' : 'trust';
    const ours = graveyardSchema.parse(printed(rosterSet()).body(`roster/${which}/graveyard.json`));
    expect(names(ours)).toEqual(expect.arrayContaining(names(theirs).filter(isRequired)));
    expect(names(ours.deaths[0])).toEqual(names(theirs.deaths[0]));
    expect(names(ours.record_hash_verifiable)).toEqual(names(theirs.record_hash_verifiable));
    const entities = ours.deaths.map(({ entity }) => entity);
    expect(entities).toEqual([...entities].sort());
  });
});

const PREVIEW_VALUES_MAX = 500;

describe('previewValues()', () => {
  it.each([
    [PREVIEW_VALUES_MAX, PREVIEW_VALUES_MAX],
    [PREVIEW_VALUES_MAX + 1, PREVIEW_VALUES_MAX],
  ])('I43: counts all of %i values and lists %i', (count, listed) => {
    const all = Array.from({ length: count }, (_, at) => `value ${at}`);
    const { values, values_total } = previewValues('/stable/coin', all);
    expect([values, values_total]).toEqual([all.slice(0, listed), count]);
  });

  it('shows the request that every other description shows: the example of the table, else the first path', () => {
    const exampleOf = (values: readonly string[]) =>
      previewValues('/trust/precheck', values).example_request;
    expect(exampleOf(['a', 'weather-sample-example'])).toBe(
      '/trust/precheck?service=weather-sample-example',
    );
    expect(exampleOf(['b', 'a'])).toBe('/trust/precheck?service=a');
    // Upper case is escaped in a path, and a tilde comes after every letter.
    expect(exampleOf(['B', 'a'])).toBe('/trust/precheck?service=a');
  });

  it('shows a request of the first value, and none where there is no value', () => {
    expect(previewValues('/stable/coin', ['a b']).example_request).toMatch(
      /^\/stable\/coin\?[a-z_]+=a%20b$/,
    );
    expect(previewValues('/stable/coin', []).example_request).toBeNull();
  });
});

const LATER = { collected_at: '2026-11-20T07:00:00Z' };
const documents = (...document: readonly object[]) => printed({ document });
const TAIWAN = 'document/taiwan-region.json';

describe('documentPart()', () => {
  it('takes the newest batch, whatever the order, and keeps the old hash findable', () => {
    const old = articleRow('/pay/tier2');
    const now = articleRow('/pay/tier2', {}, { ...LATER, text: 'A later text.' });
    for (const rows of [
      [old, now],
      [now, old],
    ]) {
      const out = documents(...rows);
      expect(out.body('document/tier2.json')).toMatchObject({ text: 'A later text.', count: 1 });
      const entries = out.lookUps.filter(({ kind }) => kind === 'row');
      expect(entries.map(({ file }) => file)).toEqual(['document/tier2.json']);
      const facts = { kind: 'row', signal_id: 'document', entity: '/pay/tier2' };
      expect(out.leaves).toMatchObject([facts, facts]);
    }
  });

  it('refuses two documents for one request in one batch', () => {
    const out = documents(articleRow('/pay/tier2'), articleRow('/pay/tier2', {}, { text: null }));
    expect(out.faults).toMatchObject([{ code: 'conflict', line: 2 }]);
  });

  it('keeps legs in their causal order, each with its own hash and time', () => {
    const out = documents(legsRow('/gauge/taiwan-region'));
    const body = out.body(TAIWAN);
    expect(Object.keys(body.legs as object)).toEqual(['notices', 'transits']);
    expect(body).toMatchObject({
      legs: { notices: { position: 1 }, transits: { position: 2 } },
      cross_line_narrative:
        'Leg 1, notices: notices count at taiwan read notices_count 3 at 2026-11-19T01:00:00Z. ' +
        'Leg 2, transits: transits count at taiwan read transits_count 9 at 2026-11-19T04:00:00Z.',
      data_timespans: [
        { leg: 'notices', hours_since: 6 },
        { leg: 'transits', hours_since: 3 },
      ],
      provenance: { oldest_leg_as_of: '2026-11-19T01:00:00Z', data_as_of: '2026-11-19T04:00:00Z' },
    });
    expect(out.lookUps.filter(({ kind }) => kind === 'row').map(({ file }) => file)).toEqual([
      TAIWAN,
      TAIWAN,
    ]);
  });

  it('lists a leg of two documents once', () => {
    const out = documents(
      legsRow('/gauge/chokepoint-region', { loc: 'a' }),
      legsRow('/gauge/chokepoint-region', { loc: 'b' }),
    );
    expect(out.lookUps.filter(({ kind }) => kind === 'row')).toHaveLength(2);
    expect(out.leaves).toHaveLength(2);
  });

  it('offers only swaps that a document is stored for', () => {
    const alone = documents(legsRow('/gauge/chokepoint-region', { loc: 'hormuz' }));
    const body = alone.body('document/chokepoint-region/hormuz.json');
    expect(body.decision_points).toMatchObject({ count: 0, points: [] });
    const both = documents(
      legsRow('/gauge/chokepoint-region', { loc: 'hormuz' }),
      legsRow('/gauge/chokepoint-region', { loc: 'malacca strait' }),
    );
    expect(both.body('document/chokepoint-region/hormuz.json').decision_points).toMatchObject({
      points: [
        {
          tag: 'loc',
          current: 'hormuz',
          swappable: ['malacca strait'],
          how: 'GET /gauge/chokepoint-region?loc=malacca%20strait',
        },
      ],
    });
  });

  it('swaps one parameter beside the same others, never into a pair that is not stored', () => {
    const plus = (loc: string, topic: string) => legsRow('/shadow/region-plus', { loc, topic });
    const out = documents(
      plus('us-denver', 'energy'),
      plus('us-chicago', 'energy'),
      plus('us-memphis', 'water'),
    );
    expect(out.body('document/region-plus/us-denver/energy.json').decision_points).toMatchObject({
      count: 1,
      points: [{ tag: 'loc', current: 'us-denver', swappable: ['us-chicago'] }],
    });
    expect(out.body('document/region-plus/us-memphis/water.json').decision_points).toMatchObject({
      count: 0,
    });
  });
});

const DAYS = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const trust = (rows: readonly object[]) => printed({ 'trust.service': rows });
/** One service a day, so that every day is a capture day. */
const anchors = DAYS.map((day) => serviceRow('anchor.example', day));

describe('trustPart()', () => {
  it('lists a service on its first absence, and no more when it is back', () => {
    const on = (days: readonly string[]) => {
      const rows = days.map((day) => serviceRow('a.example', day));
      const graveyard = trust([...anchors, ...rows]).bodies.get('roster/trust/graveyard.json');
      return graveyard?.deaths ?? null;
    };
    expect(on(DAYS)).toBeNull();
    expect(on(DAYS.slice(0, 3))).toMatchObject([
      {
        entity: 'a-example',
        name: 'a.example',
        state: 'absent',
        died_on: '2026-11-20',
        first_seen: '2026-11-17',
        last_seen: '2026-11-19',
        lifespan_days: 2,
        confirm_absences: 1,
      },
    ]);
    expect(on(DAYS.slice(0, 1))).toMatchObject([{ died_on: '2026-11-18', lifespan_days: 0 }]);
    expect(on([DAYS[0], DAYS[3]])).toBeNull();
    expect(on([DAYS[0], DAYS[2]])).toMatchObject([
      { died_on: '2026-11-20', first_seen: '2026-11-17' },
    ]);
  });

  it('does not depend on the order of rows', () => {
    const rows = [...anchors, serviceRow('a.example', DAYS[0]), serviceRow('b.example', DAYS[3])];
    expect([...trust(rows.toReversed()).bodies].sort()).toEqual([...trust(rows).bodies].sort());
  });

  it('scores the services of the newest capture only, by their newest row', () => {
    const rows = [...anchors, serviceRow('a.example', DAYS[1], { score_total: 1 })];
    rows.push(serviceRow('b.example', DAYS[2], { score_total: 2 }));
    rows.push(serviceRow('b.example', DAYS[3], { score_total: 3 }));
    const { rows: scored } = trust(rows).body('roster/trust/scorecard.json') as { rows: object[] };
    expect(scored).toMatchObject([
      { service: 'anchor-example' },
      { service: 'b-example', score_total: 3, demand_class: 'REAL' },
    ]);
  });

  it('tells the model by the capture day, with the members of that model alone', () => {
    const out = trust([
      serviceRow('old.example', '2026-08-15'),
      serviceRow('new.example', '2026-08-16'),
    ]);
    const old = out.body('subject/trust/old-example.json');
    const now = out.body('subject/trust/new-example.json');
    expect(old).toMatchObject({ model: 'legacy-registry', hash_core_version: '3' });
    expect(now).toMatchObject({ model: 'demand-v1', demand_class: 'REAL', demand_depth: null });
    expect(old).not.toHaveProperty('demand_class');
    expect(old).not.toHaveProperty('model_note');
    expect(now).not.toHaveProperty('source_note');
    expect(old.source_note).toContain('test source');
    expect(String(now.model_note)).toContain('never a sum');
  });

  it('hashes the demand class: another class is another record', () => {
    const hashOf = (more: object) =>
      trust([serviceRow('a.example', DAYS[0], more)]).body('subject/trust/a-example.json')
        .record_hash;
    expect(hashOf({ demand_class: 'WASH?' })).not.toBe(hashOf({ demand_class: 'WASH' }));
    expect(hashOf({ name: 'A' })).toBe(hashOf({ name: 'B' }));
  });

  it('takes a later batch as a revision, whose old hash stays findable', () => {
    const first = serviceRow('a.example', DAYS[0]);
    const later = { ...first, score_total: 99, collected_at: '2026-11-19T07:00:00Z' };
    const out = trust([first, later]);
    expect(out.body('subject/trust/a-example.json').score_total).toBe(99);
    const rows = out.lookUps.filter(({ kind }) => kind === 'row');
    expect(rows.map(({ file }) => file)).toEqual(['subject/trust/a-example.json']);
    const facts = { kind: 'row', signal_id: 'trust.service', entity: 'a-example' };
    expect(out.leaves).toMatchObject([
      { ...facts, record_hash: rows[0]?.record_hash },
      { ...facts, observed_at: first.observed_at },
    ]);
  });

  it('keeps the first collection of a repeat', () => {
    const first = serviceRow('a.example', DAYS[0]);
    const out = trust([first, { ...first, collected_at: '2026-11-19T07:00:00Z' }]);
    expect(out.leaves).toEqual(trust([first]).leaves);
  });

  it('takes what is not hashed from the newest repeat, but none from an import without hashes', () => {
    const first = serviceRow('a.example', DAYS[0], { name: 'Old', grade: 'old' });
    const collected_at = '2026-11-19T07:00:00Z';
    const again = { ...first, collected_at, name: 'New', grade: 'new' };
    const out = trust([first, again]);
    expect(out.body('subject/trust/a-example.json')).toMatchObject({
      name: 'New',
      grade: 'new',
      data_age_hours: 1,
      _citation: { retrieved_at: first.collected_at },
    });
    const imported = trust([first, { ...again, imported: true }]);
    expect(imported.body('subject/trust/a-example.json')).toMatchObject({ name: 'Old' });
  });

  it('I37: refuses two facts of one batch also where one of them was told before', () => {
    const first = serviceRow('a.example', DAYS[0]);
    const repeat = { ...first, collected_at: '2026-11-19T07:00:00Z' };
    const other = { ...repeat, score_total: 99 };
    for (const batch of [
      [repeat, other],
      [other, repeat],
    ]) {
      expect(trust([first, ...batch]).faults).toMatchObject([{ code: 'conflict', line: 2 }]);
    }
    expect(trust([first, repeat, repeat]).faults).toEqual([]);
  });

  it('refuses two rows of one day in one batch, and two hosts of one id', () => {
    const twice = trust([
      serviceRow('a.example', DAYS[0]),
      serviceRow('a.example', DAYS[0], { score_total: 0 }),
    ]);
    expect(twice.faults).toMatchObject([{ code: 'conflict', line: 2 }]);
    const shared = trust([serviceRow('a-b.example', DAYS[0]), serviceRow('a.b.example', DAYS[1])]);
    expect(shared.faults).toMatchObject([{ code: 'conflict' }]);
    expect(shared.faults[0]?.message).toContain('share the id "a-b-example"');
  });
});

describe('stablePart()', () => {
  const TERMINATED_BELOW = 0.1;

  const DAYS = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
  const anchors = DAYS.map((day) => coinRow('anchor', day, { market_cap_usd: 1 }));
  const stable = (rows: readonly object[]) => printed({ 'stable.coin': [...anchors, ...rows] });

  /** The census row and the graveyard row of a coin with these prices on successive days; null for absent, '?' for unknown. */
  function coin(prices: readonly (number | null | '?')[]) {
    const rows = prices.flatMap((price, index) => {
      const price_in_peg = price === '?' ? null : price;
      return price === null ? [] : [coinRow('c', DAYS[index] ?? '', { price_in_peg })];
    });
    const out = stable(rows);
    type Rows = { entity: string; lifecycle?: object }[];
    const find = (rows: unknown) => ((rows ?? []) as Rows).find(({ entity }) => entity === 'c');
    return {
      life: find(out.body('roster/stable/census.json').rows)?.lifecycle,
      death: find(out.bodies.get('roster/stable/graveyard.json')?.deaths),
    };
  }

  it('terminates below the price, exactly, on the first day of the run', () => {
    expect(coin([1, 1, 1, TERMINATED_BELOW, TERMINATED_BELOW])).toMatchObject({
      life: { state: 'at_risk', terminated: false, depegged: true, end_at: null },
      death: undefined,
    });
    expect(coin([1, 1, 0.09, 0.0999, 0.05])).toMatchObject({
      life: { state: 'dead', terminated: true, end_at: '2026-11-18' },
      death: { state: 'dead', died_on: '2026-11-18', confirm_absences: null },
    });
    expect(coin([1, 0.01, 1, 0.01, 0.01]).death).toMatchObject({ died_on: '2026-11-19' });
    expect(coin([1, 0.01, 0.01, 0.01, 0.99])).toMatchObject({
      life: { state: 'operating' },
      death: undefined,
    });
  });

  it('takes a price that becomes unknown for no recovery, and for no death', () => {
    const dead = { state: 'dead', terminated: true, depegged: true };
    expect(coin([1, 0.05, 0.05, '?', '?'])).toMatchObject({
      life: { ...dead, end_at: '2026-11-17' },
      death: { state: 'dead', died_on: '2026-11-17', last_seen: '2026-11-20' },
    });
    expect(coin([1, '?', 0.05, '?', 0.05]).death).toMatchObject({ died_on: '2026-11-18' });
    expect(coin([0.05, '?', 1, '?', '?'])).toMatchObject({
      life: { state: 'operating', terminated: false, depegged: false, end_at: null },
      death: undefined,
    });
    expect(coin([1, 0.9, '?', '?', '?']).life).toMatchObject({ state: 'at_risk', depegged: true });
    expect(coin([0.05, '?', null, null, null]).death).toMatchObject({
      state: 'dead',
      died_on: '2026-11-16',
    });
  });

  it('names the chain of the same coin only where one is stored', () => {
    const chain = 'bundle/stablecoin/anchor.json';
    const companionOf = (stored: readonly string[]) => {
      const { bodies } = printed({ 'stable.coin': anchors }, stored);
      const coins = [...bodies].filter(([path]) => path.startsWith('subject/stable/'));
      expect(coins).toHaveLength(1);
      return coins[0]?.[1].companion;
    };
    expect(companionOf([chain])).toBe(
      'peg distress and redemption flight: /gauge/stablecoin-region?entity=anchor',
    );
    expect(companionOf([])).toBeUndefined();
    expect(companionOf(['bundle/stablecoin/another.json'])).toBeUndefined();
  });

  it('judges a coin that never had a price by its presence alone', () => {
    const unjudged = { terminated: false, depegged: false };
    expect(coin(['?', '?', '?', '?', '?'])).toMatchObject({
      life: { state: 'operating', ...unjudged, end_at: null },
      death: undefined,
    });
    expect(coin(['?', '?', null, null, null])).toMatchObject({
      life: { state: 'absent', ...unjudged },
      death: { state: 'absent', died_on: '2026-11-19' },
    });
  });

  it('takes a persistent absence for a death, and one absence not yet', () => {
    expect(PERSISTENT_ABSENCES).toBe(2);
    expect(coin([1, 1, 1, 1, null])).toMatchObject({
      life: { state: 'missing' },
      death: undefined,
    });
    expect(coin([1, 1, 1, null, null])).toMatchObject({
      life: { state: 'absent', last_seen: '2026-11-18', end_at: '2026-11-20' },
      death: { state: 'absent', died_on: '2026-11-20', lifespan_days: 2, confirm_absences: 2 },
    });
    expect(coin([1, null, null, null, 1])).toMatchObject({
      life: { state: 'operating', first_seen: '2026-11-16' },
      death: undefined,
    });
  });

  it('flags a coin off its peg in units of that peg', () => {
    for (const edge of [0.95, 1.05]) {
      expect(coin([1, 1, 1, 1, edge]).life).toMatchObject({ depegged: false });
    }
    expect(coin([1, 1, 1, 1, 1.06]).life).toMatchObject({ depegged: true, state: 'at_risk' });
    expect(coin([1, 1, 1, 1, 0.94]).life).toMatchObject({ depegged: true, terminated: false });
  });

  it('ranks by market cap, an unknown one last, equal ones by id', () => {
    const rows = [
      coinRow('b', DAYS[4], { market_cap_usd: 5 }),
      coinRow('a', DAYS[4], { market_cap_usd: 5 }),
      coinRow('u', DAYS[4], { market_cap_usd: null }),
      coinRow('z', DAYS[4], { market_cap_usd: 7 }),
    ];
    const { rows: ranked } = stable(rows).body('roster/stable/census.json') as {
      rows: { rank: number; entity: string }[];
    };
    expect(ranked.map(({ rank, entity }) => `${rank} ${entity}`)).toEqual([
      '1 z',
      '2 a',
      '3 b',
      '4 anchor',
      '5 u',
    ]);
  });

  it('answers a shared symbol with the largest coin and names the others', () => {
    const out = stable([
      coinRow('small', DAYS[4], { symbol: 'TWIN', market_cap_usd: 1 }),
      coinRow('big', DAYS[4], { symbol: 'TWIN', market_cap_usd: 2 }),
    ]);
    expect(out.body('subject/stable/~54~57~49~4e.json')).toMatchObject({
      coin_id: 'big',
      same_symbol: ['small'],
    });
    const small = out.lookUps.find(({ entity, kind }) => entity === 'small' && kind === 'row');
    expect(small?.file).toBe('verifiable/roster/stable/census.json');
  });

  it('takes the lifespan that the source states, else the days between captures', () => {
    const out = stable([coinRow('c', DAYS[4], { price_in_peg: 0, lifespan_days: 1257 })]);
    expect(out.body('roster/stable/graveyard.json').deaths).toMatchObject([
      { entity: 'c', lifespan_days: 1257 },
    ]);
  });
});

type JsonBody = Readonly<Record<string, JsonValue>>;

/** What the parts behind the rosters put into a press, kept in memory. */
interface Printed {
  readonly did: string;
  readonly faults: readonly InputFault[];
  readonly bodies: ReadonlyMap<string, JsonBody>;
  readonly lookUps: readonly VerifyEntry[];
  readonly leaves: readonly Leaf[];
  body(path: string): JsonBody;
}

/**
 * Reads rows as a compile does and writes their bodies; `removeFolders` takes the snapshots away. `stored` are files of
 * the release that come from signals.
 */
function printed(
  rows: Readonly<Record<string, readonly object[]>>,
  stored: readonly string[] = [],
): Printed {
  const { collections } = listSnapshots(writeSnapshots(rosterFiles(rows)), BUILTIN);
  const parts = COLLECTION_PARTS.map((read) => read(collections, AS_OF, BUILTIN));
  const bodies = new Map<string, JsonBody>();
  const lookUps: VerifyEntry[] = [];
  const leaves: Leaf[] = [];
  const key = signingKey(SEED);
  const did = issuerDid(key);
  const keyId = keyIdOf(did);
  const issuer = { name: 'Test issuer', did, keyId, baseUrl: 'https://example.org' };
  const press = makePress({
    catalog: BUILTIN,
    issuer,
    sealer: makeSealer(issuer, key),
    asOf: AS_OF,
    writer: {
      write(path, content) {
        bodies.set(path, JSON.parse(String(content)));
        return { path, size: content.length, sha256: '' };
      },
      store: () => undefined,
    },
    shards: {
      add: (lines) => lookUps.push(...String(lines).trimEnd().split('\n').map(parseVerifyEntry)),
      remove: () => undefined,
      write: () => [],
      emptied: [],
    },
    leaves: {
      add: (leaf) => leaves.push(leaf),
      addLines: () => undefined,
      startingWith: () => Buffer.alloc(0),
    },
  });
  const faults = parts.flatMap((part) => part.faults);
  if (faults.length === 0)
    for (const part of parts) part.write(press, (path) => stored.includes(path));
  const body = (path: string): JsonBody => {
    const found = bodies.get(path);
    if (found === undefined) throw new RangeError(`No body at "${path}"`);
    return found;
  };
  return { did, faults, bodies, lookUps, leaves, body };
}
