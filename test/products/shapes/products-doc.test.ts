import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { bodyOfText } from '../../../compiler/products/shapes/series-csv.ts';
import { withDemands } from '../../../compiler/verify/demand-checks.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { filingRow, filingSet, listingRow } from '../../filing-rows.ts';
import { compiledService, question } from '../../gatekeeper/tiny-service.ts';
import {
  articleRow,
  coinRow,
  deathRow,
  legsRow,
  rosterFiles,
  serverRow,
  serviceRow,
} from '../../roster-rows.ts';
import {
  AS_OF,
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';

/** A request of the shop of the examples, with what it is answered. */
interface Example {
  readonly target: string;
  readonly answer: string;
}

const HEAD = `# Products: every operation, its file, its citation, an example to the byte

A test writes this document from the table of operations and from a small shop (\`vitest --update\`). FORMAT.md says how a body is
verified, AUDIT.md what it is made of. The examples are signed by the key of FORMAT.md, section 10, asked for at 2026-11-20T12:15:12Z
with \`proof=0\`, and stand without a line end (a CSV with LF in place of CR LF).
`;

/** What no other document says of them; `test/golden/products` works them out by it in Python. */
const FIGURES = `## Figures

Numbers are exact decimals, rounded with halves away from zero.

- **Class**: the worst one whose start the value reaches. A value on a start is in the worse or the milder class, as the \`edge\` of
  the scale says; on an entity's own threshold in the worse one. Before the first own threshold lies a class \`below-\` of its name.
- \`distance_to_action\`: from the value to the start of the action class, negative beyond it. \`pct_to_action\`: the value in percent
  of that start, on a scale that falls the start in percent of the value; one decimal.
- \`normalized_index\`: 100 times the number of milder classes plus the share of its own class that is passed (0 to 1), divided by the
  number of classes; one decimal. The last class is as wide as the one before it. A first class without a start begins at 0, or at a
  value below 0.
- \`change\`: the newest reading less the one before; \`period\` is the ISO 8601 duration from one to the other.
- **Season**: the readings within 15 days of the same calendar day in each of the five years before. With fewer than 10 there are no
  statistics. \`window_years\` counts the years that have one. A percentile is the share of them below the value, with half of the
  equal ones; three decimals. It is called "much below normal" below 0.1, "below normal" below 0.25, "normal" up to 0.75, "above
  normal" up to 0.9, and "much above normal". \`percentile_table\` names the value of the rank, from the smallest, that is P % of
  \`n\`, rounded up. A \`share\` of a class has three decimals.
- \`source_agreement_cv\`: standard deviation over mean of the sources that are independent, relay nobody and give a value, all at one
  \`as_of\`; four decimals, null for fewer than two.
- \`leg_availability.available\`: legs with a reading, also an old one. The \`provenance\` of a life cycle is that of its first record.
- **State of a stablecoin**: \`dead\` or \`absent\` (AUDIT.md, membership), else \`missing\` from the first capture day without it, else
  \`at_risk\` while it is depegged. \`terminated\` is true of a dead one alone. \`lifespan_days\` of a graveyard are those from
  \`first_seen\` to \`last_seen\`, unless its source states them.
`;

/** PRODUCTS.md, as the catalogue and the answers make it. */
function productsText({ operations }: Catalog, examples: readonly Example[]): string {
  const sections = operations.map((row) => {
    const own = examples.filter(({ target }) => target.split('?', 1)[0] === row.path);
    return [`## \`${row.path}\``, rowText(row), ...own.map(exampleText)].join('\n\n');
  });
  return `${[HEAD.trimEnd(), FIGURES.trimEnd(), ...sections].join('\n\n')}\n`;
}

function rowText({ method, priceUsd, token, file, summary, params }: Endpoint): string {
  const price = token ? 'with a token' : priceUsd === null ? 'free' : 'paid';
  const place = file === undefined ? 'computed at the request' : `file \`${file}\``;
  const rows = Object.entries(params).map(([name, { required, description, default: given }]) => {
    const need = required ? 'required' : given === undefined ? 'optional' : `default \`${given}\``;
    return `- \`${name}\` (${need}): ${description}`;
  });
  return [
    `${method}, ${price}, ${place}. ${summary}`,
    ...(rows.length > 0 ? ['', ...rows] : []),
  ].join('\n');
}

function exampleText({ target, answer }: Example): string {
  const kind = answer.startsWith('#') ? 'csv' : 'json';
  return `**Example: \`${target}\`**\n${citedText(answer)}\`\`\`${kind}\n${answer.replaceAll('\r\n', '\n')}\n\`\`\``;
}

/** What its citation states, in the words that a list of products is searched for. */
function citedText(answer: string): string {
  const [, claim, fact] =
    /"claim":("(?:[^"\\]|\\.)*"),"fact":("(?:[^"\\]|\\.)*")/.exec(answer) ?? [];
  return claim === undefined || fact === undefined
    ? ''
    : `Its citation: ${JSON.parse(claim)}; ${JSON.parse(fact)}.\n`;
}

const contract = new URL('../../../compiler/format/', import.meta.url);
const PRODUCTS = fileURLToPath(new URL('PRODUCTS.md', contract));
const FORMAT = readFileSync(new URL('FORMAT.md', contract), 'utf8');

const did = /`(did:key:z6\w+)`/.exec(FORMAT)?.[1] ?? '';
const seed = /\(seed `([0-9a-f]{64})`/.exec(FORMAT)?.[1] ?? '';
const TARGETS = [
  '/gauge?entity=07010000&proof=0&signal_id=hydrology.river-level',
  '/gauge/ruler?entity=07010000&proof=0&signal_id=hydrology.river-level',
  '/gauge/calibrated?entity=07010000&proof=0&signal_id=hydrology.river-level',
  '/gauge/strata?entity=07010000&proof=0&signal_id=hydrology.river-level',
  '/gauge/history?entity=07010000&proof=0&signal_id=hydrology.river-level',
  '/gauge?entity=07010000&format=thin&proof=0&signal_id=hydrology.river-level',
  '/gauge/calibrated?entity=07010000&format=thin&proof=0&signal_id=hydrology.river-level',
  '/gauge/history-series?days=2&entity=07010000&proof=0&signal_id=hydrology.river-level',
  '/gauge/history-series?days=2&entity=07010000&proof=0&signal_id=hydrology.river-level&verifiable=1',
  '/gauge/history-series?days=2&entity=07010000&format=csv-signed&proof=0&signal_id=hydrology.river-level',
  '/gauge/census?proof=0&signal_id=hydrology.river-level',
  '/gauge/region?loc=us-denver&proof=0',
  '/gauge/region?format=thin&loc=us-denver&proof=0',
  '/gauge/air?loc=us-denver&proof=0',
  '/gauge/lifecycle?entity=kyoto-protocol&proof=0',
  '/trust/precheck?proof=0&service=weather-example',
  '/mcp/server?name=weather-mcp&proof=0',
  '/stable/coin?proof=0&symbol=LARGE',
  '/trust/scorecard?proof=0',
  '/trust/graveyard?proof=0',
  '/mcp/census?proof=0',
  '/mcp/census?proof=0&verifiable=1',
  '/mcp/graveyard?proof=0&verifiable=1',
  '/stable/census?proof=0',
  '/stable/graveyard?proof=0',
  '/stablecoin-deaths?proof=0',
  '/shadow/chatter?proof=0&topic=energy',
  '/gauge/taiwan-region?proof=0',
  '/resolve?cutoff=2026-03-31&entity=EXMP&form=10-K&proof=0',
  '/resolve/proposer?cutoff=2026-05-15T12%3A00%3A00Z&entity=EXMP&form=4&proof=0',
];

/** The verdict on a body that must answer a request. */
function judged(text: string, expect: string): string {
  const body = bodyOfText(text);
  const demands = { expect: `GET ${expect}`, catalog: BUILTIN };
  return withDemands(verifyBody(body, { trust: [did] }), body, demands).verdict;
}

describe('PRODUCTS.md', () => {
  const answers = new Map<string, string>();
  beforeAll(async () => {
    const ask = await productShop(seed);
    for (const target of TARGETS) answers.set(target, await ask(target));
  });
  afterAll(removeFolders);

  it('is what the table and the shop give; vitest writes it with --update', async () => {
    const examples = [...answers].map(([target, answer]) => ({ target, answer }));
    await expect(productsText(BUILTIN, examples)).toMatchFileSnapshot(PRODUCTS);
  });

  it.each(TARGETS)(
    'has an answer that verifies for %s, and not for another request or year',
    (target) => {
      const line = answers.get(target) ?? '';
      expect(judged(line, target)).toBe('verified');
      expect(judged(line, '/gauge?entity=06714000&signal_id=hydrology.river-level')).toBe('failed');
      expect(judged(line.replace('2026', '2027'), target)).toBe('failed');
    },
  );
});

// The shop that the examples of PRODUCTS.md are bought in: a little of every product, of which nothing was observed.

/** When all examples were asked for. */
const ASKED = '2026-11-20T12:15:12Z';

/**
 * Buys in the shop, without a server and without money, under the key with this seed; `removeFolders` belongs into the
 * afterAll of the test file.
 */
async function productShop(seed: string): Promise<(target: string) => Promise<string>> {
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
