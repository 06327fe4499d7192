import { networkFault } from '../../compiler/contract/network-fault.ts';
import type { Block } from '../chain/chain-node.ts';
import { type Config, type PaidNetwork, paidTokens } from '../config/config.ts';
import { relayerKey } from '../money/address.ts';
import type { Network } from '../money/networks.ts';
import { messageOf } from '../system/message-of.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';
import type { TokenNode } from './token-node.ts';

/** Decimal places of USDC. */
const USDC_DECIMALS = 6;
/** A node that is further behind shows settlements too late for their buyers. */
const BLOCK_AGE_MS_OK = 60_000;
const BLOCK_AGE_MS_MAX = 600_000;

/** Asks the chain node of each network for its chain, its newest block and the token that buyers sign for. */
export async function chainCheck(examined: Examined): Promise<Finding[]> {
  const tokens = paidTokens(examined.config);
  const findings = await Promise.all(tokens.map((one) => findingsOf(one, examined)));
  return findings.flat();
}

async function findingsOf(
  paid: PaidNetwork,
  { config, clock, node: nodeOf }: Examined,
): Promise<Finding[]> {
  const { network } = paid;
  const node = await nodeOf(paid);
  if (node === null) return [skipped('no chain node is set')];
  const { relayerKey: key } = config;
  try {
    await node.check();
    // Of another token on the chain, the rest is said already.
    if (network.decimals !== undefined) return [await tokenFinding(node, network)];
    const block = await node.block('latest');
    const age = ageFinding(block, clock(), network);
    const gas = key === null ? [] : [await gasFinding(node, key)];
    return [age, await tokenFinding(node, network), ...gas];
  } catch (error) {
    return [silence(error)];
  }
}

/** An error of the node, without its URL, which may hold a key. */
export function silence(error: unknown): Finding {
  const isOurs = error instanceof Error && error.name === 'ChainMismatch';
  const text = isOurs ? messageOf(error) : `no answer: ${nameOf(error)}`;
  return failed(text, 'set SIGNALPRESS_RPC_URL to a node of the network that answers');
}

function nameOf(error: unknown): string {
  const fault = networkFault(error);
  if (fault !== null) return fault.words;
  if (!(error instanceof Error)) return 'unknown';
  const { name } = error;
  return 'status' in error && error.status !== undefined ? `${name}, ${error.status}` : name;
}

function ageFinding({ number, timestamp }: Block, now: number, network: Network): Finding {
  const ageMs = now - Number(timestamp) * 1000;
  const text = `chain ${network.chainId} (${network.name}), block ${number}, ${Math.round(ageMs / 1000)} s old`;
  if (ageMs <= BLOCK_AGE_MS_OK) return ok(text);
  const remedy =
    'wait until the node has caught up, or set SIGNALPRESS_RPC_URL to another one; check the clock too';
  return ageMs > BLOCK_AGE_MS_MAX ? failed(text, remedy) : warning(text, remedy);
}

/** Buyers sign for the name and version of the token; with others no signature is valid. */
async function tokenFinding(node: TokenNode, of: Network): Promise<Finding> {
  const { asset, extra } = of;
  const expected = of.decimals ?? USDC_DECIMALS;
  const { name, version, decimals } = await node.facts();
  const text = `token ${asset}: "${name}", version "${version}", ${decimals} decimals`;
  const isExpected = name === extra.name && version === extra.version && decimals === expected;
  if (isExpected) return ok(text);
  return failed(
    `${text}, but buyers sign for "${extra.name}", version "${extra.version}", ${expected} decimals`,
    of.decimals === undefined
      ? 'set SIGNALPRESS_RPC_URL to a node of the network, and report this if it is one'
      : 'correct its entry in SIGNALPRESS_TOKENS',
  );
}

/** An account that cannot pay gas settles nothing. */
async function gasFinding(node: TokenNode, key: NonNullable<Config['relayerKey']>) {
  const { privateKeyToAccount } = await import('viem/accounts');
  const { address } = privateKeyToAccount(relayerKey(key));
  const wei = await node.gasMoney(address);
  const text = `the relayer ${address} has ${wei} wei for gas`;
  return wei > 0n ? ok(text) : failed(text, `send some gas money to ${address}`);
}
