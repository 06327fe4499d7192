import { describe, expect, it } from 'vitest';
import { howToBuy } from '../../compiler/contract/how-to-buy.ts';
import { escaped, html, shownText } from '../../compiler/contract/html.ts';

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
