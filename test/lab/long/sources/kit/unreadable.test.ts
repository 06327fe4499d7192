import { describe, expect, it } from 'vitest';
import { readPayload } from '../../../../../compiler/sources/import-command.ts';
import { ImportError } from '../../../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../../../compiler/sources/sources.ts';
import { noteOf, PLAYED, payloadText, playedPayloads } from '../../../../sources/kit/cases.ts';
import { SOIL_URL, soilFrom } from '../../../../sources/kit/small-payloads.ts';
import { SPOILED } from '../../../../sources/kit/spoiled.ts';
import {
  currentStatements,
  falseStatements,
  filingStatements,
  type Mutated,
  mutationReport,
  type Question,
  readingStatements,
} from '../../../../sources/kit/statements.ts';

const at = (url: string, fetched_at = '2026-11-20T11:05:00Z') => ({
  url,
  fetched_at,
  http_status: 200,
});

type Row = readonly [form: string, filed: string, accepted: string, items?: string];
const columns = (year: string, rows: readonly Row[]) => ({
  accessionNumber: rows.map(
    (_, index) => `0000123456-${year}-${String(index + 1).padStart(6, '0')}`,
  ),
  filingDate: rows.map(([, filed]) => filed),
  reportDate: rows.map(([, filed]) => filed),
  acceptanceDateTime: rows.map(([, , accepted]) => accepted),
  form: rows.map(([form]) => form),
  items: rows.map((row) => row[3] ?? ''),
  primaryDocument: rows.map(() => 'a.htm'),
});
const PAGE = JSON.parse(payloadText('sec-edgar', 'an older page of filings'));
/** As many rows as a list has before it leaves older ones to pages. */
const MANY: readonly Row[] = Array.from({ length: 997 }, (_, index) => {
  const day = new Date(Date.parse('2026-02-11') - Math.floor(index / 4) * 86_400_000);
  const filed = day.toISOString().slice(0, 10);
  return ['424B2', filed, `${filed}T21:00:00.000Z`];
});
const LIST = {
  cik: '0000123456',
  name: 'Example Corp',
  tickers: ['EXMP'],
  filings: {
    recent: columns('26', [
      ['8-K', '2026-11-03', '2026-11-03T23:30:00.000Z', '2.02,9.01'],
      ['NT 10-Q', '2026-08-10', '2026-08-10T21:00:00.000Z'],
      ['10-K', '2026-02-12', '2026-02-13T00:30:00.000Z'],
      ...MANY,
    ]),
    files: [
      {
        name: 'CIK0000123456-submissions-001.json',
        filingCount: 2,
        filingFrom: '2019-05-02',
        filingTo: '2020-02-12',
      },
    ],
  },
};
const LIST_NOTE = at('https://data.sec.gov/submissions/CIK0000123456.json');
const PAGE_NOTE = at('https://data.sec.gov/submissions/CIK0000123456-submissions-001.json');

/** Of every kind, on every side of every filing. */
const QUESTIONS: readonly Question[] = [
  '2018-12-31',
  '2019-12-31',
  '2020-06-30',
  '2026-02-12',
  '2026-02-12T23:59:00Z',
  '2026-06-30',
  '2026-11-03T23:00:00Z',
  '2026-11-10',
  '2026-12-31',
].flatMap((cutoff) => [
  ...['10-K', '10-Q', '8-K', 'NT 10-Q', '4'].map((form) => ({ form, eventClass: null, cutoff })),
  ...['2.02', '5.02', '1.01'].map((eventClass) => ({ form: '8-K', eventClass, cutoff })),
]);

const imported = (payload: unknown, note: typeof LIST_NOTE) => {
  const bytes = Buffer.from(JSON.stringify(payload));
  return readPayload(sourceOf('sec-edgar'), { bytes, note, subject: 'payload' });
};

const KINDS: Readonly<Record<string, Mutated>> = {
  ...Object.fromEntries(SPOILED.map(({ name, mutated }) => [name, mutated])),
  'soil of a model': {
    source: 'open-meteo-soil-moisture',
    payload: soilFrom(2015),
    note: at(SOIL_URL),
    says: readingStatements,
    // A day without a value leaves its year out.
    honest: /cm_mean\.\d+ = null$/,
  },
  'a list of filings': {
    source: 'sec-edgar',
    payload: LIST,
    note: LIST_NOTE,
    says: (list) => filingStatements([list, imported(PAGE, PAGE_NOTE)], QUESTIONS),
  },
  'an older page of filings': {
    source: 'sec-edgar',
    payload: PAGE,
    note: PAGE_NOTE,
    says: (page) => filingStatements([imported(LIST, LIST_NOTE), page], QUESTIONS),
  },
};

/** Each kind is changed and imported in hundreds of ways, once. */
const judged = new Map<Mutated, ReturnType<typeof mutationReport>>();
function reportOf(kind: Mutated): ReturnType<typeof mutationReport> {
  const report = judged.get(kind) ?? mutationReport(kind);
  judged.set(kind, report);
  return report;
}

