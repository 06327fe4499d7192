import type { CanonicalRequest } from './canonical-request.ts';
import type { HeaderFacts } from './header-facts.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { Service } from './service.ts';

const MINT = '/gauge/subscribe';

/** The answer of token-gated paths: no token of this version opens them. */
export function tokenGate(
  { authorization }: HeaderFacts,
  { values }: CanonicalRequest,
  { operator }: Service,
): Reply {
  if (!operator.subscription) {
    const error = 'Subscriptions are not configured here; pay per call instead';
    const body = { error, code: 'not_configured', no_charge: true, catalog: '/gauge/catalog' };
    return jsonReply(501, body);
  }
  const sent = authorization !== null || values.has('token');
  const code = sent ? 'invalid_token' : 'missing_token';
  const error = sent
    ? 'The token is not one of ours; mint one'
    : 'Send Authorization: Bearer <token>';
  return jsonReply(401, { error, code, mint: MINT }, [['www-authenticate', 'Bearer']]);
}
