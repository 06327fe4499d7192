import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileWriter } from '../../../compiler/stages/publish/file-writer.ts';
import { sha256Text } from '../../sha256-text.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

describe('fileWriter()', () => {
  it('writes into folders that it makes, and tells size in bytes and digest', () => {
    const root = makeFolder();
    const writer = fileWriter(root);
    const entry = writer.write('a/b/c.json', 'ü');
    expect(entry).toEqual({ path: 'a/b/c.json', size: 2, sha256: sha256Text('ü') });
    expect(readFileSync(join(root, 'a/b/c.json'), 'utf8')).toBe('ü');
  });

  it('never replaces a file', () => {
    const writer = fileWriter(makeFolder());
    writer.write('a.json', '1');
    expect(() => writer.write('a.json', '2')).toThrow('EEXIST');
  });
});
