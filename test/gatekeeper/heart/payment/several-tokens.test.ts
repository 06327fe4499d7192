import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import secp256k1 from 'secp256k1';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readJournalFile } from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { revenueBy } from '../../../../gatekeeper/heart/journal/ledger.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { settlersByNetwork } from '../../../../gatekeeper/heart/payment/open-settlement-services.ts';
import type { Facilitator, FacilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import { furtherTokens, NETWORKS, type Network } from '../../../../gatekeeper/settle/networks.ts';
import { type Payment, priceOf, type Requirements } from '../../../../gatekeeper/settle/payment.ts';
import { noteSigner, transferDigest } from '../../../../gatekeeper/settle/signature.ts';
import { saying } from '../../chain-reader.ts';
import { freshNonce, headerOf, NOW_MS, payer } from '../../payer.ts';
import { bench, gauge, HERE, json, PAY_TO, receipt, TARGET } from '../../payment-bench.ts';
import { ledgerRows } from '../../tiny-service.ts';

const { base } = NETWORKS;
const EURO = `0x${'e1'.repeat(20)}`;
const YEN = `0x${'e2'.repeat(20)}`;
const [euro, yen] = furtherTokens(
  `base:${EURO}:Euro Test:1:18,base:${YEN}:Yen Test:3:8`,
) as unknown as readonly [Network, Network];

function shopAt(tokens: readonly Network[]) {
  const own = { baseUrl: 'https://api.example.com', payTo: PAY_TO, serviceName: 'Example' };
  return challenger({ ...own, network: base, furtherNetworks: tokens });
}
const shop = shopAt([euro, yen]);
const termsOf = (version: 1 | 2, token: Network) => {
  const found = shop.terms(gauge, TARGET, version).find(({ asset }) => asset === token.asset);
  if (found === undefined) throw new Error('not offered');
  return found;
};
const PRICE = { [base.asset]: '10000', [euro.asset]: '10000000000000000', [yen.asset]: '1000000' };
const ALL = [base, euro, yen] as const;
const CASES = ALL.flatMap((token) => ([1, 2] as const).map((version) => ({ token, version })));

const selling = () => bench({ challenger: shop, verifyFirst: false });
let purchases: ReturnType<typeof selling>;
beforeEach(() => {
  purchases = selling();
});

describe('payments in several tokens', () => {
  it.each(CASES)(
    'settle as the token that was signed for: $token.extra.name, version $version',
    async ({ token, version }) => {
      const terms = termsOf(version, token);
      expect(priceOf(terms)).toBe(PRICE[token.asset]);
      const header = await payer(token).header(terms);
      const reply = await purchases.pay({ header, version });
      expect(reply.status).toBe(200);
      const paidHeader = version === 1 ? 'x-payment-response' : 'payment-response';
      expect(receipt(reply, paidHeader)).toMatchObject({ success: true });
      expect(purchases.calls.settle.map((call) => call.paymentRequirements)).toEqual([terms]);
      // The same again is the same purchase, on the same key.
      expect((await purchases.pay({ header, version })).status).toBe(200);
      expect(purchases.calls.settle).toHaveLength(1);
      const [network, asset] = [base.name, token.asset.toLowerCase()];
      const key = `${network}|${asset}|${payer(token).address}|`.toLowerCase();
      const [row] = purchases.calls.settle;
      const nonce = row?.paymentPayload.payload.authorization.nonce ?? '';
      expect(await purchases.journal().find(key + nonce)).toMatchObject({ state: 'settled' });
    },
  );

  it.each(CASES)(
    'below the price are refused: $token.extra.name, version $version',
    async ({ token, version }) => {
      const terms = termsOf(version, token);
      const short = `${BigInt(priceOf(terms)) - 1n}`;
      const header = headerOf(terms, await payer(token).sign(PAY_TO, short));
      const reply = await purchases.pay({ header, version });
      expect(json(reply).error).toMatch(/^invalid_exact_evm_payload_authorization_value: .*below/);
      expect(purchases.calls.settle).toEqual([]);
    },
  );

  it('the right amount in the wrong token is refused: its domain tells which it is', async () => {
    // Enough of a token of 8 decimals is not enough of one of 18.
    const signed = await payer(euro).sign(PAY_TO, PRICE[yen.asset] ?? '');
    const reply = await purchases.pay({ header: headerOf(termsOf(1, yen), signed) });
    expect(json(reply).error).toMatch(/^invalid_exact_evm_payload_authorization_value/);
    expect(purchases.calls.settle).toEqual([]);
  });

  it('of version 2 are refused with the domain or the asset of another token', async () => {
    for (const [named, signed] of [
      [euro, base],
      [base, euro],
      [yen, euro],
    ] as const) {
      const terms = termsOf(2, named);
      const payment = await payer(signed).sign(PAY_TO, priceOf(terms));
      const reply = await purchases.pay({ header: headerOf(terms, payment), version: 2 });
      expect(json(reply).error).toMatch(/^invalid_exact_evm_payload_signature/);
      const swapped = { ...termsOf(2, signed), asset: named.asset };
      const other = await purchases.pay({ header: headerOf(swapped, payment), version: 2 });
      expect(json(other).error).toMatch(/^invalid_payment_requirements/);
    }
    const unknown = { ...termsOf(2, euro), asset: `0x${'99'.repeat(20)}` };
    const payment = await payer(euro).sign(PAY_TO, PRICE[euro.asset] ?? '');
    const reply = await purchases.pay({ header: headerOf(unknown, payment), version: 2 });
    expect(json(reply).error).toMatch(/^invalid_payment_requirements/);
    expect(purchases.calls.settle).toEqual([]);
  });

  it('of version 1 are refused with the domain of a token that is not offered', async () => {
    const stranger = { ...euro, asset: `0x${'99'.repeat(20)}` };
    const payment = await payer(stranger).sign(PAY_TO, '10000');
    const reply = await purchases.pay({ header: headerOf(termsOf(1, euro), payment) });
    expect(json(reply).error).toMatch(/^invalid_exact_evm_payload_signature/);
    expect(json(reply).accepts).toHaveLength(3);
    expect(purchases.calls.settle).toEqual([]);
  });

  it('I5: with one nonce in two tokens are two payments, each bound to its own request', async () => {
    const nonce = freshNonce();
    const one = headerOf(termsOf(1, base), await payer(base).sign(PAY_TO, '10000', { nonce }));
    const signed = await payer(euro).sign(PAY_TO, PRICE[euro.asset] ?? '', { nonce });
    const two = headerOf(termsOf(1, euro), signed);
    const target = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
    expect((await purchases.pay({ header: one })).status).toBe(200);
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: freshNonce() });
    expect((await purchases.pay({ header: two, target })).status).toBe(200);
    expect(purchases.calls.settle).toHaveLength(2);
    expect(json(await purchases.pay({ header: two })).error).toMatch(/^payment_already_used/);
  });

  it('are found by their domain with signers recovered beside this thread too', async () => {
    const judged: string[] = [];
    const signatures = {
      judge: async (_: unknown, { asset }: Network) => void judged.push(asset),
    };
    purchases = bench({ challenger: shop, verifyFirst: false, signatures });
    const header = await payer(yen).header(termsOf(1, yen));
    expect((await purchases.pay({ header })).status).toBe(200);
    expect(judged).toEqual([base.asset, euro.asset, yen.asset]);
    expect(purchases.calls.settle[0]?.paymentRequirements.asset).toBe(yen.asset);
  });

  it('a false one of version 1 costs this thread no signer, whatever tokens it was tried for', async () => {
    const signatures = {
      judge: async ({ authorization, signature }: Payment, token: Network) => {
        const digest = transferDigest(token, authorization);
        noteSigner(authorization, { network: token, signature, digest, payer: null });
      },
    };
    const recovers = vi.spyOn(secp256k1, 'ecdsaRecover');
    try {
      const own = bench({ challenger: shop, verifyFirst: false, signatures });
      const header = headerOf(termsOf(1, base), await payer(yen).sign(PAY_TO, '10000'));
      expect(json(await own.pay({ header })).error).toMatch(/^invalid_exact_evm_payload_signature/);
      expect(recovers).not.toHaveBeenCalled();
    } finally {
      recovers.mockRestore();
    }
  });
});

