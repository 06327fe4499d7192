import { parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Config, PaidNetwork } from '../config/config.ts';
import type { ChainEvidence } from '../money/evidence.ts';
import type { Facilitator } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { chainEvidence, nodeFailure } from './chain-evidence.ts';
import { ChainMismatch, type ChainNode, chainNode } from './chain-node.ts';
import { directSettlement } from './direct-settlement.ts';
import { type Relayer, relayer } from './relayer.ts';
import { relayerKey } from './relayer-key.ts';

/** What a chain is read with. */
export interface ChainOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Told about answers that the node did not give; must not throw. */
  readonly report: (error: unknown) => void;
}

type NodeSettings = PaidNetwork & { readonly rpcUrl: string };

/** The configured chain and, if a relayer key is set, the settler that needs no facilitator. */
export interface OpenChain {
  readonly evidence: ChainEvidence;
  readonly direct: Facilitator | null;
  /** The same chain for another token on it; the account that settles stays one, so that its transactions stay in order. */
  forToken(token: Network): Promise<Pick<OpenChain, 'evidence' | 'direct'>>;
  close(): void;
}

/**
 * Throws a StartError when the node serves another chain. A node that does not answer does not prevent the start; until
 * it answers, what only it can tell stays unknown.
 */
export async function openChain(
  config: NodeSettings & Pick<Config, 'relayerKey'>,
  by: ChainOptions,
): Promise<OpenChain> {
  const node = nodeOrRefuse(config);
  const { relayerKey: key } = config;
  const sender = key === null ? null : senderOf({ ...config, relayerKey: key }, node, by);
  const settling = (own: ChainNode): Pick<OpenChain, 'evidence' | 'direct'> =>
    settlingOn(own, { ...config, ...by, sender });
  await check(node, by);
  return {
    ...settling(node),
    async forToken(token) {
      const own = nodeOrRefuse({ ...config, network: token });
      await check(own, by);
      return settling(own);
    },
    close: () => sender?.close(),
  };
}

interface SettlingParts extends ChainOptions, Pick<PaidNetwork, 'confirmations'> {
  readonly sender: Relayer | null;
}

function settlingOn(node: ChainNode, { sender, confirmations, clock, report }: SettlingParts) {
  const evidence = chainEvidence({ node, confirmations, clock, report });
  const parts = { node, evidence, report: (error: unknown): void => report(nodeFailure(error)) };
  return {
    evidence,
    direct: sender === null ? null : directSettlement({ ...parts, relayer: sender }),
  };
}

function nodeOrRefuse({ rpcUrl, network }: NodeSettings): ChainNode {
  try {
    return chainNode({ url: rpcUrl, network });
  } catch (cause) {
    throw new StartError(messageOf(cause), { cause });
  }
}

async function check(node: ChainNode, { report }: ChainOptions): Promise<void> {
  try {
    await node.check();
  } catch (error) {
    if (error instanceof ChainMismatch) throw new StartError(error.message, { cause: error });
    report(nodeFailure(error));
  }
}

function senderOf(
  { relayerKey: setting, maxFeeGwei }: NodeSettings & { readonly relayerKey: string },
  node: ChainNode,
  { clock, report }: ChainOptions,
): Relayer {
  const account = privateKeyToAccount(relayerKey(setting));
  const reportNode = (error: unknown): void => report(nodeFailure(error));
  return relayer({ node, account, maxFeePerGas: parseGwei(maxFeeGwei), clock, report: reportNode });
}
