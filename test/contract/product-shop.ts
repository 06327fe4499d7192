import { answer } from '../../gatekeeper/answers/answers.ts';
import { proven } from '../../gatekeeper/rooms/proven.ts';
import { filingRow, filingSet, listingRow } from '../filing-rows.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { question } from '../gatekeeper/tiny-service.ts';
import {
  articleRow,
  coinRow,
  deathRow,
  legsRow,
  rosterFiles,
  serverRow,
  serviceRow,
} from '../roster-rows.ts';
import {
  AS_OF,
  compileFolder,
  ndjson,
  reading,
  type SnapshotFiles,
  writeSnapshots,
} from '../snapshot-folder.ts';

// The shop that the examples of PRODUCTS.md are bought in: a little of every product, of which nothing was observed.

/** When all examples were asked for. */
const ASKED = '2026-11-20T12:15:12Z';

/**
 * Buys in the shop, without a server and without money, under the key with this seed; `removeFolders` belongs into the
 * afterAll of the test file.
 */
export async function productShop(seed: string): Promise<(target: string) => Promise<string>> {
  const { data } = await compileFolder(writeSnapshots(productFiles()), {
    asOf: AS_OF,
    baseUrl: 'https://readings.example',
    issuerName: 'Example readings',
    seed: Buffer.from(seed, 'hex'),
  });
  const service = await compiledService(data, ASKED);
  return async (target) => {
    const asked = question(target);
    const answered = await answer(asked, service);
    if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no answer`);
    return (await proven(answered.content, asked, service)).body.toString('utf8');
  };
}

const OFFICE = [{ name: 'Official Office', weight: 1, independent: true }];

/** A reading of a day at 10:45, collected a quarter of an hour later. */
function row(entity: string, current: object, more: { readonly day?: string } & object = {}) {
  const { day = '2026-11-20', ...rest } = more;
  return reading(entity, current, {
    observed_at: `${day}T10:45:00Z`,
    collected_at: `${day}T11:00:12Z`,
    sources: OFFICE,
    source_ref: `https://official.example/${entity}`,
    ...rest,
  });
}

const RIVER = '07010000';
const STAGES = { thresholds: { action: 28, minor: 30, moderate: 35, major: 40 } };

/** Stages of two days of the season of five years, and of the day before: enough for percentiles and shares. */
function pastStages(): SnapshotFiles {
  const years = ['2021', '2022', '2023', '2024', '2025'];
  const season = years.flatMap((year, at) =>
    ['18', '20'].map((day, late) => [`${year}-11-${day}`, 12 + 4 * at + late] as const),
  );
  const files = [...season, ['2026-11-19', 13.4] as const].map(([day, stage_ft]) => [
    `${day}/hydrology.river-level.ndjson`,
    ndjson([row(RIVER, { stage_ft }, { ...STAGES, day })]),
  ]);
  return Object.fromEntries(files);
}

const OPERATING = {
  lifecycle: {
    state: 'operating',
    birth_at: '1997-12-11',
    end_at: null,
    death_type: null,
    context: null,
  },
};

const NOW: Readonly<Record<string, readonly object[]>> = {
  'hydrology.river-level': [
    row(RIVER, { stage_ft: 13.6 }, STAGES),
    row('06714000', { stage_ft: 4.1 }),
  ],
  'airquality.aqi': [row('us-denver', { aqi_index: 64, band: 'moderate' })],
  'precipitation.daily': [row('us-denver', { precip_mm: 0 })],
  'climate-policy.lifecycle': [row('kyoto-protocol', { state: 'operating' }, OPERATING)],
  'tariff-policy.lifecycle': [row('kyoto-protocol', { state: 'operating' }, OPERATING)],
};

const FIRST = '2026-11-18';
const SECOND = '2026-11-19';

/** Who stays on the second day and who goes, and a row that was imported without a hash. */
const CAPTURED = {
  'trust.service': [
    serviceRow('weather.example', FIRST),
    serviceRow('weather.example', SECOND),
    serviceRow('gone.example', FIRST),
  ],
  'mcp.server': [
    serverRow('weather-mcp', FIRST),
    serverRow('weather-mcp', SECOND),
    serverRow('gone-mcp', FIRST, { imported: true }),
  ],
  'stable.coin': [
    coinRow('large', FIRST, { market_cap_usd: 9e9 }),
    coinRow('large', SECOND, { market_cap_usd: 9e9 }),
    coinRow('wreck', FIRST, { price_in_peg: 0.97 }),
    coinRow('wreck', SECOND, { price_in_peg: 0.02 }),
  ],
  'stablecoin.death': [deathRow('ZED')],
  document: [legsRow('/gauge/taiwan-region'), articleRow('/shadow/chatter', { topic: 'energy' })],
};

/** Two annual reports, and six forms of which an answer needs a stretch. */
const FILED = [
  filingRow(1, ['10-K', '2025-02-03'], { event_time: '2024-12-31' }),
  filingRow(2, ['10-K', '2026-02-02'], { event_time: '2025-12-31' }),
  ...['03-02', '04-01', '05-04', '06-01', '07-01', '08-03'].map((day, at) =>
    filingRow(3 + at, ['4', `2026-${day}`]),
  ),
];

function productFiles(): SnapshotFiles {
  const readings = Object.entries(NOW).map(([id, rows]) => [
    `2026-11-20/${id}.ndjson`,
    ndjson(rows),
  ]);
  return {
    ...pastStages(),
    ...Object.fromEntries(readings),
    ...rosterFiles(CAPTURED),
    ...filingSet([listingRow(), ...FILED], '2026-11-20'),
  };
}
