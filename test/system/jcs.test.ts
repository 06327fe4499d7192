import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';
import { jcs } from '../../compiler/system/jcs.ts';
import { ACCEPTED } from '../products/shapes/json-texts.ts';
import { ILLEGAL, LEGAL } from '../products/shapes/json-values.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

describe('jcs()', () => {
  it.each(LEGAL)('writes %s', (_name, value, text) => {
    expect(jcs(value)).toBe(text);
  });
  it.each(ILLEGAL)('I35: refuses %s', (_name, value, path) => {
    expect(() => jcs(value)).toThrow(TypeError);
    if (path !== '') expect(() => jcs(value)).toThrow(`"${path}"`);
  });
  it.each(ACCEPTED)('I35: writes what parseJson() accepts as %s', (_comment, text, canonical) => {
    expect(jcs(parseJson(text))).toBe(canonical);
  });
});

describe('laws', () => {
  // Any UTF-16 units: halves of pairs must be refused by both or by neither.
  const units = fc
    .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0xd83d, 0xde00, 0x22, 0x5c, 0x7f)), {
      maxLength: 6,
    })
    .map((codes) => String.fromCharCode(...codes));
  const text = fc.oneof({ weight: 9, arbitrary: fc.string({ unit: 'binary' }) }, units);
  const odd = fc.constantFrom(undefined, Number.NaN, 1n, new Date(0), () => 1, Object(1));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double(),
      text,
      fc.array(tie('value')),
      fc.dictionary(text, tie('value'), { maxKeys: 40 }),
      { weight: 1, arbitrary: odd },
    ),
  }));
  const written = (write: (value: unknown) => string, any: unknown): string => {
    try {
      return write(any);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      return 'refused';
    }
  };

  it('I35: jcs() writes what canonicalJson() writes and refuses what it refuses', () => {
    fc.assert(
      fc.property(value, (any) => {
        expect(written(jcs, any)).toBe(written(canonicalJson, any));
      }),
      { numRuns: RUNS },
    );
  });
  it('I18: jcs() does not see the order in which members were added', () => {
    const members = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), fc.integer()), {
      selector: ([key]) => key,
      maxLength: 60,
    });
    fc.assert(
      fc.property(members, (entries) => {
        const backwards = Object.fromEntries([...entries].reverse());
        expect(jcs(Object.fromEntries(entries))).toBe(jcs(backwards));
      }),
      { numRuns: RUNS },
    );
  });
});
