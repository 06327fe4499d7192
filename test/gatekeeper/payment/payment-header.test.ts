import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { isRefusal } from '../../../gatekeeper/money/payment.ts';
import { decodePayment } from '../../../gatekeeper/payment/payment-header.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { PAY_TO, shop } from '../example-shop.ts';
import { encoded, headerOf, payer, paymentObject } from '../payer.ts';

const PAYMENT_HEADER_CHARS_MAX = 10_240;

const gauge = builtinOperation('/gauge');
const v1 = shop.terms(gauge, '/gauge', 1)[0];
const v2 = shop.terms(gauge, '/gauge', 2)[0];
const alice = payer(NETWORKS.base);
const signedPayment = await alice.sign(PAY_TO, '10000');

/** Texts one small step away from the usual one, and the usual one itself. */
function nearTexts(): string[] {
  const usual = JSON.stringify(paymentObject(v1, signedPayment));
  const { payload, ...rest } = JSON.parse(usual);
  const { authorization, signature } = payload;
  const withTerms = (terms: object) =>
    JSON.stringify({
      ...rest,
      payload: { signature, authorization: { ...authorization, ...terms } },
    });
  const digits = ['', '0', '00', '01', '-1', '1.0', '1e3', '9'.repeat(76), '9'.repeat(77)];
  const bounds = [2n ** 256n - 1n, 2n ** 256n, 10n ** 77n, 10n ** 78n].map(String);
  const hex = ['0x', `0x${'g'.repeat(40)}`, `0X${'a'.repeat(40)}`, `0x${'A'.repeat(40)}`];
  const steps = [
    ...[...digits, ...bounds].flatMap((value) => [
      { value },
      { validAfter: value },
      { validBefore: value },
    ]),
    ...hex.flatMap((one) => [{ from: one }, { to: one }, { nonce: `${one}${'a'.repeat(24)}` }]),
    { value: 1 },
    { nonce: null },
    { extra: 1 },
    { from: `0x${'a'.repeat(41)}` },
  ];
  const objects = [
    { ...rest, payload, extra: 1 },
    { payload, ...rest },
    { ...rest, payload: { authorization, signature } },
    { ...rest, payload: { ...payload, permit2Authorization: {} } },
    { ...rest, x402Version: 2, payload },
    ...['', 'a'.repeat(64), 'a'.repeat(65), 'Exact', 'é', 'a"b', '\u2028'].flatMap((name) => [
      { ...rest, scheme: name, payload },
      { ...rest, network: name, payload },
    ]),
    ...[0, 1, 130, 131, 132, 300].map((chars) => ({
      ...rest,
      payload: { ...payload, signature: `0x${'aB'.repeat(150).slice(0, chars)}` },
    })),
  ];
  const bytes = Array.from(usual, (char, at) => [
    usual.slice(0, at) + usual.slice(at + 1),
    `${usual.slice(0, at)}${char}${usual.slice(at)}`,
    `${usual.slice(0, at)} ${usual.slice(at + 1)}`,
    `${usual.slice(0, at)}\\u0061${usual.slice(at + 1)}`,
  ]);
  const odd = [
    `${usual}\n`,
    `${usual}x`,
    `${usual}\0`,
    `\ufeff${usual}`,
    usual.replace('1,', '1.0,'),
  ];
  const twice = usual.replace('"scheme"', '"scheme":"exact","scheme"');
  return [
    usual,
    ...steps.map(withTerms),
    ...objects.map((one) => JSON.stringify(one)),
    ...bytes.flat(),
    ...odd,
    twice,
  ];
}

