import { describe, expect, it } from 'vitest';
import {
  confirmationsMax,
  depthMs,
  NETWORKS,
  SETTLEMENT_MS_MAX,
} from '../../../gatekeeper/money/networks.ts';

const VERIFY_TIMEOUT_MS = 10_000;
const EVIDENCE_TIMEOUT_MS = 15_000;

/** What a buyer is promised to wait at most. */
const BUYER_MS = 90_000;

describe('depthMs()', () => {
  it.each(Object.values(NETWORKS))(
    'I9: $name: waits longer than so many blocks take',
    (network) => {
      for (const confirmations of [1, 2, 6, confirmationsMax(network)]) {
        expect(depthMs(network, confirmations)).toBeGreaterThan(confirmations * network.blockMs);
      }
      expect(depthMs(network, 6)).toBeLessThan(30_000);
    },
  );

  it('follows the pace of the chain', () => {
    expect(depthMs({ blockMs: 12_000 }, 6)).toBe(6 * depthMs({ blockMs: 2000 }, 6));
  });
});

describe('confirmationsMax()', () => {
  it.each(Object.values(NETWORKS))(
    'I9: $name: is the greatest depth that fits into a settlement, with room to settle',
    (network) => {
      const max = confirmationsMax(network);
      expect(depthMs(network, max)).toBeLessThanOrEqual(50_000);
      expect(depthMs(network, max + 1)).toBeGreaterThan(50_000);
    },
  );

  it('allows less on a slower chain', () => {
    expect(confirmationsMax({ blockMs: 12_000 })).toBe(0);
    expect(confirmationsMax({ blockMs: 1000 })).toBeGreaterThan(confirmationsMax(NETWORKS.base));
  });
});

describe('SETTLEMENT_MS_MAX', () => {
  it('I9: leaves room for what comes before and behind it while a buyer waits', () => {
    expect(VERIFY_TIMEOUT_MS + SETTLEMENT_MS_MAX + EVIDENCE_TIMEOUT_MS).toBeLessThan(BUYER_MS);
  });
});
