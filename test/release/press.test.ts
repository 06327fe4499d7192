import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { type CurrentEntry, type FileEntry, packedPath } from '../../compiler/format/release.ts';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { fileEntry, fileWriter } from '../../compiler/release/file-writer.ts';
import { makePress, packedBytes } from '../../compiler/release/press.ts';
import { ReusedBytes, withSpare } from '../../compiler/release/reused-bytes.ts';
import { issuerDid, makeSealer, signingKey } from '../../compiler/system/sealer.ts';
import { makeFolder, removeFolders, sha256Text } from '../snapshot-folder.ts';

const KEY = signingKey(new Uint8Array(32).fill(7));
const ISSUER = { name: 'x', did: issuerDid(KEY), keyId: 'x', baseUrl: 'https://example.org' };
const LONG = 'a long description '.repeat(300);
const PATH = 'well-known/openapi.json';
const PACKED = [packedPath(PATH, 'br'), packedPath(PATH, 'gzip')];

/** What a press lists and writes, after a release with these files. */
function pressed(listed: readonly FileEntry[] = [], groupsBefore = '[]') {
  const written: string[] = [];
  const press = makePress({
    catalog: BUILTIN,
    issuer: ISSUER,
    sealer: makeSealer(ISSUER, KEY),
    asOf: '2026-11-20T12:00:00Z',
    writer: {
      write(path, content) {
        written.push(path);
        return fileEntry(path, Buffer.from(content));
      },
      store: () => undefined,
    },
    shards: { add: () => undefined, remove: () => undefined, write: () => [], emptied: [] },
    leaves: { add: () => undefined } as never,
    groupsBefore,
    before: (path) => listed.find((each) => each.path === path) ?? null,
  });
  return { press, written };
}

describe('makePress().pack()', () => {
  it('writes a long file under each coding too, and a short one as it is', () => {
    const { press, written } = pressed();
    press.pack(PATH, LONG);
    expect(written).toEqual([PATH, ...PACKED]);
    expect(press.files.map(({ path }) => path)).toEqual([PATH, ...PACKED]);
    press.pack('well-known/short.txt', 'short');
    expect(written.slice(3)).toEqual(['well-known/short.txt']);
  });

  it('takes the packed forms of the previous release where the bytes are the same, and only there', () => {
    const first = pressed();
    first.press.pack(PATH, LONG);
    const same = pressed(first.press.files);
    same.press.pack(PATH, LONG);
    expect(same.written).toEqual([PATH]);
    expect(same.press.files).toEqual(first.press.files);
    const other = pressed(first.press.files);
    other.press.pack(PATH, `${LONG}.`);
    expect(other.written).toEqual([PATH, ...PACKED]);
    // A release of an earlier version has no brotli.
    const older = pressed(first.press.files.filter(({ path }) => !path.endsWith('.br')));
    older.press.pack(PATH, LONG);
    expect(older.written).toEqual([PATH, PACKED[0]]);
  });
});

describe('makePress().group()', () => {
  const LOOK_UP: CurrentEntry = {
    record_hash: `sha256:${'0a'.repeat(32)}`,
    kind: 'row',
    state: 'current',
    file: 'a.json',
    signal_id: null,
    entity: 'x',
    observed_at: '2026-11-20T10:00:00Z',
  };
  const grouped = (digest: string, { press }: ReturnType<typeof pressed>) =>
    press.group('x', digest, () => {
      press.file('a.json', digest);
      press.lookUp(LOOK_UP);
    });

  it('lets a group of the same digest stand, with its look-ups, for as long as it stays so', () => {
    const first = pressed();
    grouped('1', first);
    const second = pressed(first.press.files, first.press.groups());
    grouped('1', second);
    expect(second.written).toEqual([]);
    expect(second.press.files).toEqual(first.press.files);
    expect(second.press.lookUps).toEqual(first.press.lookUps);
    expect(second.press.groups()).toBe(first.press.groups());
  });

  it('writes a group of another digest, and one of which a file is not listed any more', () => {
    const first = pressed();
    grouped('1', first);
    const other = pressed(first.press.files, first.press.groups());
    grouped('2', other);
    const lost = pressed([], first.press.groups());
    grouped('1', lost);
    expect([other.written, lost.written]).toEqual([['a.json'], ['a.json']]);
  });
});

describe('makePress().put()', () => {
  it('packs what is free and the same for everybody, and nothing that is sold', () => {
    const body = { text: LONG };
    const { press, written } = pressed();
    press.put('/manifest', {}, body);
    press.put('/mcp/census', {}, body);
    press.put('/gauge/sample', { signal_id: 'airquality.aqi' }, body);
    expect(written.filter((path) => /\.(br|gz)$/.test(path))).toEqual([
      'well-known/manifest.json.br',
      'well-known/manifest.json.gz',
    ]);
  });
});

const BYTES = Buffer.from(JSON.stringify(Array.from({ length: 2000 }, (_, at) => ({ at }))));

describe('packedBytes()', () => {
  it('unpacks to the same bytes, and is far shorter', () => {
    const [br, gzip] = [packedBytes(BYTES, 'br'), packedBytes(BYTES, 'gzip')];
    expect(brotliDecompressSync(br)).toEqual(BYTES);
    expect(gunzipSync(gzip)).toEqual(BYTES);
    expect(gzip.length).toBeLessThan(BYTES.length / 4);
    expect(br.length).toBeLessThan(gzip.length);
  });

  it('names no system and no time, so it is the same everywhere and always', () => {
    const gzip = packedBytes(BYTES, 'gzip');
    expect(gzip.subarray(4, 8)).toEqual(Buffer.alloc(4));
    expect(gzip[9]).toBe(255);
    expect(packedBytes(BYTES, 'gzip')).toEqual(gzip);
    expect(packedBytes(BYTES, 'br')).toEqual(packedBytes(BYTES, 'br'));
  });
});

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
