import {
  BaseError,
  type Client,
  createClient,
  formatLog,
  type Hex,
  http,
  type Log,
  numberToHex,
  parseAbi,
  TimeoutError,
} from 'viem';
import {
  getBalance,
  getBlock,
  getChainId,
  getCode,
  getTransactionReceipt,
  readContract,
} from 'viem/actions';
import type { AccountStanding } from '../evidence.ts';
import { remoteUrl } from '../facilitator.ts';
import type { Network } from '../networks.ts';
import type { Authorization } from '../payment.ts';

export const TOKEN_ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function isBlacklisted(address account) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

const RPC_TIMEOUT_MS = 5000;
/** A block of receipts is far smaller; a longer answer is refused. */
const RPC_BODY_BYTES_MAX = 4_194_304;

export interface Block {
  readonly number: bigint;
  readonly hash: Hex;
  readonly timestamp: bigint;
}

export interface TransactionReceipt {
  readonly transactionHash: Hex;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  readonly logs: readonly Log[];
}

/** The network's token through a node that is trusted to know its own chain; every question may throw. */
export interface ChainNode {
  /** For sending transactions, which is not a question. */
  readonly client: Client;
  readonly network: Network;
  /** Throws a ChainMismatch when the node serves another chain or the token has no code there. */
  check(): Promise<void>;
  block(number: bigint | 'latest'): Promise<Block>;
  /** As of a block, or of the newest one. */
  isUsed(authorization: Authorization, block?: bigint): Promise<boolean>;
  balanceOf(account: string, block: bigint): Promise<bigint>;
  /** In one call, where the node takes batches. */
  standing(
    authorization: Pick<Authorization, 'from' | 'nonce'>,
    asksCode: boolean,
  ): Promise<AccountStanding>;
  /** Null when the node knows no such mined transaction. */
  receipt(transaction: Hex): Promise<TransactionReceipt | null>;
  /** What the token logged, oldest first. */
  tokenLogs(query: {
    readonly topics: readonly (Hex | readonly Hex[])[];
    readonly from: bigint;
    readonly to: bigint;
  }): Promise<readonly Log[]>;
}

/** The node answers, but not for the configured network. */
export class ChainMismatch extends Error {
  override readonly name = 'ChainMismatch';
}

interface ChainNodeOptions {
  /** https unless the host is loopback; it may hold a key, so it is never shown. */
  readonly url: string;
  readonly network: Network;
  readonly timeoutMs?: number;
}

/** Opens no connection yet; throws a RangeError for a URL that must not be used. */
export function chainNode(options: ChainNodeOptions): ChainNode {
  const { network } = options;
  const client = clientOf(options);
  const token = { address: network.asset as Hex, abi: TOKEN_ABI } as const;
  const checked = once(() => check(client, network));
  const asking =
    <In extends readonly unknown[], Out>(ask: (...args: In) => Promise<Out>) =>
    async (...args: In): Promise<Out> => {
      await checked();
      return ask(...args);
    };
  return {
    client,
    network,
    check: checked,
    block: asking((number) =>
      number === 'latest' ? getBlock(client) : getBlock(client, { blockNumber: number }),
    ),
    isUsed: asking(({ from, nonce }, blockNumber) => {
      const args = [from as Hex, nonce as Hex] as const;
      const functionName = 'authorizationState';
      return readContract(client, { ...token, functionName, args, blockNumber });
    }),
    balanceOf: asking((account, blockNumber) => {
      const args = [account as Hex] as const;
      return readContract(client, { ...token, functionName: 'balanceOf', args, blockNumber });
    }),
    standing: asking(standingBy(options, token)),
    receipt: asking((transaction) => receiptOf(client, transaction)),
    tokenLogs: asking(async ({ topics, from, to }) => {
      const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
      const logs = await client.request({
        method: 'eth_getLogs',
        params: [
          {
            address: token.address,
            topics: topics.map((topic) => topic as Hex | Hex[]),
            ...range,
          },
        ],
      });
      return logs.map((log) => formatLog(log));
    }),
  };
}

export type TokenNode = ReturnType<typeof tokenNode>;

