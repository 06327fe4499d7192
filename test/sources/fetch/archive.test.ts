import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  Archive,
  type Archived,
  ArchiveError,
  fetchNoteOf,
  notePath,
} from '../../../compiler/sources/fetch/archive.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

const SOURCE = 'usgs-nwis';
const URL_A = 'https://waterservices.usgs.gov/nwis/iv/?sites=07010000';
const FETCHED = '2026-11-20T11:00:12Z';

let folder = '';
let archive: Archive;
beforeEach(() => {
  folder = join(makeFolder(), 'archive');
  archive = new Archive(folder);
});

async function* chunksOf(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}

async function put(text: string, over: Partial<Archived> = {}): Promise<Archived> {
  const incoming = await archive.receive(SOURCE, chunksOf(text));
  const { fetched_at = FETCHED, url = URL_A } = over;
  const payload_day = fetched_at.slice(0, 10);
  archive.keep(SOURCE, incoming, payload_day);
  const { sha256, bytes } = incoming;
  const base = { source: SOURCE, sha256, bytes, payload_day, url, fetched_at };
  const archived: Archived = { ...base, http_status: 200, ...over };
  return archive.note(archived);
}

describe('new Archive()', () => {
  it('gives back the bytes and the note of a fetch', async () => {
    const archived = await put('{"a":1}', { etag: '"x"', last_modified: 'yesterday' });
    expect(archive.fetches()).toEqual([archived]);
    expect(Buffer.from(archive.payload(archived)).toString()).toBe('{"a":1}');
    expect(fetchNoteOf(archived)).toEqual({
      url: URL_A,
      fetched_at: FETCHED,
      http_status: 200,
      bytes: 7,
      last_modified: 'yesterday',
    });
    expect(readdirSync(join(folder, SOURCE))).toEqual(['2026-11-20']);
  });

  it('refuses a note that is too long to be read again, and writes nothing of it', async () => {
    await expect(put('{"a":1}', { etag: '"'.repeat(40_000) })).rejects.toThrow(
      `Cannot note the fetch of "${URL_A}": its note would have more than 65536 bytes`,
    );
    expect(archive.fetches()).toEqual([]);
    await put('{"a":1}', { etag: '"'.repeat(20_000) });
    expect(archive.fetches()).toHaveLength(1);
  });

  it('stores the same bytes, however they came in, as the same file', async () => {
    const one = await archive.receive(SOURCE, chunksOf('{"a', '":1}'));
    const two = await archive.receive(SOURCE, chunksOf('{"a":1}'));
    expect(two.sha256).toBe(one.sha256);
    expect(readFileSync(two.path)).toEqual(readFileSync(one.path));
    expect(gunzipSync(readFileSync(one.path)).toString()).toBe('{"a":1}');
  });

  it('lists in order of fetch, keeps two addresses with one answer apart, and finds by hash', async () => {
    const late = await put('[]', { fetched_at: '2026-11-21T00:00:01Z' });
    const early = await put('[]', { url: `${URL_A},2` });
    const twin = await put('[]');
    const other = await put('[1]', { fetched_at: '2026-11-20T10:00:00Z' });
    expect(archive.fetches()).toEqual([other, twin, early, late]);
    expect(archive.fetches({ source: SOURCE, since: '2026-11-20T11:00:12Z' })).toEqual([
      twin,
      early,
      late,
    ]);
    expect(archive.find(twin.sha256)).toEqual([twin, early, late]);
    expect(archive.find('0'.repeat(64))).toEqual([]);
    expect(archive.find('../../x')).toEqual([]);
    expect(new Set([twin, early, late].map(notePath)).size).toBe(3);
  });

  it('leaves nothing of a stream that breaks', async () => {
    const broken = async function* () {
      yield Buffer.from('half');
      throw new Error('cut off');
    };
    await expect(archive.receive(SOURCE, broken())).rejects.toThrow('cut off');
    expect(readdirSync(join(folder, SOURCE))).toEqual([]);
  });

  it('removes what a process that was cut short left, and nothing else', async () => {
    const archived = await put('[]');
    await archive.receive(SOURCE, chunksOf('left'));
    archive.tidy();
    expect(readdirSync(join(folder, SOURCE))).toEqual(['2026-11-20']);
    expect(archive.payload(archived)).toHaveLength(2);
  });

  it('refuses a payload with one byte changed, cut short or gone, and names it', async () => {
    const archived = await put('{"a":1}');
    const path = join(folder, SOURCE, '2026-11-20', `${archived.sha256}.gz`);
    const whole = readFileSync(path);
    writeFileSync(path, gzipSync('{"a":2}'));
    expect(() => archive.payload(archived)).toThrow('its bytes are not those of its name');
    writeFileSync(path, whole.subarray(0, -4));
    expect(() => archive.payload(archived)).toThrow(path);
    rmSync(path);
    expect(() => archive.payload(archived)).toThrow(ArchiveError);
  });

  it('refuses a note that was altered or stands under the name of another', async () => {
    const archived = await put('{"a":1}');
    const path = join(folder, notePath(archived));
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('sites=07010000', 'sites=07020000'));
    expect(() => archive.fetches()).toThrow('it is of another fetch than its name');
    writeFileSync(path, text.replace('"http_status":200', '"http_status":500'));
    expect(() => archive.fetches()).toThrow(path);
  });

  it('never stores a data key of an address', async () => {
    await put('{"a":1}', { url: 'https://api.eia.gov/v2/?api_key=SECRET&a=1' });
    const [found] = archive.fetches();
    expect(found?.url).toBe('https://api.eia.gov/v2/?a=1');
  });

  it('remembers the last look at each address', async () => {
    expect(archive.looks(SOURCE)).toEqual(new Map());
    const archived = await put('[]');
    const { sha256, bytes, payload_day } = archived;
    const note = notePath(archived);
    expect(archive.at(note)).toEqual(archived);
    expect(() => archive.at('../secret')).toThrow('that is no path of a note');
    const look = { sha256, bytes, payload_day, note, noted_at: FETCHED };
    const looks = new Map([[URL_A, { ...look, looked_at: FETCHED, etag: '"x"' }]]);
    archive.saveLooks(SOURCE, looks);
    expect(archive.looks(SOURCE)).toEqual(looks);
    writeFileSync(join(folder, SOURCE, 'looks.json'), '{');
    expect(() => archive.looks(SOURCE)).toThrow('looks.json');
  });

  it('refuses a source name that would lead out of its folder', () => {
    expect(() => archive.looks('../x')).toThrow('no source name');
  });
});
