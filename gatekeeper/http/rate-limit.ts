/** Clients that are remembered at once; those not seen for longest make room. */
export const CLIENTS_MAX = 50_000;
/** Seconds of its rate that a client may use at once. */
export const BURST_S = 2;
/** The whole service takes this many times the rate of one client. */
export const OVERALL_FACTOR = 100;

interface Bucket {
  tokens: number;
  at: number;
}

/** Decides per request; 0 lets it pass, otherwise the seconds to wait. */
export interface RateLimit {
  readonly isOn: boolean;
  /** `now` in milliseconds of any steady clock. */
  take(address: string, now: number): number;
  readonly clients: number;
}

/** Token buckets per client address and for all together; `perSecond` 0 turns them off. */
export function rateLimit(perSecond: number): RateLimit {
  if (perSecond === 0) return { isOn: false, take: () => 0, clients: 0 };
  const overall = { tokens: perSecond * OVERALL_FACTOR * BURST_S, at: 0 };
  const buckets = new Buckets();
  return {
    isOn: true,
    take(address, now) {
      const key = clientKey(address);
      const bucket = buckets.get(key) ?? { tokens: perSecond * BURST_S, at: now };
      buckets.set(key, bucket);
      const wait = takeFrom(bucket, perSecond, now);
      return wait > 0 ? wait : takeFrom(overall, perSecond * OVERALL_FACTOR, now);
    },
    get clients() {
      return buckets.size;
    },
  };
}

/** Buckets in two generations: when the young one is full the old one is forgotten as a whole. */
class Buckets {
  #young = new Map<string, Bucket>();
  #old = new Map<string, Bucket>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Bucket | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, bucket: Bucket): void {
    if (this.#young.size >= CLIENTS_MAX / 2 && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, bucket);
  }
}

function takeFrom(bucket: Bucket, perSecond: number, now: number): number {
  const elapsed = Math.max(0, now - bucket.at) / 1000;
  bucket.tokens = Math.min(perSecond * BURST_S, bucket.tokens + elapsed * perSecond);
  bucket.at = now;
  if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
  bucket.tokens -= 1;
  return 0;
}

/** One customer holds a whole IPv6 /64, so its addresses count as one. */
export function clientKey(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [left = '', right] = (address.split('%')[0] ?? '').split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = right === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...new Array<string>(zeros).fill('0'), ...tail];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')}::/64`;
}
