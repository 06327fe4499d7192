import { describe, expect, it } from 'vitest';
import { LINES } from '../../../compiler/catalog/builtin.ts';
import { type Catalog, catalogOf } from '../../../compiler/catalog/catalog.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { previewSchema } from '../../../compiler/products/shapes/free-body-schemas.ts';
import type { Line } from '../../../compiler/products/shapes/line.ts';
import { rosterSearchSchema } from '../../../compiler/products/shapes/roster-bodies.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { ReleaseIndex } from '../../../gatekeeper/heart/release/release-index.ts';
import { FREE_BYTES_MAX } from '../../../gatekeeper/rooms/json-content.ts';
import { preview } from '../../../gatekeeper/rooms/preview.ts';
import { TIDE_FILE, TIDES } from '../../tide-shop.ts';
import { tinyFiles } from '../tiny-release.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

const PREVIEW_LIST_MAX = 500;

describe('preview()', () => {
  it('holds the counts, the price menu and one list per bundle', async () => {
    const body = jsonOf(await preview(await tinyService()));
    expect(body).toMatchObject({
      counts: { readings: 4, bundles: 1 },
      regions: expect.arrayContaining(['us-denver']),
      agri_regions: expect.arrayContaining(['us-iowa']),
      grid_regions: expect.arrayContaining(['us-pjm']),
      shipping_regions: expect.arrayContaining(['hormuz']),
    });
    expect(body.filing_watchlist).toHaveLength(18);
    expect(body.prices).toContainEqual(
      expect.objectContaining({ path: '/gauge', price_usd: '0.01', price_atomic: '10000' }),
    );
    const bundles = LINES.filter((row: Line) => row.bundle !== undefined);
    const lists = Object.keys(body).filter((name) => /regions$|watchlist$/.test(name));
    expect(lists).toHaveLength(bundles.length);
  });

  it('lists the request of every stored document', async () => {
    const stored = ['document/chatter/energy.json', 'document/region-plus/us-denver/~41.json'];
    const files = new Map(
      [...stored, 'document/tier2.json'].map((path) => [path, Buffer.from('{}')]),
    );
    expect(jsonOf(await preview(await tinyService({ files }))).documents).toEqual([
      '/pay/tier2',
      '/shadow/chatter?topic=energy',
      '/shadow/region-plus?loc=us-denver&topic=A',
    ]);
    expect(jsonOf(await preview(await tinyService())).documents).toEqual([]);
  });

  it('I54: shows fewer of each list where long ids would make it longer than a megabyte', async () => {
    const lines = LINES.filter((row: Line) => row.open && row.bundle !== undefined);
    const stored = lines.flatMap(({ id }) =>
      Array.from({ length: 400 }, (_, at) => `bundle/${id}/${'x'.repeat(180)}${at}.json`),
    );
    const files = new Map(stored.map((path) => [path, Buffer.from('{}')]));
    const answered = await preview(await tinyService({ files }));
    const bytes = answered.kind === 'content' ? answered.content.body.length : Infinity;
    expect(400 * 180 * lines.length).toBeGreaterThan(FREE_BYTES_MAX);
    expect(bytes).toBeLessThanOrEqual(FREE_BYTES_MAX);
    const body = jsonOf(answered);
    expect(JSON.stringify(body)).toContain('x'.repeat(180));
    expect(body.left_out).toMatch(/at most 100 stored names of an open line; all are in/);
  });

  it('I54: cuts a closed list of very many names, and says where they are', async () => {
    const [known] = TIDE_FILE.lines ?? [];
    const entities = Array.from({ length: 100_000 }, (_, at) => `PIER-${at}`);
    const line = { ...defined(known, 'the line'), entities };
    const selling = async (catalog: Catalog) => {
      const service = await tinyService();
      const { place, head, keys, files, offers } = service.release;
      const release = new ReleaseIndex(place, { head, keys, files, offers, catalog });
      return { ...service, release };
    };
    const answered = await preview(await selling(catalogOf([{ ...TIDE_FILE, lines: [line] }])));
    const body = jsonOf(answered);
    expect(body.tide_regions).toEqual(entities.slice(0, PREVIEW_LIST_MAX));
    expect(body.left_out).toBe('at most 500 names each; all are in /.well-known/catalog.json');
    const whole = jsonOf(await preview(await selling(TIDES)));
    expect(whole.tide_regions).toHaveLength(TIDES.lines[0]?.entities.length ?? 0);
    expect(whole.left_out).toBeUndefined();
  });

  it.each([
    [2000, 8, 'at most 10 names each'],
    [2000, 100, 'at most 0 names each'],
    [8000, 8, 'at most 0 names each and 1000 of 80\\d\\d prices'],
  ])(
    'I54: fits a megabyte with %i bundles and ids of %i letters',
    async (count, letters, lists) => {
      const [known] = TIDE_FILE.lines ?? [];
      const { signals = [], ...rest } = defined(known, 'the line');
      const lines = Array.from({ length: count }, (_, at) => ({
        ...rest,
        id: `line-${at}`,
        signals: signals.map((row) => ({
          ...row,
          id: row.id.replace(/^[^.]+/, `line-${at}`),
        })),
        bundle: { path: `/gauge/line-${at}-region`, param: 'loc' as const },
        entities: Array.from({ length: 50 }, (_each, place) => `${'X'.repeat(letters)}-${place}`),
      }));
      const catalog = catalogOf([{ ...TIDE_FILE, lines }]);
      const service = await tinyService();
      const { place, head, keys, files, offers: few } = service.release;
      const [example] = few.values();
      const offer = { ...defined(example, 'an offer'), sellsNow: true };
      const offers = new Map(catalog.operations.map(({ path }) => [path, offer]));
      const release = new ReleaseIndex(place, { head, keys, files, offers, catalog });
      const answered = await preview({ ...service, release });
      const bytes = answered.kind === 'content' ? answered.content.body.length : Infinity;
      expect(bytes).toBeLessThanOrEqual(FREE_BYTES_MAX);
      const body = previewSchema.parse(jsonOf(answered));
      const whole = `^${lists}; all are in /.well-known/catalog.json$`;
      expect(body.left_out).toMatch(new RegExp(whole));
      expect(body.line_1_regions?.length ?? 0).toBe(lists === 'at most 10 names each' ? 10 : 0);
    },
  );

  it('adds what is stored to an open list', async () => {
    const files = new Map([['bundle/filing/~5a~5a.json', Buffer.from('{}')]]);
    const body = jsonOf(await preview(await tinyService({ files })));
    expect(body.filing_watchlist).toContain('ZZ');
    expect(body.regions).not.toContain('ZZ');
  });

  it.each([
    [PREVIEW_LIST_MAX, PREVIEW_LIST_MAX, undefined],
    [
      PREVIEW_LIST_MAX + 1,
      PREVIEW_LIST_MAX,
      'at most 500 stored names of an open line; all are in /gauge/catalog. ' +
        'at most 500 documents of an operation; the others are asked for by its parameters',
    ],
  ])('I43: of %i that are stored it lists %i, and names each cut', async (...row) => {
    const [stored, listed, cut] = row;
    const names = Array.from({ length: stored }, (_, at) => String(at).padStart(4, '0'));
    const paths = names.flatMap((name) => [
      `bundle/filing/${name}.json`,
      `document/region-plus/${name}/~41.json`,
    ]);
    const files = new Map(paths.sort().map((path) => [path, Buffer.from('{}')]));
    const body = jsonOf(await preview(await tinyService({ files })));
    const { filing_watchlist, documents } = body as Readonly<Record<string, string[]>>;
    expect(filing_watchlist?.filter((name) => names.includes(name))).toHaveLength(listed);
    expect(documents).toHaveLength(listed);
    expect(body.left_out).toBe(cut);
  });
});

