import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REQUEST_TIME_FIELDS } from '../compiler/format/citation.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { sampleGate } from './gate.ts';
import { payer } from './gatekeeper/payer.ts';
import { BUYER_ADDRESS } from './gatekeeper/tiny-gate.ts';
import { type CompiledSample, compiledSample } from './shop.ts';

/** What of the full form the short one may have. Its citation alone has some 440 tokens, hashes and a signature. */
const FORMS = [
  ['record', { bytes: 0.38, tokens: 0.46 }],
  ['bundle', { bytes: 1 / 3, tokens: 0.4 }],
] as const;

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
});

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
      verifyBody(value as never, { trust: [body._citation.issuer_DID] }).verdict;
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

describe('a payment is for one form', () => {
  const full = '/gauge?signal_id=airquality.aqi&entity=us-denver';
  let gate: Gatekeeper;
  beforeAll(async () => {
    gate = await sampleGate(sample.data);
  });
  afterAll(() => gate.close());

  async function ask(target: string, payment?: string) {
    const headers =
      payment === undefined ? BUYER_ADDRESS : { ...BUYER_ADDRESS, 'x-payment': payment };
    const answer = await fetch(gate.url + target, { headers });
    return { status: answer.status, text: await answer.text() };
  }

  async function paymentFor(target: string): Promise<string> {
    const { accepts } = JSON.parse((await ask(target)).text);
    return payer(NETWORKS['base-sepolia']).header(accepts[0]);
  }

  it.each([
    [full, `${full}&format=thin`],
    [`${full}&format=thin`, full],
  ])('that of %s buys nothing at %s, and delivers its own again', async (bought, other) => {
    const payment = await paymentFor(bought);
    const first = await ask(bought, payment);
    expect(first.status).toBe(200);
    const refused = await ask(other, payment);
    expect(refused.status).toBe(402);
    expect(refused.text).not.toContain('"signature"');
    expect(await ask(bought, payment)).toEqual(first);
  });

  it('a parameter that selects members changes neither price nor answer nor what is charged', async () => {
    const payment = await paymentFor(full);
    const selecting = `${full}&fields=current`;
    const first = await ask(selecting, payment);
    expect(first.status).toBe(200);
    expect(JSON.parse(first.text)).toHaveProperty('_citation');
    expect(await ask(full, payment)).toEqual(first);
    expect((await ask(selecting)).text).toBe((await ask(full)).text);
  });
});
