import { afterAll, describe, expect, it } from 'vitest';
import { wordFaults } from '../../compiler/readings/field-rules.ts';
import { filingRow, filingSet, listingRow } from '../filing-rows.ts';
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
  checkFaults,
  compileFaults,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

const GOOD = reading('07010000', { stage_ft: 13.6 });
const SOURCE = { name: 'a', weight: 1, independent: true };
const TEXT = JSON.stringify(GOOD);

/** What is said of the second line of a file, as `field: message`. */
async function stated(files: SnapshotFiles): Promise<string[]> {
  const faults = await compileFaults(files, { asOf: AS_OF });
  expect(faults.every(({ line }) => line === 2)).toBe(true);
  return faults.map(({ field, message }) => `${field}: ${message}`);
}

const ofReading = (text: string) =>
  stated({ '2026-11-20/hydrology.river-level.ndjson': `${TEXT}\n${text}\n` });
const ofRow = (collection: string, good: { collected_at: string }, bad: object) =>
  stated({ [`${good.collected_at.slice(0, 10)}/${collection}.ndjson`]: ndjson([good, bad]) });

const NO_METRIC = 'a metric is a number, text, true, false, null or a flat list';

describe('what is said of a bad line', () => {
  it.each(['[{}]', '5', '"text"', 'null'])(
    'tells how a line is written where it is %s',
    async (line) => {
      const words = 'line: not an object; write one reading or row per line, each as a JSON object';
      expect(await ofReading(line)).toEqual([words]);
    },
  );

  it.each<[object, string]>([
    [
      { current: { stage_ft: 1, Band: 1 } },
      'current.Band: a metric name is lower snake case; write "band"',
    ],
    [
      { current: { stage_ft: 1, gageHeight: 1 } },
      'current.gageHeight: a metric name is lower snake case; write "gage_height"',
    ],
    [
      { current: { stage_ft: 1, '24h_rain': 1 } },
      'current.24h_rain: a metric name is lower snake case',
    ],
    [{ foo: 1 }, 'line: unknown member "foo"; remove it, or see "signalpress lines"'],
    [
      { a: 1, b: 1, c: 1, d: 1, e: 1 },
      'line: unknown members "a", "b", "c", "d", …; remove them, or see "signalpress lines"',
    ],
    [
      { sources: [{ ...SOURCE, x: 1 }] },
      'sources.0: unknown member "x"; remove it, or see "signalpress lines"',
    ],
    [{ current: { stage_ft: { a: 1 } } }, `current.stage_ft: ${NO_METRIC}`],
    [{ current: { stage_ft: [[1]] } }, `current.stage_ft: ${NO_METRIC}`],
    [
      { sources: [{ name: 'a', independent: true }] },
      'sources.0.weight: missing; give it in the line or in the header',
    ],
    [{ source_ref: 'example.org' }, 'source_ref: not an address such as https://…, or null'],
    [
      { observed_at: '2026-11-20T10:45Z' },
      'observed_at: "2026-11-20T10:45Z" has no seconds; write them, as in 2026-11-20T10:45:00Z',
    ],
    [
      { observed_at: '2026-02-30T10:45:00Z' },
      'observed_at: there is no day 2026-02-30; correct it',
    ],
    [
      { observed_at: '0000-12-31T10:45:00Z' },
      'observed_at: there is no day 0000-12-31; correct it',
    ],
    [
      { observed_at: '2026-11-20' },
      'observed_at: not an ISO-8601 UTC time such as 2026-11-20T10:45:00Z',
    ],
    [{ observed_at: 5 }, 'observed_at: not an ISO-8601 UTC time such as 2026-11-20T10:45:00Z'],
  ])('%j', async (change, message) => {
    expect(await ofReading(JSON.stringify({ ...GOOD, ...change }))).toEqual([message]);
  });

  it('names a missing member, a number beyond all, and a second header', async () => {
    const { source_tier, ...rest } = GOOD;
    expect(await ofReading(JSON.stringify(rest))).toEqual([
      'source_tier: missing; give it in the line or in the header',
    ]);
    expect(await ofReading(TEXT.replace('13.6', '1e400'))).toEqual([
      'current.stage_ft: too large for a number; correct it, or store null',
    ]);
    expect(await ofReading('{"header":{"grade":"A"}}')).toEqual([
      'header: a header may only be the first line; start another file; the lines after it were not read',
    ]);
  });

  it('is the same of rows of collections', async () => {
    const good = serverRow('a', '2026-11-19');
    const bad = serverRow('b', '2026-11-19');
    expect(await ofRow('mcp.server', good, { ...bad, foo: 1 })).toEqual([
      'line: unknown member "foo"; remove it, or see "signalpress lines"',
    ]);
    expect(await ofRow('mcp.server', good, { ...bad, capture_date: '2026-02-30' })).toEqual([
      'capture_date: there is no day 2026-02-30; correct it',
    ]);
    expect(await ofRow('mcp.server', good, { ...bad, capture_date: '0000-12-31' })).toEqual([
      'capture_date: there is no day 0000-12-31; correct it',
    ]);
    expect(await ofRow('mcp.server', good, { ...bad, capture_date: undefined })).toEqual([
      'capture_date: missing; give it in the line or in the header',
    ]);
    expect(await ofRow('mcp.server', good, { header: { grade: 'A' } })).toEqual([
      'header: a header may only be the first line; start another file; the lines after it were not read',
    ]);
    const late = listingRow({ collected_at: '2026-11-20T11:00Z' });
    expect(await ofRow('filing.submission', listingRow(), late)).toEqual([
      'collected_at: "2026-11-20T11:00Z" has no seconds; write them, as in 2026-11-20T10:45:00Z',
    ]);
  });

  it('is nothing of a good one', async () => {
    expect(await ofReading(TEXT)).toEqual([]);
    const rows = [serverRow('a', '2026-11-19'), serverRow('b', '2026-11-19')] as const;
    expect(await ofRow('mcp.server', ...rows)).toEqual([]);
  });
});

