/** Clients that are remembered at once; the one seen longest ago makes room. */
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

/** Token buckets per client address and for all together; `perSecond` 0 turns them off. Forwarding headers are not believed. */
export function rateLimit(perSecond: number): RateLimit {
  if (perSecond === 0) return { isOn: false, take: () => 0, clients: 0 };
  const overall = { tokens: perSecond * OVERALL_FACTOR * BURST_S, at: 0 };
  const buckets = new Map<string, Bucket>();
  return {
    isOn: true,
    take(address, now) {
      const key = clientKey(address);
      const bucket = buckets.get(key) ?? { tokens: perSecond * BURST_S, at: now };
      // Re-inserted, so that the first one is the one seen longest ago.
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > CLIENTS_MAX) dropFirst(buckets);
      const wait = takeFrom(bucket, perSecond, now);
      return wait > 0 ? wait : takeFrom(overall, perSecond * OVERALL_FACTOR, now);
    },
    get clients() {
      return buckets.size;
    },
  };
}

function takeFrom(bucket: Bucket, perSecond: number, now: number): number {
  const elapsed = Math.max(0, now - bucket.at) / 1000;
  bucket.tokens = Math.min(perSecond * BURST_S, bucket.tokens + elapsed * perSecond);
  bucket.at = now;
  if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
  bucket.tokens -= 1;
  return 0;
}

function dropFirst(buckets: Map<string, Bucket>): void {
  const first = buckets.keys().next();
  if (!first.done) buckets.delete(first.value);
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
