import {
  PaymentPayloadV1Schema,
  PaymentPayloadV2Schema,
  PaymentRequirementsV1Schema,
  PaymentRequirementsV2Schema,
} from '@x402/core/schemas';
import { describe, expect, it } from 'vitest';
import {
  type MissingVerdict,
  reportingFacilitator,
} from '../../../../gatekeeper/heart/payment/metered.ts';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import {
  facilitatorWarning,
  translateRequest,
  translatingFacilitator,
} from '../../../../gatekeeper/settle/facilitator/translating-facilitator.ts';
import {
  ABANDONED,
  type Facilitator,
  type FacilitatorRequest,
  facilitatorRequest,
  type PaymentKind,
  type SettleOutcome,
  type SupportedOutcome,
  type ValidityOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { type Authorization, isRefusal } from '../../../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { NOW_MS, NOW_S, payer, paymentRequest, shop } from '../../payer.ts';

const v1 = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
const alice = payer(NETWORKS.base);

async function request(overrides: Partial<Authorization> = {}) {
  const payment = decodePayment(await alice.header(v1, overrides), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, v1);
}

describe('localFacilitator()', () => {
  it('localFacilitator() settles once per nonce and answers a repeat with the same transaction', async () => {
    const local = localFacilitator({ clock: () => NOW_MS });
    const first = await request();
    expect(await local.verify(first)).toEqual({ verdict: 'valid' });
    const settled = await local.settle(first);
    const transaction = expect.stringMatching(/^0x[0-9a-f]{64}$/);
    expect(settled).toEqual({ verdict: 'settled', transaction });
    expect(await local.settle(first)).toEqual(settled);
    expect(await local.verify(first)).toMatchObject({ verdict: 'invalid' });
    const { nonce } = first.paymentPayload.payload.authorization;
    const second = await request({ nonce, value: '20000' });
    expect(await local.settle(second)).toEqual({
      verdict: 'refused',
      reason: 'invalid_exact_evm_nonce_already_used',
    });
  });

  it('localFacilitator() makes the same transaction for the same authorization anywhere', async () => {
    const first = await request();
    const [one, two] = [
      localFacilitator({ clock: () => NOW_MS }),
      localFacilitator({ clock: () => NOW_MS }),
    ];
    expect(await one.settle(first)).toEqual(await two.settle(first));
    expect(await one.settle(first)).not.toEqual(await one.settle(await request()));
  });

  it('localFacilitator() keeps the rules of the token', async () => {
    const local = localFacilitator({ clock: () => NOW_MS });
    const good = await request();
    const payload = good.paymentPayload.payload;
    const forged = {
      ...good,
      paymentPayload: {
        ...good.paymentPayload,
        payload: { ...payload, authorization: { ...payload.authorization, value: '99999' } },
      },
    };
    const cases = [
      forged,
      await request({ validBefore: String(NOW_S) }),
      await request({ validAfter: String(NOW_S + 1) }),
      await request({ value: '1' }),
      await request({ to: `0x${'cd'.repeat(20)}` }),
      { ...good, paymentRequirements: { ...v1, network: 'ethereum' } },
    ];
    for (const one of cases) {
      expect((await local.verify(one)).verdict).toBe('invalid');
      expect((await local.settle(one)).verdict).toBe('refused');
    }
    expect((await local.settle(good)).verdict).toBe('settled');
  });

  it('localFacilitator() refuses a value that nobody has', async () => {
    const local = localFacilitator({ clock: () => NOW_MS });
    const reason = 'insufficient_funds';
    const most = await request({ value: '1000000000000000' });
    const more = await request({ value: '1000000000000001' });
    expect(await local.verify(more)).toEqual({ verdict: 'invalid', reason });
    expect(await local.settle(more)).toEqual({ verdict: 'refused', reason });
    expect((await local.verify(most)).verdict).toBe('valid');
    expect((await local.settle(most)).verdict).toBe('settled');
  });

  it('localFacilitator() supports both versions of both networks', async () => {
    const supported = await localFacilitator({ clock: () => NOW_MS }).supported();
    expect(supported).toMatchObject({ verdict: 'supported' });
    expect(JSON.stringify(supported)).toContain('eip155:84532');
  });
});

describe('reportingFacilitator()', async () => {
  const REPORT_EVERY_MS = 1000;

  const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
  const payment = decodePayment(await payer(NETWORKS.base).header(terms), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  const request = facilitatorRequest(payment, terms);
  const SILENT = { verdict: 'none', detail: '/verify: status 500' } as const;

  function reported(says: { verify: ValidityOutcome; settle: SettleOutcome }) {
    const by = { now: 0 };
    const silences: MissingVerdict[] = [];
    const facilitator: Facilitator = {
      verify: async () => says.verify,
      settle: async () => says.settle,
      supported: async () => ({ verdict: 'supported', kinds: [] }),
    };
    const report = (missing: MissingVerdict) => void silences.push(missing);
    return {
      by,
      silences,
      asked: reportingFacilitator(facilitator, report, () => by.now),
    };
  }

  it('reports what brought no verdict, now and then, and counts the rest', async () => {
    const { by, silences, asked } = reported({ verify: SILENT, settle: SILENT });
    for (let times = 0; times < 5; times++) expect(await asked.verify(request)).toEqual(SILENT);
    by.now += REPORT_EVERY_MS;
    expect(await asked.settle(request)).toEqual(SILENT);
    const { detail } = SILENT;
    expect(silences).toEqual([
      { call: 'verify', detail, more: 0 },
      { call: 'settle', detail, more: 4 },
    ]);
  });

  it('reports nothing of a buyer who left', async () => {
    const { silences, asked } = reported({ verify: SILENT, settle: ABANDONED });
    expect(await asked.settle(request)).toEqual(ABANDONED);
    expect(silences).toEqual([]);
  });

  it('reports nothing of verdicts, whatever they are', async () => {
    const verify = { verdict: 'invalid', reason: 'x' } as const;
    const settle = { verdict: 'refused', reason: 'x' } as const;
    const { silences, asked } = reported({ verify, settle });
    expect([await asked.verify(request), await asked.settle(request)]).toEqual([verify, settle]);
    expect(await asked.supported()).toMatchObject({ verdict: 'supported' });
    expect(silences).toEqual([]);
  });
});

describe('translating facilitator', async () => {
  const V1: PaymentKind = { x402Version: 1, scheme: 'exact', network: 'base' };
  const V2: PaymentKind = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
  const first = await paymentRequest();
  const second = translateRequest(first);

  /** What reaches a facilitator that lists these kinds; null for one that does not say. */
  function translating(kinds: readonly PaymentKind[] | null) {
    const time = { now: 0 };
    const said = { kinds, times: 0 };
    const got: FacilitatorRequest[] = [];
    const facilitator: Facilitator = {
      async verify(request) {
        got.push(request);
        return { verdict: 'invalid', reason: 'no' };
      },
      async settle(request) {
        got.push(request);
        return { verdict: 'settled', transaction: '0x12' };
      },
      async supported(): Promise<SupportedOutcome> {
        said.times += 1;
        const silent = { verdict: 'none', detail: 'status 500' } as const;
        return said.kinds === null ? silent : { verdict: 'supported', kinds: said.kinds };
      },
    };
    const clock = (): number => time.now;
    const one = translatingFacilitator({ facilitator, networks: [NETWORKS.base], clock });
    const versions = async (...requests: readonly FacilitatorRequest[]): Promise<number[]> => {
      got.length = 0;
      for (const request of requests) {
        await one.verify(request);
        await one.settle(request);
      }
      return got.map(({ x402Version }) => x402Version);
    };
    return { one, time, said, got, versions };
  }

  describe('lists()', () => {
    const { base, polygon } = NETWORKS;
    const kind = (network: string) => ({ x402Version: 1, scheme: 'exact', network });
    const listing = async (...listed: readonly string[]) => {
      const supported = async (): Promise<SupportedOutcome> => ({
        verdict: 'supported',
        kinds: listed.map(kind),
      });
      const facilitator = { supported } as Facilitator;
      const one = translatingFacilitator({
        facilitator,
        networks: [base, polygon],
        clock: () => 0,
      });
      const payment = await paymentRequest();
      const on = ({ name }: { readonly name: string }) => {
        const { paymentRequirements } = payment;
        return one.lists({
          ...payment,
          paymentRequirements: { ...paymentRequirements, network: name },
        });
      };
      const before = [on(base), on(polygon)];
      await one.supported();
      return [...before, on(base), on(polygon)];
    };

    it('is false only for a network that is not listed beside one of ours that is', async () => {
      expect(await listing('base')).toEqual([true, true, true, false]);
      expect(await listing('polygon', 'sei')).toEqual([true, true, false, true]);
      expect(await listing('base', 'polygon')).toEqual([true, true, true, true]);
      expect(await listing('sei')).toEqual([true, true, true, true]);
      expect(await listing()).toEqual([true, true, true, true]);
    });
  });

  describe('translatingFacilitator()', () => {
    it.each([
      ['version 1 alone', [V1], [1, 1, 1, 1]],
      ['version 2 alone', [V2], [2, 2, 2, 2]],
      ['both', [V1, V2], [1, 1, 2, 2]],
      ['neither', [{ ...V1, network: 'base-sepolia' }], [1, 1, 2, 2]],
      ['version 2 under a name of version 1', [V1, { ...V2, network: 'base' }], [1, 1, 1, 1]],
    ])('sends payments of both versions to one that lists %s', async (_, kinds, want) => {
      const { one, versions } = translating(kinds);
      await one.supported();
      expect(await versions(first, second)).toEqual(want);
    });

    it('sends payments as they are while nobody knows what is listed, and asks', async () => {
      const { versions, said, time } = translating(null);
      expect(await versions(first, second)).toEqual([1, 1, 2, 2]);
      expect(said.times).toBe(1);
      time.now += 30_000 - 1;
      expect([await versions(first), said.times]).toEqual([[1, 1], 1]);
      said.kinds = [V2];
      time.now += 1;
      await versions(first);
      expect([await versions(first), said.times]).toEqual([[2, 2], 2]);
    });

    it('asks again now and then, and keeps what was said while there is no other answer', async () => {
      const { one, versions, said, time } = translating([V1]);
      await one.supported();
      said.kinds = null;
      time.now += 600_000;
      await versions(second);
      expect([await versions(second), said.times]).toEqual([[1, 1], 2]);
      said.kinds = [V1, V2];
      time.now += 600_000;
      await versions(second);
      expect([await versions(second), said.times]).toEqual([[2, 2], 3]);
    });

    it('sends both calls the same request, and changes nothing of what they say', async () => {
      const { one, got } = translating([V1]);
      await one.supported();
      await one.verify(second);
      expect(await one.settle(second)).toEqual({ verdict: 'settled', transaction: '0x12' });
      expect(got[0]).toEqual(got[1]);
      expect(got[0]?.paymentRequirements.network).toBe('base');
    });
  });

  function listing(outcome: SupportedOutcome): Facilitator {
    const none = async () => ({ verdict: 'none', detail: 'not asked' }) as const;
    return { verify: none, settle: none, supported: async () => outcome };
  }
  const network = NETWORKS['base-sepolia'];
  const ON_V1 = { x402Version: 1, scheme: 'exact', network: 'base-sepolia' };
  const ON_V2 = { x402Version: 2, scheme: 'exact', network: 'eip155:84532' };
  const troubleOf = (kinds: readonly PaymentKind[]) =>
    facilitatorWarning({ facilitator: listing({ verdict: 'supported', kinds }) }, network);

  describe('facilitatorWarning()', () => {
    it('is null when our network is listed in both versions, each under its own name', async () => {
      expect(await troubleOf([ON_V2, { ...V1, scheme: 'upto' }, ON_V1])).toBeNull();
    });

    it.each([
      ['2', [ON_V1]],
      ['1', [ON_V2]],
      ['2', [ON_V1, { ...V2, network: 'base-sepolia' }]],
      ['2', [ON_V1, { ...V2, network: 'eip155:8453' }]],
      ['1', [{ ...V1, network: 'eip155:84532' }, ON_V2]],
      ['1', [{ ...V1, scheme: 'upto' }, ON_V2]],
    ])(
      'says that payments of version %s are translated where %j lacks it',
      async (other, kinds) => {
        const trouble = (await troubleOf(kinds)) ?? '';
        const listed = other === '1' ? '2' : '1';
        expect(trouble).toBe(
          `Payments of x402 version ${other} are translated: the facilitator lists only version ${listed} on ` +
            '"base-sepolia"; buyers sign the same data in both, so both are accepted and there is nothing to do',
        );
      },
    );

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
        [{ verdict: 'supported', kinds: [ON_V1] }, `translated: ${name} lists only version 1 on`],
      ];
      for (const [outcome, words] of outcomes) {
        const facilitator = listing(outcome);
        expect(await facilitatorWarning({ facilitator, name }, network)).toContain(words);
        expect(await facilitatorWarning({ facilitator }, network)).not.toContain('b.example');
      }
    });
  });

  const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
  const terms = {
    1: shop.terms(builtinOperation('/gauge'), TARGET, 1)[0],
    2: shop.terms(builtinOperation('/gauge'), TARGET, 2)[0],
  } as const;

  async function request(version: 1 | 2, isListed = true) {
    const payment = decodePayment(await payer(NETWORKS.base).header(terms[version]), version);
    if (isRefusal(payment)) throw new Error(payment.error);
    const listing =
      version === 2 && isListed ? shop.listing(builtinOperation('/gauge'), TARGET) : undefined;
    return facilitatorRequest(payment, terms[version], listing);
  }

  describe('translateRequest()', () => {
    it('keeps the name of the request, in either direction', async () => {
      const trace = { id: 'a', sentId: 'a' };
      for (const version of [1, 2] as const) {
        const asked = await request(version);
        expect(translateRequest({ ...asked, trace }).trace).toEqual(trace);
        expect(translateRequest(asked).trace).toBeUndefined();
      }
    });

    it('writes a payment of version 2 as version 1 with the terms that the v1 challenge shows', async () => {
      const made = translateRequest(await request(2));
      PaymentPayloadV1Schema.parse(made.paymentPayload);
      PaymentRequirementsV1Schema.parse(made.paymentRequirements);
      expect(made.x402Version).toBe(1);
      expect(made.paymentPayload).toMatchObject({
        x402Version: 1,
        scheme: 'exact',
        network: 'base',
      });
      expect(Object.keys(made.paymentPayload)).not.toContain('accepted');
      expect(made.paymentRequirements).toEqual({ ...terms[1], outputSchema: {} });
    });

    it('writes a payment of version 1 as version 2 with the terms that the v2 challenge shows', async () => {
      const made = translateRequest(await request(1));
      PaymentPayloadV2Schema.parse(made.paymentPayload);
      PaymentRequirementsV2Schema.parse(made.paymentRequirements);
      expect(made.x402Version).toBe(2);
      expect(made.paymentRequirements).toEqual(terms[2]);
      const { resource: url, description, mimeType } = terms[1] as never;
      expect(made.paymentPayload).toMatchObject({
        x402Version: 2,
        accepted: terms[2],
        resource: { url, description, mimeType },
      });
    });

    it.each([1, 2] as const)('leaves what was signed of version %i as it is', async (version) => {
      const asked = await request(version);
      const made = translateRequest(asked);
      expect(made.paymentPayload.payload).toBe(asked.paymentPayload.payload);
      expect(translateRequest(made).paymentPayload.payload).toBe(asked.paymentPayload.payload);
    });

    it('leaves a payment of version 2 alone that does not say what it buys', async () => {
      const bare = await request(2, false);
      expect(translateRequest(bare)).toBe(bare);
    });
  });
});
