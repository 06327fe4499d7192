import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  openSignatureStore,
  signaturePlace,
} from '../../../compiler/stages/seal/signature-store.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);
const digest = (digit: string) => digit.repeat(64);

/** Read and written in one place, as between two published compiles. */
const openAt = (path: string) => openSignatureStore({ kept: path, made: path });

function savedStore() {
  const path = join(makeFolder(), 'signatures', 'crypto.spot');
  const store = openAt(path);
  store.put(digest('a'), 'signature-a');
  store.put(digest('b'), 'signature-b');
  store.save();
  return path;
}

describe('openSignatureStore()', () => {
  it('remembers what was put before the last save', () => {
    const store = openAt(savedStore());
    expect(store.get(digest('a'))).toBe('signature-a');
    expect(store.get(digest('b'))).toBe('signature-b');
    expect(store.get(digest('c'))).toBeUndefined();
  });

  it('writes nothing before it is saved, and nothing but its file', () => {
    const path = join(makeFolder(), 'store');
    openAt(path).put(digest('a'), 'x');
    expect(existsSync(path)).toBe(false);
    const kept = savedStore();
    const before = readFileSync(kept, 'utf8');
    const made = join(makeFolder(), 'made');
    openSignatureStore({ kept, made }).save();
    expect(readFileSync(kept, 'utf8')).toBe(before);
    expect(existsSync(made)).toBe(true);
  });

  it('forgets what a compile did not use again', () => {
    const path = savedStore();
    const store = openAt(path);
    store.put(digest('b'), 'signature-b');
    store.save();
    expect(openAt(path).get(digest('a'))).toBeUndefined();
    expect(openAt(path).get(digest('b'))).toBe('signature-b');
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, -5)],
    ['changed', (text: string) => text.replace('signature-a', 'signature-x')],
    ['empty', () => ''],
    ['one line', () => 'x'],
    ['without its digest', (text: string) => text.slice(65)],
  ])('is empty when its file is %s', (_, damage) => {
    const path = savedStore();
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    expect(openAt(path).get(digest('a'))).toBeUndefined();
  });
});

describe('signaturePlace()', () => {
  it('is another one for another key, and for another name', () => {
    const folders = { kept: 'k', made: 'm' };
    const place = signaturePlace(folders, 'did:key:z6MkA', 'joined');
    expect(place).toEqual({
      kept: join('k', 'z6MkA', 'joined'),
      made: join('m', 'z6MkA', 'joined'),
    });
    expect(signaturePlace(folders, 'did:key:z6MkB', 'joined')).not.toEqual(place);
    expect(signaturePlace(folders, 'did:key:z6MkA', 'crypto.spot')).not.toEqual(place);
  });
});
