import { describe, expect, it } from 'vitest';
import { ImportError, type Imported } from '../../../compiler/import/payload.ts';
import { acceptanceBasis } from '../../../compiler/import/sources/sec-edgar/edgar-columns.ts';
import { secEdgar } from '../../../compiler/import/sources/sec-edgar/sec-edgar.ts';
import {
  type StoredFiling,
  type StoredFilingRow,
  storedFilingRowSchema,
} from '../../../compiler/stages/intake/filing-row.ts';
import { PAYLOADS } from '../recorded.ts';

const NOTE = {
  url: 'https://data.sec.gov/submissions/CIK0000123456.json',
  fetched_at: '2026-03-05T11:20:32Z',
  http_status: 200,
};
const PAGE_NOTE = { ...NOTE, url: NOTE.url.replace('.json', '-submissions-001.json') };

type Note = Parameters<typeof secEdgar.read>[0]['note'];
const importSubmissions = (bytes: Uint8Array, note: Note, subject = note.url) =>
  secEdgar.read({ bytes, note, subject });

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
/** An older page as the main list announces it. */
const filesEntry = (number: number, filingFrom: string, filingTo: string) => ({
  name: `CIK0000123456-submissions-${String(number).padStart(3, '0')}.json`,
  filingCount: 6 + number,
  filingFrom,
  filingTo,
});
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const rowsOf = (imported: Imported) =>
  (imported.rows?.get('filing.submission') ?? []).map((row) => storedFilingRowSchema.parse(row));
const filings = (rows: readonly StoredFilingRow[]): StoredFiling[] =>
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
  const at = (time: string, { form = '8-K', accession = '0000123456-26-000001' } = {}) => ({
    form,
    accession,
    acceptance: `2026-${time}:00.000Z`,
  });
  it.each([
    [['03-01T06:00', '03-01T12:00'], 'new-york'],
    [['07-01T09:59', '07-01T21:00'], 'new-york'],
    [['07-01T10:00', '07-01T22:00'], 'undetermined'],
    [['03-01T10:59', '03-01T22:00'], 'new-york'],
    [['07-01T23:00', '07-01T15:00'], 'utc'],
    [['03-02T03:00', '03-01T15:00'], 'utc'],
    [['07-02T03:00', '07-01T15:00'], 'contradictory'],
    [['03-01T03:00', '03-01T06:00', '03-01T07:00', '03-01T08:00'], 'contradictory'],
    [['03-01T23:30', '03-01T04:30', '03-01T15:00'], 'contradictory'],
    [[], 'undetermined'],
  ])('I63: takes the times %j for %s: one hour that contradicts is enough', (times, basis) => {
    expect(acceptanceBasis(times.map((time) => at(time)))).toBe(basis);
  });

  it.each(['03-01T00:00', '03-01T05:00', '07-01T04:00'])(
    'I63: lets the midnight %s prove nothing',
    (midnight) => {
      const list = Array.from({ length: 56 }, () => at(midnight));
      expect(acceptanceBasis(list)).toBe('undetermined');
      expect(acceptanceBasis([...list, at('03-01T08:10')])).toBe('new-york');
      expect(acceptanceBasis([...list, at('03-02T00:01')])).toBe('utc');
    },
  );

  it.each(['EFFECT', 'QUALIF', '25-NSE', 'CERTNAS', 'UPLOAD', 'CORRESP'])(
    'lets %s prove nothing',
    (form) => {
      expect(acceptanceBasis([at('03-01T06:00', { form })])).toBe('undetermined');
    },
  );

  it.each(['0000000000-26-000001', '9999999995-26-000001'])(
    'lets %s, a number of the regulator itself, prove nothing',
    (accession) => {
      expect(acceptanceBasis([at('03-01T00:15', { accession })])).toBe('undetermined');
    },
  );
});

