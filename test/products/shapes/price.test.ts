import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount, priceOf, usdAmount } from '../../../compiler/products/shapes/price.ts';
import { builtinOperation } from '../../builtin-rows.ts';

const ATOMIC: Readonly<Record<string, string>> = {
  '0.005': '5000',
  '0.01': '10000',
  '0.02': '20000',
  '0.03': '30000',
  '0.09': '90000',
  '0.10': '100000',
  '0.25': '250000',
  '0.35': '350000',
  '9.90': '9900000',
};

describe('atomicAmount()', () => {
  it.each(Object.entries(ATOMIC))('converts %s USD to %s', (usd, atomic) => {
    expect(atomicAmount(usd)).toBe(atomic);
    expect(usdAmount(atomic)).toBe(usd);
  });

  it.each(['', '.5', '1.', '01', '-1', '+1', '1e3', '0.0000001', '1,5', ' 1', '1\n', '0x1', 'NaN'])(
    'refuses %j',
    (usd) => {
      expect(() => atomicAmount(usd)).toThrow(RangeError);
    },
  );

  it('is exact where doubles are not', () => {
    expect(atomicAmount('9007199254.740993')).toBe('9007199254740993');
  });
});

describe('priceOf()', () => {
  it('is what the table says of an operation that is sold', () => {
    expect(priceOf(builtinOperation('/gauge'))).toBe('0.01');
  });

  it('throws for a free one instead of pricing it', () => {
    expect(() => priceOf(builtinOperation('/gauge/preview'))).toThrow(
      'Cannot price "/gauge/preview": it is free',
    );
  });
});

describe('usdAmount()', () => {
  it.each(['', '-1', '1.5', 'x', '1'.repeat(31)])('refuses %j', (atomic) => {
    expect(() => usdAmount(atomic)).toThrow(RangeError);
  });

  it('is undone by atomicAmount for every amount', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 16n - 1n), (amount) => {
        expect(atomicAmount(usdAmount(amount.toString()))).toBe(amount.toString());
      }),
    );
  });
});
