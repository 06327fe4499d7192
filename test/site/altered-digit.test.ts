import { describe, expect, it } from 'vitest';
import { alteredDigit } from '../../compiler/site/hashed-json.ts';

describe('alteredDigit()', () => {
  it.each([
    [
      '{"a":1,"current":{"aqi_index":66,"band":"x"}}',
      '{"a":1,"current":{"aqi_index":67,"band":"x"}}',
    ],
    ['{"current": {\n "v": 13.6 }}', '{"current": {\n "v": 14.6 }}'],
    ['{"current":{"v":-9}}', '{"current":{"v":-8}}'],
    ['{"current":{"v":0}}', '{"current":{"v":1}}'],
    ['{"current":{"v":1e3}}', '{"current":{"v":2e3}}'],
    ['{"current":{"state":"ended"},"n":19}', '{"current":{"state":"ended"},"n":18}'],
    ['[{"x":5}]', '[{"x":6}]'],
  ])('changes one digit of %s', (text, expected) => {
    const altered = alteredDigit(text);
    expect(altered?.text).toBe(expected);
    expect(() => JSON.parse(altered?.text ?? '')).not.toThrow();
    expect([text[altered?.at ?? -1], altered?.text[altered.at]]).toEqual([
      altered?.was,
      altered?.is,
    ]);
  });

  it('says which member it changed', () => {
    expect(alteredDigit('{"current":{"aqi_index":66}}')?.before).toBe('"aqi_index":6');
  });

  it.each(['', '{}', '{"a":"12"}', 'sha256:0123', 'text'])(
    'finds nothing to change in %j',
    (text) => {
      expect(alteredDigit(text)).toBeNull();
    },
  );
});
