import { randomBytes } from 'node:crypto';
import { defined, messageOf } from '../../../compiler/format/errors.ts';
import { type Config, paidNetworks, paidTokens } from '../../settings/config.ts';
import type { Meters, NamedCircuit } from '../../settings/meters.ts';
import type { ChainOptions, OpenChain } from '../../settle/chain/open-chain.ts';
import type { ChainEvidence } from '../../settle/evidence.ts';
import {
  canary,
  type FacilitatorPool,
  facilitatorPool,
  supportedByAll,
} from '../../settle/facilitator/facilitator-pool.ts';
import { localFacilitator } from '../../settle/facilitator/local-facilitator.ts';
import { provenFacilitator } from '../../settle/facilitator/proven-facilitator.ts';
import {
  facilitatorAuth,
  type Listed,
  remoteFacilitator,
} from '../../settle/facilitator/remote-facilitator.ts';
import {
  facilitatorWarning,
  translatingFacilitator,
} from '../../settle/facilitator/translating-facilitator.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type NoVerdict,
} from '../../settle/facilitator.ts';
import {
  depthMs,
  finalMs,
  isTokenOf,
  type Network,
  type PaidNetwork,
} from '../../settle/networks.ts';
import type { AskCode } from '../../settle/sign-in.ts';
import type { Log } from '../../wire/log/line-log.ts';
import type { ServiceState } from '../../wire/service-state.ts';
import { StartError } from '../../wire/start-error.ts';
import { meteredFacilitator, watchedFacilitator } from './metered.ts';
import { type AskStanding, SmartAccounts } from './payer-admission.ts';
import type { PaymentEvidence, SettlementContext } from './settlement.ts';

/** Who settles, as the settings say, and what the chain says about it. */
export interface SettlementServices
  extends Pick<SettlementContext, 'facilitator' | 'evidence' | 'accounts'> {
  /** After how long every transfer should be there for good; only with a chain node. */
  readonly finalAfterMs?: number;
  /** What keeps somebody from settling for us; null when nothing does. Never rejects. */
  warning(): Promise<string | null>;
  /** Whether facilitators are asked at this moment; empty where there are none to choose from. */
  circuits(): readonly NamedCircuit[];
  /** What the directories of facilitators said last of our listing. */
  listings(): readonly Listed[];
  /** What an account that is to pay has; absent without a node. */
  readonly standing?: AskStanding;
  /** Milliseconds until the facilitators take calls again; 0 when they do. */
  readonly busyMs?: () => number;
  /** Asks the code of an account on its network; absent without a node. */
  readonly asksCode?: AskCode;
  close(): Promise<void>;
}

interface SettlementOptions extends ChainOptions {
  readonly state: ServiceState;
  readonly meters?: Meters | undefined;
  readonly log: Log;
}

interface PaidChain extends PaidNetwork {
  readonly chain: TokenChain | null;
}
type TokenChain = Pick<OpenChain, 'evidence' | 'direct' | 'standing'> &
  Partial<Pick<OpenChain, 'asksCode' | 'close'>>;
type PaidChains = readonly [PaidChain, ...PaidChain[]];

/** Throws a StartError that tells what to do when the settings cannot work. */
export async function openSettlementServices(
  config: Config,
  by: SettlementOptions,
): Promise<SettlementServices> {
  const chains = await chainsOf(config, by);
  try {
    const hasChain = chains[0].chain !== null;
    const { clock, meters, state } = by;
    const names = labelsOf(config.facilitatorUrls);
    const listings = new Map<string, Listed>();
    // Where a node tells the time, nobody else does: two of them may differ.
    const { noteTime, ...others } = by;
    const noting = { ...others, ...(hasChain ? {} : { noteTime }), names, listings };
    const remotes = await remotesOf(config, noting);
    const facilitators = remotes.map((remote, at) => {
      const name = defined(names[at], 'the name');
      const facilitator = meteredFacilitator(watchedFacilitator(remote, name, state), name, meters);
      const networks = chains.map(({ network }) => network);
      return translatingFacilitator({ facilitator, networks, clock });
    });
    const pool = facilitators.length === 0 ? null : poolOf(facilitators, chains, by);
    const settlers = settlersOf(chains, pool, by);
    state.watch('facilitators_skipped', () => {
      const circuits = pool?.circuits() ?? [];
      const isSkipped = circuits.length > 0 && circuits.every((circuit) => circuit === 'open');
      return isSkipped ? 'no facilitator gives verdicts, also on a question of our own' : null;
    });
    return {
      facilitator: settlersByNetwork(settlers),
      circuits: () =>
        names.flatMap((facilitator, at) => {
          const circuit = pool?.circuits()[at];
          return circuit === undefined ? [] : [{ facilitator, state: circuit }];
        }),
      listings: () => [...listings.values()],
      ...(hasChain ? askingBy(chains) : {}),
      busyMs: () => pool?.busyMs() ?? 0,
      // Simulated payments have no chain that an account could be asked on.
      ...(pool === null && !hasChain ? {} : { accounts: new SmartAccounts(clock) }),
      warning: () => (pool === null ? ownWarning(settlers) : warningOf(facilitators, config)),
      async close() {
        closeAll(chains);
        await Promise.all(remotes.map((remote) => remote.close()));
      },
    };
  } catch (error) {
    closeAll(chains);
    throw error;
  }
}