describe('sec-edgar: read()', () => {
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

  it('I63: makes no time of a midnight, in either clock, and lets it decide nothing', () => {
    const midnights: readonly Row[] = [
      ['10-K', '2001-03-30', '2001-03-30T00:00:00.000Z'],
      ['10-Q', '2001-08-10', '2001-08-10T04:00:00.000Z'],
      ['10-Q', '2000-11-13', '2000-11-13T05:00:00.000Z'],
    ];
    const timesOf = (rows: readonly Row[]) =>
      filings(rowsOf(importSubmissions(bytes(columns([...rows, ...midnights])), PAGE_NOTE))).map(
        ({ form, disclosure_time, acceptance_basis, acceptance_written }) =>
          [form, disclosure_time ?? acceptance_written, acceptance_basis] as const,
      );
    const none = [
      ['10-Q', undefined, 'undetermined'],
      ['10-K', undefined, 'undetermined'],
      ['10-Q', undefined, 'undetermined'],
    ];
    expect(timesOf(LOCAL)).toEqual([
      ['4', '2026-03-03T01:30:00Z', 'new-york'],
      ['8-K', '2026-03-01T11:10:00Z', 'new-york'],
      ...none,
    ]);
    expect(timesOf(UTC)).toEqual([
      ['4', '2026-03-03T01:30:00Z', 'utc'],
      ['8-K', '2026-03-01T21:00:00Z', 'utc'],
      ...none,
    ]);
    const daytime: Row = ['4', '2026-03-02', '2026-03-02T16:30:00.000Z'];
    expect(timesOf([daytime])).toEqual([['4', '2026-03-02T16:30:00Z', 'undetermined'], ...none]);
  });

  it('I63: takes no time of a list whose hours fit neither clock, and none for later either', () => {
    const { rows, remarks } = importSubmissions(bytes(submissions([...LOCAL, ...UTC])), NOTE);
    expect(rows).toBeDefined();
    const [listing, ...rest] = rowsOf({
      readings: new Map(),
      rows: rows ?? new Map(),
      skipped: [],
      remarks: [],
    });
    expect(listing).toMatchObject({ kind: 'listing', acceptance_basis: 'contradictory' });
    expect(new Set(filings(rest).map(({ disclosure_time }) => disclosure_time))).toEqual(
      new Set([null]),
    );
    expect(JSON.stringify(rest)).not.toContain('acceptance_written');
    expect(remarks[0]).toContain('fit neither UTC nor New York time alone');
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
    const files = [filesEntry(1, '2020-01-01', '2024-01-01')];
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
    const stated = `its list is whole from ${day} on, so counts over ${remark} are null; older filings are on its other pages`;
    expect(remarks.slice(1)).toEqual(open.length === 0 ? [] : [stated]);
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
      count: 2,
    });
    expect(() => importSubmissions(bytes(columns(UTC)), NOTE)).toThrow('does not name its filer');
  });

  it('keys a filer without tickers by its CIK', () => {
    const imported = importSubmissions(bytes(submissions(UTC, { tickers: [] })), NOTE);
    expect(imported.readings.get('filing.insider')?.[0]?.entity).toBe('0000123456');
    expect(imported.skipped).toEqual([]);
  });

  const GOOD = {
    accessionNumber: '0000123456-26-000009',
    filingDate: '2026-03-02',
    reportDate: '2026-02-28',
    acceptanceDateTime: '2026-03-02T21:00:00.000Z',
    form: '8-K',
    items: '2.02,9.01',
    primaryDocument: 'a.htm',
  };
  /** A list of two rows of which the second one has other members. */
  const withRow = (more: Partial<typeof GOOD>) => {
    const first = columns([['10-Q', '2026-02-27', '2026-02-27T23:30:00.000Z']]);
    const second = { ...GOOD, ...more };
    const both = Object.entries(second).map(([name, value]) => [
      name,
      [...first[name as keyof typeof GOOD], value],
    ]);
    return submissions([], { filings: { recent: Object.fromEntries(both), files: [] } });
  };

  it.each([
    [{ accessionNumber: '' }, 'has no number'],
    [{ accessionNumber: '0000123456-26-9' }, 'has no number'],
    [{ accessionNumber: '0000123456-26-000001' }, 'is listed twice'],
    [{ filingDate: '' }, 'has the filing day ""'],
    [{ filingDate: '02/03/2026' }, 'has the filing day "02/03/2026"'],
    [{ filingDate: '20260302' }, 'has the filing day "20260302"'],
    [{ filingDate: '2026-02-30' }, 'has the filing day "2026-02-30"'],
    [{ filingDate: '2026-13-02' }, 'has the filing day "2026-13-02"'],
    [{ filingDate: '2026-03-13' }, 'has the filing day 2026-03-13, long after the fetch'],
    [{ form: '' }, 'has the form type ""'],
    [{ form: '8\u2011K' }, 'has the form type'],
    [{ reportDate: '28.02.2026' }, 'has the report date "28.02.2026"'],
    [{ acceptanceDateTime: '20260302210000' }, 'has the acceptance time'],
    [{ acceptanceDateTime: '2026-03-02 21:00:00' }, 'has the acceptance time'],
    [{ acceptanceDateTime: '2026-02-30T21:00:00.000Z' }, 'has the acceptance time'],
    [{ items: '2.02;9.01' }, 'has the items "2.02;9.01"'],
    [{ items: 'Item 2.02' }, 'has the items "Item 2.02"'],
  ])('I55: refuses a list with a row that cannot be read: %j', (more, why) => {
    const of = () => importSubmissions(bytes(withRow(more)), NOTE);
    expect(of).toThrow(ImportError);
    expect(of).toThrow(`row 1 (`);
    expect(of).toThrow(why);
    expect(of).toThrow('cannot show what was not filed');
  });

  it.each([
    [{}, '8-K', ['2.02', '9.01']],
    [{ form: 'form 8-k' }, '8-K', ['2.02', '9.01']],
    [{ items: ' 5, 7' }, '8-K', ['5', '7']],
    [{ form: 'EFFECT', items: 'S-1,2024-07-09 16:00:00' }, 'EFFECT', []],
    [{ form: '10-K405/A', items: '' }, '10-K405/A', []],
    [{ filingDate: '2026-03-12' }, '8-K', ['2.02', '9.01']],
    [{ acceptanceDateTime: '', reportDate: '' }, '8-K', ['2.02', '9.01']],
  ])('reads a row with %j', (more, form, items) => {
    const [listing, ...rest] = rowsOf(importSubmissions(bytes(withRow(more)), NOTE));
    expect(listing).toMatchObject({ kind: 'listing', from: null });
    const row = filings(rest).find(({ accession }) => accession === GOOD.accessionNumber);
    expect(row).toMatchObject({ form, items });
  });

  it.each([
    ['8-K', '', 'a filing of form 8-K without its items'],
    ['8-K/A', '', 'a filing of form 8-K/A without its items'],
    ['8-K12B', '', 'a filing of form 8-K12B without its items'],
    ['8K', '2.02', 'the form type "8K", which is not known'],
    ['n/a', '', 'the form type "N/A", which is not known'],
    ['SCHEDULE 8-K', '', 'the form type "SCHEDULE 8-K", which is not known'],
    ['4 ft', '', 'the form type "4 FT", which is not known'],
  ])(
    'I55: calls a list with the form %s and items "%s" whole only behind it, and counts no further back',
    (form, items, what) => {
      const { rows, readings, remarks } = importSubmissions(bytes(withRow({ form, items })), NOTE);
      expect(readings.get('filing.material-events')?.[0]).toMatchObject({
        observed_at: NOTE.fetched_at,
        current: { latest_items: null, latest_accession: null },
      });
      expect(rows?.get('filing.submission')?.[0]).toMatchObject({ from: '2026-03-03', pages: [] });
      expect(readings.get('filing.insider')?.[0]?.current).toEqual({
        form4_90d_count: null,
        form4_30d_count: null,
      });
      expect(remarks).toContain(`it holds ${what}, so it is whole only from 2026-03-03 on`);
      const page = importSubmissions(
        bytes(columns([['8-K', '2026-02-27', '2026-02-27T23:30:00Z'], UTC[0] as Row])),
        PAGE_NOTE,
      );
      expect(page.rows?.get('filing.submission')?.[0]).toMatchObject({
        kind: 'page',
        from: '2026-02-28',
        to: '2026-03-02',
        count: 2,
      });
    },
  );

  it('I55: names no older page behind an 8-K of unknown items, since none reaches over the hole', () => {
    const files = [filesEntry(1, '2010-01-01', '2026-02-01')];
    const made = (items: string) => {
      const { filings: list, ...more } = withRow({ items });
      const value = { ...more, filings: { ...list, files } };
      return rowsOf(importSubmissions(bytes(value), NOTE))[0];
    };
    expect(made('')).toMatchObject({ from: '2026-03-03', pages: [] });
    expect(made('2.02')).toMatchObject({
      from: '2026-02-27',
      pages: [{ from: '2010-01-01', to: '2026-02-01', count: 7 }],
    });
  });

  it('stores no span of a page whose newest 8-K has no items', () => {
    const only: Row[] = [['8-K', '2026-02-27', '2026-02-27T23:30:00Z']];
    const rows = rowsOf(importSubmissions(bytes(columns(only)), PAGE_NOTE));
    expect(rows.map(({ kind }) => kind)).toEqual(['filing']);
  });

  it('calls a long list that names no older page whole from its first day only', () => {
    const many = (length: number): Row[] =>
      Array.from({ length }, () => ['4', '2026-02-27', '2026-02-27T23:30:00Z']);
    const from = (length: number) =>
      rowsOf(importSubmissions(bytes(submissions(many(length))), NOTE))[0];
    expect(from(999)).toMatchObject({ from: null });
    expect(from(1000)).toMatchObject({ from: '2026-02-27' });
  });

  it('tells the pages as the list announces them', () => {
    const files = [
      filesEntry(1, '2010-01-01', '2026-03-01'),
      filesEntry(2, '2001-01-01', '2010-01-01'),
    ];
    const [listing] = rowsOf(
      importSubmissions(
        bytes(submissions(UTC, { filings: { recent: columns(UTC), files } })),
        NOTE,
      ),
    );
    expect(listing).toMatchObject({
      from: '2026-03-01',
      pages: [
        { from: '2010-01-01', to: '2026-03-01', count: 7 },
        { from: '2001-01-01', to: '2010-01-01', count: 8 },
      ],
    });
  });

  it.each([
    ['begin with the second', [filesEntry(2, '2010-01-01', '2020-01-01')]],
    [
      'leave one out',
      [filesEntry(1, '2015-01-01', '2020-01-01'), filesEntry(3, '2001-01-01', '2010-01-01')],
    ],
    [
      'are of another filer',
      [
        {
          ...filesEntry(1, '2010-01-01', '2020-01-01'),
          name: 'CIK0000654321-submissions-001.json',
        },
      ],
    ],
    ['end before they begin', [filesEntry(1, '2020-01-02', '2020-01-01')]],
    ['reach into the list', [filesEntry(1, '2010-01-01', '2026-03-02')]],
    [
      'reach into each other',
      [filesEntry(1, '2015-01-01', '2020-01-01'), filesEntry(2, '2001-01-01', '2015-01-02')],
    ],
  ])('I55: refuses pages that %s', (_name, files) => {
    const value = submissions(UTC, { filings: { recent: columns(UTC), files } });
    expect(() => importSubmissions(bytes(value), NOTE)).toThrow('is not the page CIK0000123456');
  });

  it.each([
    ['its address', { url: 'https://data.sec.gov/submissions/CIK0000654321.json' }, NOTE.url],
    ['its file', {}, 'payloads/CIK0000654321.json'],
  ])('I55: refuses a list of another filer than %s names', (_name, more, subject) => {
    const of = () => importSubmissions(bytes(submissions(UTC)), { ...NOTE, ...more }, subject);
    expect(of).toThrow('it is about CIK0000123456, but its address or name is about CIK0000654321');
    const own = 'payloads/CIK0000123456.json';
    expect(importSubmissions(bytes(submissions(UTC)), NOTE, own).readings.size).toBe(3);
    const page = () =>
      importSubmissions(bytes(columns(UTC)), PAGE_NOTE, 'CIK0000654321-submissions-001.json');
    expect(page).toThrow('about CIK0000654321');
  });

  it('names a filer by its CIK where its name reads like advice or holds hidden signs, and says why', () => {
    const named = (name: string) => {
      const { readings, remarks } = importSubmissions(bytes(submissions(UTC, { name })), NOTE);
      return [readings.get('filing.insider')?.[0]?.entity_name, remarks[1]];
    };
    expect(named('Buy Now Corp')).toEqual([
      'filer 0000123456',
      'the name of the filer is left out: "Buy" forecasts, advises or recommends; store a description only',
    ]);
    expect(named('Example\u202e Corp')).toEqual([
      'filer 0000123456',
      'the name of the filer is left out: U+202E is hidden or changes how the text reads; store it without',
    ]);
    expect(named('BEST BUY CO INC')).toEqual(['BEST BUY CO INC', undefined]);
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

const importRecorded = (payload: Buffer, fetched_at: string, page = '') => {
  const [, digits = '1318605'] = /"cik": ?"?(\d+)/.exec(payload.toString('utf8')) ?? [];
  const url = `https://data.sec.gov/submissions/CIK${digits.padStart(10, '0')}${page}.json`;
  return importSubmissions(payload, { ...NOTE, url, fetched_at });
};

describe.each(PAYLOADS)(
  'sec-edgar: read() with recorded answers of the SEC: $name',
  ({ isWhole, recorded }) => {
    /** Our own payloads hold these filers, and few filings of each. */
    const OWN = /AAPL|ALZN|TSLA|no-filings/;
    const held = <R extends readonly [name: string, ...unknown[]]>(rows: readonly R[]) =>
      isWhole ? rows : rows.filter(([name]) => OWN.test(name));
    const real = (name: string, fetched_at: string, page = '') =>
      importRecorded(recorded(`sec-edgar/${name}`), fetched_at, page);

    it.each(
      held([
        ['submissions_TSLA_2026-02-03.json', '2026-02-03T12:07:02Z', 3, 7] as const,
        ['submissions_TSLA_2026-03-05.json', '2026-03-05T11:20:32Z', 2, 6],
        ['submissions_MSFT_2026-02-03.json', '2026-02-03T12:07:03Z', 2, 32],
        ['submissions_MSFT_2026-03-05.json', '2026-03-05T11:20:34Z', 2, 33],
      ]),
    )('counts the 8-K and Form 4 of %s as worked by hand', (...[name, fetched, events, trades]) => {
      const { readings } = real(name, fetched);
      const first = (id: string) => readings.get(id)?.[0]?.current;
      expect(first('filing.material-events')?.filings_8k_90d_count).toBe(events);
      expect(first('filing.insider')?.form4_90d_count).toBe(trades);
    });

    it.each(
      held([
        ['AAPL_2026-03-05', /T23:34:19Z$/],
        ['NVDA_2026-03-05', /T17:33:32Z$/],
      ]),
    )('dates the newest Form 4 of %s by its acceptance', (name, time) => {
      const { readings } = real(`submissions_${name}.json`, '2026-03-05T23:59:00Z');
      expect(readings.get('filing.insider')?.[0]?.observed_at).toMatch(time);
    });

    it.each(
      held([
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
      ]),
    )('reads the clock of %s as %s', (name, basis) => {
      const rows = filings(rowsOf(real(`submissions_${name}.json`, '2026-12-01T00:00:00Z')));
      const counts = new Set(rows.map((row) => row.acceptance_basis));
      expect([...counts]).toEqual(basis === 'undetermined' ? [] : [basis]);
    });

    it.each([
      ['TSLA_2022-11-30', 'TSLA_2026-02-03', isWhole ? 628 : 6],
      ['ALZN_2026-03-09', 'ALZN_2026-06-20', isWhole ? 370 : 17],
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
      expect(rows.length).toBe(isWhole ? 721 : 18);
      expect(
        filings(rows).some((row) => row.form === 'NT 10-K' && row.filing_date === '2013-03-04'),
      ).toBe(true);
      expect(() => real('submissions_not-found_404.xml', '2026-03-05T11:20:34Z')).toThrow(
        'no such filer',
      );
    });
  },
);
