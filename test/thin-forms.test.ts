import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../compiler/contract/catalog/builtin.ts';
import { REQUEST_TIME_FIELDS } from '../compiler/contract/citation.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { type CompiledSample, compiledSample } from './compiled-sample.ts';

/** What of the full form the short one may have. Its citation alone has some 440 tokens, hashes and a signature. */
const FORMS = [
  ['record', { bytes: 0.38, tokens: 0.46 }],
  ['bundle', { bytes: 1 / 3, tokens: 0.4 }],
] as const;

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
}, 60_000);

/** A path of each signal or line, with both texts. */
function pairs(folder: string): { path: string; thin: string; full: string }[] {
  const start = `thin/${folder}/`;
  const paths = sample.paths.filter((path) => path.startsWith(start));
  const first = new Map(paths.map((path) => [path.split('/')[2], path]));
  return [...first.values()].map((path) => {
    return { path, thin: sample.text(path), full: sample.text(path.slice('thin/'.length)) };
  });
}

describe.each(FORMS)('format=thin of a %s', (folder, most) => {
  it('has at most its share of the full form', () => {
    const all = pairs(folder);
    expect(all.length).toBeGreaterThan(25);
    for (const { path, thin, full } of all) {
      expect(thin.length / full.length, path).toBeLessThan(most.bytes);
      expect(countTokens(thin) / countTokens(full), path).toBeLessThan(most.tokens);
    }
  });

  it('is verified by itself, and not with another reading or less of it', () => {
    const { thin } = pairs(folder).at(0) ?? { thin: '{}' };
    const body = JSON.parse(thin);
    const verdict = (value: object): string =>
      verifyBody(value as never, { trust: [body._citation.issuer_DID], catalog: BUILTIN }).verdict;
    expect(verdict(body)).toBe('verified');
    expect(
      verdict(JSON.parse(thin.replaceAll(/"observed_at":"2026/g, '"observed_at":"2025'))),
    ).toBe('failed');
    const { nature, ...selected } = body;
    expect(verdict(selected)).toBe('failed');
  });

  it('has no member that depends on the time of the request', () => {
    for (const { thin } of pairs(folder)) {
      for (const name of Object.keys(REQUEST_TIME_FIELDS)) expect(thin).not.toContain(`"${name}"`);
    }
  });
});
