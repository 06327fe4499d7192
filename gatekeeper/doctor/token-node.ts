import { type Hex, parseAbi } from 'viem';
import { getBalance, getCode, readContract } from 'viem/actions';
import { chainNode } from '../chain/chain-node.ts';
import type { Network } from '../money/networks.ts';

const ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function isBlacklisted(address account) view returns (bool)',
]);

export type TokenNode = ReturnType<typeof tokenNode>;

/**
 * A chain node with the questions that only a check before the start asks; every one may throw. Throws a RangeError for a
 * URL that must not be used; an answer may take `timeoutMs`.
 */
export function tokenNode(url: string, network: Network, timeoutMs?: number) {
  const node = chainNode({ url, network, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const { check, block, client } = node;
  const token = { address: network.asset as Hex, abi: ABI } as const;
  return {
    check,
    block,
    /** What the token says of itself. */
    async facts() {
      const [name, version, decimals] = await Promise.all([
        readContract(client, { ...token, functionName: 'name' }),
        readContract(client, { ...token, functionName: 'version' }),
        readContract(client, { ...token, functionName: 'decimals' }),
      ]);
      return { name, version, decimals };
    },
    /** Whether the issuer of the token has barred an account from receiving it. */
    isBarred: (account: string) =>
      readContract(client, { ...token, functionName: 'isBlacklisted', args: [account as Hex] }),
    /** Code of an account, `0x` and hex digits; null for a plain one. */
    codeOf: async (account: string) => (await getCode(client, { address: account as Hex })) ?? null,
    /** Gas money, in wei. */
    gasMoney: (account: string) => getBalance(client, { address: account as Hex }),
  };
}
