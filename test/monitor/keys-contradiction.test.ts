import { describe, expect, it } from 'vitest';
import {
  firstHistory,
  formatKeyHistory,
  historyOf,
  type KeyHistory,
} from '../../compiler/contract/key-history.ts';
import {
  checkEvidence,
  type Evidence,
  keysContradiction,
  keysOfText,
} from '../../compiler/monitor/evidence.ts';
import { DID, didOfSeed, revocation, rotation } from './lying-service.ts';
import { FIRST, ISSUER, root, rooted } from './rooted-keys.ts';

const LATER = { version: 2, stated_at: '2026-11-21T12:00:00Z' };
const OTHER = { version: 2, stated_at: '2026-11-22T12:00:00Z' };

function verdict(lists: readonly [KeyHistory, KeyHistory], trust = [DID]): string {
  const texts: [string, string] = [formatKeyHistory(lists[0]), formatKeyHistory(lists[1])];
  const evidence: Evidence = {
    format: 'signalpress-evidence/1',
    found_at: '2026-11-23T12:00:00Z',
    address: 'https://shop.example',
    issuers: [DID],
    keys: texts[0],
    kind: 'keys',
    lists: texts,
  };
  return checkEvidence(evidence, { trust }).verdict;
}

describe('keysContradiction()', () => {
  it('finds two successors of one key, and two statements of one version of a root', () => {
    const lies: [KeyHistory, KeyHistory][] = [
      [historyOf(DID, [rotation(7, 9)], []), historyOf(DID, [rotation(7, 11)], [])],
      [rooted(FIRST, root(LATER)), rooted(FIRST, root(OTHER))],
      [rooted(FIRST), rooted(root({ stated_at: OTHER.stated_at }, [21, 22, ISSUER]))],
    ];
    for (const lists of lies) {
      for (const list of lists) expect(() => keysOfText(formatKeyHistory(list))).not.toThrow();
      expect(verdict(lists)).toBe('proven');
      expect(verdict(lists, [didOfSeed(13)])).toBe('nothing');
    }
  });

  it('finds none between a list and a later one, and none where more root keys signed the same', () => {
    const quiet: [KeyHistory, KeyHistory][] = [
      [firstHistory(DID), historyOf(DID, [rotation(7, 9)], [])],
      [historyOf(DID, [rotation(7, 9)], []), firstHistory(DID)],
      [firstHistory(DID), rooted(FIRST)],
      [rooted(FIRST), rooted(FIRST, root(LATER))],
      [rooted(FIRST), rooted({ ...FIRST, signatures: [...FIRST.signatures].reverse() })],
      [firstHistory(DID), firstHistory(didOfSeed(9))],
    ];
    for (const lists of quiet) {
      expect(keysContradiction(...lists)).toBeNull();
      expect(verdict(lists)).toBe('nothing');
    }
  });

  it('lets nothing be proven by a key that its issuer revoked: a thief could have announced anything', () => {
    const honest = historyOf(DID, [rotation(7, 9)], [revocation(7)]);
    expect(verdict([honest, historyOf(DID, [rotation(7, 11)], [])])).toBe('nothing');
  });
});
