import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FOUND_MAX,
  findKeys,
  findUrl,
  SITE_ROWS_MAX,
  type SiteEntities,
  type SiteFind,
  type SiteFound,
  type SitePiece,
  siteWords,
} from '../../compiler/catalog/site.ts';
import {
  CatalogView,
  entityFiles,
  findFiles,
  type SiteFile,
} from '../../compiler/describe/write-pieces.ts';
import { type CatalogRow, formatCatalogRow } from '../../compiler/format/release.ts';
import { catalogNews } from '../../compiler/release/catalog-changes.ts';

const row = (entity: string, entity_name: string | null = null): CatalogRow => ({
  signal_id: 'crypto.spot',
  entity,
  entity_name,
  observed_at: '2026-11-20T10:00:00Z',
  band: null,
  record_hash: `sha256:${'0'.repeat(64)}`,
  last_looked_at: '2026-11-20T11:00:00Z',
});
const many = (count: number): CatalogRow[] =>
  Array.from({ length: count }, (_, at) => row(`coin-${String(at).padStart(6, '0')}`));

const viewOf = (rows: readonly CatalogRow[]) =>
  new CatalogView(Buffer.from(rows.map(formatCatalogRow).join('')));
const filesOf = (rows: readonly CatalogRow[]) => entityFiles('crypto.spot', viewOf(rows), null);
const listOf = (files: readonly SiteFile[]) => files[0]?.[1] as SiteEntities;

describe('entityFiles()', () => {
  it('puts a short list into one file, and gives away neither class nor hash', () => {
    const files = filesOf(many(SITE_ROWS_MAX));
    expect(files.map(([path]) => path)).toEqual(['site/data/entities/crypto.spot.json']);
    expect(listOf(files).rows?.[1]).toEqual([
      'coin-000001',
      null,
      '2026-11-20T10:00:00Z',
      '2026-11-20T11:00:00Z',
    ]);
    expect(listOf(files).pieces).toEqual([]);
  });

  it('cuts a long one into pieces that together are the whole list in order', () => {
    const rows = many(5000);
    const [list, ...pieces] = filesOf(rows);
    const { rows: own, pieces: refs } = listOf(list === undefined ? [] : [list]);
    expect(own).toBeNull();
    expect(refs.map(({ url }) => url)).toEqual(pieces.map(([path]) => `/${path}`));
    const bodies = pieces.map(([, body]) => body as SitePiece);
    expect(bodies.flatMap(({ rows }) => rows.map(([entity]) => entity))).toEqual(
      rows.map(({ entity }) => entity),
    );
    expect(bodies.map(({ rows }) => rows.length)).toEqual(refs.map(({ entities }) => entities));
    expect(bodies.map(({ rows }) => rows[0]?.[0])).toEqual(refs.map(({ first }) => first));
    expect(Math.max(...refs.map(({ entities }) => entities))).toBeLessThan(3000);
    expect(refs.length).toBeGreaterThan(5);
  });

  it('changes two pieces at most, beside the list, when an entity comes', () => {
    const texts = (rows: readonly CatalogRow[]) =>
      new Set(filesOf(rows).map((file) => JSON.stringify(file)));
    const before = texts(many(5000));
    for (const entity of ['coin-002500-x', 'a-first', 'z-last']) {
      const rows = [...many(5000), row(entity)].sort((a, b) => (a.entity < b.entity ? -1 : 1));
      const changed = [...texts(rows)].filter((text) => !before.has(text));
      expect(changed.length, entity).toBeGreaterThan(0);
      expect(changed.length, entity).toBeLessThanOrEqual(3);
    }
  });
});

describe('entityFiles() upon the release before', () => {
  const byEntity = (a: CatalogRow, b: CatalogRow): number => (a.entity < b.entity ? -1 : 1);
  const base = many(1500).sort(byEntity);
  const names = fc.uniqueArray(fc.stringMatching(/^[a-d"\\]{1,4}$|^coin-00[0-9]{4}$/), {
    maxLength: 12,
  });

  it('makes again what differs, leaves the rest, and comes to the same as from nothing', () => {
    let kept = 0;
    fc.assert(
      fc.property(names, names, (come, go) => {
        const rows = base.filter(({ entity }) => !go.includes(entity) && !come.includes(entity));
        const now = [...rows, ...come.map((entity) => row(entity, 'new'))].sort(byEntity);
        const was = new Map(filesOf(base));
        const [before, after] = [base, now].map((all) => all.map(formatCatalogRow).join(''));
        const news = catalogNews(Buffer.from(before ?? ''), Buffer.from(after ?? ''));
        const touched = news.touched.get('crypto.spot') ?? [];
        const has = (path: string) => was.has(path);
        const made = entityFiles('crypto.spot', viewOf(now), { touched, has });
        kept += made.filter(([, body]) => body === null).length;
        expect(made.map(([path, body]) => [path, body ?? was.get(path)])).toEqual(filesOf(now));
      }),
      { numRuns: 60 },
    );
    expect(kept).toBeGreaterThan(60);
  });
});

describe('findFiles()', () => {
  const all = (rows: readonly CatalogRow[]) => new Map(findFiles(rows));
  const look = (files: ReadonlyMap<string, object | null>, word: string): string[] => {
    const { keys } = files.get('site/data/find.json') as SiteFind;
    const pieces = findKeys(word, keys).map((key) => files.get(findUrl(key).slice(1)) as SiteFound);
    const rows = pieces.flatMap(({ signals }) => Object.values(signals).flat());
    return [
      ...new Set(
        rows
          .filter(([entity, name]) => siteWords(entity, name).some((each) => each.startsWith(word)))
          .map(([entity]) => entity),
      ),
    ].sort();
  };

  it('lets every entity be found by the beginning of any of its words, and by no other', () => {
    const rows = [...many(3000), row('us-denver', 'Denver, CO'), row('zürich', 'Zürich Flughafen')];
    const files = all(rows);
    expect(look(files, 'd')).toEqual(['us-denver']);
    expect(look(files, 'denver')).toEqual(['us-denver']);
    expect(look(files, 'zur')).toEqual(['zürich']);
    expect(look(files, 'flug')).toEqual(['zürich']);
    expect(look(files, '002999')).toEqual(['coin-002999']);
    expect(look(files, 'denvers')).toEqual([]);
    expect(look(files, 'coin')).toHaveLength(FOUND_MAX);
    expect(files.get('site/data/find/coin.json')).toMatchObject({ total: 3000 });
  });

  it('finds what looking at every entity finds, however the words are cut', () => {
    const name = fc.stringMatching(/^[ab -]{1,14}$/);
    const names = fc.uniqueArray(name, { maxLength: 30 });
    fc.assert(
      fc.property(names, fc.stringMatching(/^[ab]{1,6}$/), (entities, word) => {
        const files = all(
          [...entities, ...many(1001).map(({ entity }) => entity)].map((e) => row(e)),
        );
        const want = entities.filter((e) => siteWords(e).some((each) => each.startsWith(word)));
        expect(look(files, word)).toEqual([...want].sort());
      }),
      { numRuns: 40 },
    );
  });

  it('keeps a piece short, unless all of it is one word', () => {
    for (const [path, body] of findFiles(many(20_000))) {
      if (path === 'site/data/find.json') continue;
      const { key, signals } = body as SiteFound;
      const count = Object.values(signals).flat().length;
      expect([key, count <= (key === 'coin' ? FOUND_MAX : 1000)]).toEqual([key, true]);
    }
  });
});
