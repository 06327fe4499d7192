import { describe, expect, it } from 'vitest';
import { channels } from '../../../gatekeeper/rooms/channels.ts';
import { jsonOf, tinyService } from '../tiny-service.ts';

describe('channels()', () => {
  it('names networks, asset and payee, and says loudly that no money moves', async () => {
    const service = await tinyService();
    const body = jsonOf(await channels(service));
    expect(body).toMatchObject({
      warning: expect.stringMatching(/^TEST-ONLY/),
      x402: { test_only: true, networks: ['base-sepolia', 'eip155:84532'] },
      mcp: { available: true },
      subscription: { configured: false, available: false },
      human_track: { phase_today: 'half_price' },
      fiat: { configured: false },
    });
    const real = { ...service, operator: { ...service.operator, settlement: 'relayer' as const } };
    expect(jsonOf(await channels(real))).not.toHaveProperty('warning');
  });
});

describe('the human track', () => {
  it.each([
    ['2026-08-30T23:59:59Z', 'free'],
    ['2026-08-31T00:00:00Z', 'half_price'],
    ['2026-12-31T23:59:59Z', 'half_price'],
    ['2027-01-01T00:00:00Z', 'full_price'],
  ])('at %s is %s', async (time, phase) => {
    const body = jsonOf(await channels(await tinyService({}, Date.parse(time))));
    expect(body).toMatchObject({ human_track: { phase_today: phase } });
  });
});
