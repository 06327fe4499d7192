import { atomicAmount } from '../../compiler/contract/price.ts';
import { checksumAddress } from './address.ts';
import { findNetwork, type Network } from './networks.ts';

/** Tokens beside USDC on one network: a payment of version 1 does not name its token, so each may have to be tried. */
const TOKENS_MAX = 3;
const PARTS = 5;
/** Of USDC, and the least that a token beside it may have, so that no price is rounded. */
const USDC_DECIMALS = 6;
const DECIMALS_MAX = 18;
/** Names and versions of EIP-712 domains, as they stand in challenges. */
const DOMAIN_TEXT = /^[\x20-\x7e]{1,64}$/;

/** How one token is written. */
export const TOKEN_FORM = 'network:address:name:version:decimals';

/**
 * Tokens beside USDC out of `network:address:name:version:decimals`, several of them with commas. Each is at par with USD.
 * Throws a RangeError that names the entry and what is wrong with it.
 */
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
  const asset = contractAddress(address, fault);
  if (isSameToken(network, { ...network, asset })) throw fault('is the USDC of its network');
  if (!DOMAIN_TEXT.test(name) || !DOMAIN_TEXT.test(version))
    throw fault('has no name or version of an EIP-712 domain');
  const isCount = /^[0-9]{1,2}$/.test(decimals);
  if (!isCount || Number(decimals) < USDC_DECIMALS || Number(decimals) > DECIMALS_MAX)
    throw fault(`has "${decimals}" decimals, not ${USDC_DECIMALS} to ${DECIMALS_MAX}`);
  return { ...network, asset, extra: { name, version }, decimals: Number(decimals) };
}

const AT_PAR = `write ${TOKEN_FORM} for one that is, and leave out any other`;

/** In checksum case, which clients compare byte for byte. */
function contractAddress(text: string, fault: (why: string) => RangeError): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw fault('has no address of 40 hex digits');
  const checksummed = checksumAddress(text);
  if (text === checksummed || text === text.toLowerCase()) return checksummed;
  throw fault('has an address whose checksum does not match; copy it again');
}

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
export function tokenOfTerms(terms: TermsOfToken): Network | undefined {
  const { network: name, asset, extra } = terms;
  const network = findNetwork(name);
  if (network === undefined || isSameToken(network, { ...network, asset })) return network;
  return { ...network, asset, extra };
}
interface TermsOfToken extends TermsPlace, Pick<Network, 'extra'> {}

/** Atomic units of a token for a decimal USD price. Throws a RangeError for no price. */
export function tokenAmount(priceUsd: string, { decimals = USDC_DECIMALS }: Decimals): string {
  return atomicAmount(priceUsd) + '0'.repeat(decimals - USDC_DECIMALS);
}

/** What an amount of a token is worth in atomic units of USDC, rounded down; null for an amount of USDC itself. */
export function usdWorth(value: string, { decimals }: Decimals): string | null {
  if (decimals === undefined) return null;
  return `${BigInt(value) / 10n ** BigInt(decimals - USDC_DECIMALS)}`;
}
type Decimals = Pick<Network, 'decimals'>;
