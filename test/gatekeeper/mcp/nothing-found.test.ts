import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { nothingFound } from '../../../gatekeeper/mcp/call-tool.ts';

describe('nothingFound()', () => {
  it.each([
    [
      { industry: 'aviaton' },
      /^No industry "aviaton" \(did you mean "aviation"\?\); send one of ag/,
    ],
    [{ industry: 'zzzzzzzzzzz' }, /^No industry "zzzzzzzzzzz"; send one of /],
    [{ signal_id: 'nas.ground' }, /^No signal "nas.ground"; send its words as query; find_signal/],
    [{ signal_id: 'nas.ground', full: true, page: '2' }, /^No signal "nas.ground"/],
    [{ full: true, page: '99' }, /^Page "99" has nothing; leave page out/],
    [{ entity: 'x', full: true, page: '1' }, /^No reading of entity "x"/],
    [{ signal_id: 'nas.ground_ops', entity: 'x' }, /^No reading of entity "x"/],
    [
      { industry: 'aviation', signal_id: 'airquality.aqi' },
      /another industry; leave industry out$/,
    ],
  ])('%j: %s', (given, words) => {
    expect(nothingFound(given, BUILTIN)).toMatch(words);
  });
});
