import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import {
  createTestClient,
  defineChain,
  http,
  type LocalAccount,
  parseAbi,
  parseEther,
  parseSignature,
  publicActions,
  walletActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Network } from '../../gatekeeper/settle/networks.ts';
import type { SignedPayment } from '../gatekeeper/payer.ts';
import { CHAIN_PACKAGE, contractOf } from './compile-solidity.ts';

type Hex = `0x${string}`;

/** What the tests call on Token.sol. */
export const TOKEN_ABI = parseAbi([
  'function initialize(string name, string version)',
  'function setDecimals(uint8 places)',
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

const START_TIMEOUT_MS = 120_000;
const HELD_BACK_POLL_MS = 250;

export interface ChainOptions {
  readonly network: Network;
  /** Seconds between blocks; a block per transaction without it. */
  readonly blockTimeS?: number;
}

/** A chain of our own with the network's id and our token where the network's USDC stands. */
export interface Chain {
  readonly url: string;
  readonly network: Network;
  readonly client: Client;
  /** A fresh account with money for gas. */
  relayer(): Promise<LocalAccount & { readonly key: Hex }>;
  /** Gives an account of another chain money for gas here. */
  fund(key: Hex): Promise<void>;
  /** Puts another token where its network says, with these decimal places. */
  deploy(token: Network, decimals: number): Promise<Pick<Chain, 'mint' | 'balanceOf'>>;
  mint(to: string, value: bigint): Promise<void>;
  balanceOf(account: string): Promise<bigint>;
  isUsed(payment: SignedPayment): Promise<boolean>;
  /** Submits an authorization as anybody may who has seen it; answers the transaction. */
  submit(payment: SignedPayment): Promise<Hex>;
  /** Cancels an authorization, signed by the account that signed it. */
  cancel(payment: SignedPayment, by: LocalAccount): Promise<Hex>;
  close(): Promise<void>;
}

type Client = ReturnType<typeof clientOf>;

/** Starts a node on a free loopback port; the caller closes it. */
export async function startChain({ network, blockTimeS }: ChainOptions): Promise<Chain> {
  const time = blockTimeS === undefined ? [] : ['--block-time', String(blockTimeS)];
  const id = String(network.chainId);
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', id, '--accounts', '1', ...time];
  const node = spawn(anvilBinary(), args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const killed = (): void => void node.kill('SIGKILL');
  process.once('exit', killed);
  const url = await listening(node);
  const client = clientOf(url, network);
  const asset = network.asset as Hex;
  const { send, mint, balanceOf } = await deployed(client, await funded(client), network);
  const watch = setInterval(dropHeldBack(client), HELD_BACK_POLL_MS);
  const read = { address: asset, abi: TOKEN_ABI } as const;
  return {
    url,
    network,
    client,
    relayer: () => funded(client),
    fund: async (key) => void (await funded(client, key)),
    async deploy(token, decimals) {
      // An account of its own: two senders of one account would take the same account nonces.
      const other = await deployed(client, await funded(client), token);
      await other.send('setDecimals', [decimals]);
      return other;
    },
    mint,
    balanceOf,
    isUsed: ({ authorization: { from, nonce } }) =>
      client.readContract({
        ...read,
        functionName: 'authorizationState',
        args: [from as Hex, nonce as Hex],
      }),
    submit: ({ authorization, signature }) => {
      const { from, to, value, validAfter, validBefore, nonce } = authorization;
      const { r, s, v } = split(signature);
      const fields = [from as Hex, to as Hex, BigInt(value), BigInt(validAfter)] as const;
      return send('transferWithAuthorization', [
        ...fields,
        BigInt(validBefore),
        nonce as Hex,
        v,
        r,
        s,
      ]);
    },
    cancel: async ({ authorization: { from, nonce } }, by) => {
      const signature = await by.signTypedData(typedCancel(network, from as Hex, nonce as Hex));
      const { r, s, v } = split(signature);
      return send('cancelAuthorization', [from as Hex, nonce as Hex, v, r, s]);
    },
    async close() {
      process.off('exit', killed);
      clearInterval(watch);
      const ended = new Promise((done) => node.once('exit', done));
      node.kill('SIGKILL');
      await ended;
    },
  };
}

/** The account behind a payer of the tests, for what payers do beside paying. */
export function accountOf(name: string): LocalAccount {
  return privateKeyToAccount(`0x${createHash('sha256').update(name).digest('hex')}`);
}

function anvilBinary(): string {
  const load = createRequire(resolve(CHAIN_PACKAGE, 'package.json'));
  try {
    const folder = dirname(load.resolve('@foundry-rs/anvil-linux-amd64/package.json'));
    return resolve(folder, 'bin/anvil');
  } catch (cause) {
    const onPath = (process.env.PATH ?? '')
      .split(':')
      .map((folder) => resolve(folder, 'anvil'))
      .find(existsSync);
    if (onPath !== undefined) return onPath;
    const advice = 'run npm run test:chain, or put anvil of Foundry 1.7 on the PATH';
    throw new Error(`Cannot start a chain: no "anvil" for this platform; ${advice}`, { cause });
  }
}

function listening(node: ChildProcess): Promise<string> {
  return new Promise((resolveUrl, reject) => {
    let text = '';
    const fail = (why: string): void => reject(new Error(`Cannot start a chain: ${why}: ${text}`));
    const timer = setTimeout(() => fail('it does not listen'), START_TIMEOUT_MS);
    node.once('exit', (code) => fail(`it ended with ${code}`));
    node.stdout?.on('data', (chunk) => {
      text += chunk;
      const found = /Listening on (127\.0\.0\.1:[0-9]+)/.exec(text);
      if (found === null) return;
      clearTimeout(timer);
      node.stdout?.removeAllListeners('data').resume();
      resolveUrl(`http://${found[1]}`);
    });
  });
}

function clientOf(url: string, { chainId, name }: Network) {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const rpcUrls = { default: { http: [url] } };
  const chain = defineChain({ id: chainId, name, nativeCurrency, rpcUrls });
  return createTestClient({ chain, mode: 'anvil', transport: http(url), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions);
}

async function funded(
  client: Client,
  key = generatePrivateKey(),
): Promise<LocalAccount & { readonly key: Hex }> {
  const account = privateKeyToAccount(key);
  await client.setBalance({ address: account.address, value: parseEther('100') });
  return { ...account, key };
}

/**
 * Under load anvil now and then queues a transaction behind one that it has mined meanwhile, and holds back all that follow
 * until the account sends another form. What is queued while nothing is pending, at two looks, is dropped, as if the node
 * had lost it: whoever sent it sends it again.
 */
function dropHeldBack(client: Client): () => Promise<void> {
  let queuedBefore = 0;
  return async () => {
    const status = await client.getTxpoolStatus().catch(() => null);
    const queued = status?.pending === 0 ? status.queued : 0;
    if (queued > 0 && queued === queuedBefore) {
      await client.request({ method: 'anvil_dropAllTransactions' } as never).catch(() => {});
    }
    queuedBefore = queued;
  };
}

/** The contract and its domain where the network says. */
async function deployed(client: Client, by: LocalAccount, { asset, extra }: Network) {
  const address = asset as Hex;
  await client.setCode({ address, bytecode: contractOf('Token.sol', 'Token').deployed });
  const send = sender(client, by, address);
  await send('initialize', [extra.name, extra.version]);
  return {
    send,
    mint: async (to: string, value: bigint) => void (await send('mint', [to as Hex, value])),
    balanceOf: (account: string) =>
      client.readContract({
        address,
        abi: TOKEN_ABI,
        functionName: 'balanceOf',
        args: [account as Hex],
      }),
  };
}

type Write =
  | 'initialize'
  | 'setDecimals'
  | 'mint'
  | 'transferWithAuthorization'
  | 'cancelAuthorization';

function sender(client: Client, account: LocalAccount, address: Hex) {
  let last: Promise<unknown> = Promise.resolve();
  // One after another, so that no two of them take the same account nonce.
  return (functionName: Write, args: readonly unknown[]): Promise<Hex> => {
    const call = { address, abi: TOKEN_ABI, functionName, args, account } as const;
    const sent = last.then(async () => {
      const hash = await client.writeContract(call as Parameters<Client['writeContract']>[0]);
      const { status } = await client.waitForTransactionReceipt({ hash });
      if (status !== 'success') throw new Error(`Cannot ${functionName}: reverted`);
      return hash;
    });
    last = sent.catch(() => {});
    return sent;
  };
}

function split(signature: Hex): { r: Hex; s: Hex; v: number } {
  const { r, s, yParity } = parseSignature(signature);
  return { r, s, v: 27 + yParity };
}

function typedCancel({ extra, chainId, asset }: Network, authorizer: Hex, nonce: Hex) {
  return {
    domain: { ...extra, chainId, verifyingContract: asset as Hex },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer, nonce },
  } as const;
}
