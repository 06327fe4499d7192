import { describe, expect, it } from 'vitest';
import { citationText } from '../../../gatekeeper/release/citation-text.ts';

const CITATION = '{"claim":"a \\"_citation\\": b","key_id":"k"}';

describe('citationText()', () => {
  it.each([
    `{"rows":[{"_citation":{"claim":"of a row"}}],"_citation":${CITATION}}`,
    `{"rows":[\n{}\n],"_citation":${CITATION}}\n`,
    `…cut","_citation":${CITATION}}`,
  ])('is the last member of %s', (body) => {
    expect(citationText(body)).toBe(CITATION);
  });

  it('is no JSON where a body has none', () => {
    expect(() => JSON.parse(citationText('{"rows":[]}'))).toThrow(SyntaxError);
  });
});
