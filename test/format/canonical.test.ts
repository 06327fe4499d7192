import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';
import { jcs } from '../../compiler/system/jcs.ts';
import { ILLEGAL, LEGAL } from '../products/shapes/json-values.ts';

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
