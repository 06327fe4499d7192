import { describe, expect, it } from 'vitest';
import { endpointAt } from '../../compiler/contract/endpoints.ts';
import { canonicalRequest } from '../../gatekeeper/canonical-request.ts';
import { headerFacts } from '../../gatekeeper/header-facts.ts';
import { tokenGate } from '../../gatekeeper/token-gate.ts';
import { tinyService } from './tiny-service.ts';

async function gated(
  path: Parameters<typeof endpointAt>[0],
  subscription: boolean,
  query = '',
): Promise<unknown> {
  const request = canonicalRequest(path + query);
  if ('status' in request) throw new Error(request.error);
  const service = await tinyService();
  const operator = { ...service.operator, subscription };
  const caller = { facts: headerFacts(['Host', 'gate']), request };
  const reply = tokenGate(endpointAt(path), caller, { ...service, operator });
  return reply === null ? null : { status: reply.status, ...JSON.parse(reply.body.toString()) };
}

describe('tokenGate()', () => {
  it('turns only the subscription paths off where no secret is set', async () => {
    for (const path of [
      '/gauge/watch',
      '/gauge/watch-changes',
      '/gauge/manifest-sweep',
      '/gauge/subscribe',
    ] as const) {
      expect(await gated(path, false)).toMatchObject({ status: 501, code: 'not_configured' });
    }
    expect(await gated('/gauge', false)).toBeNull();
  });

  it('asks for a token and believes none', async () => {
    expect(await gated('/gauge/watch', true)).toMatchObject({ status: 401, code: 'missing_token' });
    expect(await gated('/gauge/watch', true, '?token=x')).toMatchObject({ code: 'invalid_token' });
    expect(await gated('/gauge/subscribe', true)).toBeNull();
  });
});
