import type { Endpoint } from './endpoints.ts';

/** What an operator can switch off; a switch that is off removes its operations from every description. */
export interface Switches {
  /** A token secret is set: subscriptions are sold, and tokens open the watchlist. */
  readonly subscriptions: boolean;
}

/** Every way to set the switches. A release is described once for each of them. */
export const SWITCH_SETTINGS: readonly Switches[] = [
  { subscriptions: true },
  { subscriptions: false },
];

/** Whether an operation sells a subscription token or is opened by one. */
export function needsTokens({ token, answer }: Endpoint): boolean {
  return token || answer === 'mint';
}

/** Whether an operator with these switches offers an operation, regardless of what is stored for it. */
export function isSwitchedOn(row: Endpoint, { subscriptions }: Switches): boolean {
  return subscriptions || !needsTokens(row);
}

/** Folder in front of the descriptions that differ by switch; '' where everything is on. */
export function switchFolder({ subscriptions }: Switches): string {
  return subscriptions ? '' : 'tokenless/';
}