afterAll(removeFolders);

const DAY = '2026-11-19';
const ADVICE = 'We recommend to buy it';
const [leg] = legsRow('/gauge/taiwan-region').legs;
const { pre_death_payload: payload } = deathRow('ZED');

type Row = (text: string) => object;
/** Every free text of each collection: the collection, the member, and a row that says it. */
const TEXTS: readonly (readonly [collection: string, field: string, row: Row])[] = [
  ...['grade', 'scope', 'validation_status', 'uncertainty'].flatMap((field) => {
    const more = (text: string) => ({ [field]: text });
    return [
      ['trust.service', field, (text: string) => serviceRow('a.example', DAY, more(text))],
      ['mcp.server', field, (text: string) => serverRow('a-mcp', DAY, more(text))],
      ['stablecoin.death', field, (text: string) => deathRow('ZED', more(text))],
      ['document', field, (text: string) => articleRow('/pay/tier2', {}, more(text))],
    ] as const;
  }),
  ['trust.service', 'name', (text) => serviceRow('a.example', DAY, { name: text })],
  [
    'trust.service',
    'liveness_state',
    (text) => serviceRow('a.example', DAY, { liveness_state: text }),
  ],
  ['trust.service', 'source_note', (text) => serviceRow('a.example', DAY, { source_note: text })],
  ['mcp.server', 'name', (text) => serverRow('a-mcp', DAY, { name: text })],
  ['mcp.server', 'status', (text) => serverRow('a-mcp', DAY, { status: text })],
  ['mcp.server', 'source_note', (text) => serverRow('a-mcp', DAY, { source_note: text })],
  [
    'mcp.server',
    'sources.0.name',
    (text) => serverRow('a-mcp', DAY, { sources: [{ name: text, weight: 1, independent: true }] }),
  ],
  ['stable.coin', 'current.note', (text) => coinRow('a', DAY, { note: text })],
  ['stable.coin', 'name', (text) => ({ ...coinRow('a', DAY), name: text })],
  ['stablecoin.death', 'name', (text) => deathRow('ZED', { name: text })],
  ['stablecoin.death', 'death_type', (text) => deathRow('ZED', { death_type: text })],
  ['stablecoin.death', 'source_note', (text) => deathRow('ZED', { source_note: text })],
  [
    'stablecoin.death',
    'death_context.note',
    (text) => deathRow('ZED', { death_context: { note: text } }),
  ],
  [
    'stablecoin.death',
    'pre_death_payload.collateral',
    (text) => deathRow('ZED', { pre_death_payload: { ...payload, collateral: text } }),
  ],
  ['stablecoin.death', 'symbol', (text) => deathRow('ZED', { symbol: text })],
  // A member that the source names may be called like an id.
  ['stable.coin', 'current.host', (text) => coinRow('a', DAY, { host: text })],
  [
    'stablecoin.death',
    'death_context.source',
    (text) => deathRow('ZED', { death_context: { source: text } }),
  ],
  [
    'stablecoin.death',
    'pre_death_payload.redemption.form',
    (text) => deathRow('ZED', { pre_death_payload: { ...payload, redemption: { form: text } } }),
  ],
  [
    'document',
    'rows.0.operation',
    (text) => articleRow('/pay/tier2', {}, { rows: [{ operation: text }] }),
  ],
  [
    'document',
    'legs.0.current.leg',
    (text) =>
      legsRow(
        '/gauge/taiwan-region',
        {},
        { legs: [{ ...leg, current: { notices_count: 3, leg: text } }] },
      ),
  ],
  ['document', 'title', (text) => articleRow('/pay/tier2', {}, { title: text })],
  ['document', 'text', (text) => articleRow('/pay/tier2', {}, { text })],
  ['document', 'rows.0.note', (text) => articleRow('/pay/tier2', {}, { rows: [{ note: text }] })],
  ...(['measures', 'entity_name'] as const).map(
    (field) =>
      [
        'document',
        `legs.0.${field}`,
        (text: string) =>
          legsRow('/gauge/taiwan-region', {}, { legs: [{ ...leg, [field]: text }] }),
      ] as const,
  ),
  [
    'document',
    'legs.0.current.note',
    (text) =>
      legsRow(
        '/gauge/taiwan-region',
        {},
        { legs: [{ ...leg, current: { notices_count: 3, note: text } }] },
      ),
  ],
];

