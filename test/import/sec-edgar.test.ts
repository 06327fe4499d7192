import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptanceBasis, acceptedAt } from '../../compiler/import/edgar-clock.ts';
import type { Imported } from '../../compiler/import/payload.ts';
import { importSubmissions } from '../../compiler/import/sec-edgar.ts';
import {
  type FilingRow,
  filingRowSchema,
  type StoredFiling,
} from '../../compiler/stages/intake/filing-row.ts';

const NOTE = {
  url: 'https://data.sec.gov/submissions/CIK0000123456.json',
  fetched_at: '2026-03-05T11:20:32Z',
  http_status: 200,
};
const PAGE_NOTE = { ...NOTE, url: NOTE.url.replace('.json', '-submissions-001.json') };

type Row = readonly [form: string, filed: string, accepted: string, items?: string];
function columns(rows: readonly Row[]) {
  return {
    accessionNumber: rows.map((_, at) => `0000123456-26-${String(at + 1).padStart(6, '0')}`),
    filingDate: rows.map((row) => row[1]),
    reportDate: rows.map((_, at) => (at % 2 === 0 ? '2026-01-31' : '')),
    acceptanceDateTime: rows.map((row) => row[2]),
    form: rows.map((row) => row[0]),
    items: rows.map((row) => row[3] ?? ''),
    primaryDocument: rows.map((_, at) => (at === 0 ? 'xslF345X05/form4.xml' : 'a b.htm')),
  };
}
const submissions = (rows: readonly Row[], more: object = {}) => ({
  cik: '123456',
  name: 'Example Corp',
  tickers: ['exmp'],
  filings: { recent: columns(rows), files: [] },
  ...more,
});
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const rowsOf = (imported: Imported) =>
  (imported.rows?.get('filing.submission') ?? []).map((row) => filingRowSchema.parse(row));
const filings = (rows: readonly FilingRow[]): StoredFiling[] =>
  rows.filter((row) => row.kind === 'filing');

const UTC: readonly Row[] = [
  ['4', '2026-03-02', '2026-03-03T01:30:00.000Z'],
  ['8-K', '2026-03-01', '2026-03-01T21:00:00.000Z', '2.02,9.01'],
];
const LOCAL: readonly Row[] = [
  ['4', '2026-03-02', '2026-03-02T20:30:00.000Z'],
  ['8-K', '2026-03-01', '2026-03-01T06:10:00.000Z', '2.02,9.01'],
];

describe('acceptanceBasis()', () => {
  const at = (hour: string, form = '8-K') => ({
    form,
    acceptance: `2026-03-01T${hour}:00:00.000Z`,
  });
  it.each([
    [['06', '12'], 'new-york'],
    [['09', '21'], 'new-york'],
    [['10', '22'], 'undetermined'],
    [['23', '15'], 'utc'],
    [['03', '15'], 'utc'],
    [['03', '06'], 'undetermined'],
    [['03', '06', '07'], 'new-york'],
    [[], 'undetermined'],
  ])('takes hours %j for %s', (hours, basis) => {
    expect(acceptanceBasis(hours.map((hour) => at(hour)))).toBe(basis);
  });

  it.each(['EFFECT', '25-NSE', 'CERTNAS', 'UPLOAD', 'CORRESP'])('lets %s prove nothing', (form) => {
    expect(acceptanceBasis([at('06', form)])).toBe('undetermined');
  });
});

describe('acceptedAt()', () => {
  it('converts New York time, keeps UTC and leaves the rest open', () => {
    expect(acceptedAt('2026-03-31T20:30:00.000Z', 'new-york')).toBe('2026-04-01T00:30:00Z');
    expect(acceptedAt('2026-03-31T20:30:00.000Z', 'utc')).toBe('2026-03-31T20:30:00Z');
    expect(acceptedAt('2026-03-31T20:30:00.000Z', 'undetermined')).toBeNull();
    expect(acceptedAt('2026-03-31', 'utc')).toBeNull();
  });
});

