import { parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Config, PaidNetwork } from '../config/config.ts';
import { relayerKey } from '../money/address.ts';
import type { AccountStanding, ChainEvidence } from '../money/evidence.ts';
import type { Facilitator } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import type { Authorization } from '../money/payment.ts';
import type { AskCode } from '../money/sign-in.ts';
import type { ServiceState } from '../state/service-state.ts';
import { inTime } from '../system/in-time.ts';
import { StartError } from '../system/start-error.ts';
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
  forToken(token: Network): Promise<Omit<OpenChain, 'forToken'>>;
  close(): void;
}

/** Throws a StartError when the node serves another chain; one that does not answer leaves what only it can tell unknown. */
export async function openChain(
  config: PaidNetwork & { readonly rpcUrl: string } & Pick<Config, 'relayerKey'>,
  { state, ...given }: ChainOptions,
): Promise<OpenChain> {
  const { network, rpcUrl: url, relayerKey: key, confirmations, maxFeeGwei } = config;
  const node = chainNode({ url, network });
  const fault = (): Promise<string | null> => nodeFault(node, given.clock);
  const lookAtNode = state.ask('node_lost', fault, network.name);
  const report = (error: unknown): void => {
    given.report(error);
    lookAtNode();
  };
  const reportNode = (error: unknown): void => report(nodeFailure(error));
  const by = { clock: given.clock, report: reportNode };
  const maxFeePerGas = parseGwei(maxFeeGwei);
  const account = key === null ? null : privateKeyToAccount(relayerKey(key));
  const sender = account === null ? null : relayer({ ...by, node, account, maxFeePerGas });
  const settling = async (own: ChainNode): Promise<Omit<OpenChain, 'forToken'>> => {
    await own.check().catch((error: unknown) => {
      if (error instanceof ChainMismatch) throw new StartError(error.message, { cause: error });
      reportNode(error);
    });
    const evidence = chainEvidence({ ...given, report, node: own, confirmations });
    return {
      evidence,
      direct:
        sender === null
          ? null
          : directSettlement({ node: own, evidence, relayer: sender, report: reportNode }),
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
      asksCode: (signature) => isTakenByCode(node, signature),
      close: () => sender?.close(),
    };
  };
  return {
    ...(await settling(node)),
    forToken: (token) => settling(chainNode({ url, network: token })),
  };
}
