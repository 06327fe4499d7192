import { describe, expect, it } from 'vitest';
import { LINES } from '../../../compiler/catalog/builtin.ts';
import { howToBuy } from '../../../compiler/catalog/how-to-buy.ts';
import { assertingWord } from '../../../compiler/catalog/neutral-text.ts';
import { hiddenSign } from '../../../compiler/format/hidden-signs.ts';
import { escaped, html, shownText, sitePage } from '../../../compiler/format/html.ts';
import { HOSTILE_NAMES } from '../../hostile-names.ts';

/** Names that would do something where they are not taken for text. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><script>1</script>',
  '<!-- <b>',
  '&lt;script&gt;',
  ']]><x>',
  '\u202egnp.exe',
  '\u2066a\u2069\u200f',
  'a\u0000b\u0007c\u001b[2J',
  'a\nb\rc\u2028d',
  '\ufeffa\u200bb',
  'a\ud800b\uffff',
];

describe('escaped()', () => {
  it('I69: leaves of no hostile text anything that does something', () => {
    for (const text of HOSTILE) {
      const markup = escaped(text);
      expect(markup).not.toMatch(/[<>"'\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(markup).not.toMatch(/&(?!amp;|lt;|gt;|quot;|#39;)/);
      expect(markup.length).toBeGreaterThanOrEqual(text.length);
    }
  });

  it('keeps what people write', () => {
    for (const text of ['Zürich Flughafen', '東京', '😀', 'a - b_c.d', 'µg/m³']) {
      expect(escaped(text)).toBe(text);
    }
    expect(shownText('a\u202eb')).toBe('a\\u{202e}b');
  });
});

describe('howToBuy()', () => {
  it('quotes what was asked for every language', () => {
    const target = "/gauge?entity=o'hare%22&signal_id=a.b";
    const pair = { signal_id: 'a.b', entity: `o'hare"</script>` };
    const markup = String(html`${howToBuy({ baseUrl: 'https://e.org', target, pair })}`);
    expect(markup).toContain('&#39;https://e.org/gauge?entity=o&#39;\\&#39;&#39;hare%22');
    expect(markup).toContain('session.get(&quot;https://e.org/gauge?entity=o&#39;hare%22');
    expect(markup).not.toContain('<script');
  });

  it('has one tab chosen, and a label for each', () => {
    const markup = String(howToBuy({ baseUrl: 'https://e.org', target: '/gauge', pair: null }));
    expect(markup.match(/ checked>/g)).toHaveLength(1);
    const ids = [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect([...markup.matchAll(/ for="([^"]+)"/g)].map(([, id]) => id)).toEqual(ids);
  });
});

describe('html', () => {
  it('escapes what is inserted, and keeps markup and lists of it', () => {
    const row = html`<td title="${'"x"'}">${'<b>&'}</td>`;
    expect(`${html`<tr>${[row, null, 7]}</tr>`}`).toBe(
      '<tr><td title="&quot;x&quot;">&lt;b&gt;&amp;</td>7</tr>',
    );
  });

  it('takes no object for markup that only looks like it', () => {
    const posing = { toString: () => '<script>' };
    expect(() => html`${posing as unknown as string}`).toThrow(TypeError);
  });

  it.each(HOSTILE_NAMES)('leaves nothing of %j that ends an element or an attribute', (name) => {
    const text = `${html`${name}`}`;
    expect(text).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
    expect(text.isWellFormed()).toBe(true);
  });

  it('shows what would turn the text around or hide', () => {
    expect(`${html`a${'\0\u202eb\ufeff'}`}`).toBe('a\\u{0}\\u{202e}b\\u{feff}');
  });
});

const span = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
/** Controls, marks of direction, ends of lines and paragraphs, and what has no width. */
const HIDDEN = [
  ...span(0x00, 0x1f),
  ...span(0x7f, 0x9f),
  0xad,
  0x34f,
  0x61c,
  0x180e,
  ...span(0x200b, 0x200f),
  ...span(0x2028, 0x202e),
  ...span(0x2060, 0x2064),
  ...span(0x2066, 0x206f),
  0x3164,
  0xfe0f,
  0xfeff,
  0xe0041,
];

