import type { Endpoint } from '../compiler/contract/endpoints.ts';
import type { CanonicalRequest } from './canonical-request.ts';
import type { HeaderFacts } from './header-facts.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { Service } from './service.ts';

const MINT = '/gauge/subscribe';

interface Caller {
  readonly facts: HeaderFacts;
  readonly request: CanonicalRequest;
}

/** The answer of subscription paths while no token of this version opens them; null for every other path. */
export function tokenGate(
  endpoint: Endpoint,
  { facts, request }: Caller,
  { operator }: Service,
): Reply | null {
  if (!endpoint.token && endpoint.answer !== 'mint') return null;
  if (!operator.subscription) return notConfigured();
  if (!endpoint.token) return null;
  const sent = facts.authorization !== null || request.values.has('token');
  const code = sent ? 'invalid_token' : 'missing_token';
  const error = sent
    ? 'The token is not one of ours; mint one'
    : 'Send Authorization: Bearer <token>';
  return jsonReply(401, { error, code, mint: MINT }, [['www-authenticate', 'Bearer']]);
}

/** Nobody is asked for money or for a token where the operator set no secret. */
function notConfigured(): Reply {
  const error = 'Subscriptions are not configured here; pay per call instead';
  const body = { error, code: 'not_configured', no_charge: true, catalog: '/gauge/catalog' };
  return jsonReply(501, body);
}
