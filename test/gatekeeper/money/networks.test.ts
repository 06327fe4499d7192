import { DEFAULT_ASSETS } from '@x402/evm';
import { getAddress } from 'viem';
import {
  avalanche,
  avalancheFuji,
  base,
  baseSepolia,
  polygon,
  polygonAmoy,
  sei,
  seiTestnet,
} from 'viem/chains';
import { describe, expect, it } from 'vitest';
import { findNetwork, NETWORKS } from '../../../gatekeeper/money/networks.ts';

/** The same chains as viem knows them; `test/interop` compares the table with that of version 1. */
const CHAINS = {
  base,
  'base-sepolia': baseSepolia,
  polygon,
  'polygon-amoy': polygonAmoy,
  avalanche,
  'avalanche-fuji': avalancheFuji,
  sei,
  'sei-testnet': seiTestnet,
};

describe('NETWORKS', () => {
  it('NETWORKS has checksummed assets and the chains of viem', () => {
    expect(Object.keys(NETWORKS)).toEqual(Object.keys(CHAINS));
    for (const row of Object.values(NETWORKS)) {
      const chain = CHAINS[row.name];
      expect([row.chainId, row.isTestnet]).toEqual([chain.id, chain.testnet ?? false]);
      expect(row.asset).toBe(getAddress(row.asset));
      expect(row.caip2).toBe(`eip155:${row.chainId}`);
      expect(findNetwork(row.name)).toBe(row);
    }
  });

  it('NETWORKS has the contracts and domains of the published table of version 2', () => {
    const published = new Map(Object.entries(DEFAULT_ASSETS));
    const known = Object.values(NETWORKS).filter(({ caip2 }) => published.has(caip2));
    expect(known.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['base', 'base-sepolia', 'polygon', 'avalanche', 'sei']),
    );
    for (const { caip2, asset, extra } of known) {
      const [usdc] = published.get(caip2) ?? [];
      expect(usdc).toMatchObject({ asset, ...extra, decimals: 6 });
      expect(usdc).not.toHaveProperty('assetTransferMethod');
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