describe('hiddenSign()', () => {
  it.each(HIDDEN)('finds the sign of code point %i wherever it stands', (point) => {
    const sign = String.fromCodePoint(point);
    const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
    for (const text of [sign, `${sign}River`, `Ri${sign}ver`, `River${sign}`, `é${sign}`]) {
      expect(hiddenSign(text)).toBe(name);
    }
  });

  it.each([
    '',
    'St. Mary’s River – at “Oak”, 3½ mi',
    'Jökulsá á Fjöllum',
    '東京 (川)',
    'نهر النيل',
    'می\u200cخواهم',
    'क्\u200dष',
    '👨\u200d💻 tools',
    '☂\ufe0f',
    '👩🏽\u200d🚀',
    'a\u00a0b',
  ])('finds none in "%s"', (text) => {
    expect(hiddenSign(text)).toBeNull();
  });
});

describe('assertingWord()', () => {
  it.each([
    ['the river will rise tomorrow', 'will rise'],
    ['We recommend this service', 'recommend'],
    ['buy before the weekend', 'buy'],
    ['a forecast of demand', 'forecast'],
    ['Users should act', 'should'],
    ['default is likely', 'likely'],
    ['no forecast here, but prices are expected to fall', 'are expected to'],
    ['this is advice', 'advice'],
  ])('finds what asserts: %s', (text, word) => {
    expect(assertingWord(text)).toBe(word);
  });

  it.each([
    'descriptive record of official readings: no forecast, no judgement, no recommendation, no advice',
    'a swarm rate, not a prediction',
    'it describes and does not advise',
    'stage 13.6 ft at 2026-11-20T10:45:00Z',
    'what is sold and what was bought',
    'a shoulder, a buyer, an expectation',
  ])('leaves what denies or describes: %s', (text) => {
    expect(assertingWord(text)).toBeNull();
  });

  it.each([
    'NOAA NWS Storm Prediction Center, Day 1 Convective Outlook',
    'National Weather Service, Weather Forecast Office St. Louis',
    'Flood Advisory in force',
    'BEST BUY CO INC',
    'Best Buy Co., Inc.',
    'Outlook Therapeutics, Inc.',
    'Predictive Oncology Inc.',
    'Invesco DB US Dollar Index Bullish Fund',
    'Eaton Vance Tax-Managed Buy-Write Income Fund',
  ])('leaves the name of an office, a product or a company: %s', (name) => {
    expect(assertingWord(name)).toBeNull();
  });

  it.each([
    ['Best Buy: buy it', 'buy'],
    ['a Flood Advisory should follow', 'should'],
    ['the best buy of the year', 'buy'],
    ['Strong Buy', 'Buy'],
  ])('finds what asserts beside a name: %s', (text, word) => {
    expect(assertingWord(text)).toBe(word);
  });

  it('knows the names of the table, which name official products', () => {
    for (const row of LINES) {
      for (const signal of row.signals) {
        expect(assertingWord(`${signal.measures} (${signal.id})`)).toBeNull();
      }
    }
  });
});

describe('sitePage()', () => {
  const page = (more: object) =>
    sitePage({
      title: 't',
      description: 'd',
      issuerName: 'i',
      baseUrl: 'https://e.org',
      path: '/',
      styles: [],
      script: null,
      isListed: true,
      main: html``,
      ...more,
    });
  const block = /<script type="application\/ld\+json">(.*)<\/script>/;

  it('I69: holds hostile names as data that are the same when they are read, and end no block', () => {
    const names = [...HOSTILE, '</script><!--<script>', '\u{e0001}'].map((text) =>
      text.toWellFormed(),
    );
    const [, data = ''] = block.exec(page({ jsonLd: { '@type': 'Dataset', names } })) ?? [];
    expect(data).not.toMatch(/[<\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(data)).toEqual({
      '@context': 'https://schema.org',
      '@type': 'Dataset',
      names,
    });
  });

  it('has no block where a page is about nothing', () => {
    expect(page({})).not.toContain('<script');
  });
});
