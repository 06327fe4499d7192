import { getAddress } from 'viem';
import { base, baseSepolia } from 'viem/chains';
import { describe, expect, it } from 'vitest';
import { findNetwork, NETWORKS } from '../../../gatekeeper/money/networks.ts';

describe('NETWORKS', () => {
  it('NETWORKS has checksummed assets and the chain ids of viem', () => {
    expect(NETWORKS.base.chainId).toBe(base.id);
    expect(NETWORKS['base-sepolia'].chainId).toBe(baseSepolia.id);
    for (const row of Object.values(NETWORKS)) {
      expect(row.asset).toBe(getAddress(row.asset));
      expect(row.caip2).toBe(`eip155:${row.chainId}`);
    }
  });
});

describe('findNetwork()', () => {
  it('findNetwork() knows both names of a network', () => {
    expect(findNetwork('base')).toBe(NETWORKS.base);
    expect(findNetwork('eip155:84532')).toBe(NETWORKS['base-sepolia']);
  });

  it('findNetwork() does not know other names', () => {
    for (const name of ['', 'Base', 'eip155:1', 'toString', '__proto__']) {
      expect(findNetwork(name)).toBeUndefined();
    }
  });
});
