import { BUILTIN, builtinLine, LINES } from '../../compiler/catalog/builtin.ts';
import { placesOf } from '../../compiler/catalog/catalog.ts';
import { defined } from '../../compiler/format/errors.ts';
import { isoTime } from '../../compiler/format/iso-time.ts';
import type { Line, Signal } from '../../compiler/products/shapes/line.ts';
import { sampleRosterFiles } from './sample-rosters.ts';
import type { SampleBatches, SampleReading } from './sample-signals.ts';
import {
  type Moment,
  recentMoments,
  SAMPLE_AS_OF,
  seasonMoments,
  weekCollectedAt,
} from './sample-times.ts';
import { lifecycleReading, sampleThresholds, sampleValues } from './sample-values.ts';

/** How every file of the sample says that nothing of it was observed. */
export const SAMPLE_LABEL = 'sample data: generated, not observed';
const HEADER = {
  sources: [
    { name: 'Signalpress sample generator', weight: 1, role: 'generated', independent: true },
  ],
  source_ref: null,
  source_tier: null,
  grade: SAMPLE_LABEL,
  scope: `${SAMPLE_LABEL}; bands without an official scale are ours`,
  validation_status: SAMPLE_LABEL,
  uncertainty: 'none stated: generated values',
};

export function sampleFiles({
  hour,
  isKeyed = false,
}: {
  /** The whole hour at which it ends, as ISO-8601 UTC; one hour always gives the same bytes. */
  hour: string;
  /** With the lines whose source needs a data key, as if an operator had one. */
  isKeyed?: boolean;
}): Map<string, string> {
  const files = new Map<string, string>();
  for (const row of LINES) {
    if (row.emptyUntilKeyed === true && !isKeyed) continue;
    for (const signal of row.signals) {
      for (const [batch, readings] of batchesOf(row, signal, hour)) {
        // One header line, then one reading a line; the collection time of most lines goes into the header.
        const collected_at = readings[0]?.collected_at;
        const header = { header: { collected_at, ...HEADER } };
        const lines = readings.map((item) => {
          const { collected_at: own, ...rest } = item;
          return own === collected_at ? rest : item;
        });
        files.set(
          `${batch}/${signal.id}.ndjson`,
          `${[header, ...lines].map((line) => JSON.stringify(line)).join('\n')}\n`,
        );
      }
    }
  }
  files.set(...sampleFilings(hour));
  for (const [path, text] of sampleRosterFiles(HEADER, hour)) files.set(path, text);
  return files;
}

/** The entities that the sample covers for one signal: gauges for rivers, else the line's list. */
export function sampleEntities(row: Line, signal: Signal): readonly string[] {
  const map = row.entityOf?.[signal.id];
  return map === undefined ? row.entities : row.entities.map((entity) => map[entity] ?? entity);
}

function batchesOf(row: Line, signal: Signal, hour: string): SampleBatches {
  const batches: SampleBatches = new Map();
  const recent = recentMoments(signal.cadence, hour);
  const moments = isSeasonal(signal) ? [...seasonMoments(signal.cadence, hour), ...recent] : recent;
  for (const moment of moments) {
    const batch = moment.collectedAt.slice(0, 10);
    const readings = sampleEntities(row, signal).map((entity) =>
      reading(row, signal, { entity, hour, moment }),
    );
    batches.set(batch, [...(batches.get(batch) ?? []), ...readings]);
  }
  SAMPLE_EXCEPTIONS[signal.id]?.(batches);
  return batches;
}

/** Same-season years are needed wherever a percentile or a share of bands is derived. */
export function isSeasonal(signal: Signal): boolean {
  return signal.seasonal === true;
}

function reading(
  row: Line,
  signal: Signal,
  { entity, hour, moment }: { entity: string; hour: string; moment: Moment },
): SampleReading {
  const thresholds = sampleThresholds(signal, entity);
  const time = moment.observedAt;
  const facts =
    row.states === undefined
      ? { current: sampleValues(signal, { entity, time }) }
      : lifecycleReading(row, signal, { entity, time, hour });
  return {
    entity,
    entity_name: sampleName(row, entity),
    observed_at: time,
    collected_at: moment.collectedAt,
    ...facts,
    ...(thresholds === null ? {} : { thresholds }),
  };
}

/** Names nobody without saying that it is a sample: many ids are those of places, companies and prices that exist. */
function sampleName(row: Line, entity: string): string {
  const name = /^sample-(.*)$/.exec(entity)?.[1];
  if (name !== undefined) return `Sample: ${titled(name)}`;
  return `Sample values for ${placesOf(BUILTIN, row.id).get(entity)?.name ?? entity}`;
}

function titled(id: string): string {
  return id
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
}

