import { type Hex, parseAbi } from 'viem';
import { getBalance, getCode, readContract } from 'viem/actions';
import { type ChainNode, chainNode } from '../chain/chain-node.ts';
import type { Network } from '../money/networks.ts';

/** What a token says of itself. */
interface TokenFacts {
  readonly name: string;
  readonly version: string;
  readonly decimals: number;
}

/** A chain node with the questions that only a check before the start asks; every one may throw. */
export interface TokenNode extends Pick<ChainNode, 'check' | 'block'> {
  facts(): Promise<TokenFacts>;
  /** Whether the issuer of the token has barred an account from receiving it. */
  isBarred(account: string): Promise<boolean>;
  /** Code of an account, `0x` and hex digits; null for a plain one. */
  codeOf(account: string): Promise<string | null>;
  /** Gas money, in wei. */
  gasMoney(account: string): Promise<bigint>;
}

const ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function isBlacklisted(address account) view returns (bool)',
]);

/** Throws a RangeError for a URL that must not be used; an answer may take `timeoutMs`. */
export function tokenNode(url: string, network: Network, timeoutMs?: number): TokenNode {
  const node = chainNode({ url, network, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const { client } = node;
  const token = { address: network.asset as Hex, abi: ABI } as const;
  return {
    check: node.check,
    block: node.block,
    async facts() {
      const [name, version, decimals] = await Promise.all([
        readContract(client, { ...token, functionName: 'name' }),
        readContract(client, { ...token, functionName: 'version' }),
        readContract(client, { ...token, functionName: 'decimals' }),
      ]);
      return { name, version, decimals };
    },
    isBarred: (account) =>
      readContract(client, { ...token, functionName: 'isBlacklisted', args: [account as Hex] }),
    async codeOf(account) {
      return (await getCode(client, { address: account as Hex })) ?? null;
    },
    gasMoney: (account) => getBalance(client, { address: account as Hex }),
  };
}
