import { describe, expect, it } from 'vitest';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import { metricsEndpoint } from '../../../gatekeeper/metrics/metrics-endpoint.ts';

const TOKEN = 't'.repeat(32);
const scrape = (authorization: string | null, target = '/metrics') => {
  const sent = authorization === null ? [] : ['Authorization', authorization];
  return { target, facts: headerFacts(['Host', 'gate', ...sent]) };
};
const shown = { contentType: 'text/plain', text: async () => 'a 1\n' };

describe('metricsEndpoint()', () => {
  it('shows the metrics to whoever knows the token', async () => {
    const endpoint = metricsEndpoint(shown, TOKEN);
    expect(endpoint.isScrape(scrape(`Bearer ${TOKEN}`))).toBe(true);
    expect(endpoint.isScrape(scrape(`Bearer ${TOKEN}`, '/metricsx'))).toBe(false);
    const { status, body } = await endpoint.reply('GET', `Bearer ${TOKEN}`);
    expect([status, String(body)]).toEqual([200, 'a 1\n']);
  });

  it.each([null, '', TOKEN, 'Bearer ', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `bearer ${TOKEN}`])(
    'shows nothing to %j, and asks for the token',
    async (authorization) => {
      const endpoint = metricsEndpoint(shown, TOKEN);
      expect(endpoint.isScrape(scrape(authorization))).toBe(false);
      const { status, headers, body } = await endpoint.reply('GET', authorization);
      expect(status).toBe(401);
      expect(Object.fromEntries(headers)).toMatchObject({
        'www-authenticate': 'Bearer realm="metrics"',
        'cache-control': 'no-store',
      });
      expect(String(body)).not.toContain(TOKEN);
    },
  );

  it('shows them to everybody where no token is set', async () => {
    expect((await metricsEndpoint(shown, null).reply('GET', null)).status).toBe(200);
  });

  it('takes no other method', async () => {
    const { status, headers } = await metricsEndpoint(shown, null).reply('POST', null);
    expect([status, Object.fromEntries(headers).allow]).toEqual([405, 'GET, HEAD']);
  });
});
