import { hash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN, LINES, signalOf } from '../../../../../compiler/catalog/builtin.ts';
import { canonicalJson } from '../../../../../compiler/format/canonical.ts';
import {
  type Citation,
  contentOf,
  REQUEST_TIME_FIELDS,
} from '../../../../../compiler/format/citation.ts';
import { hashCore } from '../../../../../compiler/format/record-hash.ts';
import {
  CATALOG_PATH,
  FILES_NAME,
  parseCatalogRow,
  parseFiles,
  parseVerifyEntry,
  RELEASE_NAME,
} from '../../../../../compiler/format/release.ts';
import { formOf } from '../../../../../compiler/products/products.ts';
import { verifyShardPath } from '../../../../../compiler/products/shapes/path.ts';
import {
  type Bundle,
  bundleSchema,
  recordSchema,
} from '../../../../../compiler/products/shapes/record.ts';
import { deliveredText } from '../../../../../compiler/products/shapes/request-time.ts';
import { seriesHead } from '../../../../../compiler/products/shapes/series.ts';
import { isVerified, verifyCitation } from '../../../../../compiler/verify/verify-citation.ts';
import { logLinesIn } from '../../../../gatekeeper/logged-service.ts';
import { sampleBodies } from '../../../../shop.ts';
import { smallSet } from '../../../../small-set.ts';
import {
  AS_OF,
  compileFolder,
  filesBelow,
  readJson,
  removeFolders,
  sha256Text,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

type Body = { readonly [key: string]: unknown; readonly _citation?: Citation };
let folder = '';
let did = '';
let texts = new Map<string, string>();

beforeAll(async () => {
  const { folder: made, release } = await compileFolder(writeSnapshots(smallSet()));
  folder = made;
  did = release.issuer_did;
  texts = filesBelow(folder);
});
afterAll(removeFolders);

const paths = (prefix: string) => [...texts.keys()].filter((path) => path.startsWith(prefix));
interface Lit {
  readonly lit: boolean | null;
}
const bodyAt = (path: string): Body => readJson(folder, path);
const bodies = () =>
  [...texts.keys()].filter(
    (path) => path.includes('/') && path.endsWith('.json') && !DESCRIPTION.test(path),
  );
const linesOf = (path: string) => (texts.get(path) ?? '').split('\n').filter((line) => line !== '');
const entriesOf = (hash: unknown) =>
  linesOf(verifyShardPath(String(hash)))
    .map(parseVerifyEntry)
    .filter((entry) => entry.record_hash === hash);

const logged = (hash: string) => logLinesIn(texts).find(({ record_hash }) => record_hash === hash);

/** Files that another format describes. */
const DESCRIPTION = /^(([a-z0-9]+\/){0,2}well-known|site)\//;

describe('a compiled release', () => {
  it('has bodies that fit the strict schema of their operation, and no other', () => {
    const placed = new Set<string>();
    for (const { path, endpoint, form } of sampleBodies(bodies())) {
      const schema = formOf(endpoint, form === 'thin' ? form : '')?.body;
      expect([path, schema?.safeParse(bodyAt(path)).error?.issues ?? []]).toEqual([path, []]);
      placed.add(path);
    }
    expect(bodies().filter((path) => !placed.has(path))).toEqual([]);
    const record = bodyAt('record/crypto.spot/btc.json');
    expect(recordSchema.safeParse({ ...record, extra: 1 }).success).toBe(false);
  });

  it('lists exactly its files, each with its size and digest', () => {
    const listed = parseFiles(texts.get(FILES_NAME) ?? '');
    const unlisted = [FILES_NAME, RELEASE_NAME];
    const written = [...texts.keys()].filter((path) => !unlisted.includes(path));
    expect(listed.map(({ path }) => path)).toEqual(written);
    for (const { path, size, sha256 } of listed) {
      const bytes = Buffer.from(texts.get(path) ?? '', 'latin1');
      expect([size, sha256]).toEqual([bytes.length, hash('sha256', bytes, 'hex')]);
    }
  });

  it('writes every body without members of request time, which each of their places gets', () => {
    const names = Object.values(REQUEST_TIME_FIELDS).flat();
    for (const path of bodies()) {
      const text = texts.get(path) ?? '';
      for (const name of names) expect(text).not.toContain(`"${name}":`);
      const count = (part: string, of = text): number => of.split(part).length - 1;
      const delivered = deliveredText(text, Date.parse(AS_OF));
      const provenances = count('"provenance":{');
      // A short form has legs without freshness.
      const legs = path.startsWith('thin/') ? 0 : count('"position":');
      expect([path, count('"age_hours_now":', delivered)]).toEqual([path, provenances]);
      expect([path, count('"freshness":"', delivered)]).toEqual([path, provenances + legs]);
      const looks = count('"last_looked_at":"');
      expect([path, count('"update_status":', delivered)]).toEqual([path, looks]);
    }
  });

  it('says of every leg whether it is lit, and counts them in causal order', () => {
    const body = bodyAt('bundle/environment/us-denver.json') as unknown as Bundle;
    const lit = Object.entries(body.legs).map(([name, leg]) => [name, leg.band, leg.lit]);
    expect(lit).toEqual([
      ['aqi', 'unhealthy-sensitive', true],
      ['pm25', 'unhealthy-sensitive', true],
      ['daily', null, null],
      ['wetness30d', null, null],
      ['river-level', 'minor', true],
    ]);
    expect(body.legs_lit).toEqual({ count: 3, of: 6, names: ['aqi', 'pm25', 'river-level'] });
    expect(body.leg_availability?.expected).toBe(6);
    const quiet = bodyAt('bundle/environment/us-stlouis.json') as unknown as Bundle;
    expect(quiet.legs.aqi?.lit).toBe(false);
    expect(quiet.legs_lit.names).toEqual([]);
    const { legs } = bodyAt('thin/bundle/environment/us-denver.json') as unknown as Bundle;
    expect(Object.keys(legs)).toEqual(Object.keys(body.legs));
    for (const [name, leg] of Object.entries(legs)) expect(body.legs[name]).toMatchObject(leg);
    const { readings } = bodyAt('air/us-denver.json') as unknown as { readings: Lit[] };
    expect(readings.map(({ lit }) => lit)).toEqual([true, true]);
  });

  it('gives raw what live clients read, and no ruler or statistic', () => {
    const path = 'hydrology.river-level/06714000.json';
    const [raw, record] = [bodyAt(`free/raw/${path}`), bodyAt(`record/${path}`)];
    const names = ['previous', 'change', 'trend_7d', 'official_cadence', 'last_looked_at'] as const;
    for (const name of names) expect([name, raw[name]]).toEqual([name, record[name]]);
    expect(raw.trend_7d).toHaveLength(1);
    for (const name of ['standard_ruler', 'stat_ruler', 'strata', 'summary_en', '_citation']) {
      expect(raw).not.toHaveProperty(name);
    }
  });

  it('puts the main metric first in every `current`, whatever the snapshot wrote first', () => {
    for (const path of [...paths('record/'), ...paths('free/raw/')]) {
      const { signal_id, current } = bodyAt(path) as { signal_id: string; current: object };
      expect(Object.keys(current)[0], path).toBe(signalOf(signal_id)?.metrics[0]);
    }
    for (const path of paths('bundle/')) {
      for (const leg of legsOf(path)) {
        expect(Object.keys(leg.current)[0]).toBe(signalOf(leg.signal_id)?.metrics[0]);
      }
    }
    const storms = bodyAt('record/hurricane.active-storms/atlantic.json').current as object;
    expect(Object.keys(storms)).toEqual(['max_wind_kt', 'storm_count', 'extra', 'band']);
  });

  it('signs every paid body, and each citation verifies and binds its body', () => {
    const signed = bodies().filter((path) => bodyAt(path)._citation !== undefined);
    const free = bodies().filter((path) => !signed.includes(path));
    expect(free.every((path) => path.startsWith('free/'))).toBe(true);
    for (const path of signed) {
      const body = bodyAt(path);
      expect(isVerified(verifyCitation(body._citation, { trust: [did] })), path).toBe(true);
      const signed = path.startsWith('series/') ? seriesHead(body) : body;
      const content = `sha256:${sha256Text(canonicalJson(contentOf(signed)))}`;
      expect(body._citation?.source.content_hash, path).toBe(content);
      const entries = entriesOf(body._citation?.record_hash);
      expect(entries.map((entry) => [entry.kind, entry.state, entry.file])).toEqual([
        ['citation', 'current', path],
      ]);
    }
  });

  it('no longer verifies a body after one digit of a reading is changed', () => {
    const body = bodyAt('record/crypto.spot/btc.json');
    const altered = { ...body, current: { price_usd: 90_123.6 } };
    const content = `sha256:${sha256Text(canonicalJson(contentOf(altered)))}`;
    expect(body._citation?.source.content_hash).not.toBe(content);
  });

  it('gives one reading one hash wherever it appears, recomputable from the record alone', () => {
    const catalog = linesOf(CATALOG_PATH).map(parseCatalogRow);
    expect(catalog).toHaveLength(paths('record/').length);
    for (const path of paths('record/')) {
      const record = recordSchema.parse(bodyAt(path));
      const { signal_id, entity, record_hash } = record;
      const recomputed = `sha256:${sha256Text(canonicalJson(hashCore(record)))}`;
      const elsewhere = [...bodies()]
        .filter((other) => !other.startsWith('verify/'))
        .flatMap((other) => hashesIn(bodyAt(other), signal_id, entity));
      const row = catalog.find((each) => each.signal_id === signal_id && each.entity === entity);
      expect(new Set([recomputed, row?.record_hash, ...elsewhere]), path).toEqual(
        new Set([record_hash]),
      );
      const preview = bodyAt(path.replace('record/', 'free/history-preview/')) as {
        rows: { record_hash: string }[];
      };
      expect(preview.rows.at(-1)?.record_hash).toBe(record_hash);
      expect(entriesOf(record_hash).map(({ kind, state, file }) => [kind, state, file])).toEqual([
        ['reading', 'current', path],
      ]);
    }
  });

  it('I37: notes a revision, and knows the hash of what it replaced as superseded', () => {
    const { provenance, current } = bodyAt('record/crypto.spot/btc.json') as {
      provenance: { revision_note?: string };
      current: object;
    };
    expect(current).toEqual({ price_usd: 90_123.5 });
    expect(provenance.revision_note).toContain('replaces');
    const record = recordSchema.parse(bodyAt('record/crypto.spot/btc.json'));
    const before = { ...record, current: { price_usd: 90_123.45 } };
    const hash = `sha256:${sha256Text(canonicalJson(hashCore(before)))}`;
    expect(entriesOf(hash)).toEqual([]);
    expect(logged(hash)).toMatchObject({
      kind: 'reading',
      signal_id: 'crypto.spot',
      entity: 'btc',
      observed_at: record.observed_at,
    });
    const untouched = bodyAt('record/crypto.spot/~42tc.json').provenance;
    expect(untouched).not.toHaveProperty('revision_note');
  });

  it('has every reading of a series in the log, and the newest in the look-ups alone', () => {
    const rows = bodyAt('free/history-preview/airquality.aqi/us-denver.json').rows as {
      record_hash: string;
      observed_at: string;
    }[];
    expect(rows).toHaveLength(7);
    expect(rows.map((row) => entriesOf(row.record_hash).length)).toEqual([0, 0, 0, 0, 0, 0, 1]);
    for (const { record_hash, observed_at } of rows) {
      expect(logged(record_hash)).toMatchObject({ entity: 'us-denver', observed_at });
    }
  });
});

/** Hashes that a body gives for the latest reading of a signal and entity. */
function hashesIn(value: unknown, signal_id: string, entity: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = value as Record<string, unknown>;
  const hit = own.signal_id === signal_id && own.entity === entity && 'record_hash' in own;
  const inside = Object.values(own).flatMap((member) => hashesIn(member, signal_id, entity));
  return hit ? [own.record_hash, ...inside] : inside;
}

interface LegMember {
  readonly leg: string;
  readonly position: number;
  readonly signal_id: string;
  readonly entity: string;
  readonly current: object;
}
const legsOf = (path: string) =>
  Object.values((bodyAt(path) as { legs: Record<string, LegMember> }).legs);

describe('bundles', () => {
  it('list their legs in causal order and tell which are missing or stale', () => {
    const path = 'bundle/environment/us-denver.json';
    expect(legsOf(path).map((leg) => [leg.position, leg.signal_id, leg.entity])).toEqual([
      [1, 'airquality.aqi', 'us-denver'],
      [1, 'airquality.pm25', 'us-denver'],
      [2, 'precipitation.daily', 'us-denver'],
      [2, 'precipitation.wetness30d', 'us-denver'],
      [3, 'hydrology.river-level', '06714000'],
    ]);
    const body = bundleSchema.parse(bodyAt(path));
    expect(body.leg_availability).toEqual({
      expected: 6,
      available: 5,
      degraded: [
        { leg: 'river', signal_id: 'hydrology.streamflow', reason: 'no reading is stored' },
      ],
    });
    expect(body.data_timespans.map((span) => span.signal_id)).toEqual(
      legsOf(path).map((leg) => leg.signal_id),
    );
  });

  it('name a stale leg as degraded though it has a reading', () => {
    const { leg_availability } = bundleSchema.parse(bodyAt('bundle/environment/us-stlouis.json'));
    const { degraded } = leg_availability as { degraded: { reason: string; signal_id: string }[] };
    const stale = degraded.filter((leg) => leg.reason.startsWith('stale'));
    expect(stale.map((leg) => leg.signal_id)).toEqual(['airquality.aqi']);
  });

  it('are as old as their oldest leg', () => {
    const body = bundleSchema.parse(bodyAt('bundle/environment/us-stlouis.json'));
    expect(body.provenance.oldest_leg_as_of).toBe('2026-11-18T10:00:00Z');
    expect(body.provenance.data_as_of).toBe('2026-11-20T10:00:00Z');
    expect(body.provenance.data_lineage).toHaveLength(2);
    // The oldest leg was an hour and a half old when it was collected, two days before the newest one was.
    expect(body.provenance.data_age_hours).toBe(1.5);
    expect(body._citation?.retrieved_at).toBe('2026-11-20T11:00:00Z');
  });

  it('put the life cycle first, and answer an id of two lines with both', () => {
    const legs = legsOf('bundle/climate-policy/kyoto-protocol.json');
    expect(legs.map((leg) => leg.signal_id)).toEqual([
      'climate-policy.lifecycle',
      'climate-policy.distress-events',
    ]);
    expect(bodyAt('lifecycle/kyoto-protocol.json')).toMatchObject({
      signal_id: 'climate-policy.lifecycle',
      lifecycle: { state: 'ended' },
      also: [{ signal_id: 'tariff-policy.lifecycle', lifecycle: { state: 'expired' } }],
    });
  });

  it('exist for a subject with one leg at least, and for no other', () => {
    expect(paths('bundle/environment/')).toHaveLength(2);
    expect(paths('bundle/nas/')).toEqual(['bundle/nas/bos.json']);
    expect(paths('bundle/filing/')).toEqual(['bundle/filing/~41~41~50~4c.json']);
    expect(paths('thin/bundle/').map((path) => path.slice('thin/'.length))).toEqual(
      paths('bundle/'),
    );
  });

  it('leave the key-gated line without any file', () => {
    const keyed = LINES.filter((line) => line.emptyUntilKeyed);
    expect(keyed).toHaveLength(1);
    for (const line of keyed) {
      expect([...texts.keys()].filter((path) => path.includes(line.id))).toEqual([]);
    }
  });
});

describe('generated sentences', () => {
  const DIRECTIVE =
    /\b(forecast|predict|will|would|expect|should|must|likely|recommend|buy|sell|hold|advice|advise|outperform|bullish|bearish)\w*/gi;
  /** Names of signals and legs, and the sentences that disown what they name. */
  const OWN = [
    ...BUILTIN.signals.flatMap((signal) => [
      signal.id,
      signal.id.slice(signal.id.indexOf('.') + 1),
    ]),
    'no forecast, no judgement, no recommendation, no advice',
  ].sort((a, b) => b.length - a.length);

  function sentencesIn(value: unknown): string[] {
    if (typeof value === 'string') return [value];
    if (typeof value !== 'object' || value === null) return [];
    return Object.values(value).flatMap(sentencesIn);
  }
  const directiveWords = (sentence: string) =>
    OWN.reduce((rest, own) => rest.replaceAll(own, ''), sentence).match(DIRECTIVE) ?? [];

  it('describe and never direct', () => {
    const sentences = new Set(bodies().flatMap((path) => sentencesIn(bodyAt(path))));
    expect(sentences.size).toBeGreaterThan(100);
    const found = [...sentences].filter((sentence) => directiveWords(sentence).length > 0);
    expect(found).toEqual([]);
  });

  it('would be caught if they did', () => {
    expect(directiveWords('You should sell, it will fall')).toEqual(['should', 'sell', 'will']);
    expect(directiveWords('leg forecast-risk-env read 2')).toEqual([]);
  });
});

describe('records', () => {
  it('place a reading on its ruler, in its season and among its sources', () => {
    const aqi = recordSchema.parse(bodyAt('record/airquality.aqi/us-denver.json'));
    expect(aqi.standard_ruler).toMatchObject({
      band: 'unhealthy-sensitive',
      distance_to_action: -19,
    });
    expect(aqi.stat_ruler).toMatchObject({ current_percentile: 1, window_years: 5, n: 15 });
    expect(aqi.strata).toMatchObject({ n: 15, current_band: 'unhealthy-sensitive' });
    const river = recordSchema.parse(bodyAt('record/hydrology.river-level/06714000.json'));
    expect(river.standard_ruler).toMatchObject({ band: 'minor', pct_to_action: 136 });
    expect(river.stat_ruler).toBeNull();
    const jobs = recordSchema.parse(bodyAt('record/macro.unemployment/us.json'));
    expect(jobs.source_agreement_cv).toBe(0.0238);
    expect([jobs.standard_ruler, jobs.summary_zh, 'summary_en' in jobs]).toEqual([
      null,
      null,
      false,
    ]);
  });

  it('show the last seven points, oldest first, over whatever gaps, and null where none was given', () => {
    const aqi = recordSchema.parse(bodyAt('record/airquality.aqi/us-denver.json'));
    expect(aqi.trend_7d?.map((point) => [point.observed_at.slice(0, 10), point.value])).toEqual([
      ['2024-11-17', 55],
      ['2024-11-18', 58],
      ['2024-11-19', 61],
      ['2025-11-17', 56],
      ['2025-11-18', 59],
      ['2025-11-19', 62],
      ['2026-11-20', 120],
    ]);
    const heat = recordSchema.parse(bodyAt('record/agriculture.heat/us-iowa.json'));
    expect(heat.trend_7d).toEqual([{ observed_at: '2026-11-20T10:00:00Z', value: null }]);
    expect(heat.previous).toEqual({ note: 'no earlier reading is stored' });
  });

  it('carry disclosures as stored, and say when a reading has no tier', () => {
    const river = recordSchema.parse(bodyAt('record/hydrology.river-level/06714000.json'));
    expect([river.grade, river.provenance.qualifiers]).toEqual(['provisional', ['P']]);
    const filing = recordSchema.parse(bodyAt('record/filing.delinquency/~41~41~50~4c.json'));
    expect([filing.unverified, river.unverified]).toEqual([true, undefined]);
    expect(filing.grade).toContain('not decision-grade');
  });

  it('leave out add-ons that a reading does not carry', () => {
    expect(paths('ruler/').filter((path) => path.includes('crypto'))).toEqual([]);
    expect(paths('strata/')).toEqual(['strata/airquality.aqi/us-denver.json']);
    expect(paths('history/')).toEqual(['history/airquality.aqi/us-denver.json']);
    expect(paths('thin/calibrated/').length).toBe(paths('calibrated/').length);
  });

  it('I38: keep a hostile name inside the release', () => {
    expect(paths('record/climate-policy.lifecycle/')).toContain(
      join('record/climate-policy.lifecycle', 'x~2f..~2fy.json'),
    );
  });
});
