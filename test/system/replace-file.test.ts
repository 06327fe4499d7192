import fs, { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { durableFolder, replaceFile } from '../../compiler/system/replace-file.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

describe('replaceFile()', () => {
  it('writes what is new in place of what was there, and leaves nothing beside it', () => {
    const folder = makeFolder();
    const path = join(folder, 'state');
    writeFileSync(path, 'a longer text from before');
    replaceFile(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['state']);
  });

  it('leaves the old content where the new one cannot be written', () => {
    const folder = makeFolder();
    const path = join(folder, 'state');
    writeFileSync(path, 'old');
    mkdirSync(`${path}.new`);
    expect(() => replaceFile(path, 'new')).toThrow('EISDIR');
    expect(readFileSync(path, 'utf8')).toBe('old');
  });
});

describe('durableFolder()', () => {
  it('makes what is missing, waits for the disk above each new folder, and for nothing where all stand', () => {
    const root = makeFolder();
    const opened = vi.spyOn(fs, 'openSync');
    syncBuiltinESMExports();
    try {
      durableFolder(join(root, 'a/b/c'));
      expect(opened.mock.calls.map(([path]) => path)).toEqual(
        ['a/b', 'a', ''].map((path) => join(root, path)),
      );
      durableFolder(join(root, 'a/b/c'));
      expect(opened).toHaveBeenCalledTimes(3);
      expect(readdirSync(join(root, 'a/b'))).toEqual(['c']);
    } finally {
      opened.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it('throws where a file stands in the way', () => {
    const root = makeFolder();
    writeFileSync(join(root, 'a'), '');
    expect(() => durableFolder(join(root, 'a/b'))).toThrow('ENOTDIR');
  });
});
