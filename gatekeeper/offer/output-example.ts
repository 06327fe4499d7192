import {
  type DocumentForm,
  documentForm,
  isDocument,
} from '../../compiler/contract/document-bodies.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import {
  LINES,
  type Line,
  legEntity,
  legMember,
  type Signal,
  signalOf,
} from '../../compiler/contract/lines.ts';
import { SETTLEMENT_NATURE } from '../../compiler/contract/resolve-bodies.ts';

type Example = Readonly<Record<string, unknown>>;

const HASH = `sha256:${'0'.repeat(64)}`;
const OBSERVED_AT = '2026-11-20T10:45:00Z';
const SNAPSHOT_DATE = '2026-11-20T00:00:00Z';

const pair: Example = { signal_id: 'airquality.aqi', entity: 'us-denver' };
const sealed: Example = { observed_at: OBSERVED_AT, record_hash: HASH };
const reading: Example = { ...pair, current: { aqi_index: 42, band: 'good' }, ...sealed };
const counted: Example = { count: 1, observed_at: OBSERVED_AT };
const filing: Example = {
  filed_by_cutoff: true,
  disclosure_time: OBSERVED_AT,
  event_time: null,
  cutoff_time: OBSERVED_AT,
};

/** A few fields of the body by the folder of the file that answers: real names and types, invented values. */
const BY_FOLDER: Readonly<Record<string, Example>> = {
  record: { ...reading, snapshot_date: SNAPSHOT_DATE, hash_core_version: 3 },
  ruler: { dim: 'ruler', ...pair, ruler: { band: 'good', distance_to_action: 59 }, ...sealed },
  calibrated: { dim: 'calibrated', calibrated: { normalized_index: 0.42, pct_to_action: 42 } },
  strata: { dim: 'strata', strata: { window_years: 5, current_band: 'good' } },
  history: { dim: 'history', history: { seasonal_percentile: 0.61, window_years: 5 } },
  series: {
    ...pair,
    count: 1,
    rows: [{ snapshot_date: SNAPSHOT_DATE, current: { aqi_index: 42 }, band: 'good', ...sealed }],
  },
  census: { signal_id: 'airquality.aqi', ...counted, rows: [{ entity: 'us-denver', ...sealed }] },
  lifecycle: { entity: 'kyoto-protocol', lifecycle: { state: 'operating', end_at: null } },
  air: { addon: 'air', location: 'us-denver', readings: [reading] },
  precip: {
    addon: 'precip',
    location: 'us-denver',
    readings: [{ signal_id: 'precipitation.daily', ...sealed }],
  },
  roster: { ...counted, rows: [{ record_hash: HASH }] },
};

/** The two forms of a document; what its legs are called, only the document knows. */
const BY_FORM: Readonly<Record<DocumentForm, Example>> = {
  legs: { title: 'a chain', name: null, legs: {}, cross_line_narrative: 'legs in order' },
  article: { title: 'a document', rows: [{ item: 'a row' }], hash_core_version: 3, ...sealed },
};
const subject: Example = { capture_date: '2026-11-20', hash_core_version: 3, ...sealed };

const BY_ANSWER: Readonly<Record<string, Example>> = {
  resolve: {
    nature: SETTLEMENT_NATURE,
    resolution_status: 'resolved',
    ...filing,
    candidate_sources: [],
  },
  mint: { token: 'TOKEN', plan: 'watchlist', expires_at: '2026-12-20T00:00:00Z', days: 30 },
};

const BY_PATH: Readonly<Record<string, Example>> = {
  '/stablecoin-deaths': { ...counted, records: [{ symbol: 'USDX', record_hash: HASH }] },
  '/trust/precheck': {
    ...subject,
    service_id: 'weather-sample-example',
    score_total: 12.5,
    demand_class: 'REAL',
    model: 'demand-v1',
    hash_core_version: '3',
  },
  '/mcp/server': { ...subject, server_id: 'sample-weather-mcp', status: 'active' },
  '/stable/coin': {
    ...subject,
    coin_id: 'sample-dollar',
    current: { price_in_peg: 1, market_cap_usd: 42000, peg: 'USD' },
  },
  '/resolve/proposer': {
    nature: SETTLEMENT_NATURE,
    answer: true,
    confidence: 1,
    timestamp: OBSERVED_AT,
    evidence_url: null,
  },
};

/** An object with main fields of an operation's 200 body, for its challenge; never empty. */
export function outputExample(endpoint: Endpoint): Example {
  const example = graveyard(endpoint) ?? ownExample(endpoint) ?? bundle(endpoint);
  const found = example ?? BY_ANSWER[endpoint.answer] ?? BY_FOLDER[folderOf(endpoint)];
  if (found === undefined) {
    throw new RangeError(`Cannot describe the output of "${endpoint.path}": no example; add one`);
  }
  return endpoint.answer === 'mint' ? found : { nature: 'published facts, no advice', ...found };
}

function folderOf({ file }: Endpoint): string {
  return file?.split('/')[0] ?? '';
}

function graveyard({ path }: Endpoint): Example | undefined {
  return path.endsWith('/graveyard') ? { ...counted, deaths: [{ record_hash: HASH }] } : undefined;
}

function ownExample(endpoint: Endpoint): Example | undefined {
  const own = BY_PATH[endpoint.path];
  return own ?? (isDocument(endpoint) ? BY_FORM[documentForm(endpoint)] : undefined);
}

/** The first leg of the line that a bundle joins. */
function bundle({ path }: Endpoint): Example | undefined {
  const line = (LINES as readonly Line[]).find((row) => row.bundle?.path === path);
  const leg = line?.bundle?.legs[0];
  const [signalId = ''] = leg?.signals ?? [];
  const signal = signalOf(signalId);
  if (line === undefined || leg === undefined || signal === undefined) return undefined;
  const entity = legEntity(line, signalId, line.entities[0] ?? '');
  const band = signal.bands?.[0] ?? null;
  const current = { [signal.metrics[0]]: exampleValue(line, signal) };
  const read = { signal_id: signalId, entity, current, band };
  return {
    name: null,
    legs: { [legMember(signalId)]: { leg: leg.name, position: 1, ...read, ...sealed } },
    cross_line_narrative: 'the legs in causal order',
  };
}

/** Metrics are figures, but the state of a subject, which is a word of its line. */
function exampleValue({ states }: Line, { metrics: [main] }: Signal): string | number {
  return main === 'state' ? (states?.[0] ?? '') : 42;
}
