import { describe, expect, it } from 'vitest';
import { formFamily } from '../../../compiler/products/shapes/filing.ts';

describe('formFamily()', () => {
  it.each([
    ['SCHEDULE 13D', 'SC 13D'],
    ['SCHEDULE 13G/A', 'SC 13G'],
    ['10-K/A', '10-K'],
    ['10-K', '10-K'],
  ])('puts %s with %s', (form, family) => {
    expect(formFamily(form)).toBe(family);
  });

  it.each(['__proto__', 'constructor', 'toString'])('leaves "%s" as it is', (form) => {
    expect(formFamily(form)).toBe(form);
  });
});
