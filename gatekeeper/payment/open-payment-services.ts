import { randomBytes } from 'node:crypto';
import { defined } from '../../compiler/contract/defined.ts';
import { messageOf } from '../../compiler/contract/errors.ts';
import type { ChainOptions, OpenChain } from '../chain/open-chain.ts';
import {
  type Config,
  type PaidNetwork,
  paidNetworks,
  paidTokens,
  settlementOf,
} from '../config/config.ts';
import { canary, facilitatorPool, supportedByAll } from '../facilitator/facilitator-pool.ts';
import { localFacilitator } from '../facilitator/local-facilitator.ts';
import { provenFacilitator } from '../facilitator/proven-facilitator.ts';
import { facilitatorAuth, remoteFacilitator } from '../facilitator/remote-facilitator.ts';
import {
  facilitatorWarning,
  translatingFacilitator,
} from '../facilitator/translating-facilitator.ts';
import { keepingSettlements, openJournal, watchingWrites } from '../journal/open-journal.ts';
import type { Log } from '../log/line-log.ts';
import type { Meters, NamedCircuit } from '../metrics/meters.ts';
import { OutsideTime } from '../money/clock-guard.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type NoVerdict,
} from '../money/facilitator.ts';
import type { Journal } from '../money/journal.ts';
import { depthMs, finalMs, isTokenOf, type Network } from '../money/networks.ts';
import type { AskCode } from '../money/sign-in.ts';
import type { ServiceState } from '../state/service-state.ts';
import {
  meteredFacilitator,
  meteredJournal,
  meteredSettler,
  reportingFacilitator,
  watchedFacilitator,
} from './metered.ts';
import { type AskStanding, PayerAdmission, SmartAccounts } from './payer-admission.ts';
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
  /** What an account that is to pay has; absent without a node. */
  readonly standing?: AskStanding;
  /** Milliseconds until the facilitators take calls again; 0 when they do. */
  readonly busyMs?: () => number;
  /** Asks the code of an account on its network; absent without a node. */
  readonly asksCode?: AskCode;
  close(): Promise<void>;
}

export interface PaymentServices extends SettlementServices, Pick<SettlementContext, 'admission'> {
  readonly journal: Journal;
  /** The time as something outside tells it; absent where no money moves. */
  readonly outside?: OutsideTime;
}

export interface PaymentServiceOptions {
  readonly clock: () => number;
  readonly log: Log;
  readonly state: ServiceState;
  /** Stands in for the one that the settings name. */
  readonly facilitator?: Facilitator;
  readonly journal?: Journal;
  readonly meters?: Meters;
  /** Milliseconds of a clock that nobody can set; else that of the process. */
  readonly monotonic?: () => number;
}

/** Throws a StartError that tells what to do when the settings cannot work. */
export async function openPaymentServices(
  config: Config,
  by: PaymentServiceOptions,
): Promise<PaymentServices> {
  const { clock, log, meters, state } = by;
  const report = (error: unknown): void => log({ event: 'chain', error: messageOf(error) });
  const { monotonic = () => performance.now() } = by;
  const outside = new OutsideTime({ clock, monotonic });
  const noteTime = (ms: number): void => outside.note(ms);
  const { facilitator: given } = by;
  const settlers: SettlementServices =
    given === undefined
      ? await openSettlementServices(config, { clock, report, noteTime, meters, state })
      : {
          facilitator: meteredFacilitator(
            watchedFacilitator(given, 'given', state),
            'given',
            meters,
          ),
          circuits: () => [],
          warning: () => facilitatorWarning({ facilitator: given }, config.network),
          close: async () => {},
        };
  const isMoney = given === undefined && settlementOf(config) !== 'test';
  try {
    const passedMs = isMoney ? () => outside.passedMs() : clock;
    const lost = state.trouble('journal_lost');
    const measured = meters === undefined ? {} : { onSync: (ms: number) => meters.synced(ms) };
    // One that stands in for that of the settings is closed by its owner.
    const { journal, isLost, close } =
      by.journal === undefined
        ? await openJournal(config, { ...by, ...measured, passedMs, lost })
        : { journal: by.journal, isLost: () => false, close: async () => {} };
    const watched = watchingWrites(keepingSettlements(journal), { clock, isLost });
    state.watch('journal_failing', watched.failure);
    state.watch('journal_slow', watched.slowness);
    // Where money is simulated, whoever has none is welcome.
    const admission =
      settlers.accounts === undefined
        ? {}
        : { admission: new PayerAdmission({ ...settlers, journal, clock, meters }) };
    const settler = reportingFacilitator(
      settlers.facilitator,
      (missing) => log({ event: 'no_verdict', ...missing }),
      clock,
    );
    return {
      ...settlers,
      ...(isMoney ? { outside } : {}),
      ...admission,
      facilitator: meteredSettler(settler, meters),
      journal: meteredJournal(watched.journal, meters),
      async close() {
        await settlers.close();
        await close();
      },
    };
  } catch (error) {
    await settlers.close();
    throw error;
  }
}