describe('transferOf()', () => {
  it.each(CASES)(
    'tells value and token, and leaves signers to the other thread: $token.extra.name, version $version',
    async ({ token, version }) => {
      const judged: string[] = [];
      const signatures = {
        judge: async (payment: Payment, network: Network) => {
          judged.push(network.asset);
          const { authorization, signature } = payment;
          const digest = transferDigest(network, authorization);
          const isIts = network.asset === token.asset;
          const signer = isIts ? authorization.from.toLowerCase() : null;
          noteSigner(authorization, { network, signature, digest, payer: signer });
        },
      };
      const service = bench({ challenger: shop, signatures }).service();
      const text = await payer(token).header(termsOf(version, token));
      const recovers = vi.spyOn(secp256k1, 'ecdsaRecover');
      try {
        const transfer = await service.transferOf({ kind: 'payment', version, text });
        expect(transfer).toEqual({ value: PRICE[token.asset], token });
        expect(recovers).not.toHaveBeenCalled();
      } finally {
        recovers.mockRestore();
      }
      // Version 2 names the token.
      const tried = ALL.slice(0, ALL.indexOf(token) + 1).map(({ asset }) => asset);
      expect(judged).toEqual(version === 1 ? tried : []);
    },
  );

  it('says why a payment cannot be read', async () => {
    const service = bench({ challenger: shop }).service();
    const transfer = await service.transferOf({ kind: 'payment', version: 1, text: 'nothing' });
    expect(transfer).toMatchObject({ reason: 'invalid_payload' });
  });
});

