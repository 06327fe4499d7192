import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { CODINGS, packedPath, unpackedPath } from '../../compiler/contract/codings.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import {
  isPublicPath,
  parsePublicFileUrl,
  publicFileUrl,
  publicStretches,
} from '../../compiler/contract/public-files.ts';
import { FILES_NAME, RELEASE_NAME } from '../../compiler/contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { STATIC_FILES } from '../../compiler/contract/static-files.ts';
import { placeOf } from '../../compiler/verify/release-place.ts';
import { type CompiledSample, compiledSample } from '../compiled-sample.ts';

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
});

/** Beside the list, so in none. */
const UNLISTED = [RELEASE_NAME, FILES_NAME, RELEASE_PROOF_NAME];

const costs = ({ priceUsd, token }: Endpoint): boolean => priceUsd !== null || token;

/** The files of a row in each of its forms. */
const filesOf = ({ file, params }: Endpoint): string[] =>
  file === undefined
    ? []
    : ['', ...Object.values(params).flatMap(({ variant = {} }) => Object.values(variant))].map(
        (form) => (form === '' ? file : `${form}/${file}`),
      );

/** Whether the table or the static files give a path away, as a reader of both would say. */
function isGiven(path: string): boolean {
  const own = unpackedPath(path)?.path ?? path;
  const place = placeOf(own, BUILTIN);
  if (place !== null) return !costs(place.endpoint);
  return STATIC_FILES.some((row) =>
    row.url.endsWith('/') && row.exact === undefined
      ? own.startsWith(row.path) && own.endsWith(row.end ?? '')
      : own === row.path,
  );
}

describe('isPublicPath()', () => {
  it('I52: is about every file that anybody gets for nothing, and none of what is sold', () => {
    const wrong = sample.paths.filter((path) => isPublicPath(path) !== isGiven(path));
    expect(wrong).toEqual([]);
    expect(sample.paths.filter(isPublicPath).length).toBeGreaterThan(250);
    expect(sample.paths.filter((path) => !isPublicPath(path)).length).toBeGreaterThan(900);
  });

  it('holds for each row of the table in all of its forms, and for each static file', () => {
    for (const row of BUILTIN.operations) {
      for (const file of filesOf(row))
        expect([file, isPublicPath(file)]).toEqual([file, !costs(row)]);
    }
    for (const { path } of STATIC_FILES) {
      expect([path, isPublicPath(path)]).toEqual([path, !UNLISTED.includes(path)]);
    }
  });

  it('I52: leaves out what names the things that are sold', () => {
    const names = ['index/catalog.txt', 'index/filers.txt', 'verify/00.txt', 'log/index/0-1/0.txt'];
    for (const path of names) expect([path, isPublicPath(path)]).toEqual([path, false]);
  });

  it('takes the packed forms of a file with it', () => {
    for (const coding of CODINGS) {
      expect(isPublicPath(packedPath('catalog.json', coding))).toBe(true);
      expect(isPublicPath(packedPath('record/a/b.json', coding))).toBe(false);
    }
  });
});

describe('publicStretches()', () => {
  it('cuts exactly the public paths out of any list', () => {
    const part = fc.constantFrom('a2a', 'catalog.json', 'free', 'log', 'tile', 'x', 'z~', 'site');
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 30 }), (paths) => {
        const list = paths.sort();
        const firstFrom = (text: string): number => {
          const at = list.findIndex((each) => each >= text);
          return at < 0 ? list.length : at;
        };
        const cut = publicStretches(firstFrom).flatMap(([from, to]) => list.slice(from, to));
        expect(cut).toEqual(list.filter(isPublicPath));
      }),
    );
  });
});

describe('parsePublicFileUrl()', () => {
  const sha256 = 'ab'.repeat(32);

  it('is the inverse of publicFileUrl()', () => {
    const file = { path: 'free/raw/a/b~2e.json', sha256 };
    expect(publicFileUrl(file)).toBe(`/release/${sha256}/free/raw/a/b~2e.json`);
    expect(parsePublicFileUrl(publicFileUrl(file))).toEqual(file);
  });

  it.each([
    ['what is sold', `/release/${sha256}/record/a/b.json`],
    ['the list itself', '/release/files.txt'],
    ['a way upwards', `/release/${sha256}/free/../record/a/b.json`],
    ['a hidden segment', `/release/${sha256}/free/.lock`],
    ['an empty segment', `/release/${sha256}/free//a.json`],
    ['a folder', `/release/${sha256}/free/`],
    ['an escape', `/release/${sha256}/free/%2e%2e/a.json`],
    ['upper case', `/release/${sha256.toUpperCase()}/free/a.json`],
    ['a short hash', `/release/${sha256.slice(2)}/free/a.json`],
    ['another folder', `/released/${sha256}/free/a.json`],
    ['no hash', '/release/free/a.json'],
  ])('refuses %s', (_, url) => {
    expect(parsePublicFileUrl(url)).toBeNull();
  });
});
