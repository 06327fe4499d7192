import { BoundedMap } from '../../wire/maps.ts';
import { checksumAddress, keccak256 } from '../address.ts';
import { BackPressure, Circuit, type CircuitState, isBusy, type Probe } from '../circuit.ts';
import { CURVE } from '../curve.ts';
import {
  authorizationKey,
  type Facilitator,
  type FacilitatorRequest,
  type NoVerdict,
  type SettleOutcome,
  type SupportedOutcome,
  type ValidityOutcome,
} from '../facilitator.ts';
import { tokenOfTerms } from '../networks.ts';
import { type Authorization, priceOf } from '../payment.ts';
import { transferDigest } from '../signature.ts';
import type { ListingFacilitator } from './translating-facilitator.ts';

/** Payments whose facilitator is remembered; the oldest make room, and are then asked about on chain. */
const REMEMBERED_MAX = 20_000;
/** A call that takes longer counts as failed before its own timeout: a facilitator that hangs is noticed by then. */
const SLOW_MS = 10_000;

type PooledFacilitator = Facilitator & Partial<Pick<ListingFacilitator, 'lists'>>;

interface FacilitatorPoolOptions {
  /** In order of preference. */
  readonly facilitators: readonly PooledFacilitator[];
  /** What a facilitator is asked to verify when calls to it fail. */
  readonly canary: Canary;
  /** Whether the chain shows the authorization unused; without it no settlement moves to another facilitator. */
  readonly isUnused?: (request: FacilitatorRequest) => Promise<boolean>;
  readonly clock: () => number;
  readonly slowMs?: number;
  /** Told of each call that waits because a facilitator gets too many. */
  readonly waited?: () => void;
}

export interface FacilitatorPool extends Facilitator {
  circuits(): readonly CircuitState[];
  /** Milliseconds until one of them takes calls again after a 429; 0 when one does. */
  busyMs(): number;
}

/**
 * Several facilitators as one. One that gives no verdicts is asked after the others, and left out for a while when it
 * has none on a question of our own either; when all are, there is no verdict, which is told to the buyer as an outage
 * and never as a refusal.
 */
export function facilitatorPool(options: FacilitatorPoolOptions): FacilitatorPool {
  const members = options.facilitators.map((facilitator) => ({
    facilitator,
    circuit: new Circuit(options.clock),
    pressure: new BackPressure(options.waited),
  }));
  const seen = new BoundedMap<string, Holder>(REMEMBERED_MAX);
  const pool: PoolState = { slowMs: SLOW_MS, ...options, members, seen };
  const circuits = (): readonly CircuitState[] => members.map((member) => member.circuit.state());
  const busyMs = (): number => Math.min(...members.map(({ pressure }) => pressure.waitMs()));
  const [only, ...others] = members;
  if (only !== undefined && others.length === 0) return { ...alone(only, pool), circuits, busyMs };
  return {
    circuits,
    busyMs,
    verify: (request) => verify(pool, request),
    settle: (request, isFirst) => settle(pool, { request, isFirst: isFirst === true }),
    supported: () => supportedByAll(members),
  };
}

interface PoolMember {
  readonly facilitator: PooledFacilitator;
  readonly circuit: Circuit;
  readonly pressure: BackPressure;
}
/** Who has a payment: it only verified it, or it was asked to settle it. */
interface Holder {
  readonly member: PoolMember;
  readonly isAsked: boolean;
}
interface PoolState extends FacilitatorPoolOptions {
  readonly slowMs: number;
  readonly members: readonly PoolMember[];
  readonly seen: Map<string, Holder>;
}

/** Nobody else can have been asked, so nothing is remembered. */
function alone(member: PoolMember, pool: PoolState): Facilitator {
  const { facilitator } = member;
  return {
    verify: async (request) =>
      isListed(member, request)
        ? asked(pool, { member, request, ask: () => facilitator.verify(request) })
        : NOT_LISTED,
    settle: async (request, isFirst) =>
      isListed(member, request)
        ? asked(pool, { member, request, ask: () => facilitator.settle(request, isFirst) })
        : NOT_LISTED,
    supported: () => facilitator.supported(),
  };
}