/** A batch by its place from the newest one, which is 0. Throws where there are not that many. */
function batchAgo(batches: SampleBatches, ago: number): string {
  const batch = [...batches.keys()].sort().at(-1 - ago);
  if (batch !== undefined) return batch;
  throw new RangeError(`Cannot edit the sample: it has no batch ${ago} before the newest one`);
}

/** Rewrites the readings of one entity in one batch; null drops the reading. Throws where there is none to rewrite. */
function edit(
  batches: SampleBatches,
  at: { batch: string; entity: string },
  change: (reading: SampleReading) => SampleReading | null,
): void {
  const readings = batches.get(at.batch) ?? [];
  if (readings.every(({ entity }) => entity !== at.entity)) {
    throw new RangeError(`Cannot edit the sample: batch "${at.batch}" holds no "${at.entity}"`);
  }
  const changed = readings.flatMap((item) => {
    const kept = item.entity === at.entity ? change(item) : item;
    return kept === null ? [] : [kept];
  });
  batches.set(at.batch, changed);
}

function withCurrent(reading: SampleReading, values: Record<string, unknown>): SampleReading {
  return { ...reading, current: { ...reading.current, ...values } };
}

/** Tells the reading of the day before again in the newest batch, with `values` changed. */
function again(batches: SampleBatches, entity: string, values: Record<string, unknown>): void {
  const before = batchAgo(batches, 1);
  const old = batches.get(before)?.find((item) => item.entity === entity);
  const newest = batches.get(batchAgo(batches, 0));
  const collected_at = newest?.[0]?.collected_at;
  if (old === undefined || newest === undefined || collected_at === undefined) {
    throw new RangeError(`Cannot repeat the reading of "${entity}": none in batch "${before}"`);
  }
  newest.push(withCurrent({ ...old, collected_at }, values));
}

/** Cases that a compile has to handle and an even sample would not hold, by signal. */
const SAMPLE_EXCEPTIONS: Readonly<Record<string, (batches: SampleBatches) => void>> = {
  // a revision: the stage of the day before comes again, one tenth higher
  'hydrology.river-level': (batches) => {
    const before = batches.get(batchAgo(batches, 1));
    const old = before?.find((item) => item.entity === '07010000');
    const stage = Number(old?.current.stage_ft);
    again(batches, '07010000', { stage_ft: Math.round(stage * 100 + 10) / 100 });
  },
  // a repeat: the same reading collected twice
  'airquality.aqi': (batches) => again(batches, 'us-memphis', {}),
  // a stale leg: nothing new for four days
  'airquality.pm25': (batches) => {
    const firstBatch = batchAgo(batches, 3);
    for (const batch of batches.keys()) {
      if (batch >= firstBatch) edit(batches, { batch, entity: 'us-denver' }, () => null);
    }
  },
  // a metric that the reading before did not have
  'nas.aviation_wx': (batches) =>
    edit(batches, { batch: batchAgo(batches, 1), entity: 'sdf' }, (item) => {
      const { wind_kt: _absent, ...current } = item.current;
      return { ...item, current };
    }),
  // closed lanes: no waiting time is null, not 0
  'border-wait.lane-wait': (batches) =>
    edit(batches, { batch: batchAgo(batches, 0), entity: 'laredo-bridge1' }, (item) =>
      withCurrent(item, { wait_standard_min: null, lanes_open_count: 0, status: 'Lanes Closed' }),
    ),
  // two independent sources that nearly agree
  'crypto.spot': (batches) => {
    for (const readings of batches.values()) {
      for (const [index, item] of readings.entries()) readings[index] = withTwoSources(item);
    }
  },
};

function withTwoSources(item: SampleReading): SampleReading {
  const price = Number(item.current.price_usd);
  const values = [price, Math.round(price * 1001) / 1000];
  const sources = values.map((value, index) => ({
    name: `Signalpress sample generator ${index + 1}`,
    value,
    weight: 0.5,
    role: 'generated',
    independent: true,
  }));
  return { ...item, sources };
}

/** Signals and collections that a reader of `snapshots/` finds there: one of each shape. */
const SHOWN = [
  'agriculture.drought',
  'ai-tool.lifecycle',
  'airquality.aqi',
  'border-wait.lane-wait',
  'climate-policy.lifecycle',
  'crypto.spot',
  'document',
  'earthquake.current_activity',
  'energy.gas-price',
  'filing.submission',
  'hydrology.river-level',
  'macro.unemployment',
  'mcp.server',
  'stable.coin',
  'stablecoin.death',
  'trust.service',
];
/** Batches of a file that are shown: enough for a change, a revision and a repeat. */
const BATCHES = 2;