describe('decodePayment()', () => {
  it('decodePayment() reads the usual text as it reads every other spelling of it', () => {
    const read = (text: string) => decodePayment(Buffer.from(text, 'utf8').toString('base64'), 1);
    const texts = nearTexts();
    let taken = 0;
    for (const text of texts) {
      const answer = read(text);
      // White space in front changes no value, and makes it another text than the usual one.
      const spaced = read(` ${text}`);
      if (!text.startsWith('\ufeff')) expect(answer, text).toStrictEqual(spaced);
      else expect(isRefusal(answer) && isRefusal(spaced)).toBe(true);
      if (!isRefusal(answer)) taken += 1;
    }
    expect(taken).toBeGreaterThan(20);
    expect(texts.length - taken).toBeGreaterThan(1000);
  });

  it('decodePayment() takes no base64 of the usual text that an encoder would not write', () => {
    const usual = headerOf(v1, signedPayment);
    expect(isRefusal(decodePayment(usual, 1))).toBe(false);
    const { length } = usual;
    const others = [
      `${usual}, ${usual}`,
      `${usual}=`,
      `${usual}A`,
      ` ${usual}`,
      `${usual}\n`,
      `=${usual}`,
      `${usual}====`,
      usual.replace(/^.{4}/, '$& '),
      usual.slice(0, length - 1),
      `${usual.slice(0, 8)}-${usual.slice(8)}`,
    ];
    for (const other of others) {
      expect(decodePayment(other, 1), other).toMatchObject({ reason: 'invalid_payload' });
    }
  });

  it('decodePayment() reads a v1 and a v2 payment into the same shape', () => {
    const { authorization, signature } = signedPayment;
    expect(decodePayment(headerOf(v1, signedPayment), 1)).toStrictEqual({
      version: 1,
      scheme: 'exact',
      network: 'base',
      accepted: null,
      signature,
      authorization,
    });
    expect(decodePayment(headerOf(v2, signedPayment), 2)).toStrictEqual({
      version: 2,
      scheme: 'exact',
      network: 'eip155:8453',
      accepted: { amount: '10000', asset: v2.asset, payTo: v2.payTo },
      signature,
      authorization,
    });
  });

  it('decodePayment() leaves out what the payer added', () => {
    const object = {
      ...paymentObject(v2, signedPayment),
      resource: { url: 'https://evil.example' },
      extensions: { bazaar: {} },
    };
    const payment = decodePayment(encoded(object), 2);
    expect(Object.keys(payment)).not.toContain('extensions');
    expect(Object.keys(payment)).not.toContain('resource');
  });

  it('decodePayment() refuses a payment of the other version', () => {
    for (const [header, version] of [
      [headerOf(v1, signedPayment), 2],
      [headerOf(v2, signedPayment), 1],
    ] as const) {
      expect(decodePayment(header, version)).toMatchObject({ reason: 'invalid_x402_version' });
    }
  });

  it('I43: decodePayment() takes a header at its limit and none beyond', () => {
    const base = { ...paymentObject(v1, signedPayment), pad: '' };
    const bare = JSON.stringify(base).length;
    const at = (bytes: number) =>
      decodePayment(encoded({ ...base, pad: 'x'.repeat(bytes - bare) }), 1);
    const most = (PAYMENT_HEADER_CHARS_MAX / 4) * 3;
    expect(isRefusal(at(most))).toBe(false);
    expect(at(most + 1)).toMatchObject({ reason: 'invalid_payload' });
  });

  it('decodePayment() takes the signature of a contract wallet up to its longest', () => {
    const of = (bytes: number) => {
      const signature = `0x${'ab'.repeat(bytes)}` as const;
      return decodePayment(headerOf(v1, { ...signedPayment, signature }), 1);
    };
    expect(of(300)).toMatchObject({ signature: `0x${'ab'.repeat(300)}` });
    expect(isRefusal(of(2048))).toBe(false);
    expect(of(2049)).toMatchObject({ reason: 'invalid_exact_evm_payload_signature' });
  });

  it('I49: decodePayment() repeats nothing of the payment in its refusals', () => {
    const odd = { ...signedPayment, signature: `${signedPayment.signature}zz` as `0x${string}` };
    const text = JSON.stringify(decodePayment(headerOf(v1, odd), 1));
    expect(text).not.toContain(signedPayment.signature.slice(2, 20));
  });
});
