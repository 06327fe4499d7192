import { describe, expect, it } from 'vitest';
import { HASH_PREFIX_MIN, hashPrefix, lookUpHash } from '../../gatekeeper/verify-hash.ts';
import { SUPERSEDED_HASH } from './tiny-release.ts';
import { tinyService } from './tiny-service.ts';

const DIGITS = SUPERSEDED_HASH.slice('sha256:'.length);

describe('hashPrefix()', () => {
  it('takes a whole or shortened hash with or without its algorithm', () => {
    expect(hashPrefix(SUPERSEDED_HASH)).toBe(DIGITS);
    expect(hashPrefix(DIGITS.slice(0, HASH_PREFIX_MIN))).toBe(DIGITS.slice(0, HASH_PREFIX_MIN));
  });

  it.each(['', 'abababa', `${DIGITS}0`, DIGITS.toUpperCase(), 'md5:abababab', '../../../'])(
    'refuses "%s"',
    (text) => {
      expect(hashPrefix(text)).toBeNull();
    },
  );
});

describe('lookUpHash()', () => {
  it('finds by prefix at the start of a line only', async () => {
    const { release } = await tinyService();
    expect(await lookUpHash(DIGITS.slice(0, 8), release)).toMatchObject({
      state: 'listed',
      entry: { record_hash: SUPERSEDED_HASH },
      check: null,
    });
    expect(await lookUpHash(`${DIGITS.slice(0, 8)}00`, release)).toEqual({ state: 'not_found' });
  });
});
