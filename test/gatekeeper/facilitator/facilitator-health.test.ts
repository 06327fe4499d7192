import { describe, expect, it } from 'vitest';
import type { Facilitator, SupportedOutcome } from '../../../gatekeeper/facilitator/facilitator.ts';
import { facilitatorTrouble } from '../../../gatekeeper/facilitator/facilitator-health.ts';
import { NETWORKS } from '../../../gatekeeper/payment/networks.ts';

function listing(outcome: SupportedOutcome): Facilitator {
  const none = async () => ({ verdict: 'none', detail: 'not asked' }) as const;
  return { verify: none, settle: none, supported: async () => outcome };
}
const network = NETWORKS['base-sepolia'];

describe('facilitatorTrouble()', () => {
  it('is null when our network is listed under either name', async () => {
    for (const name of ['base-sepolia', 'eip155:84532']) {
      const kinds = [{ x402Version: 1, scheme: 'exact', network: name }];
      expect(
        await facilitatorTrouble(listing({ verdict: 'supported', kinds }), network),
      ).toBeNull();
    }
  });

  it('names the network when only another one, or another scheme, is listed', async () => {
    for (const [scheme, name] of [
      ['exact', 'base'],
      ['upto', 'base-sepolia'],
    ] as const) {
      const kinds = [{ x402Version: 1, scheme, network: name }];
      const trouble = await facilitatorTrouble(listing({ verdict: 'supported', kinds }), network);
      expect(trouble).toContain('SIGNALPRESS_NETWORK');
    }
  });

  it('says that nobody is charged and which setting to check when it cannot be reached', async () => {
    const facilitator = listing({ verdict: 'none', detail: 'connection refused' });
    const trouble = await facilitatorTrouble(facilitator, network);
    expect(trouble).toContain('connection refused');
    expect(trouble).toContain('nobody is charged');
    expect(trouble).toContain('SIGNALPRESS_FACILITATOR_URL');
  });
});
