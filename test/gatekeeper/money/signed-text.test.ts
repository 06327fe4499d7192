import { describe, expect, it } from 'vitest';
import { parseSignedText, signedText } from '../../../gatekeeper/money/payment.ts';
import { alice, PAY_TO } from '../payment-bench.ts';

describe('signedText()', () => {
  it('is one text for every case of the same payment, and another for every other field', async () => {
    const { authorization, signature } = await alice.sign(PAY_TO, '10000');
    const text = signedText({ authorization, signature });
    const from = authorization.from.toUpperCase().replace('0X', '0x');
    expect(signedText({ authorization: { ...authorization, from }, signature })).toBe(text);
    for (const name of Object.keys(authorization) as (keyof typeof authorization)[]) {
      const other = { ...authorization, [name]: `${authorization[name]}1` };
      expect(signedText({ authorization: other, signature }), name).not.toBe(text);
    }
    expect(signedText({ authorization, signature: `${signature}0` })).not.toBe(text);
  });
});

describe('parseSignedText()', () => {
  it('returns what was written, in lower case', async () => {
    const { authorization, signature } = await alice.sign(PAY_TO, '10000');
    expect(parseSignedText(signedText({ authorization, signature }))).toEqual({
      authorization: { ...authorization, from: authorization.from.toLowerCase() },
      signature,
    });
  });

  it('refuses a text with fields too few, too many or empty', () => {
    for (const text of ['', 'a|b|c|d|e|f', 'a|b|c|d|e|f|g|h', 'a|b|c|d|e||g', '|b|c|d|e|f|g']) {
      expect(() => parseSignedText(text), text).toThrow(/damaged/);
    }
  });
});