async function verify(pool: PoolState, request: FacilitatorRequest): Promise<ValidityOutcome> {
  let last: NoVerdict = NOT_LISTED;
  for (const member of inOrder(pool, request, undefined)) {
    const ask = (): Promise<ValidityOutcome> => member.facilitator.verify(request);
    const outcome = await asked(pool, { member, request, ask });
    if (outcome.verdict === 'none') {
      last = outcome;
      continue;
    }
    const key = authorizationKey(request);
    const isKnown = pool.seen.get(key)?.isAsked === true;
    if (outcome.verdict === 'valid' && !isKnown) remember(pool, key, { member, isAsked: false });
    return outcome;
  }
  return last;
}

/**
 * Whoever verified a payment settles it. A facilitator that got the settlement is the only one to be asked again,
 * because it may have sent it. The others are asked when the call never left, or when the chain says that the
 * authorization is unused; the same holds for a payment when this process does not know who received it.
 */
async function settle(
  pool: PoolState,
  { request, isFirst }: { request: FacilitatorRequest; isFirst: boolean },
): Promise<SettleOutcome> {
  const key = authorizationKey(request);
  const known = pool.seen.get(key);
  const mayBeSent = known === undefined ? !isFirst : known.isAsked;
  let last: NoVerdict | null = null;
  for (const member of inOrder(pool, request, known?.member)) {
    const isHolder = member === known?.member;
    if (mayBeSent && !isHolder && !(await pool.isUnused?.(request))) return last ?? NOT_FREE;
    const ask = (): Promise<SettleOutcome> => {
      remember(pool, key, { member, isAsked: true });
      return member.facilitator.settle(request, isFirst);
    };
    const outcome = await asked(pool, { member, request, ask });
    if (outcome.verdict !== 'none') return outcome;
    last = outcome;
    if (outcome.unsent !== true) return outcome;
    // Not sent: who may have sent it before is as it was.
    remember(pool, key, known);
  }
  return last ?? NOT_LISTED;
}

/** Who has the payment first, then whoever gives verdicts at this moment. */
function inOrder(
  { members }: PoolState,
  request: FacilitatorRequest,
  holder: PoolMember | undefined,
): readonly PoolMember[] {
  const rank = (member: PoolMember): number => {
    if (member === holder) return 0;
    return member.circuit.isSuspect() || member.pressure.waitMs() > 0 ? 2 : 1;
  };
  const able = members.filter((member) => member === holder || isListed(member, request));
  return able.sort((left, right) => rank(left) - rank(right));
}

function isListed({ facilitator }: PoolMember, request: FacilitatorRequest): boolean {
  return facilitator.lists?.(request) ?? true;
}

type AnyOutcome = ValidityOutcome | SettleOutcome;
interface Asking<T> {
  readonly member: PoolMember;
  readonly request: FacilitatorRequest;
  readonly ask: () => Promise<T>;
}

async function asked<T extends AnyOutcome>(
  pool: PoolState,
  asking: Asking<T>,
): Promise<T | NoVerdict> {
  const { member, request } = asking;
  const { facilitator, circuit, pressure } = member;
  const probe: Probe = async () => {
    try {
      return isAnswer(await facilitator.verify(pool.canary(request)));
    } catch {
      return false;
    }
  };
  if (!(await circuit.mayAsk(probe))) return LEFT_OUT;
  return pressure.run(() => watched(pool, asking, probe), request.isStranger !== true);
}

/** A call whose end, or that it takes too long, the circuit hears of. */
async function watched<T extends AnyOutcome>(
  { slowMs }: PoolState,
  { member: { circuit }, ask }: Asking<T>,
  probe: Probe,
): Promise<T> {
  let isNoted = false;
  const fail = (): void => {
    if (!isNoted) circuit.note(false, probe);
    isNoted = true;
  };
  const timer = setTimeout(fail, slowMs);
  try {
    const outcome = await ask();
    if (outcome.verdict !== 'none') circuit.note(true, probe);
    else if (!isAnswer(outcome)) fail();
    return outcome;
  } finally {
    clearTimeout(timer);
  }
}

