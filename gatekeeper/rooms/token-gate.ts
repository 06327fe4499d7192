import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { needsTokens } from '../../compiler/contract/for-sale.ts';
import type { Caller, Service } from '../answers/service.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import { MINT_PATH } from '../money/token.ts';

const BEARER = /^Bearer +([^ ,]+) *$/i;

type Refused = 'missing_token' | 'invalid_token' | 'expired_token';

/** The answer of subscription paths that no token opens; null for every other path and for a token of ours. */
export function tokenGate(
  endpoint: Endpoint,
  { facts, request }: Caller,
  { operator, release }: Service,
): Reply | null {
  if (!needsTokens(endpoint)) return null;
  const { tokens } = operator;
  if (tokens === null) return notConfigured();
  const { path, token } = endpoint;
  const sent = token ? sentToken(facts.authorization, request.values.get('token') ?? null) : null;
  // A token of before opens what the release no longer offers, until it ends.
  if (sent === null && !release.offers.has(path)) return notConfigured();
  if (!token) return null;
  if (sent === null) return refused('missing_token');
  const verdict = tokens.check(sent);
  return verdict === 'valid' ? null : refused(`${verdict}_token`);
}

/** The one token that was sent; '' for what is none, or for two that differ. */
function sentToken(authorization: string | null, query: string | null): string | null {
  if (authorization === null) return query;
  const bearer = BEARER.exec(authorization)?.[1] ?? '';
  return query === null || query === bearer ? bearer : '';
}

const WORDS: Readonly<Record<Refused, string>> = {
  missing_token: 'Send Authorization: Bearer <token>, or token=<token> in the query',
  invalid_token: 'The token was not issued here; get one at /gauge/subscribe',
  expired_token: 'The token has expired; get a new one at /gauge/subscribe',
};

function refused(code: Refused): Reply {
  const challenge = code === 'missing_token' ? 'Bearer' : 'Bearer error="invalid_token"';
  return jsonReply(401, { error: WORDS[code], code, mint: MINT_PATH }, [
    ['www-authenticate', challenge],
  ]);
}

/** Without a secret, and without an offer, nobody is asked for money or for a token. */
function notConfigured(): Reply {
  const error = 'Subscriptions are not configured here; pay per call instead';
  const body = { error, code: 'not_configured', no_charge: true, catalog: '/gauge/catalog' };
  return jsonReply(501, body);
}