describe('what is asked before the rate limit', () => {
  it.each(ALL)('finds a sale in $extra.name and recovers no signer', async (token) => {
    const text = await payer(token).header(termsOf(1, token));
    const other = await payer(token).header(termsOf(1, token));
    expect((await purchases.pay({ header: text })).status).toBe(200);
    const service = purchases.service();
    const recovers = vi.spyOn(secp256k1, 'ecdsaRecover');
    try {
      expect(service.boughtBy({ kind: 'payment', version: 1, text }, HERE)).toBe(`GET ${TARGET}`);
      expect(service.boughtBy({ kind: 'payment', version: 1, text: other }, HERE)).toBeNull();
      expect(recovers).not.toHaveBeenCalled();
    } finally {
      recovers.mockRestore();
    }
  });
});

describe('a token that was taken at a rate before', () => {
  const RATED = '9200000000000000';
  /** The terms of before, which asked for another amount. */
  const before: typeof shop.terms = (...of) => {
    const [first, ...others] = shop.terms(...of);
    const rated = (one: Requirements): Requirements => {
      if (one.asset !== euro.asset) return one;
      return 'amount' in one ? { ...one, amount: RATED } : { ...one, maxAmountRequired: RATED };
    };
    return [first, ...others.map(rated)];
  };
  const ratedTerms = (version: 1 | 2) =>
    before(gauge, TARGET, version).find(({ asset }) => asset === euro.asset) ?? termsOf(1, base);
  /** A seller that takes the token at a rate until it is told otherwise. */
  function moving(own: Parameters<typeof bench>[0] = {}) {
    const seller = { terms: before };
    const terms: typeof shop.terms = (...of) => seller.terms(...of);
    return { seller, own: bench({ ...own, challenger: { ...shop, terms }, verifyFirst: false }) };
  }

  it('asks for the amount at par, and refuses another one of a payment that is not known', async () => {
    const header = await payer(euro).header(ratedTerms(1));
    const reply = await purchases.pay({ header });
    expect(json(reply).error).toMatch(/authorization_value: .*price of 10000000000000000;/);
    expect(purchases.calls.settle).toEqual([]);
  });

  it.each([1, 2] as const)('I2: delivers again what it paid for, version %i', async (version) => {
    const { seller, own } = moving();
    const header = await payer(euro).header(ratedTerms(version));
    const sold = await own.pay({ header, version });
    expect(sold.status).toBe(200);
    seller.terms = shop.terms;
    own.restart();
    expect((await own.pay({ header, version })).body).toEqual(sold.body);
    expect(own.calls.settle).toHaveLength(1);
  });

  it.each([1, 2] as const)(
    'I9: leaves a payment in doubt to the terms that were signed, version %i',
    async (version) => {
      const asked: FacilitatorRequest[] = [];
      const assets: string[] = [];
      const evidence = saying(async ({ asset }) => {
        assets.push(asset);
        return { state: 'unused' };
      });
      const { seller, own } = moving({ evidence });
      own.script.settle = async (request) => {
        asked.push(request);
        return { verdict: 'none', detail: 'lost' };
      };
      const header = await payer(euro).header(ratedTerms(version));
      expect((await own.pay({ header, version })).status).toBe(503);
      seller.terms = shop.terms;
      own.restart();
      own.wait();
      own.script.settle = async (request) => {
        asked.push(request);
        return { verdict: 'settled', transaction: freshNonce() };
      };
      expect((await own.pay({ header, version })).status).toBe(200);
      expect(asked.map((one) => priceOf(one.paymentRequirements))).toEqual([RATED, RATED]);
      expect(new Set(assets)).toEqual(new Set([euro.asset]));
    },
  );

  it('I2: after a restart the chain is asked about the token that was paid', async () => {
    const assets: string[] = [];
    const own = bench({
      challenger: shop,
      verifyFirst: false,
      evidence: saying(async ({ asset }) => {
        assets.push(asset);
        return { state: 'unknown' };
      }),
    });
    own.script.settle = async () => ({ verdict: 'none', detail: 'lost' });
    const header = await payer(yen).header(termsOf(1, yen));
    expect((await own.pay({ header })).status).toBe(503);
    own.restart();
    const [open] = await own.journal().unresolved(0, 10);
    await own.service().look(open?.key ?? '');
    expect(assets).toEqual([yen.asset, yen.asset]);
  });
});

