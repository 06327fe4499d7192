import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import {
  FORMAT_DOCUMENTS,
  findStaticFile,
  STATIC_FILES,
} from '../../compiler/catalog/static-files.ts';
import { runPaths, runsOf } from '../../compiler/format/hash-index.ts';

describe('findStaticFile()', () => {
  it('gives the path in the release, below a folder or as a whole', () => {
    expect(findStaticFile('/log/checkpoint')?.path).toBe('log/checkpoint');
    expect(findStaticFile('/log/tile/0/x001/000.p/7')).toMatchObject({
      path: 'log/tile/0/x001/000.p/7',
      row: { cache: 'immutable' },
    });
    expect(findStaticFile('/log/anchor/ab.ots')?.row.contentType).toBe('application/octet-stream');
    expect(findStaticFile('/log/anchor/ab.json')?.row.contentType).toBe('application/json');
  });

  it('gives the page at its own paths alone, and what it loads by the end of its name', () => {
    expect(findStaticFile('/')?.path).toBe('site/index.html');
    expect(findStaticFile('/site/')?.path).toBe('site/index.html');
    expect(findStaticFile('/site/assets/a.js')?.row.cache).toBe('immutable');
    expect(findStaticFile('/site/data/find/de.json')?.row.cache).toBe('release');
    expect(findStaticFile('/site/assets/a.js.gz')).toBeNull();
  });

  it('knows nothing of other paths', () => {
    const urls = [
      '/x',
      '/site',
      '/site/assets',
      '/site/index.html',
      '/log',
      '/log/',
      '/log/checkpoint/',
      '/log/anchor/ab',
      '/gauge',
      'log/vkey',
    ];
    for (const url of urls) expect([url, findStaticFile(url)]).toEqual([url, null]);
  });

  it('I52: gives nobody the look-up of hashes, which tells times that are sold', () => {
    for (const path of runsOf(70_000).flatMap(runPaths)) {
      expect(findStaticFile(`/${path}`)).toBeNull();
    }
  });

  it('takes no path from an operation, and no path of a release that is sold', () => {
    const own = ['catalog.json', 'files.txt', 'release.json'];
    const free = new Set(['log', 'well-known', 'free', 'site', ...own]);
    for (const { url, path } of STATIC_FILES) {
      expect(BUILTIN.operations.filter((row) => findStaticFile(row.path) !== null)).toEqual([]);
      expect(BUILTIN.operations.filter((row) => row.path === url)).toEqual([]);
      expect([path, free.has(path.split('/')[0] ?? '')]).toEqual([path, true]);
    }
  });

  it('gives away every document of the format, and the first one names the others', () => {
    const folder = new URL('../../compiler/format/', import.meta.url);
    const documents = readdirSync(folder).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    expect(FORMAT_DOCUMENTS.map(({ source }) => source).sort()).toEqual(documents.sort());
    const format = readFileSync(new URL('FORMAT.md', folder), 'utf8');
    for (const { source, url, path } of FORMAT_DOCUMENTS.slice(1)) {
      expect(format).toContain(source);
      expect(findStaticFile(url)).toMatchObject({ path, row: { cache: 'release' } });
    }
  });
});
