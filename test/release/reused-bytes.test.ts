import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ReusedBytes, withSpare } from '../../compiler/release/reused-bytes.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

function stored(text: string): string {
  const path = join(makeFolder(), 'file');
  writeFileSync(path, text);
  return path;
}

describe('ReusedBytes', () => {
  it('I34: takes pieces that are not longer, or little longer, out of the same memory', () => {
    const bytes = new ReusedBytes();
    const first = bytes.take(10_000);
    expect(bytes.take(withSpare(10_000)).buffer).toBe(first.buffer);
    expect(bytes.take(withSpare(10_000) + 1).buffer).not.toBe(first.buffer);
  });

  it('gives exactly the size that is asked for, also after a longer piece', () => {
    const bytes = new ReusedBytes();
    bytes.take(9000);
    expect(bytes.take(7)).toHaveLength(7);
    expect(bytes.take(0)).toHaveLength(0);
  });

  it('reads a file with the rest behind it, whatever was read before', () => {
    const bytes = new ReusedBytes();
    bytes.file(stored('a longer text than the next'), Buffer.from('!'));
    expect(bytes.file(stored('short,'), Buffer.from(' and a rest')).toString()).toBe(
      'short, and a rest',
    );
  });

  it('gives the rest alone where there is no file, and throws for what is not one', () => {
    const folder = makeFolder();
    const missing = join(folder, 'none');
    expect(new ReusedBytes().file(missing, Buffer.from('rest')).toString()).toBe('rest');
    mkdirSync(join(folder, 'sub'));
    expect(() => new ReusedBytes().file(join(folder, 'sub'), Buffer.from('rest'))).toThrow();
  });
});