/** The part of the sample that stands in `snapshots/`: the newest files of some signals. They compile as they are. */
export function excerptOf(files: ReadonlyMap<string, string>): Map<string, string> {
  const paths = SHOWN.flatMap((id) => {
    const own = [...files.keys()].filter((path) => path.endsWith(`/${id}.ndjson`));
    if (own.length === 0) throw new RangeError(`Cannot show "${id}": no such file in the sample`);
    return own.sort().slice(-BATCHES);
  });
  return new Map(paths.sort().map((path) => [path, defined(files.get(path), 'the file')]));
}

const TICKERS = builtinLine('filing').entities;

/** Until when the lists below tell; later they move on by whole quarters. */
const FILED_UNTIL = SAMPLE_AS_OF.slice(0, 10);

type Filing = readonly [form: string, day: string, event: string | null, items?: string];

/** What every sample filer filed; times of acceptance follow from the place in this list. */
const EVERYBODY: readonly Filing[] = [
  ['10-Q', '2025-11-05', '2025-09-30'],
  ['10-K', '2026-02-12', '2025-12-31'],
  ['8-K', '2026-04-21', '2026-04-21', '2.02,9.01'],
  ['10-Q', '2026-05-06', '2026-03-31'],
  ['8-K', '2026-06-11', '2026-06-09', '5.02'],
  ['10-Q', '2026-08-05', '2026-06-30'],
  ['4', '2026-09-03', '2026-09-01'],
  ['10-Q', '2026-11-04', '2026-09-30'],
];

/** Cases that an even sample would not hold, by ticker. */
const EXCEPTIONS: Readonly<Record<string, readonly Filing[]>> = {
  // an amendment beside its original
  BA: [['10-K/A', '2026-04-30', '2025-12-31']],
  // two filings of one form on one day
  NVDA: [['4', '2026-09-03', '2026-09-02']],
  // a notice of late filing
  AMC: [['NT 10-K', '2026-03-02', '2025-12-31']],
  // a form under its new name
  GME: [['SCHEDULE 13D', '2026-01-20', '2026-01-15']],
};

/** Path and text of the filings of the sample. */
export function sampleFilings(hour: string): readonly [path: string, text: string] {
  const collected_at = weekCollectedAt(hour);
  const origin = { source: 'sample-generator', source_tier: null, grade: SAMPLE_LABEL };
  const header = { collected_at, ...origin };
  let quarters = 0;
  while (monthsLater(FILED_UNTIL, quarters * 3 + 3) <= hour.slice(0, 10)) quarters += 1;
  const months = quarters * 3;
  const later: LaterQuarter = (day) => monthsLater(day, months);
  const rows = TICKERS.flatMap((ticker, at) => {
    // Numbers that the regulator has not given to anybody.
    const cik = String(9_900_000_001 + at);
    const listing = { kind: 'listing', cik, name: `Sample filer ${ticker}`, tickers: [ticker] };
    const filed = [...EVERYBODY, ...(EXCEPTIONS[ticker] ?? [])];
    const filings = filed.map((filing) => moved(filing, later));
    return [
      { ...listing, from: null, pages: [], source_ref: null },
      ...filings.map((filing, number) => filingRow(cik, filing, number)),
      ...(ticker === 'CVNA' ? [otherListing(cik, later)] : []),
    ];
  });
  const text = [{ header }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
  return [`${collected_at.slice(0, 10)}/filing.submission.ndjson`, text];
}

/** Moves a day of the lists to its place in this sample. */
type LaterQuarter = (day: string) => string;

/** The same day some months later; the end of a month stays one. */
function monthsLater(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const lastOf = (monthIndex: number) => new Date(Date.UTC(year, monthIndex + 1, 0)).getUTCDate();
  const isLast = date === lastOf(month - 1);
  const last = lastOf(month - 1 + months);
  const moved = Date.UTC(year, month - 1 + months, isLast ? last : Math.min(date, last));
  return isoTime(moved).slice(0, 10);
}

function moved([form, day, event, items]: Filing, later: LaterQuarter): Filing {
  const days = [later(day), event === null ? null : later(event)] as const;
  return items === undefined ? [form, ...days] : [form, ...days, items];
}

function filingRow(cik: string, [form, day, event_time, items = '']: Filing, number: number) {
  return {
    kind: 'filing',
    cik,
    accession: `${cik}-26-${String(number + 1).padStart(6, '0')}`,
    form,
    items: items.split(',').filter((item) => item !== ''),
    event_time,
    filing_date: day,
    disclosure_time: `${day}T${String(13 + (number % 8)).padStart(2, '0')}:05:00Z`,
    acceptance_basis: 'utc',
    source_ref: null,
  };
}

/** A second source that tells another day of the annual report. */
function otherListing(cik: string, later: LaterQuarter): object {
  const row = filingRow(cik, moved(['10-K', '2026-02-13', '2025-12-31'], later), 1);
  return { ...row, source: 'sample-second-source' };
}
