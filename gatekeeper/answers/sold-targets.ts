import type { CanonicalRequest, Route } from '../../compiler/contract/route.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Targets that are kept; the oldest make room, so that strangers cannot fill the memory. */
const SOLD_TARGETS_MAX = 2048;
/** Longest target that is kept. */
const SOLD_TARGET_CHARS_MAX = 256;

/** What a raw target means. */
interface SoldTarget {
  readonly request: CanonicalRequest;
  readonly routed: Route;
}

/** Raw targets of what is sold: the same few are asked again and again, and are read once. */
export class SoldTargets {
  readonly #targets = new BoundedMap<string, SoldTarget>(SOLD_TARGETS_MAX);

  get(target: string): SoldTarget | undefined {
    return this.#targets.get(target);
  }

  /** Keeps a target that costs and whose parameters are right; any other is read each time. */
  keep(target: string, sold: SoldTarget): void {
    const { endpoint, fault } = sold.routed;
    if (endpoint.priceUsd === null || fault !== null) return;
    if (target.length > SOLD_TARGET_CHARS_MAX) return;
    this.#targets.set(target, sold);
  }
}