describe('the ledger of several tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('counts USD as it was worth when it was sold, and each amount in its own token', async () => {
    const path = join(folder, 'payments.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    for (const token of [base, euro]) {
      const own = bench({ challenger: shop, verifyFirst: false, journal });
      const header = await payer(token).header(termsOf(2, token));
      expect((await own.pay({ header, version: 2 })).status).toBe(200);
    }
    // A row of a sale at a rate, as a version that knew rates wrote it.
    const key = `base|${EURO}|0x${'a1'.repeat(20)}|${freshNonce()}`;
    const sale = {
      resource: `GET ${TARGET}`,
      version: 2,
      signed: 'signed',
      validBefore: 1,
    } as const;
    const answer = { body: Buffer.from('{}'), contentType: 'application/json' };
    await journal.claim({ key, ...sale, ...answer, value: '9200000000000000', usd: '10000' });
    await journal.conclude({ key, state: 'settled', transaction: freshNonce() });
    journal.close();
    const db = readJournalFile(path);
    const rows = await ledgerRows(db);
    expect(rows.map(({ asset, value, usd }) => [asset, value, usd])).toEqual([
      [base.asset.toLowerCase(), '10000', '0.01'],
      [EURO, '10000000000000000', '0.01'],
      [EURO, '9200000000000000', '0.01'],
    ]);
    const { rows: sums } = await revenueBy(rows, 'path');
    expect(sums.map(({ asset, payments, value, usd }) => [asset, payments, value, usd])).toEqual([
      [base.asset.toLowerCase(), 1, '10000', '0.01'],
      [EURO, 2, '19200000000000000', '0.02'],
    ]);
    db.close();
  });
});

describe('settlersByNetwork() with several tokens', () => {
  const settlerOf = (token: Network): Parameters<typeof settlersByNetwork>[0][0] => ({
    network: token,
    facilitator: {
      settle: async () => ({ verdict: 'settled', transaction: token.asset }),
    } as unknown as Facilitator,
  });
  const settlers = settlersByNetwork([settlerOf(base), settlerOf(euro)]);
  const requestFor = (network: string, asset: string): FacilitatorRequest =>
    ({ paymentRequirements: { network, asset } }) as unknown as FacilitatorRequest;

  it('sends each payment to the settler of its token', async () => {
    for (const network of ['base', 'eip155:8453']) {
      for (const { asset } of [base, euro]) {
        const transaction = asset;
        expect(await settlers.settle(requestFor(network, asset))).toMatchObject({ transaction });
      }
    }
  });

  it('sends a payment for any other token to nobody', async () => {
    const nobody = { verdict: 'none', unsent: true };
    expect(await settlers.settle(requestFor('base', YEN))).toMatchObject(nobody);
    expect(await settlers.settle(requestFor('polygon', EURO))).toMatchObject(nobody);
  });
});

describe('a shop without further tokens', () => {
  it('offers what it did', () => {
    const plain = shopAt([]).challenge(gauge, TARGET);
    const [first] = shop.terms(gauge, TARGET, 2);
    const { accepts } = JSON.parse(plain.body.toString('utf8'));
    expect(accepts).toHaveLength(1);
    expect(first).toMatchObject({ asset: base.asset, amount: '10000', extra: base.extra });
  });
});
