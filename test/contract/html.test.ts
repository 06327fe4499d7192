import { describe, expect, it } from 'vitest';
import { html } from '../../compiler/contract/html.ts';
import { HOSTILE_NAMES } from '../hostile-names.ts';

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
