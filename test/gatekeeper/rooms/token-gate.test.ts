import { describe, expect, it, vi } from 'vitest';
import { canonicalRequest } from '../../../compiler/contract/canonical-request.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import type { TokenService } from '../../../gatekeeper/money/token.ts';
import { tokenGate } from '../../../gatekeeper/rooms/token-gate.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { TINY_NOW } from '../tiny-release.ts';
import { tinyService } from '../tiny-service.ts';
import { tinyTokens } from '../tiny-tokens.ts';

interface Sent {
  readonly tokens?: TokenService | null;
  readonly query?: string;
  readonly headers?: readonly string[];
  readonly isOffered?: boolean;
}

async function gated(
  path: string,
  { tokens = tinyTokens(), query = '', headers = [], isOffered = true }: Sent = {},
): Promise<unknown> {
  const request = canonicalRequest(path + query);
  if ('status' in request) throw new Error(request.error);
  const { release, ...service } = await tinyService();
  if (!isOffered) vi.spyOn(release.offers, 'has').mockReturnValue(false);
  const operator = { ...service.operator, tokens };
  const caller = { facts: headerFacts(['Host', 'gate', ...headers]), request };
  const reply = tokenGate(builtinOperation(path), caller, { ...service, release, operator });
  return reply === null ? null : { status: reply.status, ...JSON.parse(reply.body.toString()) };
}

const { token } = tinyTokens().mint();
const GATED = ['/gauge/watch', '/gauge/watch-changes', '/gauge/manifest-sweep'] as const;
const bearer = (value: string) => ['Authorization', value];

describe('tokenGate()', () => {
  it('I45: takes a token of before for what the release no longer offers, and sells none', async () => {
    const off = { status: 501, code: 'not_configured' };
    expect(await gated('/gauge/subscribe', { isOffered: false })).toMatchObject(off);
    for (const path of GATED) {
      expect(await gated(path, { isOffered: false })).toMatchObject(off);
      expect(await gated(path, { isOffered: false, query: `?token=${token}` })).toBeNull();
    }
  });

  it('I45: turns only the subscription paths off where no secret is set', async () => {
    for (const path of [...GATED, '/gauge/subscribe'] as const) {
      const reply = await gated(path, { tokens: null, query: `?token=${token}` });
      expect(reply).toMatchObject({ status: 501, code: 'not_configured', no_charge: true });
    }
    for (const path of ['/gauge', '/gauge/coverage', '/resolve', '/verify'] as const) {
      expect(await gated(path, { tokens: null })).toBeNull();
    }
  });

  it.each(GATED)('I45: opens %s for a valid token, in either place', async (path) => {
    expect(await gated(path, { headers: bearer(`Bearer ${token}`) })).toBeNull();
    expect(await gated(path, { headers: bearer(`bearer  ${token} `) })).toBeNull();
    expect(await gated(path, { query: `?token=${token}` })).toBeNull();
    const both = { headers: bearer(`Bearer ${token}`), query: `?token=${token}` };
    expect(await gated(path, both)).toBeNull();
  });

  it.each(GATED)('answers 401 at %s with the reason', async (path) => {
    const mint = '/gauge/subscribe';
    expect(await gated(path)).toMatchObject({ status: 401, code: 'missing_token', mint });
    const late = tinyTokens({ clock: () => TINY_NOW + 31 * 86_400_000 });
    const expired = await gated(path, { tokens: late, query: `?token=${token}` });
    expect(expired).toMatchObject({ status: 401, code: 'expired_token', mint });
    const invalid: readonly Sent[] = [
      { query: '?token=' },
      { query: `?token=${token}x` },
      { headers: bearer(token) },
      { headers: bearer(`Basic ${token}`) },
      { headers: bearer(`Bearer ${token} ${token}`) },
      { headers: [...bearer(`Bearer ${token}`), ...bearer(`Bearer ${token}`)] },
      { headers: bearer('Bearer'), query: `?token=${token}` },
      { headers: bearer(`Bearer ${token}`), query: '?token=x' },
    ];
    for (const sent of invalid) {
      expect([sent, await gated(path, sent)]).toMatchObject([
        sent,
        { status: 401, code: 'invalid_token' },
      ]);
    }
  });

  it('asks nobody for a token who wants to buy one', async () => {
    expect(await gated('/gauge/subscribe')).toBeNull();
  });
});
