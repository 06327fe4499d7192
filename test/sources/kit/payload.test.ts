import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ImportError, parseFetchNote, withoutKeys } from '../../../compiler/sources/kit/payload.ts';
import { unzipped } from '../../../compiler/sources/kit/payload-formats.ts';
import { hasPython } from '../../verify/python-judge.ts';
import { zipOf } from './recorded.ts';

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

describe('unzipped()', () => {
  const note = {
    url: 'https://example.gov/',
    fetched_at: '2026-11-20T11:05:00Z',
    http_status: 200,
  };
  const open = (bytes: Uint8Array) => unzipped({ bytes, note, subject: 'list.zip' });
  const textIn = (bytes: Uint8Array) => Buffer.from(open(bytes).bytes).toString();
  const WHOLE = zipOf('list.json', '{"a":1}'.repeat(50));

  it('opens an archive of one file, with a comment as well', () => {
    expect(textIn(WHOLE)).toBe('{"a":1}'.repeat(50));
    expect(textIn(zipOf('list.json', 'x', { comment: 'made by hand' }))).toBe('x');
    expect(textIn(zipOf('list.json', ''))).toBe('');
    expect(textIn(new Uint8Array([0, ...WHOLE]).subarray(1))).toBe('{"a":1}'.repeat(50));
  });

  it('leaves any other payload as it is', () => {
    for (const text of ['{}', '', 'P', 'a PK']) expect(textIn(Buffer.from(text))).toBe(text);
  });

  it.skipIf(!hasPython)('opens what another program wrote (skipped without python3)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'zip-'));
    writeFileSync(join(folder, 'list.json'), '[1,2,3]');
    const code =
      'import zipfile,sys; z=zipfile.ZipFile("list.zip","w",zipfile.ZIP_DEFLATED); z.write("list.json"); z.close(); sys.stdout.buffer.write(open("list.zip","rb").read())';
    expect(textIn(execFileSync('python3', ['-c', code], { cwd: folder }))).toBe('[1,2,3]');
  });

  it('refuses an archive that is cut off anywhere, and one with any byte of its data changed', () => {
    for (let length = 2; length < WHOLE.length; length += 7) {
      expect(() => open(WHOLE.subarray(0, length))).toThrow('not a whole ZIP archive of one file');
    }
    const start = 30 + 'list.json'.length;
    for (let at = start; at < start + 8; at += 1) {
      const other = Buffer.from(WHOLE);
      other.writeUInt8(other.readUInt8(at) ^ 0x55, at);
      expect(() => open(other)).toThrow('not a whole ZIP archive of one file');
    }
  });

  it('refuses several files, another method, and a size that is not that of the file', () => {
    expect(() => open(zipOf('list.json', 'x', { files: 2 }))).toThrow('2 files');
    const entry = WHOLE.readUInt32LE(WHOLE.length - 6);
    const put = (value: number, at: number) => {
      const other = Buffer.from(WHOLE);
      other.writeUInt32LE(value, entry + at);
      return other;
    };
    expect(() => open(put(0xffff_ffff, 24))).toThrow('bytes inside');
    expect(() => open(put(10, 24))).toThrow('not a whole ZIP archive');
    expect(() => open(put(1000, 24))).toThrow('another checksum');
    const method = Buffer.from(WHOLE);
    method.writeUInt16LE(12, entry + 10);
    expect(() => open(method)).toThrow('method 12');
  });
});
