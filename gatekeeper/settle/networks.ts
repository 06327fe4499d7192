import { atomicAmount, USDC } from '../../compiler/products/shapes/price.ts';
import { checksumAddress } from './address.ts';

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
  /** Contract of its token, in checksum case, which clients compare byte for byte. */
  readonly asset: string;
  /** `name` and `version` of the token's EIP-712 domain. */
  readonly extra: { readonly name: string; readonly version: string };
  /** Decimal places of a token beside USDC; absent for USDC, which has 6. */
  readonly decimals?: number;
}

/** A network that payments are taken on, with what is set for it alone. */
export interface PaidNetwork {
  readonly network: Network;
  /** Its node. */
  readonly rpcUrl: string | null;
  /** Blocks that must hold a transfer before it counts. */
  readonly confirmations: number;
  /** Most that a relayed transaction on it pays for one unit of gas. */
  readonly maxFeeGwei: string;
}

const BASE = { blockMs: 2000, finalBlocks: 450, maxFeeGwei: '2' };
const POLYGON = { blockMs: 2000, finalBlocks: 128, maxFeeGwei: '500' };
const AVALANCHE = { blockMs: 1700, finalBlocks: 2, maxFeeGwei: '50' };
const SEI = { blockMs: 400, finalBlocks: 2, maxFeeGwei: '50' };
const USDC_V2 = { name: 'USDC', version: '2' };
const USD_COIN_V2 = { name: 'USD Coin', version: '2' };

function network(
  name: NetworkName,
  chain: Pick<Network, 'isTestnet' | 'blockMs' | 'finalBlocks' | 'maxFeeGwei'>,
  extra: Network['extra'],
): Network {
  const { caip2, asset } = USDC[name];
  const chainId = Number(caip2.slice('eip155:'.length));
  return { name, chainId, ...chain, caip2, asset, extra };
}

/** Every supported network by its v1 name. */
export const NETWORKS: Readonly<Record<NetworkName, Network>> = {
  base: network('base', { isTestnet: false, ...BASE }, USD_COIN_V2),
  'base-sepolia': network('base-sepolia', { isTestnet: true, ...BASE }, USDC_V2),
  polygon: network('polygon', { isTestnet: false, ...POLYGON }, USD_COIN_V2),
  'polygon-amoy': network('polygon-amoy', { isTestnet: true, ...POLYGON }, USDC_V2),
  avalanche: network('avalanche', { isTestnet: false, ...AVALANCHE }, USD_COIN_V2),
  'avalanche-fuji': network('avalanche-fuji', { isTestnet: true, ...AVALANCHE }, USD_COIN_V2),
  sei: network('sei', { isTestnet: false, ...SEI }, USDC_V2),
  'sei-testnet': network('sei-testnet', { isTestnet: true, ...SEI }, USDC_V2),
};

/** The network of a v1 or CAIP-2 name, or undefined. */
export function findNetwork(name: string): Network | undefined {
  return Object.values(NETWORKS).find((row) => row.name === name || row.caip2 === name);
}

/** Tokens beside USDC on one network: a payment of version 1 does not name its token, so each may have to be tried. */
const TOKENS_MAX = 3;
const PARTS = 5;
/** Of USDC, and the least that a token beside it may have, so that no price is rounded. */
const USDC_DECIMALS = 6;
const DECIMALS_MAX = 18;
/** Names and versions of EIP-712 domains, as they stand in challenges. */
const DOMAIN_TEXT = /^[\x20-\x7e]{1,64}$/;

export const TOKEN_FORM = 'network:address:name:version:decimals';

/** Reads tokens beside USDC, between commas, each at par with USD; throws a RangeError that names the wrong one. */
export function furtherTokens(text: string): readonly Network[] {
  const tokens = text.split(',').map((entry) => tokenOf(entry.trim()));
  for (const [at, token] of tokens.entries()) {
    const same = tokens.filter(({ name }) => name === token.name);
    if (tokens.findIndex((other) => isSameToken(other, token)) < at)
      throw new RangeError(`names ${token.asset} on ${token.name} twice`);
    if (same.length > TOKENS_MAX)
      throw new RangeError(`names more than ${TOKENS_MAX} tokens on ${token.name}`);
  }
  return tokens;
}

/** Whether both are the same contract on the same chain. */
export function isSameToken(one: TokenPlace, other: TokenPlace): boolean {
  return one.name === other.name && one.asset.toLowerCase() === other.asset.toLowerCase();
}
type TokenPlace = Pick<Network, 'name' | 'asset'>;

