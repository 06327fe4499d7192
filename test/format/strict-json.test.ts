import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  decodeUtf8,
  isExact,
  JsonError,
  jsonPath,
  parseJson,
} from '../../compiler/format/strict-json.ts';
import { jcs } from '../../compiler/system/jcs.ts';
import { cpuMsOf } from '../grown-of.ts';
import { ACCEPTED, ILLEGAL, LEGAL, REFUSED } from '../products/shapes/json-texts.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

function refusal(thunk: () => unknown): JsonError {
  try {
    thunk();
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('parseJson() of a text that was cut off', () => {
  it.each(['{"a":', '[1, 2', '"cut', '', '{"a":1'])('says of %j that it ends too early', (text) => {
    expect(refusal(() => parseJson(text)).message).toContain('the text ends too early');
  });

  it.each(['{"a":x}', '[1 2]', 'tru', '01'])('does not say so of %j', (text) => {
    expect(refusal(() => parseJson(text)).message).not.toContain('too early');
  });
});

describe('parseJson() on the table of texts', () => {
  it('I35: decides on at least 120 texts', () => {
    expect(new Set([...ACCEPTED, ...REFUSED].map(([, text]) => text)).size).toBeGreaterThan(200);
  });
  for (const [comment, text, canonical] of ACCEPTED) {
    it(`I35: accepts ${comment}`, () => {
      const value = parseJson(text);
      expect(canonicalJson(value)).toBe(canonical);
      expect(canonicalJson(parseJson(canonical))).toBe(canonical);
    });
  }
  for (const [comment, text, code] of REFUSED) {
    it(`I35: refuses ${comment}`, () => {
      expect(refusal(() => parseJson(text)).code).toBe(code);
    });
  }
});

describe('JsonError', () => {
  it.each([
    ['{"current":{"stage_ft":1e400}}', 23, 'current.stage_ft'],
    ['{"a":1,"sources":[{"name":"x"},{"name":"\\u0000"}]}', 39, 'sources.1.name'],
    ['{"a":{"b":1,"b":2}}', 12, 'a'],
    ['[1,2,x]', 5, '2'],
    ['{"a\\"b":[[],{}],"c":?}', 20, 'c'],
    ['x', 0, ''],
  ])('parseJson() tells offset and path in %s', (text, at, path) => {
    const error = refusal(() => parseJson(text));
    expect([error.at, error.path]).toEqual([at, path]);
    const subject = path === '' ? '' : ` "${path}"`;
    expect(error.message).toContain(`Cannot parse JSON${subject} at character ${at}: `);
  });
  it('parseJson() clips a long path', () => {
    const error = refusal(() => parseJson(`{"${'k'.repeat(5000)}":x}`));
    expect(error.message.length).toBeLessThan(250);
  });
});

describe('limits', () => {
  it('parseJson() takes the depth it is given', () => {
    expect(parseJson('[[1]]', { depth: 2 })).toEqual([[1]]);
    expect(refusal(() => parseJson('[[1]]', { depth: 1 })).code).toBe('too_deep');
  });
  it('I39: parseJson() is linear in keys, digits and text', () => {
    const shapes = [
      (n: number) => `{${Array.from({ length: n / 10 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
      (n: number) => `0.${'0'.repeat(n)}1${'0'.repeat(n)}1`,
      (n: number) => `"${'\\\\'.repeat(n)}"`,
      (n: number) => `[${'[],'.repeat(n)}x`,
    ];
    for (const shape of shapes) {
      const text = shape(400_000);
      const ms = cpuMsOf(() => {
        try {
          parseJson(text);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError);
        }
      });
      // A quadratic step at this size takes minutes.
      expect(ms).toBeLessThan(3000);
    }
  });
});

describe('decodeUtf8()', () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  it('I35: keeps a byte order mark, which parseJson() refuses', () => {
    const text = decodeUtf8(bytes(0xef, 0xbb, 0xbf, 0x7b, 0x7d));
    expect(text).toBe('\ufeff{}');
    expect(refusal(() => parseJson(text)).code).toBe('byte_order_mark');
  });
  it('decodes two, three and four bytes', () => {
    expect(decodeUtf8(new TextEncoder().encode('é€😀'))).toBe('é€😀');
  });
  it.each([
    ['a lone continuation', bytes(0x80)],
    ['a clipped sequence', bytes(0xe2, 0x82)],
    ['an overlong solidus', bytes(0xc0, 0xaf)],
    ['an encoded surrogate', bytes(0xed, 0xa0, 0x80)],
    ['a code point beyond U+10FFFF', bytes(0xf4, 0x90, 0x80, 0x80)],
    ['0xff', bytes(0xff)],
    ['UTF-16', bytes(0xff, 0xfe, 0x7b, 0x00)],
  ])('I35: refuses %s', (_name, bad) => {
    const refused = refusal(() => decodeUtf8(bad));
    expect(refused.code).toBe('bad_utf8');
    expect(refused.message).toBe('Cannot parse JSON: not UTF-8; encode the text as UTF-8');
    expect(decodeUtf8(bytes(0x31))).toBe('1');
  });
});

describe('laws', () => {
  const safe = (n: number) => !Number.isInteger(n) || Number.isSafeInteger(n);
  const clean = (s: string) =>
    !s.includes('\0') && !['__proto__', 'constructor', 'prototype'].includes(s);
  const text = fc.string({ unit: 'binary' }).filter(clean);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter(safe),
      text,
      fc.array(tie('value')),
      fc.dictionary(text, tie('value'), { noNullPrototype: true }),
    ),
  }));
  const spaced = fc.constantFrom(undefined, 1, '\t', '\n');

  it('I35: parse, canonical, parse, canonical is a fixed point', () => {
    fc.assert(
      fc.property(value, spaced, (any, space) => {
        const parsed = parseJson(JSON.stringify(any, null, space));
        const once = canonicalJson(parsed);
        expect(canonicalJson(parseJson(once))).toBe(once);
        expect(once).toBe(canonicalJson(any));
      }),
      { numRuns: RUNS },
    );
  });

  it('I35: what the native parser refuses is refused, what is accepted has the native value', () => {
    const pieces = [...'[]{},:"\\-+.0159eEuatfn \n\ufeff\ud83d\ude00\0'];
    const soup = fc.array(fc.constantFrom(...pieces, '"a"', '{"a":', 'null', '\\u0061', '1e400'));
    const edited = fc
      .tuple(value, fc.nat(), fc.nat(3), fc.constantFrom(...pieces, ''))
      .map(([any, at, cut, piece]) => {
        const whole = JSON.stringify(any);
        const from = at % (whole.length + 1);
        return whole.slice(0, from) + piece + whole.slice(from + cut);
      });
    fc.assert(
      fc.property(
        fc.oneof(
          soup.map((parts) => parts.join('')),
          edited,
        ),
        (source) => {
          let parsed: unknown;
          try {
            parsed = parseJson(source);
          } catch (error) {
            expect(error).toBeInstanceOf(JsonError);
            return;
          }
          expect(JSON.stringify(parsed)).toBe(JSON.stringify(JSON.parse(source)));
        },
      ),
      { numRuns: RUNS * 2 },
    );
  });

  it('I35: a text the native parser accepts is refused only for a named reason, never as syntax', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (source) => {
        try {
          parseJson(source);
        } catch (error) {
          expect((error as JsonError).code).not.toMatch(/syntax|trailing_text|byte_order_mark/);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('I35: every spelling that a double prints is accepted and comes back', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter(safe);
    fc.assert(
      fc.property(double, (number) => {
        const plain = String(number === 0 ? 0 : number);
        expect([accepted(String(number)), accepted(number.toExponential())]).toEqual([
          plain,
          plain,
        ]);
      }),
      { numRuns: RUNS },
    );
  });

  it('I36: two spellings of numbers share a canonical text exactly when they are the same number', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123459'), minLength: 1, maxLength: 18 });
    const exponent = fc.option(fc.integer({ min: -30, max: 18 }));
    const spelling = fc
      .tuple(fc.boolean(), digits, fc.option(digits), exponent)
      .map(([minus, whole, fraction, power]) => {
        const integer = whole.replace(/^0+(?=.)/, '');
        const tail =
          (fraction === null ? '' : `.${fraction}`) + (power === null ? '' : `e${power}`);
        return `${minus ? '-' : ''}${integer}${tail}`;
      });
    const respelled = spelling.map((one): [string, string] => [one, respell(one)]);
    fc.assert(
      fc.property(fc.oneof(fc.tuple(spelling, spelling), respelled), ([a, b]) => {
        const [left, right] = [accepted(a), accepted(b)];
        if (left === undefined || right === undefined) return;
        expect(left === right).toBe(scaled(a) === scaled(b));
      }),
      { numRuns: RUNS * 2 },
    );
  });
});

function accepted(text: string): string | undefined {
  try {
    return canonicalJson(parseJson(text));
  } catch {
    return undefined;
  }
}

/** The number times 10^60 as an integer: exact, and without the parser under test. */
function scaled(text: string): bigint {
  const [mantissa = '', power = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(60 + Number(power) - fraction.length);
}

/** The same number in another spelling, or a near miss in the last digit. */
function respell(text: string): string {
  const [mantissa = '', power = '0'] = text.split('e');
  const dotted = mantissa.includes('.') ? `${mantissa}0` : `${mantissa}.0`;
  return mantissa.endsWith('9')
    ? `${mantissa.slice(0, -1)}8e${power}`
    : `${dotted}E${power}`.replace('E', 'e');
}

describe('isExact()', () => {
  it.each(['0', '-0', '0.0', '1', '-1', '100', '1e2', '1E+2', '0.01e4', '1e-2', '0.050', '5e-324'])(
    'says yes to %s',
    (written) => {
      expect(isExact(written, Number(written))).toBe(true);
    },
  );
  it.each(['9007199254740993', '0.1000000000000000055', '1e-400', '1.00000000000000001', '3e-324'])(
    'says no to %s',
    (written) => {
      expect(isExact(written, Number(written))).toBe(false);
    },
  );
});

describe('jsonPath()', () => {
  it.each([
    ['{"a":{"b":[1,{"c":2', 'a.b.1.c'],
    ['{"a":1,', ''],
    ['[[],[[],', '1.1'],
    ['{"a":"[{,:","b":', 'b'],
    ['{"x\\"y":', 'x\\"y'],
    ['', ''],
  ])('reads the path behind %s', (text, path) => {
    expect(jsonPath(`${text}?`, text.length)).toBe(path);
  });
  it('clips what is long', () => {
    expect(jsonPath(`{"${'k'.repeat(500)}":`, 504)).toHaveLength(121);
  });
});

const PUBLISHED = '../shared/vectors/jcs';

describe('canonicalJson()', () => {
  it.each(LEGAL)('writes %s', (_name, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
  it.each(ILLEGAL)('I35: refuses %s', (_name, value, path) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
    expect(() => canonicalJson(value)).toThrow(`"${path}`);
  });
  it('names the path of what it refuses', () => {
    expect(() => canonicalJson({ current: { stage_ft: [1, Number.NaN] } })).toThrow(
      'Cannot canonicalise "current.stage_ft.1": NaN is not JSON; pass plain data',
    );
  });
});

describe('own vectors', () => {
  const rows = JSON.parse(readFileSync('test/vectors/canonical.json', 'utf8')) as {
    comment: string;
    input: string;
    want?: string;
    error?: string;
  }[];
  it.each(rows)('canonicalJson(parseJson()) $comment', ({ input, want, error }) => {
    if (want === undefined)
      expect(() => parseJson(input)).toThrow(expect.objectContaining({ code: error }));
    else expect(canonicalJson(parseJson(input))).toBe(want);
  });
});

interface BytesRow {
  readonly comment: string;
  readonly input: string;
  /** The canonical bytes; absent for what is refused. */
  readonly hex?: string;
}

/** The documents of RFC 8785's own test data, on a machine that has them. */
function publishedRows(): BytesRow[] {
  if (!existsSync(PUBLISHED)) return [];
  return readdirSync(`${PUBLISHED}/input`).map((file) => ({
    comment: `RFC 8785 ${file}`,
    input: readFileSync(`${PUBLISHED}/input/${file}`, 'utf8'),
    hex: readFileSync(`${PUBLISHED}/outhex/${file.replace('.json', '.txt')}`, 'utf8').replace(
      /\s+/g,
      '',
    ),
  }));
}

describe('canonicalJson() and jcs()', () => {
  const read = (name: string) => JSON.parse(readFileSync(`test/vectors/${name}`, 'utf8'));
  const documents: readonly BytesRow[] = [...read('canonical-bytes.json'), ...publishedRows()];

  it.each(documents)('write or refuse $comment, byte for byte', ({ input, hex }) => {
    const value: unknown = JSON.parse(input);
    for (const write of [canonicalJson, jcs]) {
      if (hex === undefined) expect(() => write(value)).toThrow(TypeError);
      else expect(Buffer.from(write(value)).toString('hex')).toBe(hex);
    }
  });

  it('write or refuse every number of RFC 8785, Appendix B', () => {
    const numbers = read('numbers.json') as { bits: string; want?: string }[];
    expect(numbers.filter(({ want }) => want === undefined)).toHaveLength(3);
    for (const { bits, want } of numbers) {
      const number = Buffer.from(bits, 'hex').readDoubleBE(0);
      for (const write of [canonicalJson, jcs]) {
        if (want === undefined) expect(() => write(number)).toThrow(TypeError);
        else expect(write(number)).toBe(want);
      }
    }
  });
});
