import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { fileEntry } from '../../compiler/release/file-writer.ts';
import { SpareFiles } from '../../compiler/release/spare-files.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);
const PATH = 'a/b.json';
const bytesOf = (text: string) => Buffer.from(text, 'utf8');
const entryOf = (text: string, path = PATH) => fileEntry(path, bytesOf(text));

/** A data folder with the bodies of old releases, all of them spare. */
function shop(...texts: string[]) {
  const data = makeFolder();
  const placeOf = (text: string, path = PATH) =>
    join(data, storedPath(path, entryOf(text, path).sha256));
  mkdirSync(dirname(placeOf('')), { recursive: true });
  for (const text of texts) writeFileSync(placeOf(text), text);
  const spares = new SpareFiles(data, () => texts.map((text) => entryOf(text)));
  const write = (text: string, path = PATH) => spares.writeOver(entryOf(text, path), bytesOf(text));
  return { data, placeOf, spares, write };
}

describe('SpareFiles', () => {
  it.each([
    ['longer', 'x'.repeat(9000), 'y'.repeat(20_000)],
    ['shorter', 'x'.repeat(20_000), 'y'.repeat(9000)],
    ['empty', 'x'.repeat(100), ''],
    ['of whole blocks', 'x'.repeat(100), 'y'.repeat(8192)],
  ])('writes a body that is %s over a spare one, which takes its name', (_, old, fresh) => {
    const { placeOf, write } = shop(old);
    const { ino } = statSync(placeOf(old));
    expect(write(fresh)).toBe(true);
    expect(existsSync(placeOf(old))).toBe(false);
    expect(readFileSync(placeOf(fresh), 'utf8')).toBe(fresh);
    expect(statSync(placeOf(fresh)).ino).toBe(ino);
  });

  it('writes over each spare file once, and over none of another path', () => {
    const { placeOf, write } = shop('one', 'two');
    expect([write('3'), write('4'), write('5')]).toEqual([true, true, false]);
    expect(['3', '4'].map((text) => readFileSync(placeOf(text), 'utf8'))).toEqual(['3', '4']);
    expect(shop('one').write('2', 'a/c.json')).toBe(false);
  });

  it('I16: leaves a file alone that is there under the new name, and one that a copy shares', () => {
    const there = shop('old');
    writeFileSync(there.placeOf('new'), 'of a kept release');
    expect(there.write('new')).toBe(false);
    expect(readFileSync(there.placeOf('new'), 'utf8')).toBe('of a kept release');
    const shared = shop('old');
    const copy = join(shared.data, 'backup');
    linkSync(shared.placeOf('old'), copy);
    expect(shared.write('new')).toBe(false);
    expect(readFileSync(copy, 'utf8')).toBe('old');
  });

  it.each([
    ['gone', (place: string) => rmSync(place)],
    [
      'a link',
      (place: string) => {
        rmSync(place);
        writeFileSync(`${place}.other`, 'other');
        symlinkSync(`${place}.other`, place);
      },
    ],
    [
      'a folder',
      (place: string) => {
        rmSync(place);
        mkdirSync(place);
      },
    ],
  ])('I38: writes over nothing that is %s', (_, change) => {
    const { placeOf, write } = shop('old');
    change(placeOf('old'));
    expect(write('new')).toBe(false);
    expect(existsSync(placeOf('new'))).toBe(false);
    const other = `${placeOf('old')}.other`;
    if (existsSync(other)) expect(readFileSync(other, 'utf8')).toBe('other');
  });

  it.skipIf(process.getuid?.() === 0)(
    'writes over nothing that is not ours to write (skipped for root)',
    () => {
      const { placeOf, write } = shop('old');
      chmodSync(placeOf('old'), 0o400);
      expect(write('new')).toBe(false);
    },
  );

  it('removes what is left, and nothing that is written again under its name', () => {
    const { placeOf, spares, write } = shop('again', 'left');
    expect(write('again')).toBe(false);
    writeFileSync(placeOf('again'), 'again');
    spares.remove();
    expect([existsSync(placeOf('again')), existsSync(placeOf('left'))]).toEqual([true, false]);
  });

  it('asks for spare files once, and only where something is written or removed', () => {
    const data = makeFolder();
    let asked = 0;
    const spares = new SpareFiles(data, () => {
      asked += 1;
      return [];
    });
    spares.removeGiven();
    expect(asked).toBe(0);
    expect(spares.writeOver(entryOf('x'), bytesOf('x'))).toBe(false);
    spares.remove();
    expect(asked).toBe(1);
  });
});
