import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { fileEntry, fileWriter } from '../../compiler/release/file-writer.ts';
import { ReusedBytes, withSpare } from '../../compiler/release/reused-bytes.ts';
import { sha256Text } from '../sha256-text.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

const store = (data: string, isKept = false) => ({
  data,
  spare: join(data, '.staging/spare'),
  isKept: () => isKept,
  spares: { writeOver: () => false },
});
const placeOf = (data: string, text: string) =>
  join(data, storedPath('a/b/c.json', sha256Text(text)));

/** A data folder with bytes that are not those of their name. */
function withTorn(): string {
  const data = makeFolder();
  mkdirSync(dirname(placeOf(data, 'ü')), { recursive: true });
  writeFileSync(placeOf(data, 'ü'), 'torn');
  return data;
}

describe('fileWriter()', () => {
  it('writes into folders that it makes, under a name with the digest, and tells size in bytes', () => {
    const data = makeFolder();
    const entry = fileWriter(store(data)).write('a/b/c.json', 'ü');
    expect(entry).toEqual({ path: 'a/b/c.json', size: 2, sha256: sha256Text('ü') });
    expect(readFileSync(placeOf(data, 'ü'), 'utf8')).toBe('ü');
  });

  it('stores bytes under an entry that was made before, as it stores its own', () => {
    const data = makeFolder();
    const bytes = Buffer.from('ü');
    fileWriter(store(data)).store(fileEntry('a/b/c.json', bytes), bytes);
    expect(readFileSync(placeOf(data, 'ü'), 'utf8')).toBe('ü');
    const torn = withTorn();
    fileWriter(store(torn)).store(fileEntry('a/b/c.json', bytes), bytes);
    expect(readFileSync(placeOf(torn, 'ü'), 'utf8')).toBe('ü');
  });

  it('keeps other bytes of the same path beside them', () => {
    const data = makeFolder();
    const writer = fileWriter(store(data));
    writer.write('a/b/c.json', '1');
    writer.write('a/b/c.json', '2');
    expect(['1', '2'].map((text) => readFileSync(placeOf(data, text), 'utf8'))).toEqual(['1', '2']);
  });

  it('I16: replaces what a killed compile left under the name, and trusts what a release lists', () => {
    const torn = withTorn();
    fileWriter(store(torn)).write('a/b/c.json', 'ü');
    expect(readFileSync(placeOf(torn, 'ü'), 'utf8')).toBe('ü');
    const listed = withTorn();
    fileWriter(store(listed, true)).write('a/b/c.json', 'ü');
    expect(readFileSync(placeOf(listed, 'ü'), 'utf8')).toBe('torn');
  });

  it('I17: undo() removes what it made and nothing else', () => {
    const data = withTorn();
    const writer = fileWriter(store(data));
    for (const path of ['a/b/c.json', 'a/d/e.json']) writer.write(path, 'ü');
    writer.undo();
    expect(readdirSync(join(data, 'files/a'))).toEqual(['b']);
    expect(existsSync(placeOf(data, 'ü'))).toBe(true);
  });
});

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

  it('throws where there is no file, and for what is not one', () => {
    const folder = makeFolder();
    const missing = join(folder, 'none');
    expect(() => new ReusedBytes().file(missing, Buffer.from('rest'))).toThrow('ENOENT');
    mkdirSync(join(folder, 'sub'));
    expect(() => new ReusedBytes().file(join(folder, 'sub'), Buffer.from('rest'))).toThrow();
  });
});