describe('a payload with one thing wrong in it', () => {
  it.each(Object.entries(KINDS))('I55: makes no false statement of %s', (_name, kind) => {
    const { lies, refused, read, weakened, statements } = reportOf(kind);
    expect(lies).toEqual([]);
    // Without these nothing was tried; the smallest payload has one reading and six members.
    expect(statements).toBeGreaterThan(0);
    expect(refused + weakened).toBeGreaterThan(20);
    expect(read).toBeGreaterThan(5);
  });

  it.each(Object.entries(KINDS))('says the same of %s behind a byte order mark', (_name, kind) => {
    const { payload, note, source, says } = kind;
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const saidOf = (mark: string) => {
      const bytes = Buffer.from(`${mark}${text}`);
      const sent = { ...note, bytes: bytes.length };
      return says(readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' }));
    };
    expect(saidOf('\ufeff')).toEqual(saidOf(''));
  });

  it('looks past one byte order mark, and at everything behind it as before', () => {
    const text = payloadText('usgs-earthquakes', 'a feed of quakes');
    const { note } = KINDS['a feed of quakes'] ?? { note: LIST_NOTE };
    const read = (source: string, bytes: Buffer) =>
      readPayload(sourceOf(source), { bytes, note, subject: 'payload' });
    const quakes = (given: string) => read('usgs-earthquakes', Buffer.from(given));
    expect(quakes(`\ufeff${text}`).readings.size).toBe(3);
    expect(() => quakes(`\ufeff\ufeff${text}`)).toThrow('a byte order mark');
    expect(() => quakes(`{"a":1}\ufeff`)).toThrow('not whole JSON');
    expect(() => quakes('\ufeff<html></html>')).toThrow('an HTML or XML page');
    expect(() => quakes('\ufeff ')).toThrow('the payload is empty');
    expect(() => quakes('\ufeff<?xml version="1.0"?><pager></pager>')).toThrow('a loss estimate');
    const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
    expect(() => read('usgs-earthquakes', wide)).toThrow('it is not UTF-8');
    const statistics = Buffer.from('\ufeff# US Geological Survey\n# USGS Daily Statistics\n');
    expect(() => read('usgs-nwis', statistics)).toThrow('percentiles of the days');
  });

  it('is refused or weakened in well over a thousand ways', () => {
    const reports = Object.values(KINDS).map(reportOf);
    const all = reports.reduce((sum, { refused, read }) => sum + refused + read, 0);
    expect(all).toBeGreaterThan(1000);
  });

  it('says of the whole lists both that forms were filed and that they were not', () => {
    const says = filingStatements(
      [imported(LIST, LIST_NOTE), imported(PAGE, PAGE_NOTE)],
      QUESTIONS,
    );
    expect(says.get('10-K  until 2018-12-31')).toBe(false);
    expect(says.get('4  until 2026-06-30')).toBe(false);
    expect(says.get('8-K 5.02 until 2019-12-31')).toBe(true);
    expect(says.get('8-K 1.01 until 2026-11-10')).toBe(false);
    expect(says.get('10-K  until 2026-12-31')).toBe(true);
    expect(says.get('filing.material-events filings_8k_30d_count')).toBe(1);
  });
});

/** A text with one line less, twice or after the next one, and a text that is cut off. */
function* mutants(text: string): Generator<readonly [name: string, text: string]> {
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    yield [`line ${at} absent`, lines.toSpliced(at, 1).join('\n')];
    yield [`line ${at} twice`, lines.toSpliced(at, 0, line).join('\n')];
    yield [
      `line ${at} after the next`,
      lines.toSpliced(at, 2, lines[at + 1] ?? '', line).join('\n'),
    ];
  }
  for (let end = 0; end < text.length; end += 23) {
    yield [`cut off at ${end}`, text.slice(0, end)];
    yield [`cut off at ${end}, with a page of markup`, `${text.slice(0, end)}<html></html>`];
  }
}

const PRODUCTS = PLAYED.flatMap((source) =>
  playedPayloads(source).flatMap(({ name, heads, text }) =>
    heads.spoil === 'lines' ? [{ name, source, note: noteOf(heads, text.length), text }] : [],
  ),
);

describe.each(PRODUCTS)('$name with a line in the wrong place', ({ source, note, text }) => {
  const says = (written: string) => {
    try {
      const payload = { bytes: Buffer.from(written), note, subject: 'payload' };
      return currentStatements(readPayload(sourceOf(source), payload));
    } catch (error) {
      if (error instanceof ImportError) return null;
      throw error;
    }
  };

  it('I55: makes no false statement', () => {
    const truth = says(text) ?? new Map();
    const stated = [...mutants(text)].map(([name, written]) => ({ name, said: says(written) }));
    const lies = stated.flatMap(({ name, said }) =>
      falseStatements(said ?? new Map(), truth).map((lie) => `${name} -> ${lie}`),
    );
    expect(lies).toEqual([]);
    expect(truth.size).toBeGreaterThan(3);
    expect(stated.filter(({ said }) => said === null).length).toBeGreaterThan(20);
    expect(stated.filter(({ said }) => said !== null).length).toBeGreaterThan(20);
  });
});

describe('falseStatements()', () => {
  it('finds what differs and what is new, and lets silence be', () => {
    const truth = new Map<string, unknown>([
      ['a', 1],
      ['b', false],
    ]);
    expect(falseStatements(new Map([['a', 1]]), truth)).toEqual([]);
    expect(falseStatements(new Map([['a', null]]), truth)).toEqual([]);
    expect(falseStatements(new Map([['a', 2]]), truth)).toEqual(['a: 2, not 1']);
    expect(falseStatements(new Map([['c', 0]]), truth)).toEqual(['c: 0, not undefined']);
    expect(falseStatements(new Map([['b', 0]]), truth)).toEqual(['b: 0, not false']);
  });
});
