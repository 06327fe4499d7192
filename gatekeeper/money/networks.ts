import { USDC } from '../../compiler/contract/price.ts';
import type { TokenRate } from './token-rate.ts';

/** Names that clients of version 1 know; any other one makes them drop the whole challenge. */
type NetworkName = keyof typeof USDC;

/** A chain that payments arrive on, under each of its names, with the token's EIP-712 domain. */
export interface Network {
  /** Name in x402 v1. */
  readonly name: NetworkName;
  /** CAIP-2 name, in x402 v2. */
  readonly caip2: string;
  readonly chainId: number;
  /** Its money is worth nothing. */
  readonly isTestnet: boolean;
  /** Milliseconds from one block to the next. */
  readonly blockMs: number;
  /** Blocks after which a transfer is there for good, its own included: no reorganisation reaches back so far. */
  readonly finalBlocks: number;
  /** Most gwei for one unit of gas where nothing is set: far more than is usual. */
  readonly maxFeeGwei: string;
  /** Contract of its token, USDC without a rate, in checksum case, which clients compare byte for byte. */
  readonly asset: string;
  /** `name` and `version` of the token's EIP-712 domain. */
  readonly extra: { readonly name: string; readonly version: string };
  /** How prices in USD become amounts of the token; absent for USDC. */
  readonly rate?: TokenRate;
}

/** Every supported network by its v1 name. */
export const NETWORKS: Readonly<Record<NetworkName, Network>> = {
  base: {
    name: 'base',
    chainId: 8453,
    isTestnet: false,
    blockMs: 2000,
    finalBlocks: 450,
    maxFeeGwei: '2',
    ...USDC.base,
    extra: { name: 'USD Coin', version: '2' },
  },
  'base-sepolia': {
    name: 'base-sepolia',
    chainId: 84532,
    isTestnet: true,
    blockMs: 2000,
    finalBlocks: 450,
    maxFeeGwei: '2',
    ...USDC['base-sepolia'],
    extra: { name: 'USDC', version: '2' },
  },
  polygon: {
    name: 'polygon',
    chainId: 137,
    isTestnet: false,
    blockMs: 2000,
    finalBlocks: 128,
    maxFeeGwei: '500',
    ...USDC.polygon,
    extra: { name: 'USD Coin', version: '2' },
  },
  'polygon-amoy': {
    name: 'polygon-amoy',
    chainId: 80002,
    isTestnet: true,
    blockMs: 2000,
    finalBlocks: 128,
    maxFeeGwei: '500',
    ...USDC['polygon-amoy'],
    extra: { name: 'USDC', version: '2' },
  },
  avalanche: {
    name: 'avalanche',
    chainId: 43114,
    isTestnet: false,
    blockMs: 1700,
    finalBlocks: 2,
    maxFeeGwei: '50',
    ...USDC.avalanche,
    extra: { name: 'USD Coin', version: '2' },
  },
  'avalanche-fuji': {
    name: 'avalanche-fuji',
    chainId: 43113,
    isTestnet: true,
    blockMs: 1700,
    finalBlocks: 2,
    maxFeeGwei: '50',
    ...USDC['avalanche-fuji'],
    extra: { name: 'USD Coin', version: '2' },
  },
  sei: {
    name: 'sei',
    chainId: 1329,
    isTestnet: false,
    blockMs: 400,
    finalBlocks: 2,
    maxFeeGwei: '50',
    ...USDC.sei,
    extra: { name: 'USDC', version: '2' },
  },
  'sei-testnet': {
    name: 'sei-testnet',
    chainId: 1328,
    isTestnet: true,
    blockMs: 400,
    finalBlocks: 2,
    maxFeeGwei: '50',
    ...USDC['sei-testnet'],
    extra: { name: 'USDC', version: '2' },
  },
};

/** The network of a v1 or CAIP-2 name, or undefined. */
export function findNetwork(name: string): Network | undefined {
  return Object.values(NETWORKS).find((row) => row.name === name || row.caip2 === name);
}
