import { type Circuit, circuit } from './circuit.ts';
import {
  authorizationKey,
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type NoVerdict,
  type SettleOutcome,
  type SupportedOutcome,
  type VerifyOutcome,
} from './facilitator.ts';

/** Payments whose facilitator is remembered; the oldest make room, and are then asked about on chain. */
const REMEMBERED_MAX = 20_000;

export interface FacilitatorPoolOptions {
  /** In order of preference. */
  readonly facilitators: readonly Facilitator[];
  /**
   * Whether the chain says that the token can still take the authorization. Without it a settlement is
   * never taken from one facilitator to another.
   */
  readonly isUnused?: (request: FacilitatorRequest) => Promise<boolean>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Several facilitators as one. One that gives no verdicts is left out for a while; when all are, there is
 * no verdict, which is told to the buyer as an outage and never as a refusal.
 */
export function facilitatorPool(options: FacilitatorPoolOptions): Facilitator {
  const members = options.facilitators.map((facilitator) => ({
    facilitator,
    circuit: circuit(options.clock),
  }));
  const [only, ...others] = members;
  if (only !== undefined && others.length === 0) return alone(only);
  const pool: Pool = { ...options, members, seen: new Map() };
  return {
    verify: (request) => verify(pool, request),
    settle: (request) => settle(pool, request),
    supported: () => supported(pool),
  };
}

interface Member {
  readonly facilitator: Facilitator;
  readonly circuit: Circuit;
}
interface Pool extends FacilitatorPoolOptions {
  readonly members: readonly Member[];
  /** Who was asked to settle a payment; null when it was verified and nobody was. */
  readonly seen: Map<string, Member | null>;
}

/** Nobody else can have been asked, so nothing is remembered. */
function alone(member: Member): Facilitator {
  const { facilitator } = member;
  return {
    verify: (request) => asked(member, request, () => facilitator.verify(request)),
    settle: (request) => asked(member, request, () => facilitator.settle(request)),
    supported: () => facilitator.supported(),
  };
}

async function verify(pool: Pool, request: FacilitatorRequest): Promise<VerifyOutcome> {
  let last: NoVerdict = ALL_OUT;
  for (const member of pool.members) {
    const outcome = await asked(member, request, () => member.facilitator.verify(request));
    if (outcome.verdict === 'none') {
      last = outcome;
      continue;
    }
    const key = authorizationKey(request);
    if (outcome.verdict === 'valid' && !pool.seen.has(key)) remember(pool, key, null);
    return outcome;
  }
  return last;
}

/**
 * A facilitator that got the settlement is the only one to be asked again, because it may have sent it. The
 * others are asked when the call never left, or when the chain says that the authorization is unused; so
 * it is, too, for a payment of which this process does not know whom it was given to.
 */
async function settle(pool: Pool, request: FacilitatorRequest): Promise<SettleOutcome> {
  const key = authorizationKey(request);
  const known = pool.seen.get(key);
  const mayBeSent = known !== null;
  let last: NoVerdict = ALL_OUT;
  for (const member of inOrder(pool, known ?? null)) {
    const isHolder = member === known;
    if (mayBeSent && !isHolder && !(await isFree(pool, request))) return last;
    const outcome = await asked(member, request, () => {
      remember(pool, key, member);
      return member.facilitator.settle(request);
    });
    if (outcome.verdict !== 'none') return outcome;
    last = outcome;
    if (outcome.unsent !== true) return outcome;
    // Not sent: who may have sent it before is as it was.
    remember(pool, key, known);
  }
  return last;
}

function inOrder({ members }: Pool, holder: Member | null): readonly Member[] {
  if (holder === null) return members;
  return [holder, ...members.filter((member) => member !== holder)];
}

async function isFree({ isUnused }: Pool, request: FacilitatorRequest): Promise<boolean> {
  return (await isUnused?.(request)) ?? false;
}

/** A call that never left failed whoever pays; any other failure may be the doing of that one payment. */
async function asked<T extends { readonly verdict: string; readonly unsent?: true }>(
  { circuit: { mayAsk, note } }: Member,
  request: FacilitatorRequest,
  ask: () => Promise<T>,
): Promise<T | NoVerdict> {
  if (!mayAsk()) return LEFT_OUT;
  const outcome = await ask();
  const payer = outcome.unsent === true ? undefined : authorizationOf(request).from.toLowerCase();
  note(outcome.verdict !== 'none', payer);
  return outcome;
}

async function supported({ members }: Pool): Promise<SupportedOutcome> {
  const outcomes = await Promise.all(members.map(({ facilitator }) => facilitator.supported()));
  const kinds = outcomes.flatMap((outcome) =>
    outcome.verdict === 'supported' ? outcome.kinds : [],
  );
  const silent = outcomes.find((outcome) => outcome.verdict === 'none');
  return kinds.length === 0 && silent !== undefined ? silent : { verdict: 'supported', kinds };
}

function remember({ seen }: Pool, key: string, member: Member | null | undefined): void {
  seen.delete(key);
  if (member === undefined) return;
  seen.set(key, member);
  if (seen.size <= REMEMBERED_MAX) return;
  for (const oldest of seen.keys()) {
    seen.delete(oldest);
    return;
  }
}

const ALL_OUT: NoVerdict = { verdict: 'none', detail: 'no facilitator answers', unsent: true };
const LEFT_OUT: NoVerdict = {
  verdict: 'none',
  detail: 'the facilitator gave no verdicts and is left out for a while',
  unsent: true,
};
