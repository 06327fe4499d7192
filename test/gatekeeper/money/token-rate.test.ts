import { describe, expect, it } from 'vitest';
import { isRate, tokenAmount, usdWorth } from '../../../gatekeeper/money/token-rate.ts';

const at = (decimals: number, perUsd: string) => ({ rate: { decimals, perUsd } });

describe('tokenAmount()', () => {
  it.each<[string, [number, string], string]>([
    ['0.01', [6, '0.92'], '9200'],
    ['0.005', [6, '0.92'], '4600'],
    ['0.000001', [6, '0.92'], '1'],
    ['0.01', [2, '0.92'], '1'],
    ['0.03', [2, '0.92'], '3'],
    ['9.90', [18, '0.92'], '9108000000000000000'],
    ['0.01', [18, '0.333333333333'], '3333333333330000'],
    ['0.25', [6, '142.5'], '35625000'],
    ['0.01', [6, '1'], '10000'],
  ])('%s USD with decimals and rate of %j is %s', (usd, [decimals, perUsd], amount) => {
    expect(tokenAmount(usd, at(decimals, perUsd))).toBe(amount);
  });

  it('never asks for less than the price, and for less than one atomic unit more', () => {
    for (let cents = 1; cents <= 999; cents += 7) {
      for (const perUsd of ['0.920001', '1.1', '0.000001', '999999.999999']) {
        for (const decimals of [2, 6, 8, 18]) {
          const usd = (cents / 100).toFixed(2);
          const amount = BigInt(tokenAmount(usd, at(decimals, perUsd)));
          // Both sides times 10^(2 + 6), so that nothing is rounded here.
          const micro = BigInt(perUsd.replace('.', '')) * 10n ** BigInt(6 - placesOf(perUsd));
          const exact = BigInt(cents) * micro * 10n ** BigInt(decimals);
          expect(amount * 10n ** 8n >= exact).toBe(true);
          expect((amount - 1n) * 10n ** 8n < exact).toBe(true);
        }
      }
    }
  });

  it('is the price in atomic units for USDC', () => {
    expect(tokenAmount('0.005', {})).toBe('5000');
  });

  it('refuses what is no price', () => {
    expect(() => tokenAmount('free', at(6, '0.92'))).toThrow('Cannot price "free"');
  });
});

function placesOf(perUsd: string): number {
  return perUsd.split('.')[1]?.length ?? 0;
}

describe('usdWorth()', () => {
  it('is what a price was', () => {
    for (const usd of ['0.005', '0.01', '0.25', '9.90']) {
      const rate = at(18, '0.92');
      expect(usdWorth(tokenAmount(usd, rate), rate)).toBe(tokenAmount(usd, {}));
    }
  });

  it('rounds down', () => {
    expect(usdWorth('1', at(6, '0.92'))).toBe('1');
    expect(usdWorth('91', at(6, '0.92'))).toBe('98');
    expect(usdWorth('1', at(18, '0.92'))).toBe('0');
  });

  it('has nothing to say of USDC', () => {
    expect(usdWorth('10000', {})).toBeNull();
  });
});

describe('isRate()', () => {
  it.each(['0.92', '1', '142.5', '0.000000000001', '999999'])('takes %s', (rate) => {
    expect(isRate(rate)).toBe(true);
  });

  it.each([
    '',
    '0',
    '0.0',
    '-1',
    '1e3',
    '01',
    '.9',
    '1.',
    '1000000',
    '0.1234567890123',
    ' 1',
    'NaN',
  ])('refuses "%s"', (rate) => {
    expect(isRate(rate)).toBe(false);
  });
});
