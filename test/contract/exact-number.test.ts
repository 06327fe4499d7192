import { describe, expect, it } from 'vitest';
import { isExact } from '../../compiler/contract/strict-json.ts';

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