/** What these say is about us or the service, and not about one payment. */
const NOT_OF_A_PAYMENT: readonly number[] = [401, 403, 404, 405, 407, 408, 425];

/** Whether the service works: a 4xx without a verdict is the failure of that one payment, and whoever is busy works. */
function isAnswer(outcome: AnyOutcome): boolean {
  if (outcome.verdict !== 'none' || outcome.abandoned === true || isBusy(outcome)) return true;
  const { status = 0 } = outcome;
  return status >= 400 && status < 500 && !NOT_OF_A_PAYMENT.includes(status);
}

/** What several facilitators settle together; without any kind, why one of them gave no answer. */
export async function supportedByAll(
  members: readonly { readonly facilitator: Facilitator }[],
): Promise<SupportedOutcome> {
  const outcomes = await Promise.all(members.map(({ facilitator }) => facilitator.supported()));
  const kinds = outcomes.flatMap((outcome) =>
    outcome.verdict === 'supported' ? outcome.kinds : [],
  );
  const silent = outcomes.find((outcome) => outcome.verdict === 'none');
  return kinds.length === 0 && silent !== undefined ? silent : { verdict: 'supported', kinds };
}

function remember({ seen }: PoolState, key: string, holder: Holder | undefined): void {
  if (holder === undefined) seen.delete(key);
  else seen.set(key, holder);
}

const NOT_LISTED: NoVerdict = {
  verdict: 'none',
  detail: 'no facilitator lists the network',
  unsent: true,
};
const NOT_FREE: NoVerdict = {
  verdict: 'none',
  detail: 'it is not known who was asked before, and no chain node shows the authorization unused',
  unsent: true,
};
const LEFT_OUT: NoVerdict = {
  verdict: 'none',
  detail: 'the facilitator gave no verdicts and is skipped for a while',
  unsent: true,
};

/** Makes a request like one that failed, with a payment of our own in the place of the stranger's. */
type Canary = (like: FacilitatorRequest) => FacilitatorRequest;

/** Seconds that its authorization is valid before and after now, as usual clients sign it. */
const WINDOW_S = [600, 300] as const;
const V_OFFSET = 27;

/** A payment of an account that never had money, to be verified and never settled: any verdict shows that a service works. */
export function canary(by: { clock: () => number; random: (bytes: number) => Uint8Array }): Canary {
  const { clock, random } = by;
  let key = Uint8Array.from(random(32));
  // Fewer than one in 2^128 random texts is an invalid key.
  while (!CURVE.isPrivateKey(key)) key = Uint8Array.from(random(32));
  const publicKey = CURVE.publicKeyOf(key);
  const from = checksumAddress(hex(keccak256(publicKey.subarray(1)).slice(12)));
  return (like) => {
    const { x402Version, paymentPayload, paymentRequirements } = like;
    const network = tokenOfTerms(paymentRequirements);
    if (network === undefined) throw new RangeError('Cannot make a canary: unknown network');
    const [before, after] = WINDOW_S;
    const now = Math.floor(clock() / 1000);
    const authorization: Authorization = {
      from,
      to: paymentRequirements.payTo,
      value: priceOf(paymentRequirements),
      validAfter: String(now - before),
      validBefore: String(now + after),
      nonce: hex(random(32)),
    };
    const digest = transferDigest(network, authorization);
    const { rs, recovery } = CURVE.sign(digest, key);
    const signature = hex(Uint8Array.from([...rs, recovery + V_OFFSET]));
    const payload = { signature, authorization };
    // Not under the name of the request that it is like: it is another payment.
    return {
      x402Version,
      paymentPayload: { ...paymentPayload, payload },
      paymentRequirements,
    };
  };
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
