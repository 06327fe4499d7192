import { describe, expect, it } from 'vitest';
import { ImportError, parseFetchNote, withoutKeys } from '../../../compiler/sources/kit/payload.ts';

const note = {
  url: 'https://api.eia.gov/v2/data?api_key=SECRET&frequency=hourly',
  fetched_at: '2026-11-20T11:00:12Z',
  http_status: 200,
};
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('withoutKeys()', () => {
  it('strips every data key whatever its case, and keeps the rest', () => {
    for (const name of ['api_key', 'API_KEY', 'apikey', 'MAP_KEY', 'registrationkey']) {
      expect(withoutKeys(`https://agency.test/v1?site=7&${name}=SECRET`)).toBe(
        'https://agency.test/v1?site=7',
      );
    }
    expect(withoutKeys('https://me:SECRET@agency.test/v1')).toBe('https://agency.test/v1');
  });

  it('strips a data key that is a part of the path, and the place of one stays as it is', () => {
    const key = '0123456789abcdef0123456789ABCDEF';
    const stripped = 'https://agency.test/api/area/csv/%7Bkey%7D/VIIRS/1';
    for (const part of [key, '{key}', '%7Bkey%7D']) {
      expect(withoutKeys(`https://agency.test/api/area/csv/${part}/VIIRS/1`)).toBe(stripped);
    }
    expect(withoutKeys(`https://agency.test/csv/${key}`)).toBe('https://agency.test/csv/%7Bkey%7D');
    expect(withoutKeys(`https://agency.test/v1/${key}0/1`)).toContain(key);
  });

  it('leaves a parameter that only looks like a key', () => {
    expect(withoutKeys('https://agency.test/v1?keyword=api_key')).toContain('keyword=api_key');
  });
});

describe('parseFetchNote()', () => {
  it('reads a note and forgets its key', () => {
    const given = { ...note, http_date: 'Fri, 20 Nov 2026', bytes: 7 };
    const read = parseFetchNote(bytes(given), 'note.json');
    expect(read.bytes).toBe(7);
    expect(read.url).toBe('https://api.eia.gov/v2/data?frequency=hourly');
    expect(read.fetched_at).toBe(note.fetched_at);
  });

  it.each([
    ['no url', { ...note, url: undefined }, 'url'],
    ['a local time', { ...note, fetched_at: '2026-11-20 11:00' }, 'fetched_at'],
    ['an unknown member', { ...note, fetchedAt: note.fetched_at }, 'fetchedAt'],
    ['a length in words', { ...note, bytes: 'all' }, 'bytes'],
    ['an error answer', { ...note, http_status: 503 }, 'HTTP 503'],
  ])('refuses %s', (_name, value, expected) => {
    expect(() => parseFetchNote(bytes(value), 'note.json')).toThrow(ImportError);
    expect(() => parseFetchNote(bytes(value), 'note.json')).toThrow(expected);
  });

  it('refuses a note that is not JSON', () => {
    expect(() => parseFetchNote(Buffer.from('fetched today'), 'note.json')).toThrow('not JSON');
  });
});
