import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptedCoding } from '../../../gatekeeper/release/coded-file.ts';

describe('acceptedCoding()', () => {
  it.each([
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', null],
    ['*;q=0, gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br; q=0.001', 'br'],
    ['gzip;q=0', null],
    ['gzip;q=0.000, br;q=0.0', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', null],
    ['deflate, zstd', null],
    // A weight that nobody can read asks for nothing.
    ['gzip;q=2', null],
    ['gzip;q=', null],
    ['gzip;level=9', null],
    ['br;q=x, gzip', 'gzip'],
    ['xgzip, brr', null],
  ])('takes of "%s": %s', (header, coding) => {
    expect(acceptedCoding(header)).toBe(coding);
  });

  it('never chooses what was not asked for, whatever is sent', () => {
    const part = fc.constantFrom('br', 'gzip', 'deflate', '*', ';q=0', ';q=1', ',', ' ', 'q', '=');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const header = parts.join('');
        const coding = acceptedCoding(header);
        if (coding !== null) expect(header.includes(coding) || header.includes('*')).toBe(true);
      }),
    );
  });
});