function tokenOf(entry: string): Network {
  const parts = entry.split(':').map((part) => part.trim());
  const [networkName = '', address = '', name = '', version = '', decimals = ''] = parts;
  const fault = (why: string): RangeError => new RangeError(`"${entry.slice(0, 60)}" ${why}`);
  if (parts.length === PARTS + 1)
    throw fault(`states a rate, but a token is taken at par with USD alone: ${AT_PAR}`);
  if (parts.length !== PARTS) throw fault(`is not ${TOKEN_FORM}`);
  const network = findNetwork(networkName);
  if (network === undefined) throw fault(`names "${networkName}", which is not a known network`);
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw fault('has no address of 40 hex digits');
  // In checksum case, which clients compare byte for byte.
  const asset = checksumAddress(address);
  if (address !== asset && address !== address.toLowerCase())
    throw fault('has an address whose checksum does not match; copy it again');
  if (isSameToken(network, { ...network, asset })) throw fault('is the USDC of its network');
  if (!DOMAIN_TEXT.test(name) || !DOMAIN_TEXT.test(version))
    throw fault('has no name or version of an EIP-712 domain');
  const isCount = /^[0-9]{1,2}$/.test(decimals);
  if (!isCount || Number(decimals) < USDC_DECIMALS || Number(decimals) > DECIMALS_MAX)
    throw fault(`has "${decimals}" decimals, not ${USDC_DECIMALS} to ${DECIMALS_MAX}`);
  return { ...network, asset, extra: { name, version }, decimals: Number(decimals) };
}

const AT_PAR = `write ${TOKEN_FORM} for one that is, and leave out any other`;

/** Whether terms, in either version, are for exactly this token on this network. */
export function isTokenOf({ network, asset }: TermsPlace, token: Network): boolean {
  const isNamed = network === token.name || network === token.caip2;
  return isNamed && asset.toLowerCase() === token.asset.toLowerCase();
}
interface TermsPlace {
  readonly network: string;
  readonly asset: string;
}

/** What people call a token: USDC, or the name of its domain. */
export function symbolOf({ decimals, extra }: Network): string {
  return decimals === undefined ? 'USDC' : extra.name;
}

/** The token of terms of ours: that of its network, or another one with a domain of its own; undefined for no network. */
export function tokenOfTerms({
  network: name,
  asset,
  extra,
}: TermsPlace & Pick<Network, 'extra'>): Network | undefined {
  const network = findNetwork(name);
  if (network === undefined || isSameToken(network, { ...network, asset })) return network;
  return { ...network, asset, extra };
}

/** Atomic units of a token for a decimal USD price. Throws a RangeError for no price. */
export function tokenAmount(
  priceUsd: string,
  { decimals = USDC_DECIMALS }: Pick<Network, 'decimals'>,
): string {
  return atomicAmount(priceUsd) + '0'.repeat(decimals - USDC_DECIMALS);
}

/** What an amount of a token is worth in atomic units of USDC, rounded down; null for an amount of USDC itself. */
export function usdWorth(value: string, { decimals }: Pick<Network, 'decimals'>): string | null {
  if (decimals === undefined) return null;
  return `${BigInt(value) / 10n ** BigInt(decimals - USDC_DECIMALS)}`;
}

/**
 * Longest time from asking for a settlement to its outcome, the wait for its depth included. Buyers and proxies are
 * told to wait 90 s: `/verify` before it (10 s) and a last look at the chain behind it (15 s) must fit in as well. What is
 * rare comes on top: the time of a second facilitator or of an auth module, and a look for what `/verify` refused.
 */
export const SETTLEMENT_MS_MAX = 64_000;
/** Of it, the most that depth may take; the rest is for the settlement itself. */
const DEPTH_MS_MAX = 50_000;
/** Blocks beyond the depth asked for: the node may lag behind whoever settled. */
const LAG_BLOCKS = 3;
/** A chain that is this much slower than usual is still waited for. */
const SLOW_PERCENT = 125;

/** After how long a transfer should be there for good. */
export function finalMs({ blockMs, finalBlocks }: Network): number {
  return ((finalBlocks + LAG_BLOCKS) * blockMs * SLOW_PERCENT) / 100;
}

/** How long a transfer that is there may take to be as deep as it was asked to be, and to be seen there. */
export function depthMs({ blockMs }: Pick<Network, 'blockMs'>, confirmations: number): number {
  return ((confirmations + LAG_BLOCKS) * blockMs * SLOW_PERCENT) / 100;
}

/** The greatest depth that a buyer can be kept waiting for. */
export function confirmationsMax({ blockMs }: Pick<Network, 'blockMs'>): number {
  return Math.floor((DEPTH_MS_MAX * 100) / (blockMs * SLOW_PERCENT)) - LAG_BLOCKS;
}