async function chainsOf(config: Config, by: ChainOptions): Promise<PaidChains> {
  const { relayerKey } = config;
  const opened: PaidChain[] = [];
  const chains = new Map<string, OpenChain | null>();
  try {
    for (const { network, rpcUrl, confirmations, maxFeeGwei } of paidTokens(config)) {
      const one = { network, rpcUrl, confirmations, maxFeeGwei };
      const known = chains.get(network.name);
      // Only who names a node waits for the libraries of the chain to load.
      const open = async (url: string): Promise<OpenChain> =>
        (await import('../../settle/chain/open-chain.ts')).openChain(
          { ...one, rpcUrl: url, relayerKey },
          by,
        );
      const made = known ?? (rpcUrl === null || known === null ? null : await open(rpcUrl));
      // Noted before its tokens are asked for: a fault of theirs closes it.
      if (known === undefined) opened.push({ ...one, chain: made });
      else opened.push({ ...one, chain: (await made?.forToken(network)) ?? null });
      chains.set(network.name, made);
    }
  } catch (error) {
    closeAll(opened);
    throw error;
  }
  const [first, ...others] = opened;
  return [defined(first, 'the first network'), ...others];
}

function closeAll(chains: readonly PaidChain[]): void {
  for (const { chain } of chains) chain?.close?.();
}

type Settlers = readonly [NetworkSettler, ...NetworkSettler[]];

/** Of each token: the facilitators, held to what its chain shows, or else an account of our own. */
function settlersOf(
  [first, ...others]: PaidChains,
  pool: FacilitatorPool | null,
  by: SettlementOptions,
): Settlers {
  const simulated = localFacilitator(by);
  const settlerOf = ({ network, confirmations, chain }: PaidChain): NetworkSettler => {
    if (pool === null) {
      const name = chain?.direct == null ? 'test' : 'relayer';
      const own = chain?.direct ?? simulated;
      return { network, facilitator: meteredFacilitator(own, name, by.meters) };
    }
    if (chain === null) return { network, facilitator: pool };
    const waitMs = depthMs(network, confirmations);
    const { evidence } = chain;
    return { network, facilitator: provenFacilitator({ facilitator: pool, evidence, waitMs }) };
  };
  return [settlerOf(first), ...others.map(settlerOf)];
}

async function remotesOf(
  { facilitatorUrls, facilitatorAuth: header, facilitatorAuthModule: module }: Config,
  { noteTime, names, ...by }: Noting,
): Promise<readonly ReturnType<typeof remoteFacilitator>[]> {
  const auth = await facilitatorAuth({ header, module });
  const own = {
    ...(auth === undefined ? {} : { auth }),
    ...(noteTime === undefined ? {} : { noteTime }),
  };
  return facilitatorUrls.map((url, at) => {
    const noteListing = listingNote(defined(names[at], 'the name'), by);
    try {
      return remoteFacilitator({ url, ...own, noteListing });
    } catch (cause) {
      throw new StartError(messageOf(cause), { cause });
    }
  });
}

interface Noting extends Pick<SettlementOptions, 'meters' | 'log'> {
  readonly noteTime?: ChainOptions['noteTime'] | undefined;
  readonly names: readonly string[];
  readonly listings: Map<string, Listed>;
}

/** Counts what a directory says, and logs it where it is news. */
function listingNote(
  facilitator: string,
  { meters, log, listings }: Omit<Noting, 'names' | 'noteTime'>,
): (listed: Listed) => void {
  return (listed) => {
    meters?.listed(facilitator, listed.status);
    const before = listings.get(facilitator);
    listings.set(facilitator, listed);
    if (before?.status === listed.status && before.reason === listed.reason) return;
    const news = { facilitator, ...listed };
    if (listed.status === 'rejected') log({ event: 'listing_rejected', ...news });
    else log({ event: 'listing_taken', ...news });
  };
}

/** Names of facilitators in metrics: their hosts, since a path may hold a key; two of one host by their places. */
function labelsOf(urls: readonly string[]): readonly string[] {
  const hosts = urls.map((url) => new URL(url).host);
  return hosts.map((host, at) => (hosts.indexOf(host) === at ? host : `${host} (${at + 1})`));
}