function worded(files: SnapshotFiles) {
  return checkFaults(files).then((faults) => faults.map(({ field, message }) => [field, message]));
}
const REFUSED = '"recommend" forecasts, advises or recommends; store a description only';

describe('wordFaults()', () => {
  it.each(TEXTS)('I55: refuses advice of %s in %s, and takes a description', async (...text) => {
    const [collection, field, row] = text;
    const files = (words: string) => rosterFiles({ [collection]: [row(words)] });
    expect(await worded(files(ADVICE))).toEqual([[field, REFUSED]]);
    expect(await worded(files('as the registry lists it'))).toEqual([]);
  });

  it.each(TEXTS)('I63: refuses a hidden sign of %s in %s', async (...[collection, field, row]) => {
    const files = (words: string) => rosterFiles({ [collection]: [row(words)] });
    const refused = 'U+202E is hidden or changes how the text reads; store it without';
    expect(await worded(files('as listed\u202E'))).toEqual([[field, refused]]);
    const isLines = field === 'text' || /current|context|rows|payload/.test(field);
    const line = 'U+000A is hidden or changes how the text reads; store it without';
    expect(await worded(files('two\nlines'))).toEqual(isLines ? [] : [[field, line]]);
  });

  it('I63: refuses a hidden sign in names of filers, ids and addresses', async () => {
    const name = listingRow({ name: 'Example\u2066 Corp' });
    expect(await worded(filingSet([name]))).toEqual([
      ['name', 'U+2066 is hidden or changes how the text reads; store it without'],
    ]);
    const ids = { entity: 'a\u200b', tickers: ['X\u200f'], params: { topic: 'a\u2028' } };
    expect(wordFaults(ids).map(({ path }) => path.join('.'))).toEqual([
      'entity',
      'tickers.0',
      'params.topic',
    ]);
    expect(wordFaults({ page: 'https://a.example/\u202e' })).toHaveLength(1);
  });

  it('refuses advice in the header of a collection and in the texts of filings', async () => {
    const header = `${JSON.stringify({ header: { scope: ADVICE } })}\n`;
    const [[path = '', text = ''] = []] = Object.entries(
      rosterFiles({ 'mcp.server': [serverRow('a-mcp', DAY)] }),
    );
    expect(await worded({ [path]: header + text })).toEqual([['header.scope', REFUSED]]);
    const filings = (listing: object, filing: object) =>
      worded(filingSet([listingRow(listing), filingRow(1, ['10-K', '2026-02-01'], filing)]));
    expect(await filings({ name: ADVICE }, {})).toContainEqual(['name', REFUSED]);
    expect(await filings({}, { grade: ADVICE })).toEqual([['grade', REFUSED]]);
    expect(await filings({ name: 'BEST BUY CO INC' }, { grade: 'as listed' })).toEqual([]);
  });

  it('looks for advice in no id, query or address', () => {
    const ids = { entity: 'buy', server_id: 'weather-forecast', symbol: 'SELL', form: 'BUY' };
    const addresses = { source_ref: 'https://buy.example/', page: 'https://buy.example/outlook' };
    expect(wordFaults({ ...ids, params: { topic: 'outlook' }, ...addresses })).toEqual([]);
    expect(wordFaults({ page: 'see https://buy.example/' })).toHaveLength(1);
  });

  it.each([
    ['current', { symbol: 'SELL' }],
    ['context', { source: 'outlook' }],
    ['rows', [{ entity: 'buy' }]],
    ['death_context', { items: ['sell'] }],
    ['pre_death_payload', { collateral: { source: 'forecast' } }],
  ])('I55: exempts no member of %s by its name', (name, members) => {
    expect(wordFaults({ [name]: members })).toHaveLength(1);
    expect(wordFaults({ header: { legs: [{ [name]: members }] } })).toHaveLength(1);
    expect(wordFaults({ params: members })).toEqual([]);
  });
});
