import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { replaceFile } from '../../../compiler/stages/publish/replace-file.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

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