function poolOf(
  facilitators: readonly Facilitator[],
  chains: PaidChains,
  { clock, meters }: SettlementOptions,
): FacilitatorPool {
  const waited = (): void => meters?.waitedForFacilitator();
  const asked = { facilitators, clock, waited, canary: canary({ clock, random: randomBytes }) };
  if (chains[0].chain === null) return facilitatorPool(asked);
  return facilitatorPool({
    ...asked,
    isUnused: async (request) => {
      const chain = chainOfTerms(chains, request.paymentRequirements);
      const finding = await chain?.evidence.find(authorizationOf(request));
      return finding?.state === 'unused';
    },
  });
}

/** Of the token that these terms, in either version, are for. */
function chainOfTerms(
  chains: PaidChains,
  terms: Parameters<typeof isTokenOf>[0],
): TokenChain | null | undefined {
  return chains.find(({ network }) => isTokenOf(terms, network))?.chain;
}

function askingBy(chains: PaidChains) {
  const evidenceOf = (terms: Parameters<typeof isTokenOf>[0]): ChainEvidence | undefined =>
    chainOfTerms(chains, terms)?.evidence;
  const evidence: PaymentEvidence = {
    async find(payment, after) {
      const finding = await evidenceOf(payment)?.find(payment.authorization, after);
      if (finding === undefined || finding.state === 'unconfirmed') return { state: 'unknown' };
      return finding;
    },
    head: async (place) => (await evidenceOf(place)?.head()) ?? null,
    watch: async (payment, transaction) =>
      (await evidenceOf(payment)?.watch(payment.authorization, transaction)) ?? { state: 'open' },
  };
  const standing: AskStanding = async (payment, authorization, asksCode) =>
    (await chainOfTerms(chains, payment)?.standing(authorization, asksCode)) ?? null;
  const asksCode: AskCode = async (signature) => {
    const one = chains.find(({ network }) => network.name === signature.network.name);
    if (one?.chain?.asksCode === undefined) throw new Error('Cannot ask an account: no chain node');
    return one.chain.asksCode(signature);
  };
  const finalAfterMs = Math.max(...chains.map(({ network }) => finalMs(network)));
  return { evidence, asksCode, standing, finalAfterMs };
}

async function warningOf(
  facilitators: readonly Facilitator[],
  config: Config,
): Promise<string | null> {
  const urls = config.facilitatorUrls;
  const warnings = await Promise.all(
    facilitators.map(async (facilitator, at) => {
      const outcome = await facilitator.supported();
      const known = { ...facilitator, supported: async () => outcome };
      // A path may hold a key and is not shown.
      const { origin } = new URL(defined(urls[at], 'the URL'));
      const name = urls.length < 2 ? {} : { name: `"${origin}" (${at + 1} of ${urls.length})` };
      const networks = outcome.verdict === 'none' ? [config] : paidNetworks(config);
      return Promise.all(
        networks.map(({ network }) => facilitatorWarning({ facilitator: known, ...name }, network)),
      );
    }),
  );
  return joined(warnings.flat());
}

async function ownWarning(settlers: Settlers): Promise<string | null> {
  // One account settles all tokens of a network.
  const onNetworks = settlers.filter(({ network }) => network.decimals === undefined);
  const isOne = onNetworks.length === 1;
  const asked = onNetworks.map(({ facilitator, network }) => {
    const name = isOne ? {} : { name: `the relayer on "${network.name}"` };
    return facilitatorWarning({ facilitator, ...name }, network);
  });
  return joined(await Promise.all(asked));
}

function joined(warnings: readonly (string | null)[]): string | null {
  return warnings.filter((warning) => warning !== null).join('\n') || null;
}

interface NetworkSettler {
  readonly network: Network;
  readonly facilitator: Facilitator;
}

/** One for each token of each network as one: a payment only ever reaches the settler of the token that it is for. */
export function settlersByNetwork(settlers: Settlers): Facilitator {
  const [first, ...others] = settlers;
  if (others.length === 0) return first.facilitator;
  const settlerOf = ({ paymentRequirements }: FacilitatorRequest): Facilitator | undefined => {
    return settlers.find(({ network }) => isTokenOf(paymentRequirements, network))?.facilitator;
  };
  return {
    verify: async (request) => settlerOf(request)?.verify(request) ?? NOBODY,
    settle: async (request, isFirst) => settlerOf(request)?.settle(request, isFirst) ?? NOBODY,
    supported: () => supportedByAll(settlers),
  };
}

const NOBODY: NoVerdict = {
  verdict: 'none',
  detail: 'nobody settles this token on this network',
  unsent: true,
};
