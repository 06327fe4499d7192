import type { JsonValue } from '../format/strict-json.ts';
import type { EndpointPath, PaidPath, ParamName, SignalPath } from '../products/products.ts';

// What can be asked for, as types. `scripts/pack-client.ts` writes them out in full for the package of its own, with the
// members of each body.

/** A path that costs. */
export type SoldPath = PaidPath;
/** A path that is free, or is for some signals. */
export type FreePath = Exclude<EndpointPath, PaidPath> | SignalPath;
/** The body that a path sells. */
export type SoldBody<_Path extends SoldPath> = JsonValue | null;
export type CallParams<Path extends EndpointPath> = Readonly<
  Partial<Record<ParamName<Path>, string | number | undefined>>
>;

/** What a search found; `buy` takes it as it is. */
export interface Found {
  readonly id: string;
  readonly title: string;
  /** What an answer holds. */
  readonly answers: string;
  readonly price_usd: string | null;
  /** The GET that asks for it. */
  readonly request: string;
  /** Words of the question that it leaves open. */
  readonly open?: readonly string[];
}
