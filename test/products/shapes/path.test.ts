import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import {
  decodeSegment,
  encodeSegment,
  filePath,
  knownFilePath,
  parseFilePath,
  storedPath,
  verifyShardPath,
} from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { HOSTILE_NAMES } from '../../hostile-names.ts';

const SEGMENT_BYTES_MAX = 200;

const FILED: readonly Endpoint[] = BUILTIN.operations.filter(
  (row: Endpoint) => row.file !== undefined,
);
const slotsOf = (row: Endpoint): string[] =>
  [...(row.file ?? '').matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '');

const hostile = fc
  .oneof(
    fc.constantFrom(...HOSTILE_NAMES),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 30 }),
    fc.constantFrom('~', '~7e', '.json', 'x.json', 'thin', '..', 'a/b', '{entity}', 'a.json/b'),
  )
  .filter((text) => text.isWellFormed() && encodes(text));

function encodes(text: string): boolean {
  try {
    return encodeSegment(text) !== '';
  } catch {
    return false;
  }
}

describe('encodeSegment()', () => {
  it('I38: keeps 200 and more hostile names apart, in one segment of a harmless alphabet', () => {
    const named = HOSTILE_NAMES.filter(encodes);
    const segments = named.map(encodeSegment);
    expect(HOSTILE_NAMES.length).toBeGreaterThanOrEqual(200);
    expect(new Set(HOSTILE_NAMES).size).toBe(HOSTILE_NAMES.length);
    expect(new Set(segments).size).toBe(named.length);
    for (const segment of segments) {
      expect(segment).toMatch(/^[a-z0-9_~-][a-z0-9._~-]*$/);
      expect(segment.length).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
    }
    expect(segments.map(decodeSegment)).toEqual(named);
  });

  it('I38: refuses what no segment can carry, by name', () => {
    const refused = HOSTILE_NAMES.filter((text) => !encodes(text));
    expect(refused.length).toBeGreaterThan(5);
    for (const text of refused) expect(() => encodeSegment(text)).toThrow(RangeError);
    expect(() => encodeSegment('')).toThrow('empty');
    expect(() => encodeSegment('x\ud800')).toThrow('lone surrogate');
    expect(() => encodeSegment('x'.repeat(SEGMENT_BYTES_MAX + 1))).toThrow('longer than 200');
  });

  it.each([
    ['us-denver', 'us-denver'],
    ['AAPL', '~41~41~50~4c'],
    ['..', '~2e.'],
    ['a/b', 'a~2fb'],
    ['é', '~c3~a9'],
    ['\0', '~00'],
    ['~', '~7e'],
    ['%2e', '~252e'],
  ])('writes %j as %s', (text, segment) => {
    expect(encodeSegment(text)).toBe(segment);
  });
});

