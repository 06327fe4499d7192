import type { Endpoint } from './endpoints.ts';

/** Whether an operation sells a subscription token or is opened by one. */
export function needsTokens({ token, answer }: Endpoint): boolean {
  return token || answer === 'mint';
}
