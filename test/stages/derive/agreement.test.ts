import { describe, expect, it } from 'vitest';
import type { RecordSource } from '../../../compiler/contract/record.ts';
import { sourceAgreement } from '../../../compiler/stages/derive/figures.ts';

const AT = '2026-11-20T10:00:00Z';
const source = (value: RecordSource['value'], more: Partial<RecordSource> = {}): RecordSource => ({
  name: 'a',
  weight: 1,
  independent: true,
  as_of: AT,
  ...(value === undefined ? {} : { value }),
  ...more,
});

describe('sourceAgreement()', () => {
  it.each([
    [[10, 10], 0],
    [[9, 11], 0.1],
    [[-9, -11], 0.1],
    [[1, 2, 3], 0.4082],
  ])('of independent values %j is %d', (values, cv) => {
    expect(sourceAgreement(values.map((value) => source(value)))).toBe(cv);
  });

  it.each([
    ['no source', []],
    ['one source', [source(1)]],
    ['a second one that is not independent', [source(1), source(2, { independent: false })]],
    ['a second one that relays', [source(1), source(2, { relay_of: 'a' })]],
    ['another time', [source(1), source(2, { as_of: '2026-11-20T10:00:01Z' })]],
    [
      'no time',
      [source(1, { as_of: undefined as never }), source(2, { as_of: undefined as never })],
    ],
    ['a value that is no number', [source(1), source('2')]],
    ['no value', [source(1), source(undefined)]],
    ['null', [source(1), source(null)]],
    ['a mean of zero', [source(1), source(-1)]],
  ])('is null for %s', (_, sources) => {
    expect(sourceAgreement(sources)).toBeNull();
  });

  it('leaves a relay aside when two others are independent', () => {
    expect(sourceAgreement([source(9), source(11), source(500, { relay_of: 'a' })])).toBe(0.1);
  });
});