describe('importSubmissions()', () => {
  it('makes a list and its filings, and reads the clock of the answer', () => {
    const [listing, ...rest] = rowsOf(importSubmissions(bytes(submissions(LOCAL)), NOTE));
    expect(listing).toMatchObject({
      kind: 'listing',
      cik: '0000123456',
      tickers: ['EXMP'],
      from: null,
    });
    const [newest, older] = filings(rest);
    expect(newest).toMatchObject({
      form: '4',
      disclosure_time: '2026-03-03T01:30:00Z',
      acceptance_basis: 'new-york',
      event_time: '2026-01-31',
    });
    expect(newest?.source_ref).toMatch(/\/edgar\/data\/123456\/000012345626000001\/form4\.xml$/);
    expect(older).toMatchObject({ items: ['2.02', '9.01'], event_time: null });
    expect(older?.source_ref).toMatch(/000012345626000002\/0000123456-26-000002-index\.htm$/);
  });

  it('tells the same facts from the same list in UTC', () => {
    const facts = (rows: readonly Row[]) =>
      filings(rowsOf(importSubmissions(bytes(submissions(rows)), NOTE))).map(
        (row) => row.disclosure_time,
      );
    expect(facts(UTC)[0]).toBe(facts(LOCAL)[0]);
  });

  it('counts the windows of the three signals back from the day of the fetch', () => {
    const rows: Row[] = [
      ['8-K', '2026-02-04', '2026-02-04T23:00:00Z', '5.02'],
      ['8-K', '2026-02-03', '2026-02-03T21:00:00Z', '2.02'],
      ['8-K', '2025-12-05', '2025-12-05T21:00:00Z', '2.02'],
      ['8-K/A', '2026-03-01', '2026-03-01T21:00:00Z', '2.02'],
      ['NT 10-Q', '2024-03-06', '2024-03-06T21:00:00Z'],
      ['NT 10-K', '2024-03-05', '2024-03-05T21:00:00Z'],
    ];
    const { readings } = importSubmissions(bytes(submissions(rows)), NOTE);
    const current = (id: string) => readings.get(id)?.[0]?.current;
    expect(current('filing.material-events')).toMatchObject({
      filings_8k_90d_count: 2,
      filings_8k_30d_count: 1,
      latest_items: '5.02',
    });
    expect(current('filing.delinquency')).toMatchObject({
      nt_24mo_count: 1,
      latest_nt_form: 'NT 10-Q',
      days_since_nt: 729,
    });
    expect(current('filing.insider')).toEqual({ form4_90d_count: 0, form4_30d_count: 0 });
    expect(readings.get('filing.insider')?.[0]?.observed_at).toBe(NOTE.fetched_at);
  });

  it.each([
    ['2024-03-05', [], 'nothing'],
    ['2024-03-06', [730], '730 days'],
    ['2025-12-05', [730], '730 days'],
    ['2025-12-06', [730, 90], '90 and 730 days'],
    ['2026-02-04', [730, 90, 30], '30 and 90 and 730 days'],
  ])('counts in a list that begins on %s only what it reaches back over', (day, open, remark) => {
    const files = [{ filingFrom: '2020-01-01', filingTo: '2024-01-01' }];
    const rows: Row[] = [
      ['8-K', '2026-03-01', '2026-03-01T23:00:00Z', '5.02'],
      ['SC 13G', day, `${day}T21:00:00Z`],
    ];
    const made = (more: object) =>
      importSubmissions(
        bytes(submissions(rows, { filings: { recent: columns(rows), ...more } })),
        NOTE,
      );
    const { readings, remarks } = made({ files });
    const count = (window: number, known: number) => (open.includes(window) ? null : known);
    const current = (id: string) => readings.get(id)?.[0]?.current;
    expect(current('filing.delinquency')).toMatchObject({ nt_24mo_count: count(730, 0) });
    expect(current('filing.material-events')).toMatchObject({
      filings_8k_90d_count: count(90, 1),
      filings_8k_30d_count: count(30, 1),
    });
    expect(current('filing.insider')).toEqual({
      form4_90d_count: count(90, 0),
      form4_30d_count: count(30, 0),
    });
    const said = `its list begins on ${day}, so counts over ${remark} are null; older filings stand on its other pages`;
    expect(remarks.slice(1)).toEqual(open.length === 0 ? [] : [said]);
    const whole = made({ files: [] });
    expect(whole.readings.get('filing.delinquency')?.[0]?.current.nt_24mo_count).toBe(0);
    expect(whole.remarks).toHaveLength(1);
  });

  it('counts a notice of the evening, whose filing day is tomorrow, and no age below 0', () => {
    const rows: Row[] = [
      ['NT 10-K', '2026-03-06', '2026-03-05T02:40:00Z'],
      ['NT 10-Q', '2024-03-05', '2024-03-05T21:00:00Z'],
    ];
    const { readings } = importSubmissions(bytes(submissions(rows)), NOTE);
    expect(readings.get('filing.delinquency')?.[0]?.current).toEqual({
      nt_24mo_count: 1,
      latest_nt_form: 'NT 10-K',
      latest_nt_date: '2026-03-06',
      days_since_nt: 0,
    });
  });

  it('takes the time of a reading from the acceptance that is newest, whatever number it has', () => {
    const rows: Row[] = [
      ['4', '2026-03-02', '2026-03-03T01:30:00Z'],
      ['4', '2026-03-02', '2026-03-02T23:10:00Z'],
      ['4', '2026-02-27', '2026-02-28T02:00:00Z'],
    ];
    const { readings } = importSubmissions(bytes(submissions(rows)), NOTE);
    expect(readings.get('filing.insider')?.[0]?.observed_at).toBe('2026-03-03T01:30:00Z');
    const turned = importSubmissions(bytes(submissions([...rows].reverse())), NOTE).readings;
    expect(turned.get('filing.insider')).toEqual(readings.get('filing.insider'));
    const laterDay: Row[] = [['4', '2026-03-03', '2026-03-02T22:00:00Z'], ...rows];
    const moved = importSubmissions(bytes(submissions(laterDay)), NOTE).readings;
    expect(moved.get('filing.insider')?.[0]?.observed_at).toBe('2026-03-02T22:00:00Z');
  });

  it('reads an older page, whose filer stands in its address', () => {
    const [page] = rowsOf(importSubmissions(bytes(columns(UTC)), PAGE_NOTE));
    expect(page).toMatchObject({
      kind: 'page',
      cik: '0000123456',
      from: '2026-03-01',
      to: '2026-03-02',
    });
    expect(() => importSubmissions(bytes(columns(UTC)), NOTE)).toThrow('does not name its filer');
  });

  it('keys a filer without tickers by its CIK, and counts rows that name nothing', () => {
    const rows: Row[] = [['', '2026-03-01', ''], ['4', '', '2026-03-01T21:00:00Z'], ...UTC];
    const imported = importSubmissions(bytes(submissions(rows, { tickers: [] })), NOTE);
    expect(imported.readings.get('filing.insider')?.[0]?.entity).toBe('0000123456');
    expect(imported.skipped.reduce((sum, one) => sum + one.count, 0)).toBe(2);
  });

  it.each([
    ['an XML page', '<?xml version="1.0"?><Error/>', 'an HTML or XML page'],
    ['another JSON', '{"a":1}', 'not a list of submissions'],
    [
      'columns of different length',
      JSON.stringify(
        submissions([], { filings: { recent: { ...columns(UTC), form: ['4'] }, files: [] } }),
      ),
      'not a list of submissions',
    ],
    [
      'a list newer than its fetch',
      JSON.stringify(submissions([['4', '2026-03-06', '2026-03-06T01:00:00Z']])),
      'after the fetch',
    ],
  ])('refuses %s', (_name, text, message) => {
    expect(() => importSubmissions(new TextEncoder().encode(text), NOTE)).toThrow(message);
  });
});

