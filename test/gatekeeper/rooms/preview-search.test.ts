import { describe, expect, it } from 'vitest';
import { rosterSearchSchema } from '../../../compiler/contract/roster-bodies.ts';
import { answer } from '../../../gatekeeper/answers/answers.ts';
import { tinyFiles } from '../tiny-release.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

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
