import { describe, expect, it } from 'vitest';
import { ageText, figure, shown, timeText, words } from '../../compiler/site/page-words.ts';

describe('shown()', () => {
  it('writes out what would steer the page', () => {
    expect(shown('a\u202eb\u0000c\u2028')).toBe('a\\u{202e}b\\u{0}c\\u{2028}');
    expect(shown('<b>Zürich 日本</b>')).toBe('<b>Zürich 日本</b>');
  });

  it('cuts a wall of text', () => {
    expect(shown('x'.repeat(5000)).length).toBeLessThan(500);
  });
});

describe('words for people', () => {
  it.each([
    [0, '0 minutes'],
    [1 / 60, '1 minute'],
    [1, '60 minutes'],
    [5.2, '5 hours'],
    [56.9, '2 days'],
    [77_057, '9 years'],
  ])('%d hours are %s', (hours, text) => {
    expect(ageText(hours)).toBe(text);
  });

  it('rounds no digit away', () => {
    expect([figure(0.123456789), figure(-1234.5)]).toEqual(['0.123456789', '-1,234.5']);
  });

  it('reads times, and shows what is none', () => {
    expect(timeText('2026-11-20T10:45:00Z')).toBe('20 Nov 2026, 10:45 UTC');
    expect(timeText('soon')).toBe('soon');
  });

  it('spells classes', () => {
    expect(words('unhealthy-sensitive')).toBe('unhealthy sensitive');
  });
});
