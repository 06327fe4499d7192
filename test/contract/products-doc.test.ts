import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { isDocument } from '../../compiler/contract/document-bodies.ts';
import { bodyOfText } from '../../compiler/contract/series-csv.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { withDemands } from '../../compiler/verify/demand-checks.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { answer } from '../../gatekeeper/answers/answers.ts';
import { proven } from '../../gatekeeper/rooms/proven.ts';
import { filingRow, filingSet, listingRow } from '../filing-rows.ts';
import { compiledService, question } from '../gatekeeper/tiny-service.ts';
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
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../verify/python-judge.ts';

const contract = new URL('../../compiler/contract/', import.meta.url);
const PRODUCTS = fileURLToPath(new URL('PRODUCTS.md', contract));
const TEXT = readFileSync(PRODUCTS, 'utf8');
const FORMAT = readFileSync(new URL('FORMAT.md', contract), 'utf8');
/** The table of paths and what every product is, without the examples. */
const WORDS_MAX = 3700;

const did = /`(did:key:\w+)`/.exec(FORMAT)?.[1] ?? '';
const seed = /Its seed is\s+`([0-9a-f]{64})`/.exec(FORMAT)?.[1] ?? '';
/** A request and its answer, which has lines where a series has rows. */
const EXAMPLE = /^(\*\*Example: .+\.\*\* `(\/.+)`\n```json\n)([\s\S]*?)\n```$/gm;
const printed = [...TEXT.matchAll(EXAMPLE)].map(([, , target = '', line = '']) => ({
  target,
  line,
}));
/** The verdict on a body that must answer a request. */
function judged(text: string, expect: string): string {
  const body = parseJson(text);
  const demands = { expect: `GET ${expect}`, catalog: BUILTIN };
  return withDemands(verifyBody(body, { trust: [did] }), body, demands).verdict;
}

describe('PRODUCTS.md', () => {
  let ask: Awaited<ReturnType<typeof productShop>>;
  beforeAll(async () => {
    ask = await productShop(seed);
  });
  afterAll(removeFolders);

  it('shows what each request of an example is answered with, to the byte; vitest writes it with --update', async () => {
    const answers = new Map<string, string>();
    for (const { target } of printed) answers.set(target, await ask(target));
    const made = TEXT.replace(
      EXAMPLE,
      (_, head, target) => `${head}${answers.get(target)}\n\`\`\``,
    );
    expect(answers.size).toBe(TEXT.split('**Example: ').length - 1);
    await expect(made).toMatchFileSnapshot(PRODUCTS);
  });

  it('shows a series as signed CSV, to the byte, that verifies', async () => {
    const path = fileURLToPath(new URL('SERIES-CSV.md', contract));
    const text = readFileSync(path, 'utf8');
    const [, target = '', , lines = ''] =
      /`(\/\S+csv-signed\S+)`([\s\S]+?)```csv\n([\s\S]*?)```/.exec(text) ?? [];
    const sold = await ask(target);
    const made = text.replace(`csv\n${lines}`, () => `csv\n${sold.replaceAll('\r\n', '\n')}`);
    await expect(made).toMatchFileSnapshot(path);
    const verdict = (table: string) => verifyBody(bodyOfText(table), { trust: [did] }).verdict;
    expect(verdict(lines.replaceAll('\n', '\r\n'))).toBe('verified');
    expect(verdict(lines.replaceAll('\n', '\r\n').replace('13.4', '13.5'))).toBe('failed');
  });

  it.each(printed)(
    'has an answer that verifies for $target, and not for another request or year',
    ({ target, line }) => {
      expect(judged(line, target)).toBe('verified');
      expect(judged(line, '/gauge?entity=06714000&signal_id=hydrology.river-level')).toBe('failed');
      expect(judged(line.replace('2026', '2027'), target)).toBe('failed');
    },
  );

  it.skipIf(!hasPython)(
    'shows answers that the second judge verifies, and none of another year',
    () => {
      const lines = printed.map(({ line }) => line.replaceAll('\n', ''));
      const verdicts = (bodies: readonly string[]) =>
        new Set(pythonVerdicts(bodies, [did]).map(({ verdict }) => verdict));
      expect(verdicts(lines)).toEqual(new Set(['verified']));
      expect(verdicts(lines.map((line) => line.replace('2026', '2027')))).toEqual(
        new Set(['failed']),
      );
    },
  );

  it('names every operation, the line of every bundle and the file of every document', () => {
    const named = TEXT.replace(/\s+/g, ' ');
    const unnamed = BUILTIN.operations.filter(({ path, file = '' }) => {
      const [, line] = /^bundle\/([a-z-]+)\//.exec(file) ?? [];
      if (line !== undefined) {
        return path !== `/gauge/${line}-region` && !named.includes(` ${line} \`${path}\``);
      }
      return !named.includes(`\`${path}\``) && !named.includes(`\`${path}?`);
    });
    expect(unnamed.map(({ path }) => path)).toEqual([]);
    const documents = BUILTIN.operations.filter(isDocument);
    expect(documents).toHaveLength(9);
    for (const { path, file } of documents) expect(named).toContain(`\`${path}\` in \`${file}\``);
  });

  it('names the file of every other operation that has one and costs', () => {
    const [, table = ''] = TEXT.split('## 1. Paths and citations');
    const stored = BUILTIN.operations.filter((row) => row.priceUsd !== null && !isDocument(row));
    const folders = stored.flatMap(({ file }) => file?.split('/', 1) ?? []);
    expect(folders.filter((folder) => !table.includes(`\`${folder}/`))).toEqual([]);
    expect(folders.length).toBeGreaterThan(40);
  });

  it('stays short beside its examples', () => {
    expect(TEXT.replace(EXAMPLE, '').split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX);
  });
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
