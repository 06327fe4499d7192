import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import {
  type AddressRow,
  endOf,
  hostsOf,
  isOpen,
  noticesOf,
  REGISTER,
  rowOf,
  type SourceRow,
  sourceRowSchema,
} from '../../compiler/catalog/register.ts';
import { COLLECTIONS } from '../../compiler/products/collections.ts';
import { addressesAt } from '../../compiler/sources/kit/source.ts';
import { SOURCES, sourceOf } from '../../compiler/sources/sources.ts';
import { testRow } from '../sources/fetch/test-row.ts';

const at = (day: string) => Date.parse(day);
const TODAY = at('2026-11-29');
const texts = (id: string, now: number) => noticesOf(rowOf(id), now).map(({ text }) => text);

describe('the register', () => {
  it('holds a row for each importer, by id', () => {
    const ids = REGISTER.map(({ id }) => id);
    expect(SOURCES.map(({ id }) => id)).toEqual(ids);
    for (const { id, row } of SOURCES) expect(row).toBe(rowOf(id));
  });

  it('feeds signals and rosters that there are', () => {
    const known = [...BUILTIN.entryById.keys(), ...COLLECTIONS.map(({ id }) => id)];
    expect(REGISTER.flatMap(({ feeds }) => feeds).filter((id) => !known.includes(id))).toEqual([]);
  });

  it.each(REGISTER)('fills every place of the addresses of $id, at its own hosts', (row) => {
    const named = Object.keys(row.addresses).length;
    if (named === 0) return;
    const asked = addressesAt(sourceOf(row.id), { entities: [], now: TODAY });
    expect(asked.length).toBeGreaterThanOrEqual(row.id === 'sec-edgar' ? 1 : named);
    for (const { url } of asked.flat()) {
      expect(url.replace('{key}', 'x')).not.toMatch(/[{}]/);
      expect(hostsOf(row)).toContain(new URL(url).host);
    }
  });

  it('sells nothing that is for non-commercial use without a key', () => {
    const free = REGISTER.filter(({ terms }) => terms.licence === 'non-commercial');
    expect(free.length).toBeGreaterThan(0);
    for (const { terms, key } of free) {
      expect(terms.may_be_sold).toBe(false);
      expect(key?.is_optional).toBeUndefined();
      expect(key?.variable).toMatch(/_KEY$/);
    }
  });

  it.each<[string, Partial<Record<keyof SourceRow, unknown>>]>([
    ['a plain address', { addresses: { a: [{ url: 'http://example.gov/a' }] } }],
    ['an address without a path', { addresses: { a: [{ url: 'https://example.gov' }] } }],
    ['no address under a name', { addresses: { a: [] } }],
    ['an end that is no day', { addresses: { a: [{ url: 'https://a.gov/', ends: '2027-13' }] } }],
    ['a secret as a key', { key: { variable: 'SIGNALPRESS_SEED', in: 'query', name: 'k' } }],
    ['a key in the body', { key: { variable: 'SIGNALPRESS_A_KEY', in: 'body' } }],
    ['terms of nobody', { terms: { licence: 'public-domain', may_be_sold: true } }],
    ['an unknown member', { every: 5 } as never],
  ])('refuses %s', (_, change) => {
    expect(sourceRowSchema.safeParse({ ...testRow(['https://a.gov/']), ...change }).success).toBe(
      false,
    );
  });

  it('takes a row of tests, which the refused ones differ from in one member', () => {
    expect(sourceRowSchema.safeParse(testRow(['https://a.gov/'])).success).toBe(true);
  });
});

describe('the time of an address', () => {
  const url = 'https://example.gov/a';
  const openAt = (row: Omit<AddressRow, 'url'>, time: string) => isOpen({ url, ...row }, at(time));

  it('lasts through its last day, or through the last day of its month', () => {
    expect(openAt({ ends: '2027-02-22' }, '2027-02-22T23:59:59Z')).toBe(true);
    expect(openAt({ ends: '2027-02-22' }, '2027-02-23')).toBe(false);
    expect(openAt({ ends: '2027-02' }, '2027-02-28T23:59:59Z')).toBe(true);
    expect(openAt({ ends: '2027-12' }, '2028-01-01')).toBe(false);
    expect(endOf({ url })).toBeNull();
  });

  it('begins with its first day', () => {
    expect(openAt({ from: '2026-06-17' }, '2026-06-16T23:59:59Z')).toBe(false);
    expect(openAt({ from: '2026-06-17' }, '2026-06-17')).toBe(true);
  });
});

describe('noticesOf()', () => {
  it('names the old address of AirNow today, and the one in its place', () => {
    const [text] = texts('airnow', TODAY);
    expect(text).toMatch(/latLong\/current\/ ended on 2026-09-30 .*ziplatlong\/ is asked in its/);
    expect(texts('airnow', at('2026-06-01'))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/ended|ends/)]),
    );
  });

  it('names the old service of the USGS in May 2027', () => {
    expect(texts('usgs-nwis', at('2027-05-01'))[0]).toMatch(
      /^https:\/\/waterservices\.usgs\.gov\/nwis\/iv\/ ended on 2027-02-22/,
    );
  });

  it('names the terms of Open-Meteo', () => {
    const [first] = noticesOf(rowOf('open-meteo-marine'), TODAY);
    expect(first).toMatchObject({ about: 'sale', isPressing: false });
    expect(first?.text).toContain('with its key in SIGNALPRESS_OPEN_METEO_KEY');
  });

  it('says what nobody has read, and that only works of the US government are sold all the same', () => {
    const unread = { ...testRow([]).terms, licence: 'attribution' } as const;
    const told = (terms: SourceRow['terms']) =>
      noticesOf(testRow([], { terms }), TODAY).map(({ about, text }) => `${about}: ${text}`);
    expect(told(unread)).toEqual([
      'sale: nobody has read its terms, so nothing says that it may be sold: https://example.gov/terms',
    ]);
    expect(told({ ...unread, read_on: '2026-11-29' })).toEqual([]);
    expect(told({ ...unread, licence: 'us-government' })).toEqual([
      'terms: its page of terms (us-government) is yet to be read: https://example.gov/terms',
    ]);
  });

  it('presses where an end is near, or leaves nothing to ask', () => {
    const near = { url: 'https://a.gov/old', ends: '2027-02-22' };
    const pressing = (list: AddressRow[], now: string) =>
      noticesOf(testRow([list]), at(now)).flatMap(({ about, isPressing }) =>
        about === 'end' ? [isPressing] : [],
      );
    expect(pressing([near], '2026-11-24')).toEqual([]);
    expect(pressing([near], '2026-11-29')).toEqual([true]);
    expect(pressing([near], '2027-03-01')).toEqual([true]);
    const next = { url: 'https://a.gov/new' };
    expect(pressing([next, near], '2027-03-01')).toEqual([false]);
    expect(pressing([{ ...next, ends: '2027-03' }, near], '2027-02-01')).toEqual([true, true]);
  });
});
