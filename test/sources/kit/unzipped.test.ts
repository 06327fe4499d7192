import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unzipped } from '../../../compiler/sources/kit/payload-formats.ts';
import { hasPython } from '../../verify/python-judge.ts';
import { zipOf } from './small-payloads.ts';

const note = { url: 'https://example.gov/', fetched_at: '2026-11-20T11:05:00Z', http_status: 200 };
const open = (bytes: Uint8Array) => unzipped({ bytes, note, subject: 'list.zip' });
const textIn = (bytes: Uint8Array) => Buffer.from(open(bytes).bytes).toString();
const WHOLE = zipOf('list.json', '{"a":1}'.repeat(50));

describe('unzipped()', () => {
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
