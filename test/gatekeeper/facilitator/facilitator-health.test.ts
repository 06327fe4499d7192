import { describe, expect, it } from 'vitest';
import { facilitatorWarning } from '../../../gatekeeper/facilitator/translating-facilitator.ts';
import type {
  Facilitator,
  PaymentKind,
  SupportedOutcome,
} from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';

function listing(outcome: SupportedOutcome): Facilitator {
  const none = async () => ({ verdict: 'none', detail: 'not asked' }) as const;
  return { verify: none, settle: none, supported: async () => outcome };
}
const network = NETWORKS['base-sepolia'];
const V1 = { x402Version: 1, scheme: 'exact', network: 'base-sepolia' };
const V2 = { x402Version: 2, scheme: 'exact', network: 'eip155:84532' };
const troubleOf = (kinds: readonly PaymentKind[]) =>
  facilitatorWarning({ facilitator: listing({ verdict: 'supported', kinds }) }, network);

describe('facilitatorWarning()', () => {
  it('is null when our network is listed in both versions, each under its own name', async () => {
    expect(await troubleOf([V2, { ...V1, scheme: 'upto' }, V1])).toBeNull();
  });

  it.each([
    ['2', [V1]],
    ['1', [V2]],
    ['2', [V1, { ...V2, network: 'base-sepolia' }]],
    ['2', [V1, { ...V2, network: 'eip155:8453' }]],
    ['1', [{ ...V1, network: 'eip155:84532' }, V2]],
    ['1', [{ ...V1, scheme: 'upto' }, V2]],
  ])('says that payments of version %s are translated where %j lacks it', async (other, kinds) => {
    const trouble = (await troubleOf(kinds)) ?? '';
    const listed = other === '1' ? '2' : '1';
    expect(trouble).toBe(
      `Payments of x402 version ${other} are translated: the facilitator lists only version ${listed} on ` +
        '"base-sepolia"; buyers sign the same data in both, so both are accepted and there is nothing to do',
    );
  });

  it('names the network when only another one, or another scheme, is listed', async () => {
    for (const kinds of [
      [],
      [{ ...V1, network: 'base' }],
      [{ ...V1, scheme: 'upto' }],
      [{ ...V1, x402Version: 3 }],
    ]) {
      expect(await troubleOf(kinds)).toMatch(
        /^Cannot settle on "base-sepolia".*SIGNALPRESS_NETWORK/,
      );
    }
  });

  it('says that nobody is charged and which setting to check when it cannot be reached', async () => {
    const facilitator = listing({ verdict: 'none', detail: 'connection refused' });
    const trouble = await facilitatorWarning({ facilitator }, network);
    expect(trouble).toContain('connection refused; payments may be answered 503');
    expect(trouble).toContain('nobody is charged');
    expect(trouble).toContain('SIGNALPRESS_FACILITATOR_URL');
    expect(trouble).not.toContain('SIGNALPRESS_FACILITATOR_AUTH');
  });

  it.each([
    [401, 'AUTH'],
    [403, 'AUTH'],
    [400, 'URL'],
    [402, 'URL'],
    [404, 'URL'],
    [302, 'URL'],
    [200, 'URL'],
    [429, 'URL'],
    [500, 'URL'],
    [503, 'URL'],
  ])('names the setting that may be wrong when the status is %i', async (status, setting) => {
    const outcome = { verdict: 'none', detail: `status ${status}`, status } as const;
    const trouble = await facilitatorWarning({ facilitator: listing(outcome) }, network);
    expect(trouble).toContain(`status ${status}; payments may be answered 503`);
    expect(trouble?.includes('SIGNALPRESS_FACILITATOR_AUTH')).toBe(setting === 'AUTH');
    expect(trouble?.includes('SIGNALPRESS_FACILITATOR_URL')).toBe(setting === 'URL');
    expect(trouble?.includes('the fault is on its side: wait')).toBe(
      status === 429 || status >= 500,
    );
  });

  it('names the facilitator among several, and no other way', async () => {
    const name = '"https://b.example" (2 of 2)';
    const outcomes: [SupportedOutcome, string][] = [
      [{ verdict: 'none', detail: 'status 500' }, `yet through ${name}: status 500;`],
      [{ verdict: 'supported', kinds: [] }, `on "base-sepolia": ${name} does not list it`],
      [{ verdict: 'supported', kinds: [V1] }, `translated: ${name} lists only version 1 on`],
    ];
    for (const [outcome, words] of outcomes) {
      const facilitator = listing(outcome);
      expect(await facilitatorWarning({ facilitator, name }, network)).toContain(words);
      expect(await facilitatorWarning({ facilitator }, network)).not.toContain('b.example');
    }
  });
});
