import { bundleBody, placeLegs, thinBundle } from '../../compiler/contract/bundle.ts';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import type { SignalEntry } from '../../compiler/contract/catalog/line.ts';
import { censusBody, censusEntry, censusStatement } from '../../compiler/contract/census-body.ts';
import { keyIdOf, type Statement } from '../../compiler/contract/citation.ts';
import {
  bundleStatement,
  cityBody,
  cityStatement,
  lifecycleStatement,
  thinBundleStatement,
} from '../../compiler/contract/city-readings.ts';
import { MCP_SERVERS } from '../../compiler/contract/collections.ts';
import { defined } from '../../compiler/contract/defined.ts';
import {
  type AgedPart,
  bodyFreshness,
  type Cadence,
  freshness,
  freshnessBasis,
} from '../../compiler/contract/freshness.ts';
import { joinedProvenance } from '../../compiler/contract/joined-provenance.ts';
import { legOf } from '../../compiler/contract/leg.ts';
import { lifecycleBody } from '../../compiler/contract/lifecycle-body.ts';
import { readingStatement } from '../../compiler/contract/reading-text.ts';
import type { SignalRecord, StandardRuler } from '../../compiler/contract/record.ts';
import { hashCore } from '../../compiler/contract/record-hash.ts';
import {
  historyAddOn,
  recordAddOns,
  thinCalibrated,
  thinRecord,
} from '../../compiler/contract/record-views.ts';
import { rosterCore } from '../../compiler/contract/roster-core.ts';
import { rosterBody, rosterStatement, serverRow } from '../../compiler/contract/roster-views.ts';
import { CHAIN_ORIGIN, chainLink, SERIES_COLUMNS } from '../../compiler/contract/series.ts';
import { updateStatus } from '../../compiler/contract/update-status.ts';
import { GRADE, NATURE, SCOPE, SERVED_FROM, VALIDATION } from '../../compiler/contract/words.ts';
import { canonicalDigest } from '../../compiler/stages/seal/canonical-digest.ts';
import { issuerDid, makeSealer, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { NO_SIGNATURES } from '../../compiler/stages/seal/signature-store.ts';

/** When all examples were asked for. */
const ASKED = Date.parse('2026-11-20T12:15:12Z');
const COLLECTED = '2026-11-20T11:00:12Z';
const OBSERVED = '2026-11-20T10:45:00Z';

/** One delivered body of each product, signed with the key whose seed FORMAT.md prints; by the heading of its section. */
export function productExamples(seed: string): ReadonlyMap<string, object> {
  const key = signingKey(Buffer.from(seed, 'hex'));
  const did = issuerDid(key);
  const issuer = {
    name: 'Example readings',
    did,
    keyId: keyIdOf(did),
    baseUrl: 'https://readings.example',
  };
  const sealer = makeSealer(issuer, key, NO_SIGNATURES);
  const seal = (body: object, says: Statement): object => sealer.seal(body, says);
  const river = record('hydrology.river-level', '07010000', { stage_ft: 13.6 });
  return new Map([...aboutOne(river, seal), ...joined(river, seal), ...rosters(seal)]);
}

type Seal = (body: object, says: Statement) => object;
type Example = readonly [product: string, body: object];

const RULER: StandardRuler = {
  band: 'below-action',
  official_category: 'below action',
  thresholds: [{ band: 'action', at: 28 }],
  distance_to_action: 14.4,
  pct_to_action: 48.6,
  normalized_index: 24.3,
  unit: 'ft',
  provenance: 'official stages of this gauge',
};

/** A record with all that an add-on can repeat. */
function record(signal_id: string, entity: string, current: object): SignalRecord {
  const { signal, line } = entryOf(signal_id);
  const isRiver = signal_id === 'hydrology.river-level';
  const source = { name: 'Official Office', weight: 1, independent: true };
  const lifecycle = 'state' in current ? LIFE : null;
  const facts = {
    signal_id,
    entity,
    snapshot_date: '2026-11-20T00:00:00Z',
    observed_at: OBSERVED,
    current: current as Record<string, unknown>,
    source_ref: `https://official.example/${entity}`,
    source_tier: 'T1',
    sources: [source],
    lifecycle,
  };
  const record_hash = canonicalDigest(hashCore(facts));
  return {
    nature: NATURE,
    ...facts,
    entity_name: null,
    official_cadence: signal.cadence,
    last_looked_at: COLLECTED,
    data_age_hours: 0.3,
    previous: null,
    change: null,
    trend_7d: null,
    source_agreement_cv: null,
    standard_ruler: isRiver ? RULER : null,
    stat_ruler: isRiver ? STAT : null,
    strata: isRiver ? STRATA : null,
    decision_points: null,
    summary_zh: null,
    grade: GRADE,
    scope: SCOPE,
    record_hash_verifiable: null,
    hash_core_version: 3,
    ots_status: null,
    provenance: {
      served_from: SERVED_FROM,
      data_as_of: OBSERVED,
      oldest_leg_as_of: OBSERVED,
      data_age_hours: 0.3,
      freshness_basis: freshnessBasis(signal.cadence),
      data_lineage: [
        {
          signal: signal_id,
          independent_dimension: line.industry,
          traceable_to: source.name,
          uncertainty: 'not published by the source',
          observed_at: OBSERVED,
          record_hash,
          source_ref: facts.source_ref,
        },
      ],
      validation_status: VALIDATION,
    },
    record_hash,
  };
}

const LIFE = { state: 'operating', birth_at: null, end_at: null, death_type: null, context: null };
const STAT = { current_percentile: 0.5, frequency_label: 'usual', window_years: 5, n: 1 };
const STRATA = {
  window_years: 5,
  n: 1,
  basis: 'readings of the same season',
  shares: [{ band: 'below-action', share: 1, n: 1 }],
  current_band: 'below-action',
};

function entryOf(signal_id: string): SignalEntry {
  return defined(BUILTIN.entryById.get(signal_id), 'a built-in signal');
}

/** What an add-on is called. */
const ADD_ON: Readonly<Record<string, string>> = {
  '/gauge/ruler': 'Ruler',
  '/gauge/calibrated': 'Calibrated',
  '/gauge/strata': 'Strata',
  '/gauge/history': 'History',
};

/** What the products of one reading are. */
function aboutOne(river: SignalRecord, seal: Seal): Example[] {
  const { signal } = entryOf(river.signal_id);
  const says = (path: string, more = ''): Statement =>
    readingStatement(
      signal,
      { ...river, current: river.current ?? {}, collected_at: COLLECTED },
      { path, more },
    );
  const addOns = recordAddOns(river);
  const history = defined(historyAddOn(river, [{ percentile: 50, value: 13.6 }]), 'a history');
  const thin = defined(thinCalibrated(river), 'a ruler');
  return [
    ['Record', asked(seal(river, says('/gauge')))],
    ['Thin form of a record', seal(thinRecord(river), says('/gauge', '&format=thin'))],
    ...Object.entries({ ...addOns, '/gauge/history': history }).map(
      ([path, body]): Example => [ADD_ON[path] ?? path, asked(seal(body, says(path)))],
    ),
    ['Thin form of the calibrated add-on', seal(thin, says('/gauge/calibrated', '&format=thin'))],
    ['Series', series(river, seal)],
  ];
}

/** A series of one row. */
function series(river: SignalRecord, seal: Seal): object {
  const { nature, signal_id, entity, entity_name, observed_at, record_hash } = river;
  const { snapshot_date, current, provenance, grade, scope } = river;
  const row = { snapshot_date, observed_at, data_age_hours: 0.3, current, band: null, record_hash };
  const chain = canonicalDigest(chainLink(CHAIN_ORIGIN, row));
  const head = {
    nature,
    tier: 'history-series',
    ...{ signal_id, entity, entity_name, observed_at, record_hash },
    columns: [...SERIES_COLUMNS],
    retained: { rows: 1, from: snapshot_date, to: snapshot_date, chain, older_rows: 0 },
    note: 'one row',
    record_hash_verifiable: null,
    ...{ provenance, grade, scope },
  };
  const sealed = seal(head, {
    claim: `series of ${entryOf(signal_id).signal.measures} at ${entity}`,
    fact: `${signal_id} of ${entity}: 1 stored readings, snapshots of ${snapshot_date} to ${snapshot_date}`,
    target: `/gauge/history-series?entity=${entity}&signal_id=${signal_id}`,
    observed_at,
    retrieved_at: COLLECTED,
  });
  return asked({ ...sealed, days: 30, count: 1, before: CHAIN_ORIGIN, rows: [row] });
}

/** What joins readings. */
function joined(river: SignalRecord, seal: Seal): Example[] {
  const { signal, line } = entryOf(river.signal_id);
  const statement = {
    claim: 'c',
    fact: 'f',
    target: '/gauge',
    observed_at: OBSERVED,
    retrieved_at: COLLECTED,
  };
  const signed = (one: SignalRecord) => seal(one, statement) as SignalRecord;
  const leg = legOf(signed(river), signal);
  const entries = [censusEntry(river, leg)];
  const air = record('airquality.aqi', 'us-denver', { aqi_index: 64 });
  const reading = { record: air, leg: legOf(signed(air), entryOf(air.signal_id).signal) };
  const city = { loc: 'us-denver', readings: [reading], locs: ['us-denver'] };
  const kyoto = record('climate-policy.lifecycle', 'kyoto-protocol', { state: 'operating' });
  const lives = [legOf(signed(kyoto), entryOf(kyoto.signal_id).signal)];
  const find = (id: string) => (id === river.signal_id ? leg : undefined);
  const placed = placeLegs(line, 'us-st-louis', find).filter(
    ({ reading: one }) => one !== undefined,
  );
  const subject = { subject: river.entity, name: null, placed, subjects: [] };
  const bundle = defined(bundleBody(line, subject), 'a bundle');
  return [
    ['Census', asked(seal(censusBody(signal, entries), censusStatement(signal, entries)))],
    ['Bundle', asked(seal(bundle, bundleStatement(line, bundle, [leg])))],
    ['Thin form of a bundle', seal(thinBundle(bundle), thinBundleStatement(line, bundle, [leg]))],
    ['City', asked(seal(cityBody('air', city), cityStatement('air', city.loc, [reading])))],
    ['Life cycle', asked(seal(lifecycleBody(lives), lifecycleStatement(kyoto.entity, lives)))],
  ];
}

/** A list of one server, and what has a body of its own. */
function rosters(seal: Seal): Example[] {
  const captured = {
    server_id: 'weather-mcp',
    capture_date: '2026-11-20',
    observed_at: OBSERVED,
    status: 'active',
    source_ref: 'https://registry.example/weather-mcp',
    source_tier: 'T2',
  };
  const core = rosterCore('mcp.server', captured);
  const record_hash = canonicalDigest(core);
  const lifecycle = {
    state: 'operating',
    first_seen: '2026-11-20',
    last_seen: '2026-11-20',
    end_at: null,
  };
  const server = { ...captured, name: null, missing_streak: 0, lifecycle, record_hash };
  const part = partOf('mcp.server', 'mcp-servers', {
    record_hash,
    source_ref: captured.source_ref,
  });
  const row = {
    ...part,
    shown: serverRow(server),
    core,
    record_hash,
    collected_at: COLLECTED,
    grade: GRADE,
    scope: SCOPE,
  };
  const [{ path: target, claim, member }] = MCP_SERVERS.lists;
  const listed = (verifiable: boolean): object => {
    const query = verifiable ? '?verifiable=1' : '';
    const about = { member, claim: claim('2026-11-20'), target: target + query };
    return asked(seal(rosterBody(member, [row], verifiable), rosterStatement(about, [row])));
  };
  const alone = {
    nature: NATURE,
    ...server,
    data_age_hours: 0.3,
    hash_core_version: 3,
    unavailable_fields: ['stars'],
    unavailable_reason: 'not stored',
    source_note: 'captured on 2026-11-20 by Official Office',
    provenance: joinedProvenance([part], {}),
    grade: GRADE,
    scope: SCOPE,
  };
  const says = {
    claim: 'registry record of the MCP server weather-mcp',
    fact: 'weather-mcp as captured on 2026-11-20: status active',
    target: '/mcp/server?name=weather-mcp',
    observed_at: OBSERVED,
    retrieved_at: COLLECTED,
  };
  return [
    ['Subject', asked(seal(alone, says))],
    ['Roster', listed(false)],
    ['Roster with pre-images', listed(true)],
    ['Document', article(seal)],
  ];
}

function partOf(
  signal: string,
  dimension: string,
  of: { record_hash: string; source_ref: string },
) {
  return {
    cadence: 'daily' as const,
    observed_at: OBSERVED,
    data_age_hours: 0.3,
    validation_status: null,
    lineage: {
      signal,
      independent_dimension: dimension,
      traceable_to: 'Official Office',
      uncertainty: 'not published by the source',
      observed_at: OBSERVED,
      ...of,
    },
  };
}

/** A document of a text and rows. */
function article(seal: Seal): object {
  const facts = {
    operation: '/shadow/chatter',
    params: { topic: 'energy' },
    title: 'Chatter on energy',
    text: null,
    rows: [{ word: 'oil', count: 2 }],
    observed_at: OBSERVED,
    source_ref: 'https://official.example/energy',
    source_tier: 'T1',
  };
  const record_hash = canonicalDigest(rosterCore('document', facts));
  const { rows, observed_at, source_ref } = facts;
  const part = partOf('document', facts.operation, { record_hash, source_ref });
  const body = {
    nature: NATURE,
    ...facts,
    count: rows.length,
    data_age_hours: 0.3,
    record_hash,
    hash_core_version: 3,
    record_hash_verifiable: { mode: 'offline', note: 'of the whole body' },
    provenance: joinedProvenance([part], {}),
    grade: GRADE,
    scope: SCOPE,
  };
  const target = '/shadow/chatter?topic=energy';
  return asked(
    seal(body, {
      claim: `${facts.title}, as stored for ${target}`,
      fact: `1 rows, observed at ${observed_at}`,
      target,
      observed_at,
      retrieved_at: COLLECTED,
    }),
  );
}

interface Stored {
  readonly provenance: { readonly freshness_basis: string; readonly oldest_leg_as_of: string };
  readonly legs?: Readonly<
    Record<string, { readonly freshness_basis: string; readonly observed_at: string }>
  >;
  readonly readings?: readonly (SignalRecord & Stored)[];
  readonly last_looked_at?: string;
}

/** A stored body with its members of request time. */
function asked(stored: object): object {
  const body = stored as Stored & SignalRecord;
  const { provenance, legs, readings, last_looked_at } = body;
  const own = { cadence: cadenceIn(provenance), observed_at: provenance.oldest_leg_as_of };
  const parts: AgedPart[] = [
    ...Object.entries(legs ?? {}).map(([name, leg]) => {
      return { name, cadence: cadenceIn(leg), observed_at: leg.observed_at };
    }),
    ...(readings ?? []).map((one) => {
      return { name: one.signal_id, cadence: one.official_cadence, observed_at: one.observed_at };
    }),
  ];
  return {
    ...body,
    ...(legs === undefined ? {} : { legs: mapped(legs) }),
    ...(readings === undefined ? {} : { readings: readings.map(asked) }),
    ...(last_looked_at === undefined ? {} : { update_status: updateStatus(body, ASKED) }),
    provenance: { ...provenance, ...bodyFreshness(own, parts, ASKED) },
  };
}

function mapped(legs: NonNullable<Stored['legs']>): object {
  const entries = Object.entries(legs).map(([name, leg]) => {
    const { freshness: word } = freshness(cadenceIn(leg), leg.observed_at, ASKED);
    return [name, { ...leg, freshness: word }];
  });
  return Object.fromEntries(entries);
}

function cadenceIn({ freshness_basis }: { readonly freshness_basis: string }): Cadence {
  return defined(/^cadence=([a-z-]+);/.exec(freshness_basis)?.[1], 'a cadence') as Cadence;
}
