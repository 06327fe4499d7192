import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memoryFile } from '../../compiler/commands/verify-cli.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

describe('memoryFile()', () => {
  it('is empty before the first save, and holds what was saved', () => {
    const folder = makeFolder();
    const path = join(folder, 'seen');
    const memory = memoryFile(path);
    expect(memory.text).toBeNull();
    memory.save('one');
    expect([memoryFile(path).text, readdirSync(folder)]).toEqual(['one', ['seen']]);
  });

  it('refuses no name and a folder, each in a sentence', () => {
    const folder = makeFolder();
    expect(() => memoryFile('')).toThrow('--remember is empty; name a file');
    expect(() => memoryFile(folder)).toThrow(`"${folder}" of --remember: it is a folder`);
  });

  it('says that it was verified where nothing can be remembered, and leaves nothing behind', () => {
    const folder = makeFolder();
    const path = join(folder, 'none/seen');
    expect(() => memoryFile(path).save('one')).toThrow(
      /what was verified; the verification itself is done\. .*ENOENT/,
    );
    const blocked = join(folder, 'seen');
    const memory = memoryFile(blocked);
    mkdirSync(blocked);
    expect(() => memory.save('one')).toThrow(`Cannot remember in "${blocked}"`);
    expect(readdirSync(folder)).toEqual(['seen']);
  });
});
