import { describe, expect, it } from 'vitest';
import { hiddenSign } from '../../compiler/contract/hidden-signs.ts';

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
