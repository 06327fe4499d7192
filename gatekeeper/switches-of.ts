import type { Switches } from '../compiler/contract/for-sale.ts';
import type { Config } from './config/config.ts';

/** What the settings remove from every description. */
export function switchesOf({ tokenSecret }: Config): Switches {
  return { subscriptions: tokenSecret !== null };
}
