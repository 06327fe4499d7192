import { parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Config, PaidNetwork } from '../config/config.ts';
import type { ChainEvidence } from '../money/evidence.ts';
import type { Facilitator } from '../money/facilitator.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { chainEvidence, nodeFailure } from './chain-evidence.ts';
import { ChainMismatch, type ChainNode, chainNode } from './chain-node.ts';
import { directSettlement } from './direct-settlement.ts';
import { relayer } from './relayer.ts';
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
  const evidence = chainEvidence({ node, confirmations: config.confirmations, ...by });
  const { relayerKey: key } = config;
  const settling =
    key === null ? null : openDirect({ ...config, relayerKey: key }, { node, evidence, ...by });
  await check(node, by);
  return {
    evidence,
    direct: settling?.facilitator ?? null,
    close: () => settling?.close(),
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

interface DirectParts extends ChainOptions {
  readonly node: ChainNode;
  readonly evidence: ChainEvidence;
}

function openDirect(
  { relayerKey: setting, maxFeeGwei }: NodeSettings & { readonly relayerKey: string },
  { node, evidence, clock, report }: DirectParts,
): { readonly facilitator: Facilitator; close(): void } {
  const account = privateKeyToAccount(relayerKey(setting));
  const reportNode = (error: unknown): void => report(nodeFailure(error));
  const maxFeePerGas = parseGwei(maxFeeGwei);
  const sender = relayer({ node, account, maxFeePerGas, clock, report: reportNode });
  const facilitator = directSettlement({ node, evidence, relayer: sender, report: reportNode });
  return { facilitator, close: () => sender.close() };
}