/** A chain node with the questions that only a check before the start asks; every one may throw. */
export function tokenNode(options: ChainNodeOptions) {
  const { check, block, client } = chainNode(options);
  const token = { address: options.network.asset as Hex, abi: TOKEN_ABI } as const;
  return {
    check,
    block,
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
    /** Undefined for a plain account. */
    codeOf: (account: string) => getCode(client, { address: account as Hex }),
    wei: (account: string) => getBalance(client, { address: account as Hex }),
  };
}

/** A node that hangs was waited for long enough. */
export function isTimeout(error: unknown): boolean {
  const within = (cause: unknown): boolean => cause instanceof TimeoutError;
  return error instanceof BaseError && error.walk(within) !== null;
}

function standingBy(
  options: ChainNodeOptions,
  token: { address: Hex; abi: typeof TOKEN_ABI },
): ChainNode['standing'] {
  const single = clientOf(options);
  let client = clientOf(options, true);
  const read = async (
    from: Client,
    { from: payer, nonce }: Pick<Authorization, 'from' | 'nonce'>,
    asksCode: boolean,
  ): Promise<AccountStanding> => {
    const address = payer as Hex;
    const state = [address, nonce as Hex] as const;
    const [balance, isUsed, code] = await Promise.all([
      readContract(from, { ...token, functionName: 'balanceOf', args: [address] }),
      readContract(from, { ...token, functionName: 'authorizationState', args: state }),
      asksCode ? getCode(from, { address }) : null,
    ]);
    return { balance, isUsed, hasCode: code === null ? null : code !== undefined };
  };
  return async (authorization, asksCode) => {
    try {
      return await read(client, authorization, asksCode);
    } catch (error) {
      if (client === single || isTimeout(error)) throw error;
      const standing = await read(single, authorization, asksCode);
      // It answers one question and no batch.
      client = single;
      return standing;
    }
  };
}

function clientOf(
  { url, timeoutMs = RPC_TIMEOUT_MS }: ChainNodeOptions,
  batch: boolean = false,
): Client {
  const transport = http(remoteUrl(url, 'chain node').href, {
    batch,
    timeout: timeoutMs,
    retryCount: 0,
    maxResponseBodySize: RPC_BODY_BYTES_MAX,
    // A redirect would lead to a host that nobody configured.
    fetchOptions: { redirect: 'error' },
  });
  return createClient({ transport });
}

/** Runs until it succeeded once; those who come meanwhile wait for the same run. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work().catch((error: unknown) => {
      running = null;
      throw error;
    });
    return running;
  };
}

async function check(client: Client, { chainId, name, asset, decimals }: Network): Promise<void> {
  const found = await getChainId(client);
  if (found !== chainId) {
    throw new ChainMismatch(
      `Cannot use chain node: it serves chain ${found}, but "${name}" is chain ${chainId}; ` +
        'set SIGNALPRESS_RPC_URL to a node of that network',
    );
  }
  const code = await getCode(client, { address: asset as Hex });
  if (code === undefined) {
    throw new ChainMismatch(
      `Cannot use chain node: it has no contract at "${asset}"; ` +
        'set SIGNALPRESS_RPC_URL to a synchronised node of the network',
    );
  }
  if (decimals === undefined) return;
  const token = { address: asset as Hex, abi: TOKEN_ABI, functionName: 'decimals' } as const;
  const stated = await readContract(client, token);
  if (stated === decimals) return;
  // With other decimals every price would be wrong.
  throw new ChainMismatch(
    `Cannot use token "${asset}": it has ${stated} decimals, but SIGNALPRESS_TOKENS says ${decimals}; correct its entry`,
  );
}

async function receiptOf(client: Client, hash: Hex): Promise<TransactionReceipt | null> {
  try {
    const { transactionHash, blockNumber, status, logs } = await getTransactionReceipt(client, {
      hash,
    });
    return { transactionHash, blockNumber, succeeded: status === 'success', logs };
  } catch (error) {
    if (error instanceof Error && error.name === 'TransactionReceiptNotFoundError') return null;
    throw error;
  }
}
