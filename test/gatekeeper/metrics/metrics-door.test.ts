import { describe, expect, it } from 'vitest';
import { metricsDoor } from '../../../gatekeeper/metrics/metrics-door.ts';

const TOKEN = 't'.repeat(32);
const shown = { contentType: 'text/plain', text: async () => 'a 1\n' };

describe('metricsDoor()', () => {
  it('shows the metrics to whoever knows the token', async () => {
    const door = metricsDoor(shown, TOKEN);
    expect(door.isOpenTo(`Bearer ${TOKEN}`)).toBe(true);
    const { status, body } = await door.reply('GET', `Bearer ${TOKEN}`);
    expect([status, String(body)]).toEqual([200, 'a 1\n']);
  });

  it.each([null, '', TOKEN, 'Bearer ', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `bearer ${TOKEN}`])(
    'shows nothing to %j, and asks for the token',
    async (authorization) => {
      const door = metricsDoor(shown, TOKEN);
      expect(door.isOpenTo(authorization)).toBe(false);
      const { status, headers, body } = await door.reply('GET', authorization);
      expect(status).toBe(401);
      expect(Object.fromEntries(headers)).toMatchObject({
        'www-authenticate': 'Bearer realm="metrics"',
        'cache-control': 'no-store',
      });
      expect(String(body)).not.toContain(TOKEN);
    },
  );

  it('shows them to everybody where no token is set', async () => {
    expect((await metricsDoor(shown, null).reply('GET', null)).status).toBe(200);
  });

  it('takes no other method', async () => {
    const { status, headers } = await metricsDoor(shown, null).reply('POST', null);
    expect([status, Object.fromEntries(headers).allow]).toEqual([405, 'GET, HEAD']);
  });
});
