import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { CORE_FIELDS, hashCore } from '../../../compiler/format/record-hash.ts';
import { rosterCore, rosterKindOf } from '../../../compiler/products/collections.ts';
import { formOf } from '../../../compiler/products/products.ts';
import { graveyardSchema } from '../../../compiler/products/shapes/roster-bodies.ts';
import { previewValues } from '../../../compiler/publish/assemble/settle-rows.ts';
import { placeOf } from '../../../compiler/verify/release-place.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { deathRow, rosterSet } from '../../roster-rows.ts';
import { sha256Text } from '../../sha256-text.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { FOREIGN_BODIES } from '../../verify/foreign-texts.ts';
import { type Printed, printed } from './printed.ts';

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
