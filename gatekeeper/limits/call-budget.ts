import { clientKey } from '../../compiler/contract/client-key.ts';
import { rateLimit } from './rate-limit.ts';

interface CallBudgetOptions {
  /** Calls a second of one name; of all names as many times that. */
  readonly perSecond: number;
  readonly factor: number;
  /** Seconds of these rates that may be used at once. */
  readonly burstS: number;
  /** Calls in flight, of one name and of all. */
  readonly flying: number;
  readonly flyingOfAll: number;
  /** Milliseconds of any clock. */
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

/** A client and an account as one name. */
export function pairName(client: string, account: string): string {
  // No address of version 6 any more, which all its neighbours would share.
  return `${clientKey(client).replaceAll(':', '.')} ${account}`;
}