const SEARCH_CHARS_MAX = 190;
const SEARCH_MATCHES_MAX = 50;
const STORED = ['api-weather-example', 'weather-sample-example', 'market-example'];

async function searched(query: string, ids: readonly string[] = STORED) {
  const files = new Map([
    ...tinyFiles(),
    ...ids.map((id) => [`subject/trust/${id}.json`, Buffer.from('{}')] as const),
    ['free/preview/trust.json', Buffer.from('{"values":["whole preview"]}')] as const,
  ]);
  const service = await tinyService({ files });
  return jsonOf(await answer(question(`/trust/preview${query}`), service));
}

describe('previewSearch()', () => {
  it.each([
    ['?q=weather', ['api-weather-example', 'weather-sample-example']],
    ['?q=WEATHER.sample', ['weather-sample-example']],
    ['?q=weather%20sample', ['weather-sample-example']],
    ['?q=market.example', ['market-example']],
    ['?q=nothing-like-it', []],
    ['?q=%2e%2e%2f', []],
  ])('finds ids by a part of a host: %s', async (query, matches) => {
    const body = await searched(query);
    expect(rosterSearchSchema.parse(body)).toMatchObject({ count: matches.length, matches });
    const [first] = matches;
    expect(body.example_request).toBe(
      first === undefined ? null : `/trust/precheck?service=${first}`,
    );
  });

  it('is the whole preview without a text', async () => {
    expect(await searched('')).toEqual({ values: ['whole preview'] });
    expect(await searched('?q=')).toEqual({ values: ['whole preview'] });
  });

  it.each(['/trust/preview', '/gauge/search'])(
    'repeats no half of a character that its limit cuts: %s',
    async (path) => {
      const service = await tinyService({ files: tinyFiles() });
      const max = path === '/gauge/search' ? 200 : SEARCH_CHARS_MAX;
      const asked = `${path}?q=${'x'.repeat(max - 1)}${encodeURIComponent('😀')}`;
      const { q } = jsonOf(await answer(question(asked), service));
      expect(q).toBe(`${'x'.repeat(max - 1)}\ufffd`);
      const whole = `${path}?q=${encodeURIComponent('😀')}`;
      expect(jsonOf(await answer(question(whole), service)).q).toBe('😀');
    },
  );

  it('answers 200 where nothing is stored', async () => {
    expect(await searched('?q=weather', [])).toMatchObject({ count: 0, matches: [], more: false });
  });

  it('names a bounded number of matches and repeats a bounded text', async () => {
    const ids = Array.from({ length: SEARCH_MATCHES_MAX + 1 }, (_, n) => `many-${n}-example`);
    const body = await searched('?q=many', ids);
    expect(body).toMatchObject({ count: SEARCH_MATCHES_MAX + 1, more: true });
    expect(body.matches).toHaveLength(SEARCH_MATCHES_MAX);
    const long = await searched(`?q=${'x'.repeat(3000)}`);
    expect(String(long.q)).toHaveLength(SEARCH_CHARS_MAX);
  });
});
