import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatFiles } from '../../compiler/contract/release.ts';
import { nodeDisk } from '../../compiler/verify/disk.ts';
import { openFileList } from '../../compiler/verify/file-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalpress-list-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entries = Array.from({ length: 997 }, (_, at) => {
  const path = `${at % 2 === 0 ? 'a' : 'b/c'}/${String(at).padStart(4, '0')}.json`;
  return { path, size: at, sha256: at.toString(16).padStart(64, '0') };
}).sort((a, b) => (a.path < b.path ? -1 : 1));

function listOf(text: string) {
  writeFileSync(join(folder, 'files.txt'), text);
  return openFileList(nodeDisk, folder);
}

describe('FileList', () => {
  const list = listOf(formatFiles(entries));

  it('finds every path that is listed and no other', () => {
    for (const entry of entries) expect(list.find(entry.path)).toEqual(entry);
    for (const path of ['', 'a', 'a/', 'a/0001.json', 'b/c/9999.json', 'zzz', '~']) {
      expect(list.find(path)).toBeNull();
    }
  });

  it('gives each file in exactly one chunk, in order', () => {
    const given = Array.from({ length: list.chunks }, (_, chunk) => list.chunk(chunk)).flat();
    expect(given).toEqual(entries);
    expect(list.chunks).toBeGreaterThan(5);
  });

  it('counts by prefix', () => {
    expect([list.count('a/'), list.count('b/c/'), list.count('b/d/')]).toEqual([499, 498, 0]);
    expect([list.count(''), list.count('zzz')]).toEqual([997, 0]);
  });

  it('is empty for an empty list', () => {
    const empty = listOf('');
    expect([empty.chunks, empty.find('a'), empty.count('')]).toEqual([0, null, 0]);
  });

  it('refuses a list that is unsorted, malformed or cut off', () => {
    const text = formatFiles(entries.slice(0, 3));
    const [first = '', second = ''] = text.split('\n');
    for (const bad of [`${second}\n${first}\n`, `${first}\n${first}\n`, text.slice(0, -1), 'x\n']) {
      expect(() => listOf(bad)).toThrow(RangeError);
    }
  });
});