const REAL = join(import.meta.dirname, '../../../shared/official-payloads/sec-edgar');
const real = (name: string, fetched_at: string, page = '') => {
  const url = `https://data.sec.gov/submissions/CIK0001318605${page}.json`;
  return importSubmissions(readFileSync(join(REAL, name)), { ...NOTE, url, fetched_at });
};

describe.skipIf(!existsSync(REAL))(
  'importSubmissions() with recorded answers of the SEC (skipped without them)',
  () => {
    it.each([
      ['submissions_TSLA_2026-02-03.json', '2026-02-03T12:07:02Z', 3, 7],
      ['submissions_TSLA_2026-03-05.json', '2026-03-05T11:20:32Z', 2, 6],
      ['submissions_MSFT_2026-02-03.json', '2026-02-03T12:07:03Z', 2, 32],
      ['submissions_MSFT_2026-03-05.json', '2026-03-05T11:20:34Z', 2, 33],
    ])(
      'counts the 8-K and Form 4 of %s as worked by hand',
      (...[name, fetched, events, trades]) => {
        const { readings } = real(name, fetched);
        const first = (id: string) => readings.get(id)?.[0]?.current;
        expect(first('filing.material-events')?.filings_8k_90d_count).toBe(events);
        expect(first('filing.insider')?.form4_90d_count).toBe(trades);
      },
    );

    it.each([
      ['AAPL_2026-03-05', /T23:34:19Z$/],
      ['NVDA_2026-03-05', /T17:33:32Z$/],
    ])('dates the newest Form 4 of %s by its acceptance', (name, time) => {
      const { readings } = real(`submissions_${name}.json`, '2026-03-05T23:59:00Z');
      expect(readings.get('filing.insider')?.[0]?.observed_at).toMatch(time);
    });

    it.each([
      ['AAPL_2026-03-05', 'new-york'],
      ['ALZN_2026-03-09', 'new-york'],
      ['ALZN_2026-06-20', 'utc'],
      ['CRR_2026-02-08', 'new-york'],
      ['LCW_2026-08-05', 'new-york'],
      ['MSFT_2026-02-03', 'utc'],
      ['NVDA_2026-03-05', 'utc'],
      ['STI_2026-03-28', 'utc'],
      ['TSLA_2022-11-30', 'new-york'],
      ['TSLA_2026-02-03', 'utc'],
      ['WOLF_2026-03-28', 'utc'],
      ['CIK0000350001_no-filings', 'undetermined'],
    ])('reads the clock of %s as %s', (name, basis) => {
      const rows = filings(rowsOf(real(`submissions_${name}.json`, '2026-12-01T00:00:00Z')));
      const counts = new Set(rows.map((row) => row.acceptance_basis));
      expect([...counts]).toEqual(basis === 'undetermined' ? [] : [basis]);
    });

    it.each([
      ['TSLA_2022-11-30', 'TSLA_2026-02-03', 628],
      ['ALZN_2026-03-09', 'ALZN_2026-06-20', 370],
    ])('tells one acceptance for every filing that %s and %s share', (...[one, other, count]) => {
      const times = (name: string) =>
        new Map(
          filings(rowsOf(real(`submissions_${name}.json`, '2026-12-01T00:00:00Z'))).map((row) => [
            row.accession,
            row.disclosure_time,
          ]),
        );
      const [a, b] = [times(one), times(other)];
      const shared = [...a.keys()].filter((accession) => b.has(accession));
      expect(shared.length).toBe(count);
      expect(shared.filter((accession) => a.get(accession) !== b.get(accession))).toEqual([]);
    });

    it('reads the older page of a filer and refuses the page of an unknown one', () => {
      const page = '-submissions-001';
      const rows = rowsOf(
        real('submissions_TSLA_older-page-001.json', '2026-03-05T11:20:34Z', page),
      );
      expect(rows[0]).toMatchObject({ kind: 'page', from: '2005-02-17', to: '2018-02-12' });
      expect(rows.length).toBe(721);
      expect(
        filings(rows).some((row) => row.form === 'NT 10-K' && row.filing_date === '2013-03-04'),
      ).toBe(true);
      expect(() => real('submissions_not-found_404.xml', '2026-03-05T11:20:34Z')).toThrow(
        'XML page',
      );
    });
  },
);
