import { parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { messageOf } from '../../../compiler/format/errors.ts';
import type { ServiceState } from '../../wire/service-state.ts';
import { inTime } from '../../wire/slots.ts';
import { StartError } from '../../wire/start-error.ts';
import { relayerKey } from '../address.ts';
import type { AccountStanding, ChainEvidence } from '../evidence.ts';
import type { Facilitator } from '../facilitator.ts';
import type { Network, PaidNetwork } from '../networks.ts';
import type { Authorization } from '../payment.ts';
import type { AskCode } from '../sign-in.ts';
import { chainEvidence, nodeFailure, nodeFault } from './chain-evidence.ts';
import { ChainMismatch, type ChainNode, chainNode } from './chain-node.ts';
import { directSettlement, isTakenByCode } from './direct-settlement.ts';
import { relayer } from './relayer.ts';

/** Longest wait for what an account has: a buyer waits for it before anything else is asked. */
const STANDING_MS = 3000;

export interface ChainOptions {
  readonly clock: () => number;
  readonly report: (error: unknown) => void;
  /** Told the time of each newest block, in milliseconds since the epoch; must not throw. */
  readonly noteTime?: (ms: number) => void;
  readonly state: Pick<ServiceState, 'ask'>;
}

type NodeSettings = PaidNetwork & { readonly rpcUrl: string };

/** The configured chain and, if a relayer key is set, the settler that needs no facilitator. */
export interface OpenChain {
  readonly evidence: ChainEvidence;
  readonly direct: Facilitator | null;
  /** What an account that is to pay has; null when the node gives no answer. Never throws. */
  readonly standing: (
    authorization: Pick<Authorization, 'from' | 'nonce'>,
    asksCode: boolean,
  ) => Promise<AccountStanding | null>;
  readonly asksCode: AskCode;
  /** The same chain for another token on it; the account that settles stays one, so that its transactions stay in order. */
  forToken(token: Network): Promise<Pick<OpenChain, 'evidence' | 'direct' | 'standing'>>;
  close(): void;
}

/** Throws a StartError when the node serves another chain; one that does not answer leaves what only it can tell unknown. */
export async function openChain(
  config: NodeSettings & { readonly relayerKey: string | null },
  { state, ...given }: ChainOptions,
): Promise<OpenChain> {
  const node = nodeOrRefuse(config);
  const fault = (): Promise<string | null> => nodeFault(node, given.clock);
  const lookAtNode = state.ask('node_lost', fault, config.network.name);
  const report = (error: unknown): void => {
    given.report(error);
    lookAtNode();
  };
  const by = { ...given, report };
  const reportNode = (error: unknown): void => report(nodeFailure(error));
  const { relayerKey: key, confirmations, maxFeeGwei } = config;
  const maxFeePerGas = parseGwei(maxFeeGwei);
  const account = key === null ? null : privateKeyToAccount(relayerKey(key));
  const sender =
    account === null
      ? null
      : relayer({ node, account, maxFeePerGas, clock: given.clock, report: reportNode });
  const settling = (own: ChainNode): Pick<OpenChain, 'evidence' | 'direct' | 'standing'> => {
    const evidence = chainEvidence({ ...by, node: own, confirmations });
    const parts = { node: own, evidence, report: reportNode };
    return {
      evidence,
      direct: sender === null ? null : directSettlement({ ...parts, relayer: sender }),
      async standing(...asked) {
        try {
          const standing = await inTime(own.standing(...asked), STANDING_MS);
          if (standing === null) throw new Error(`no answer within ${STANDING_MS} ms`);
          return standing;
        } catch (error) {
          reportNode(error);
          return null;
        }
      },
    };
  };
  await check(node, reportNode);
  return {
    ...settling(node),
    asksCode: (signature) => isTakenByCode(node, signature),
    async forToken(token) {
      const own = nodeOrRefuse({ ...config, network: token });
      await check(own, reportNode);
      return settling(own);
    },
    close: () => sender?.close(),
  };
}

function nodeOrRefuse({ rpcUrl, network }: NodeSettings): ChainNode {
  try {
    return chainNode({ url: rpcUrl, network });
  } catch (cause) {
    throw new StartError(messageOf(cause), { cause });
  }
}

async function check(node: ChainNode, report: (error: unknown) => void): Promise<void> {
  try {
    await node.check();
  } catch (error) {
    if (error instanceof ChainMismatch) throw new StartError(error.message, { cause: error });
    report(error);
  }
}
