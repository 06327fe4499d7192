import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { readPayload } from '../../../compiler/import/import-command.ts';
import { TICKER_CIKS } from '../../../compiler/import/sources/sec-edgar/edgar-ownership.ts';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { form4 } from '../ownership.ts';
import { PAYLOADS } from '../recorded.ts';

const TICKERS = builtinLine('filing').entities;

const source = sourceOf('sec-edgar');
const note = {
  url: 'https://www.sec.gov/Archives/edgar/data/123456/000012345626000001/form4.xml',
  fetched_at: '2026-11-20T11:05:00Z',
  http_status: 200,
};
const read = (text: string, over: Partial<typeof note> = {}) => {
  const bytes = Buffer.from(text);
  const payload = { bytes, note: { ...note, ...over }, subject: 'payload' };
  return readPayload(source, payload).readings.get('filing.insider');
};

describe('sec-edgar, the XML of a Form 4', () => {
  it('adds what was bought and sold in the open market, and nothing else', () => {
    const trades = [
      { code: 'S', shares: '100.5' },
      { code: 'S', shares: '200.25' },
      { code: 'P', shares: '7' },
      { code: 'A', shares: '9000' },
      { code: 'M', shares: '5000' },
      { code: 'F', shares: '40', side: 'D' },
    ];
    const [reading, ...others] = read(form4(trades)) ?? [];
    expect(others).toEqual([]);
    expect(reading).toMatchObject({
      entity: 'EXMP',
      entity_name: 'Example Corp',
      observed_at: '2026-11-18T00:00:00Z',
      source_ref: note.url,
      current: {
        form4_90d_count: null,
        form4_30d_count: null,
        shares_bought_count: 7,
        shares_sold_count: 300.75,
      },
    });
    expect(reading?.scope).toContain('one Form 4 of one reporting owner about CIK 0000123456');
  });

  it('takes the CIK of an issuer without a ticker, and no name that reads like advice', () => {
    const [reading] = read(form4([{}], { symbol: 'NONE', name: 'Buy More Corp' })) ?? [];
    expect(reading?.entity).toBe('0000123456');
    expect(reading).not.toHaveProperty('entity_name');
  });

  it.each([
    ['an amendment', form4([{}], { type: '4/A' }), 'a form of type 4/A'],
    ['another form', form4([{}], { type: '5' }), 'a form of type 5'],
    ['no transactions in shares', form4([]), 'nonDerivativeTable'],
    ['a code that is not known', form4([{ code: 'Q' }]), 'transactionCode'],
    ['a side that is not known', form4([{ side: 'B' }]), 'transactionAcquiredDisposedCode'],
    [
      'a purchase that is disposed of',
      form4([{ code: 'P', side: 'D' }]),
      'it buys what is disposed',
    ],
    ['several tickers', form4([{}], { symbol: 'ABC, DEF' }), 'issuerTradingSymbol'],
    ['shares in words', form4([{ shares: 'many' }]), 'not a number of shares'],
    ['shares below zero', form4([{ shares: '-5' }]), 'transactionShares'],
    ['a signature after the fetch', form4([{}], { signed: '2026-11-21' }), 'after its fetch'],
    ['a day that does not exist', form4([{ day: '2026-02-30' }]), 'not a day'],
    ['a form that was cut', form4([{}]).slice(0, 700), 'not whole XML'],
    ['a document type', form4([{}]).replace('?>', '?><!DOCTYPE x>'), 'HTML or XML page'],
  ])('I55: refuses %s', (_name, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('refuses a form of others than its address names', () => {
    const of = (cik: string) => () => read(form4([{}]), { url: note.url.replace('123456', cik) });
    expect(of('654321')).not.toThrow();
    expect(of('99')).toThrow('and its address about 0000000099');
  });
});

describe('sec-edgar, other answers', () => {
  it.each([
    [
      'no such filer',
      '<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>',
      'no such filer',
    ],
    [
      'a feed',
      '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"></feed>',
      'a feed of',
    ],
    ['a daily index', 'Description:           Daily Index of EDGAR', 'a daily index'],
    ['tickers', '{"0":{"cik_str":1,"ticker":"A","title":"A"}}', 'a list of tickers'],
    ['another page', '<html>busy</html>', 'an HTML or XML page'],
  ])('refuses %s by name', (_name, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('asks for each company of the line by its CIK, and for no ticker that it does not know', () => {
    expect([...TICKER_CIKS.keys()]).toEqual([...TICKERS]);
    const ask = (entities: string[]) => source.fetch?.addresses({ entities, now: 0 });
    expect(ask([])).toHaveLength(18);
    expect(ask(['aapl', '789019'])).toEqual([
      'https://data.sec.gov/submissions/CIK0000320193.json',
      'https://data.sec.gov/submissions/CIK0000789019.json',
    ]);
    expect(() => ask(['NOSUCH'])).toThrow('give the CIK of the filer');
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ recorded }) => {
  const of = (name: string) => () =>
    read(recorded(`sec-edgar/${name}`).toString('latin1'), { url: 'https://www.sec.gov/' });

  it.each([
    ['form4_snowflake.xml', { entity: 'SNOW', observed_at: '2022-12-14T00:00:00Z' }, 200_000],
    ['form4_374water.xml', { entity: 'SCWO', observed_at: '2025-05-02T00:00:00Z' }, 0],
  ])('reads %s', (name, reading, shares_sold_count) => {
    const current = { shares_bought_count: 0, shares_sold_count };
    expect(of(name)()).toMatchObject([{ ...reading, current }]);
  });

  it.each([
    ['company_tickers.json', 'a list of tickers'],
    ['current_filings_all_2026-01-12.atom.xml', 'a feed of the newest filings'],
    ['current_filings_form4_2025-12-12.atom.xml', 'a feed of the newest filings'],
    ['daily-index_form.20200318.idx', 'a daily index of all filers'],
    ['submissions_not-found_404.xml', 'no such filer'],
  ])('refuses %s by name', (name, message) => {
    expect(of(name)).toThrow(message);
  });
});
