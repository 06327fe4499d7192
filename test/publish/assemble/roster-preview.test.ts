import { describe, expect, it } from 'vitest';
import { previewValues } from '../../../compiler/publish/assemble/settle-rows.ts';

const PREVIEW_VALUES_MAX = 500;

describe('previewValues()', () => {
  it.each([
    [PREVIEW_VALUES_MAX, PREVIEW_VALUES_MAX],
    [PREVIEW_VALUES_MAX + 1, PREVIEW_VALUES_MAX],
  ])('I43: counts all of %i values and lists %i', (count, listed) => {
    const all = Array.from({ length: count }, (_, at) => `value ${at}`);
    const { values, values_total } = previewValues('/stable/coin', all);
    expect([values, values_total]).toEqual([all.slice(0, listed), count]);
  });

  it('shows the request that every other description shows: the example of the table, else the first path', () => {
    const exampleOf = (values: readonly string[]) =>
      previewValues('/trust/precheck', values).example_request;
    expect(exampleOf(['a', 'weather-sample-example'])).toBe(
      '/trust/precheck?service=weather-sample-example',
    );
    expect(exampleOf(['b', 'a'])).toBe('/trust/precheck?service=a');
    // Upper case is escaped in a path, and a tilde comes after every letter.
    expect(exampleOf(['B', 'a'])).toBe('/trust/precheck?service=a');
  });

  it('shows a request of the first value, and none where there is no value', () => {
    expect(previewValues('/stable/coin', ['a b']).example_request).toMatch(
      /^\/stable\/coin\?[a-z_]+=a%20b$/,
    );
    expect(previewValues('/stable/coin', []).example_request).toBeNull();
  });
});