interface SettlementOptions extends ChainOptions {
  readonly state: ServiceState;
  readonly meters?: Meters | undefined;
}

interface PaidChain extends PaidNetwork {
  readonly chain: Omit<OpenChain, 'forToken'> | null;
}
type PaidChains = readonly [PaidChain, ...PaidChain[]];

/** Throws a StartError that tells what to do when the settings cannot work. */
export async function openSettlementServices(
  config: Config,
  by: SettlementOptions,
): Promise<SettlementServices> {
  const { clock, meters, state } = by;
  const { facilitatorUrls, facilitatorAuth: header, facilitatorAuthModule: module } = config;
  const chains = await chainsOf(config, by);
  try {
    const hasChain = chains[0].chain !== null;
    const auth = await facilitatorAuth({ header, module });
    const { noteTime } = by;
    const own = {
      ...(auth === undefined ? {} : { auth }),
      // Where a node tells the time, nobody else does: two of them may differ.
      ...(noteTime === undefined || hasChain ? {} : { noteTime }),
    };
    const remotes = facilitatorUrls.map((url) => remoteFacilitator({ url, ...own }));
    // Hosts name them in metrics, since a path may hold a key; two of one host are told apart by their places.
    const hosts = facilitatorUrls.map((url) => new URL(url).host);
    const names = hosts.map((host, at) =>
      hosts.indexOf(host) === at ? host : `${host} (${at + 1})`,
    );
    const facilitators = remotes.map((remote, at) => {
      const name = defined(names[at], 'the name');
      const facilitator = meteredFacilitator(watchedFacilitator(remote, name, state), name, meters);
      const networks = chains.map(({ network }) => network);
      return translatingFacilitator({ facilitator, networks, clock });
    });
    const waited = (): void => meters?.waitedForFacilitator();
    const asked = { facilitators, clock, waited, canary: canary({ clock, random: randomBytes }) };
    const isUnused = async (request: FacilitatorRequest): Promise<boolean> => {
      const chain = chainOfTerms(chains, request.paymentRequirements);
      return (await chain?.evidence.find(authorizationOf(request)))?.state === 'unused';
    };
    const isAlone = facilitators.length === 0;
    const pool = isAlone ? null : facilitatorPool(hasChain ? { ...asked, isUnused } : asked);
    const [first, ...others] = chains;
    const settlerOf = (chain: PaidChain) => settlerFor(chain, pool, by);
    const settlers: Settlers = [settlerOf(first), ...others.map(settlerOf)];
    const circuits = () => pool?.circuits() ?? [];
    state.watch('facilitators_skipped', () =>
      pool !== null && circuits().every((circuit) => circuit === 'open')
        ? 'no facilitator gives verdicts, also on a question of our own'
        : null,
    );
    return {
      facilitator: settlersByNetwork(settlers),
      circuits: () =>
        circuits().map((circuit, at) => {
          return { facilitator: defined(names[at], 'the name'), state: circuit };
        }),
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
  const paid: PaidChain[] = [];
  const opened = new Map<string, OpenChain>();
  try {
    for (const { network, rpcUrl, confirmations, maxFeeGwei } of paidTokens(config)) {
      const one = { network, rpcUrl, confirmations, maxFeeGwei };
      const known = opened.get(network.name);
      if (rpcUrl === null) paid.push({ ...one, chain: null });
      else if (known !== undefined) paid.push({ ...one, chain: await known.forToken(network) });
      else {
        // Only who names a node waits for the libraries of the chain to load.
        const { openChain } = await import('../chain/open-chain.ts');
        const chain = await openChain({ ...one, rpcUrl, relayerKey }, by);
        opened.set(network.name, chain);
        paid.push({ ...one, chain });
      }
    }
  } catch (error) {
    closeAll(paid);
    throw error;
  }
  const [first, ...others] = paid;
  return [defined(first, 'the first network'), ...others];
}

function closeAll(chains: readonly PaidChain[]): void {
  for (const { chain } of chains) chain?.close();
}

interface NetworkSettler {
  readonly network: Network;
  readonly facilitator: Facilitator;
}
type Settlers = readonly [NetworkSettler, ...NetworkSettler[]];

/** Of a token: the facilitators, held to what its chain shows, or else an account of our own. */
function settlerFor(
  { network, confirmations, chain }: PaidChain,
  pool: Facilitator | null,
  by: SettlementOptions,
): NetworkSettler {
  if (pool === null) {
    const own = chain?.direct ?? null;
    const name = own === null ? 'test' : 'relayer';
    const facilitator = meteredFacilitator(own ?? localFacilitator(by), name, by.meters);
    return { network, facilitator };
  }
  if (chain === null) return { network, facilitator: pool };
  const waitMs = depthMs(network, confirmations);
  const { evidence } = chain;
  return { network, facilitator: provenFacilitator({ facilitator: pool, evidence, waitMs }) };
}

type Terms = Parameters<typeof isTokenOf>[0];

/** Of the token that these terms, in either version, are for. */
function chainOfTerms(chains: PaidChains, terms: Terms): PaidChain['chain'] {
  return chains.find(({ network }) => isTokenOf(terms, network))?.chain ?? null;
}

function askingBy(chains: PaidChains) {
  const evidence: PaymentEvidence = {
    async find(payment, after) {
      const chain = chainOfTerms(chains, payment);
      const finding = await chain?.evidence.find(payment.authorization, after);
      if (finding === undefined || finding.state === 'unconfirmed') return { state: 'unknown' };
      return finding;
    },
    head: async (place) => (await chainOfTerms(chains, place)?.evidence.head()) ?? null,
    async watch(payment, transaction) {
      const chain = chainOfTerms(chains, payment);
      return (await chain?.evidence.watch(payment.authorization, transaction)) ?? { state: 'open' };
    },
  };
  const standing: AskStanding = async (payment, authorization, asksCode) =>
    (await chainOfTerms(chains, payment)?.standing(authorization, asksCode)) ?? null;
  const asksCode: AskCode = async (signature) => {
    const one = chains.find(({ network }) => network.name === signature.network.name);
    return defined(one?.chain?.asksCode, 'a chain node')(signature);
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
      const name = urls.length < 2 ? '' : `"${origin}" (${at + 1} of ${urls.length})`;
      const networks = outcome.verdict === 'none' ? [config] : paidNetworks(config);
      return Promise.all(
        networks.map(({ network }) => facilitatorWarning({ facilitator: known, name }, network)),
      );
    }),
  );
  return joined(warnings.flat());
}

async function ownWarning(settlers: Settlers): Promise<string | null> {
  // One account settles all tokens of a network.
  const onNetworks = settlers.filter(({ network }) => network.decimals === undefined);
  const asked = onNetworks.map(({ facilitator, network }) => {
    const name = onNetworks.length === 1 ? '' : `the relayer on "${network.name}"`;
    return facilitatorWarning({ facilitator, name }, network);
  });
  return joined(await Promise.all(asked));
}

function joined(warnings: readonly (string | null)[]): string | null {
  return warnings.filter((warning) => warning !== null).join('\n') || null;
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
