import { clientKey, NETWORK_CLIENTS, networkKey } from '../../../compiler/format/addresses.ts';
import { BoundedMap, Counts } from '../maps.ts';
import { type Account, UNLIMITED } from '../request.ts';

/** Clients that are remembered at once; those not seen for longest make room. */
const CLIENTS_MAX = 50_000;
/** Seconds of its rate that a client may use at once. */
const BURST_S = 2;
/** The whole service takes this many times the rate of one client. */
const OVERALL_FACTOR = 40;
/** The cost of an answer is known only once it is made, so a client may owe at most this many seconds of its rate. */
const DEBT_S_MAX = 30;

export type RateLimit = ReturnType<typeof rateLimit>;

/** Token buckets per client address, per IPv6 network and for all together; `perSecond` units, 0 turns them off. */
export function rateLimit(perSecond: number, burstS = BURST_S, factor = OVERALL_FACTOR) {
  const off = (_: string): Account => UNLIMITED;
  if (perSecond === 0) return { isOn: false, account: off, clients: 0 };
  const overall = new Bucket(perSecond * factor, burstS, null);
  const bounds = { entries: CLIENTS_MAX, isByUse: true } as const;
  const buckets = new BoundedMap<string, Bucket>(bounds);
  const networks = new BoundedMap<string, Bucket>(bounds);
  return {
    isOn: true,
    /** The account of an address, the same for all addresses of one customer. */
    account(address: string): Account {
      const [key, network] = [clientKey(address), networkKey(address)];
      const known = buckets.get(key);
      if (known !== undefined) return known;
      let above = overall;
      if (network !== null) {
        const rate = perSecond * NETWORK_CLIENTS;
        above = networks.get(network) ?? new Bucket(rate, burstS, overall);
        networks.set(network, above);
      }
      const made = new Bucket(perSecond, burstS, above);
      buckets.set(key, made);
      return made;
    },
    get clients() {
      return buckets.size;
    },
  };
}

class Bucket implements Account {
  readonly #perSecond: number;
  readonly #burst: number;
  /** The bucket of its network or of all, which is asked second and charged too. */
  readonly #above: Bucket | null;
  #tokens: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, burstS: number, above: Bucket | null) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * burstS;
    this.#above = above;
    this.#tokens = this.#burst;
  }

  take(cost: number, now: number): number {
    this.#fill(now);
    if (this.#tokens < 1) return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perSecond));
    const wait = this.#above?.take(cost, now) ?? 0;
    if (wait === 0) this.#spend(cost);
    return wait;
  }

  charge(cost: number, now: number): void {
    this.#fill(now);
    const spent = this.#spend(cost);
    // What one client is forgiven must not be owed by all others.
    this.#above?.charge(spent, now);
  }

  /** A clock that jumps back fills nothing. */
  #fill(now: number): void {
    const elapsed = this.#at === Number.NEGATIVE_INFINITY ? 0 : Math.max(0, now - this.#at) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsed * this.#perSecond);
    this.#at = now;
  }

  #spend(cost: number): number {
    const left = Math.max(-DEBT_S_MAX * this.#perSecond, this.#tokens - cost);
    const spent = this.#tokens - left;
    this.#tokens = left;
    return spent;
  }
}

interface CallBudgetOptions {
  /** Calls a second of one name; of all names as many times that. */
  readonly perSecond: number;
  readonly factor: number;
  /** Seconds of these rates that may be used at once. */
  readonly burstS: number;
  /** Calls in flight, of one name and of all. */
  readonly flying: number;
  readonly flyingOfAll: number;
  readonly clock: () => number;
}

/** Seconds after which it is worth asking again where calls in flight take all places. */
const FLYING_RETRY_S = 2;

/** Calls of others that somebody may cause: so many a second and so many in flight, each for one name and for all. */
export class CallBudget {
  readonly #options: CallBudgetOptions;
  readonly #rate: ReturnType<typeof rateLimit>;
  readonly #flying = new Counts<string>();
  #all = 0;

  constructor(options: CallBudgetOptions) {
    const { perSecond, burstS, factor } = options;
    this.#options = options;
    this.#rate = rateLimit(perSecond, burstS, factor);
  }

  /** 0 takes a call, which must be given back when it has ended; else the seconds to wait. A name is an address or a word. */
  take(name: string): number {
    const { flying, flyingOfAll, clock } = this.#options;
    const key = clientKey(name);
    if (this.#flying.of(key) >= flying || this.#all >= flyingOfAll) return FLYING_RETRY_S;
    const waitS = this.#rate.account(name).take(1, clock());
    if (waitS > 0) return waitS;
    this.#flying.add(key, 1);
    this.#all += 1;
    return 0;
  }

  giveBack(name: string): void {
    this.#flying.add(clientKey(name), -1);
    this.#all -= 1;
  }
}

export function pairName(client: string, account: string): string {
  // No address of version 6 any more, which all its neighbours would share.
  return `${clientKey(client).replaceAll(':', '.')} ${account}`;
}
