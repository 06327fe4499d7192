import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { jcs } from '../../compiler/stages/seal/jcs.ts';
import { ILLEGAL, LEGAL } from './json-values.ts';

const OFFICIAL = '../shared/vectors/jcs';

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

describe.skipIf(!existsSync(OFFICIAL))(
  'RFC 8785 test data (skipped where ../shared/vectors is absent)',
  () => {
    const read = (file: string) => readFileSync(`${OFFICIAL}/${file}`, 'utf8');
    const inputs = existsSync(OFFICIAL) ? readdirSync(`${OFFICIAL}/input`) : [];
    it.each(inputs)('canonicalJson() and jcs() write %s byte for byte', (file) => {
      const want = read(`outhex/${file.replace('.json', '.txt')}`).replace(/\s+/g, '');
      const value: unknown = JSON.parse(read(`input/${file}`));
      expect(Buffer.from(canonicalJson(value)).toString('hex')).toBe(want);
      expect(Buffer.from(jcs(value)).toString('hex')).toBe(want);
    });
    it('canonicalJson() and jcs() write or refuse every number of Appendix B', () => {
      for (const row of JSON.parse(read('numbers.json')) as { bits: string; expect?: string }[]) {
        const number = Buffer.from(row.bits, 'hex').readDoubleBE(0);
        for (const write of [canonicalJson, jcs]) {
          if (row.expect === undefined) expect(() => write(number)).toThrow(TypeError);
          else expect(write(number)).toBe(row.expect);
        }
      }
    });
    it('canonicalJson() and jcs() agree with every edge row', () => {
      for (const row of JSON.parse(read('edge.json')) as { json: string; expect?: string }[]) {
        const value: unknown = JSON.parse(row.json);
        for (const write of [canonicalJson, jcs]) {
          if (row.expect === undefined) expect(() => write(value)).toThrow(TypeError);
          else expect(write(value)).toBe(row.expect);
        }
      }
    });
  },
);
