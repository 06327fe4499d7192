import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { SITE_CHANGES_MAX } from '../../compiler/catalog/site.ts';
import { changesFeed, siteChanges } from '../../compiler/describe/describe-site.ts';
import { described, manifestBody } from '../../compiler/describe/manifest.ts';
import { openApi } from '../../compiler/describe/openapi.ts';
import { indexPage, readPicture } from '../../compiler/describe/pages.ts';
import { llmsText } from '../../compiler/describe/texts.ts';
import { CatalogView } from '../../compiler/describe/write-pieces.ts';
import { firstHistory } from '../../compiler/format/key-history.ts';
import { type CatalogRow, formatCatalogRow } from '../../compiler/format/release.ts';
import { catalogNews } from '../../compiler/release/catalog-changes.ts';
import { TIDES } from '../tide-shop.ts';

const row = (signal_id: string, entity: string, more: Partial<CatalogRow> = {}): CatalogRow => ({
  signal_id,
  entity,
  entity_name: null,
  observed_at: '2026-11-20T10:00:00Z',
  band: 'good',
  record_hash: `sha256:${'0'.repeat(64)}`,
  last_looked_at: '2026-11-20T11:00:00Z',
  ...more,
});
const textOf = (rows: readonly CatalogRow[]) => Buffer.from(rows.map(formatCatalogRow).join(''));
const ISSUER = { name: 'A & B', did: 'did:key:z6Mk', keyId: 'k', baseUrl: 'https://e.org' };

describe('CatalogView', () => {
  const rows = [row('a.b', 'x'), row('a.b', 'ü"\\'), row('a.bc', 'y'), row('b.a', 'z')];
  const view = new CatalogView(textOf(rows));

  it('gives the rows of one signal, and none of another that begins alike', () => {
    for (const id of ['a.b', 'a.bc', 'b.a']) {
      expect([...view.rows(id)]).toEqual(rows.filter(({ signal_id }) => signal_id === id));
    }
    for (const id of ['a', 'a.bb', 'c.c', '']) expect([...view.rows(id)]).toEqual([]);
    expect([...new CatalogView(Buffer.alloc(0)).rows('a.b')]).toEqual([]);
  });
});

describe('indexPage()', () => {
  const page = (unsourced: readonly string[]) =>
    indexPage({
      issuer: ISSUER,
      asOf: '2026-11-20T12:00:00Z',
      shop: { signals: [], bundles: [], prices: [], entities: 0, zones: {} },
      assets: { files: [], script: '/site/a.js', docsScript: '/site/b.js', styles: [] },
      catalog: new CatalogView(Buffer.alloc(0)),
      keys: firstHistory('did:key:z6Mk'),
      example: '/gauge',
      world: { judged: 0, total: 0, rows: [], example: null },
      unsourced,
    });

  it('names what is not sold because nobody publishes it, and nothing where there is none', () => {
    const html = page(['promise.slippage']);
    expect(html).toContain('1 signal, no public source known');
    expect(html).toContain('<code>promise.slippage</code>');
    expect(page([])).not.toContain('no public source known');
  });
});

describe('siteChanges()', () => {
  const before = [row('a.b', 'gone'), row('a.b', 'old'), row('a.b', 'same')];
  const after = [
    row('a.b', 'new <b>', { entity_name: '\u202e<script>' }),
    row('a.b', 'old', { record_hash: `sha256:${'1'.repeat(64)}` }),
    row('a.b', 'same'),
  ];
  const changes = siteChanges(catalogNews(textOf(before), textOf(after)), {
    asOf: '2026-11-20T12:00:00Z',
    baseUrl: 'https://e.org',
  });

  it('names what is new, revised and gone, and no class of it', () => {
    expect(changes.counts).toEqual({ new: 1, newer: 0, revised: 1, older: 0, gone: 1 });
    expect(changes.changes.map(({ change, entity }) => [change, entity])).toEqual([
      ['gone', 'gone'],
      ['new', 'new <b>'],
      ['revised', 'old'],
    ]);
    expect(changes.changes[0]).toMatchObject({ url: null, preview_url: null });
    expect(JSON.stringify(changes)).not.toContain('good');
  });

  it('shows hostile names as text in the feed', () => {
    const feed = changesFeed(changes, ISSUER, BUILTIN);
    expect(feed).toContain('\\u{202e}&lt;script&gt;');
    expect(feed).toContain('<title>A &amp; B: what changed</title>');
    expect(feed).not.toContain('<script');
  });

  it('says of an unreadable release before that nothing is known', () => {
    const unknown = siteChanges(null, { asOf: '2026-11-20T12:00:00Z', baseUrl: 'https://e.org' });
    expect(unknown).toEqual({ as_of: '2026-11-20T12:00:00Z', counts: null, changes: [] });
  });

  it('lists the newest alone where there are many', () => {
    const many = Array.from({ length: 1000 }, (_, at) =>
      row('a.b', String(at).padStart(4, '0'), {
        observed_at: new Date(Date.UTC(2026, 10, 1, 0, (at * 7) % 1000)).toISOString(),
      }),
    );
    const news = catalogNews(Buffer.alloc(0), textOf(many));
    const want = many
      .map(({ observed_at }) => observed_at)
      .sort()
      .reverse();
    expect(news.counts.new).toBe(1000);
    expect(news.newest.map(({ row }) => row.observed_at)).toEqual(want.slice(0, SITE_CHANGES_MAX));
  });
});

describe('the picture of a shared link', () => {
  it('is a PNG of 1200 by 630 pixels', () => {
    const image = readPicture();
    expect(image.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
    expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(image.length).toBeLessThan(20_000);
  });
});

const NOTHING = { has: () => false, under: () => [], read: () => Buffer.alloc(0) };
const issuer = { name: 'Harbour', did: 'did:key:z', keyId: 'z', baseUrl: 'https://tides.example' };

describe('descriptions of an own catalogue', () => {
  const { entries, bodies } = described(NOTHING, TIDES, true);
  const offer = { entries: entries.map((entry) => ({ ...entry, sells_now: true })), bodies };
  const texts = {
    manifest: JSON.stringify(manifestBody(offer.entries)),
    openapi: JSON.stringify(openApi({ ...offer, catalog: TIDES, issuer, contact: null })),
    llms: llmsText({ issuer, catalog: TIDES, counts: new Map() }, offer.entries),
  };

  it.each(Object.entries(texts))('name in %s what it sells at its prices', (_, text) => {
    expect(text).toContain('/gauge/tide-region');
    expect(text).toMatch(/0\.4\b/);
  });

  it.each(Object.entries(texts))(
    'name in %s nothing that only the built-in one sells',
    (_, text) => {
      for (const foreign of ['/gauge/region', '/gauge/census', '/resolve?', '/trust/scorecard']) {
        expect(text).not.toContain(foreign);
      }
      for (const example of ['nas.ground_ops"', 'us-denver"', '"aviation"']) {
        expect(text).not.toContain(example);
      }
    },
  );

  it('show an invented body of the bundle with the legs of the line', () => {
    expect(bodies.get('/gauge/tide-region')?.value).toMatchObject({
      legs: { level: { leg: 'level', position: 1 }, waves: { leg: 'waves', position: 2 } },
    });
  });
});
