/** A chain that payments arrive on, under each of its names, with the token's EIP-712 domain. */
export interface Network {
  /** Name in x402 v1. */
  readonly name: 'base' | 'base-sepolia';
  /** CAIP-2 name, in x402 v2. */
  readonly caip2: string;
  readonly chainId: number;
  /** Milliseconds from one block to the next. */
  readonly blockMs: number;
  /** USDC contract in checksum case, which clients compare byte for byte. */
  readonly asset: string;
  /** `name` and `version` of the token's EIP-712 domain. */
  readonly extra: { readonly name: string; readonly version: string };
}

/** Every supported network by its v1 name. */
export const NETWORKS: Readonly<Record<Network['name'], Network>> = {
  base: {
    name: 'base',
    caip2: 'eip155:8453',
    chainId: 8453,
    blockMs: 2000,
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    extra: { name: 'USD Coin', version: '2' },
  },
  'base-sepolia': {
    name: 'base-sepolia',
    caip2: 'eip155:84532',
    chainId: 84532,
    blockMs: 2000,
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    extra: { name: 'USDC', version: '2' },
  },
};

/** The network of a v1 or CAIP-2 name, or undefined. */
export function findNetwork(name: string): Network | undefined {
  return Object.values(NETWORKS).find((row) => row.name === name || row.caip2 === name);
}
