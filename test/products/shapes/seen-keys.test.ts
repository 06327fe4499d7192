import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  historyOf,
  type KeyHistory,
  type SeenKeys,
  seenKey,
  seenKeysFault,
  seenKeysOf,
  seenKeysSchema,
} from '../../../compiler/format/key-history.ts';
import { DID, didOfSeed, revocation, rotation } from '../../verify/monitor/lying-service.ts';
import { FIRST, rooted } from '../../verify/monitor/rooted-keys.ts';

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
const seenOf = (list: KeyHistory): SeenKeys => seenKeysSchema.parse(seenKeysOf(list, sha256));
const faultOf = (list: KeyHistory, seen: SeenKeys) => seenKeysFault(list, seen, sha256);

const ROTATED = rotation(7, 9);
const STOLEN = revocation(7);
const KNOWN = historyOf(DID, [ROTATED], [STOLEN]);

describe('seenKeysFault()', () => {
  it('I26: takes the same list, and one that says more', () => {
    const seen = seenOf(KNOWN);
    const more = historyOf(DID, [ROTATED, rotation(9, 11)], [revocation(9), STOLEN]);
    for (const list of [KNOWN, more]) expect(faultOf(list, seen)).toBeNull();
  });

  it.each<[string, KeyHistory, string]>([
    ['a revocation', historyOf(DID, [ROTATED], []), 'lacks a statement that was seen'],
    ['a key', historyOf(DID, [], [STOLEN]), `does not name "${didOfSeed(9)}" where it stood`],
    [
      'the time of a rotation',
      historyOf(DID, [{ ...ROTATED, overlap_until: '2099-01-01T00:00:00Z' }], [STOLEN]),
      'lacks a statement that was seen',
    ],
    ['the first key', historyOf(didOfSeed(9), [], []), 'does not begin with'],
  ])('I26: finds a list that forgot %s', (_, list, words) => {
    expect(faultOf(list, seenOf(KNOWN))).toContain(words);
  });

  it('I26: finds a list that forgot its root, and knows nothing of statements that were not kept', () => {
    const below = rooted(FIRST);
    expect(faultOf(below, seenOf(below))).toBeNull();
    expect(faultOf(historyOf(DID, [], []), seenOf(below))).toContain('lacks version 1 of the root');
    const { statements: _, ...earlier } = seenOf(KNOWN);
    const forgetful = historyOf(DID, [ROTATED], []);
    expect(faultOf(forgetful, seenKeysSchema.parse(earlier))).toBeNull();
    expect(faultOf(forgetful, seenKey(DID))).toBeNull();
  });
});
