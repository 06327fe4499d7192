import { clientKey, NETWORK_CLIENTS, networkKey } from '../../compiler/contract/client-key.ts';
import { type Account, UNLIMITED } from '../http/request.ts';

/** Clients that are remembered at once; those not seen for longest make room. */
const CLIENTS_MAX = 50_000;
/** Seconds of its rate that a client may use at once. */
const BURST_S = 2;
/** The whole service takes this many times the rate of one client. */
const OVERALL_FACTOR = 40;
/** The cost of an answer is known only once it is made, so a client may owe at most this many seconds of its rate. */
const DEBT_S_MAX = 30;

export interface RateLimit {
  readonly isOn: boolean;
  /** The account of an address, the same for all addresses of one customer. */
  account(address: string): Account;
  readonly clients: number;
}

/** Token buckets per client address, per IPv6 network and for all together; `perSecond` units, 0 turns them off. */
export function rateLimit(perSecond: number, burstS = BURST_S, factor = OVERALL_FACTOR): RateLimit {
  if (perSecond === 0) return { isOn: false, account: () => UNLIMITED, clients: 0 };
  const overall = new Bucket(perSecond * factor, burstS, null);
  const [buckets, networks] = [new Buckets(), new Buckets()];
  const above = (address: string): Bucket => {
    const key = networkKey(address);
    if (key === null) return overall;
    const rate = perSecond * NETWORK_CLIENTS;
    return networks.get(key) ?? networks.set(key, new Bucket(rate, burstS, overall));
  };
  return {
    isOn: true,
    account(address) {
      const key = clientKey(address);
      return buckets.get(key) ?? buckets.set(key, new Bucket(perSecond, burstS, above(address)));
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
    const wait = this.#waitAt(now) || (this.#above?.take(cost, now) ?? 0);
    if (wait === 0) this.#spend(cost);
    return wait;
  }

  charge(cost: number, now: number): void {
    this.#fill(now);
    const spent = this.#spend(cost);
    // What one client is forgiven must not be owed by all others.
    this.#above?.charge(spent, now);
  }

  #waitAt(now: number): number {
    this.#fill(now);
    if (this.#tokens >= 1) return 0;
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perSecond));
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

/** Buckets in two generations: when the young one is full the old one is forgotten as a whole. */
class Buckets {
  #young = new Map<string, Bucket>();
  #old = new Map<string, Bucket>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Whoever is seen again is young again. */
  get(key: string): Bucket | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    return old === undefined ? undefined : this.set(key, old);
  }

  set(key: string, bucket: Bucket): Bucket {
    if (this.#young.size >= CLIENTS_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, bucket);
    return bucket;
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
  readonly #flying = new Map<string, number>();
  #all = 0;

  constructor(options: CallBudgetOptions) {
    const { perSecond, burstS, factor } = options;
    this.#options = options;
    this.#rate = rateLimit(perSecond, burstS, factor);
  }

  /** 0 takes a call, which must be given back when it has ended; else the seconds to wait. A name is an address or a word. */
  take(name: string): number {
    const { flying, flyingOfAll, clock } = this.#options;
    const own = this.#flying.get(clientKey(name)) ?? 0;
    if (own >= flying || this.#all >= flyingOfAll) return FLYING_RETRY_S;
    const waitS = this.#rate.account(name).take(1, clock());
    if (waitS === 0) this.#count(name, 1);
    return waitS;
  }

  giveBack(name: string): void {
    this.#count(name, -1);
  }

  #count(name: string, change: 1 | -1): void {
    const key = clientKey(name);
    this.#all += change;
    const own = (this.#flying.get(key) ?? 0) + change;
    if (own === 0) this.#flying.delete(key);
    else this.#flying.set(key, own);
  }
}

export function pairName(client: string, account: string): string {
  // No address of version 6 any more, which all its neighbours would share.
  return `${clientKey(client).replaceAll(':', '.')} ${account}`;
}
