import { type TokenService, tokenService } from '../../gatekeeper/money/token.ts';
import { TINY_NOW } from './tiny-release.ts';

type TokenServiceOptions = Parameters<typeof tokenService>[0];

export const SECRET = 'a secret for tests that is long enough';

/** Tokens of a clock that stands still and numbers that are all alike. */
export function tinyTokens(more: Partial<TokenServiceOptions> = {}): TokenService {
  const random = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(7);
  return tokenService({ secrets: [SECRET], days: 30, clock: () => TINY_NOW, random, ...more });
}
