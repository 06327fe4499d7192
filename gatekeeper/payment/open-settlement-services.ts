import { randomBytes } from 'node:crypto';
import { defined } from '../../compiler/contract/defined.ts';
import type { ChainOptions, OpenChain } from '../chain/open-chain.ts';
import type { Config } from '../config/config.ts';
import { canary } from '../facilitator/canary.ts';
import { facilitatorAuth } from '../facilitator/facilitator-auth.ts';
import { facilitatorWarning } from '../facilitator/facilitator-health.ts';
import { type FacilitatorPool, facilitatorPool } from '../facilitator/facilitator-pool.ts';
import { localFacilitator } from '../facilitator/local-facilitator.ts';
import { provenFacilitator } from '../facilitator/proven-facilitator.ts';
import { remoteFacilitator } from '../facilitator/remote-facilitator.ts';
import { translatingFacilitator } from '../facilitator/translating-facilitator.ts';
import type { Meters, NamedCircuit } from '../metrics/meters.ts';
import type { ChainEvidence } from '../money/evidence.ts';
import { authorizationOf, type Facilitator } from '../money/facilitator.ts';
import { depthMs } from '../money/settlement-time.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { meteredFacilitator } from './metered.ts';
import type { SettlementContext } from './settlement.ts';
import { SmartAccounts } from './smart-accounts.ts';

/** Who settles, as the settings say, and what the chain says about it. */
export interface SettlementServices
  extends Pick<SettlementContext, 'facilitator' | 'evidence' | 'accounts'> {
  /** What keeps somebody from settling for us; null when nothing does. Never rejects. */
  warning(): Promise<string | null>;
  /** Whether facilitators are asked at this moment; empty where there are none to choose from. */
  circuits(): readonly NamedCircuit[];
  close(): Promise<void>;
}

interface SettlementOptions extends ChainOptions {
  /** Told of each call of a facilitator. */
  readonly meters?: Meters | undefined;
}

/** Throws a StartError that tells what to do when the settings cannot work. */
export async function openSettlementServices(
  config: Config,
  by: SettlementOptions,
): Promise<SettlementServices> {
  const chain = await chainOf(config, by);
  try {
    const remotes = await remotesOf(config);
    const waitMs = depthMs(config.network, config.confirmations);
    const { clock, meters } = by;
    const names = labelsOf(config);
    const facilitators = remotes.map((remote, at) => {
      const facilitator = meteredFacilitator(remote, defined(names[at], 'the name'), meters);
      return translatingFacilitator({ facilitator, network: config.network, clock });
    });
    const pool = facilitators.length === 0 ? null : poolOf(facilitators, { chain, clock });
    const own = chain?.direct ?? localFacilitator({ clock });
    const settler =
      pool === null
        ? meteredFacilitator(own, ownLabel(chain), meters)
        : provenBy(pool, { chain, waitMs });
    const asked = facilitators.length > 0 ? facilitators : [settler];
    const circuitOf = (name: string, at: number): NamedCircuit[] => {
      const state = pool?.circuits()[at];
      return state === undefined ? [] : [{ facilitator: name, state }];
    };
    return {
      facilitator: settler,
      circuits: () => names.flatMap(circuitOf),
      ...(chain === null ? {} : { evidence: evidenceBy(chain.evidence) }),
      // Simulated payments have no chain that an account could be asked on.
      ...(pool === null && chain === null ? {} : { accounts: new SmartAccounts(clock) }),
      warning: () => warningOf(asked, config),
      async close() {
        chain?.close();
        await Promise.all(remotes.map((remote) => remote.close()));
      },
    };
  } catch (error) {
    chain?.close();
    throw error;
  }
}

async function chainOf(config: Config, by: ChainOptions): Promise<OpenChain | null> {
  const { rpcUrl } = config;
  if (rpcUrl === null) return null;
  // Only who names a node waits for the libraries of the chain to load.
  const { openChain } = await import('../chain/open-chain.ts');
  return openChain({ ...config, rpcUrl }, by);
}

type Remote = ReturnType<typeof remoteFacilitator>;

async function remotesOf(config: Config): Promise<readonly Remote[]> {
  const { facilitatorUrls, facilitatorAuth: header, facilitatorAuthModule: module } = config;
  const auth = await facilitatorAuth({ header, module });
  return facilitatorUrls.map((url) => {
    try {
      return remoteFacilitator({ url, ...(auth === undefined ? {} : { auth }) });
    } catch (cause) {
      throw new StartError(messageOf(cause), { cause });
    }
  });
}

/** Names of facilitators in metrics: their hosts, since a path may hold a key; two of one host by their places. */
function labelsOf({ facilitatorUrls }: Config): readonly string[] {
  const hosts = facilitatorUrls.map((url) => new URL(url).host);
  return hosts.map((host, at) => (hosts.indexOf(host) === at ? host : `${host} (${at + 1})`));
}

function ownLabel(chain: OpenChain | null): string {
  return chain?.direct == null ? 'test' : 'relayer';
}

interface SettlementParts {
  readonly chain: OpenChain | null;
  readonly clock: () => number;
  /** How long a transfer may take to be deep enough. */
  readonly waitMs: number;
}

function poolOf(
  facilitators: readonly Facilitator[],
  { chain, clock }: Omit<SettlementParts, 'waitMs'>,
): FacilitatorPool {
  const asked = { facilitators, clock, canary: canary({ clock, random: randomBytes }) };
  if (chain === null) return facilitatorPool(asked);
  const { evidence } = chain;
  return facilitatorPool({
    ...asked,
    isUnused: async (request) => {
      const { state } = await evidence.find(authorizationOf(request));
      return state === 'unused';
    },
  });
}

function provenBy(
  facilitator: Facilitator,
  { chain, waitMs }: Omit<SettlementParts, 'clock'>,
): Facilitator {
  if (chain === null) return facilitator;
  return provenFacilitator({ facilitator, evidence: chain.evidence, waitMs });
}

function evidenceBy(evidence: ChainEvidence): NonNullable<SettlementContext['evidence']> {
  return async ({ authorization }) => {
    const finding = await evidence.find(authorization);
    return finding.state === 'unconfirmed' ? { state: 'unknown' } : finding;
  };
}

/** How several facilitators are told apart; a path may hold a key and is not shown. */
function namesOf(urls: readonly string[]): readonly string[] {
  if (urls.length < 2) return [];
  return urls.map((url, at) => `"${new URL(url).origin}" (${at + 1} of ${urls.length})`);
}

async function warningOf(
  asked: readonly Facilitator[],
  { network, facilitatorUrls }: Config,
): Promise<string | null> {
  const names = namesOf(facilitatorUrls);
  const warnings = await Promise.all(
    asked.map((facilitator, at) => {
      const name = names[at];
      return facilitatorWarning({ facilitator, ...(name === undefined ? {} : { name }) }, network);
    }),
  );
  const found = warnings.filter((warning) => warning !== null);
  return found.length === 0 ? null : found.join('\n');
}