describe('decodeSegment()', () => {
  it('is the inverse of encodeSegment for any text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(decodeSegment(encodeSegment(text))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it.each(['', '~', '~4', '~zz', '~61', '~2E', 'A', '..', '.a', 'a/b', '~ff', '~c3', 'Ł', 'a b'])(
    'refuses %j, which is never made',
    (segment) => {
      expect(() => decodeSegment(segment)).toThrow(RangeError);
    },
  );

  it('makes one text of one segment only', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'~26eEfa._-/'), maxLength: 9 }),
        (segment) => {
          let text: string | undefined;
          try {
            text = decodeSegment(segment);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
          if (text !== undefined) expect(encodeSegment(text)).toBe(segment);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('filePath(), parseFilePath()', () => {
  it('undo each other for every row and hostile values', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FILED),
        fc.array(hostile, { minLength: 3, maxLength: 3 }),
        (row, given) => {
          const values = Object.fromEntries(
            slotsOf(row).map((name, at) => [name, given[at] ?? 'x']),
          );
          const path = filePath(row, values) ?? '';
          expect(parseFilePath(row, path)).toEqual(values);
          expect(path.split('/').every((part) => !['', '.', '..'].includes(part))).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('I38: no two rows, values or forms share a path, and no path is the folder of another', () => {
    const one = fc.tuple(
      fc.constantFrom(...FILED),
      fc.array(hostile, { minLength: 3, maxLength: 3 }),
      fc.constantFrom('json', 'thin'),
    );
    fc.assert(
      fc.property(one, one, ([rowA, a, formA], [rowB, b, formB]) => {
        const [left, right] = [placed(rowA, a, formA), placed(rowB, b, formB)];
        if (left.identity === right.identity) return;
        expect(left.path).not.toBe(right.path);
        expect(left.path.startsWith(`${right.path}/`)).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });

  it('files every row of the table apart, with equal values too', () => {
    const paths = FILED.flatMap((row) => {
      const values = Object.fromEntries(slotsOf(row).map((name) => [name, 'same']));
      return ['json', 'thin'].map((format) => filePath(row, { ...values, format }));
    });
    const forms = FILED.filter((row) => row.params.format?.variant !== undefined).length;
    expect(new Set(paths).size).toBe(FILED.length + forms);
  });

  it('stands a dash of its own for an absent value, which no value encodes to', () => {
    const row = builtinOperation('/gauge/sample');
    expect(filePath(row, {})).toBe('free/sample/~.json');
    expect(filePath(row, { signal_id: '~' })).toBe('free/sample/~7e.json');
    expect(parseFilePath(row, 'free/sample/~.json')).toEqual({});
  });

  it('puts a form into its own folder', () => {
    const row = builtinOperation('/gauge/region');
    expect(filePath(row, { loc: 'us-denver', format: 'thin' })).toBe(
      'thin/bundle/environment/us-denver.json',
    );
    expect(filePath(row, { loc: 'us-denver', format: 'json' })).toBe(
      'bundle/environment/us-denver.json',
    );
  });

  it('gives an operation that is computed no file, and reads no file of another row', () => {
    expect(filePath(builtinOperation('/gauge/verify'), { hash: 'x' })).toBeNull();
    expect(parseFilePath(builtinOperation('/gauge/verify'), 'x.json')).toBeNull();
    for (const path of ['', 'record', 'ruler/a.b/x.json', 'record/a.b/x', 'record/a.b/.json']) {
      expect(parseFilePath(builtinOperation('/gauge'), path)).toBeNull();
    }
  });
});

function placed(row: Endpoint, given: readonly string[], form: string) {
  const values = Object.fromEntries(slotsOf(row).map((name, at) => [name, given[at] ?? 'x']));
  const path = filePath(row, { ...values, format: form }) ?? '';
  const forms = row.params.format?.variant === undefined ? 'json' : form;
  return { path, identity: JSON.stringify([row.path, values, forms]) };
}

describe('knownFilePath()', () => {
  it('is the path of a row that has a file', () => {
    const values = { signal_id: 'airquality.aqi', entity: 'us-denver' };
    expect(knownFilePath(builtinOperation('/gauge'), values)).toBe(
      filePath(builtinOperation('/gauge'), values),
    );
  });

  it('throws for a row without one', () => {
    expect(() => knownFilePath(builtinOperation('/gauge/verify'), {})).toThrow(
      'Cannot find file of "/gauge/verify": it has none',
    );
  });
});

describe('verifyShardPath()', () => {
  it('names the shard after the first byte of the digest', () => {
    expect(verifyShardPath(`sha256:ab${'0'.repeat(62)}`)).toBe('verify/ab.txt');
  });
});

describe('storedPath()', () => {
  const hash = `0123456789abcdef0123${'f'.repeat(44)}`;

  it('puts 20 digits of the hash before the extension, or at the end without one', () => {
    expect(storedPath('free/a.json', hash)).toBe('files/free/a.0123456789abcdef0123.json');
    expect(storedPath('log/tile/0/000', hash)).toBe('files/log/tile/0/000.0123456789abcdef0123');
    expect(storedPath('a.b/c', hash)).toBe('files/a.b/c.0123456789abcdef0123');
  });

  it('I38: never gives two files one place', () => {
    const digits = fc.constantFrom('0', '1', 'a', 'f').map((digit) => digit.repeat(64));
    const name = fc.array(fc.constantFrom('a', '.json', '.', '0'.repeat(20), '.f', 'f'), {
      minLength: 1,
      maxLength: 5,
    });
    const file = fc.tuple(name, digits).map(([parts, sha256]) => [parts.join(''), sha256] as const);
    fc.assert(
      fc.property(file, file, (one, other) => {
        fc.pre(one.join() !== other.join());
        expect(storedPath(...one)).not.toBe(storedPath(...other));
      }),
      { numRuns: 5000 },
    );
  });
});
