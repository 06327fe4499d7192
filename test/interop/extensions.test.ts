import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePaymentRequired } from '@x402/core/schemas';
import { ExactEvmScheme } from '@x402/evm';
import {
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  extractReceiptPayload,
  isJWSSignedReceipt,
  OFFER_RECEIPT,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import {
  appendPaymentIdentifierToExtensions,
  extractPaymentIdentifier,
  PAYMENT_IDENTIFIER,
  paymentIdentifierSchema,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import {
  createSIWxPayload,
  encodeSIWxHeader,
  parseSIWxHeader,
  SIGN_IN_WITH_X,
  validateSIWxMessage,
  verifySIWxSignature,
  wrapFetchWithSIWx,
} from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSigner, wrapFetchWithPayment } from 'x402-fetch';
import { formatKeyHistory, KEYS_PATH } from '../../compiler/format/key-history.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { listingKeys, SIGNER_DID, SIGNER_SEED } from '../gatekeeper/payer.ts';
import { TINY_BASE_URL, tinyFiles, writeTinyRelease } from '../gatekeeper/tiny-release.ts';

/** The extensions that are on, before the published package and the stock clients. */
const RECORD = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const folder = mkdtempSync(join(tmpdir(), 'signalpress-interop-extensions-'));

async function opened(state: string, signs: boolean): Promise<Gatekeeper> {
  const own = { data: join(folder, 'data'), state: join(folder, state) };
  const network = 'base-sepolia,avalanche-fuji';
  const env = signs ? { SIGNALPRESS_OFFER_RECEIPT_KEY: SIGNER_SEED } : {};
  return startGate({ test_payments: '1', network, ...own }, { env });
}

let gate: Gatekeeper;
let plain: Gatekeeper;
beforeAll(async () => {
  const keys = Buffer.from(formatKeyHistory(listingKeys()));
  const files = new Map([...tinyFiles(), [KEYS_PATH, keys]]);
  writeTinyRelease(join(folder, 'data'), { files });
  gate = await opened('on', true);
  plain = await opened('off', false);
});
afterAll(async () => {
  await gate?.close();
  await plain?.close();
  rmSync(folder, { recursive: true });
});

async function statusAndError(response: Response): Promise<[number, unknown]> {
  const { error } = (await response.json()) as { error?: unknown };
  return [response.status, error];
}

/** A fetch under the public address of the shop, as behind its proxy; every request is noted. */
function publicFetch(to: () => Gatekeeper, seen: Request[] = []): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    seen.push(request.clone());
    const { headers, method } = request;
    const local = request.url.replace(TINY_BASE_URL, to().url);
    const reply = await fetch(local, { headers, method });
    // A new one, because a proxy's reply does not name the address behind it.
    return new Response(await reply.arrayBuffer(), reply);
  };
}

/** The challenge of version 2 as the published schema reads it. */
async function challengeOf(of: Gatekeeper) {
  const response = await fetch(of.url + RECORD);
  const header = response.headers.get('payment-required') ?? '';
  const text = Buffer.from(header, 'base64').toString('utf8');
  const parsed = parsePaymentRequired(JSON.parse(text));
  if (!parsed.success || parsed.data.x402Version !== 2) throw new Error('not a challenge');
  const headers = [...response.headers].reduce(
    (sum, [name, value]) => sum + (name + value).length,
    0,
  );
  return { challenge: parsed.data, headers };
}

/** Buys once with @x402/fetch; `name` goes into the payment, as its hooks do. */
async function bought(account: ReturnType<typeof privateKeyToAccount>, seen: Request[] = []) {
  const schemes = [{ network: 'eip155:*' as const, client: new ExactEvmScheme(account) }];
  const pay = wrapFetchWithPaymentFromConfig(
    publicFetch(() => gate, seen),
    { schemes },
  );
  const response = await pay(TINY_BASE_URL + RECORD);
  return { status: response.status, body: await response.text(), headers: response.headers };
}

describe('the challenge', () => {
  it('announces what is on, in headers well under 16 KB, and what knows a buyer again where nothing is set', async () => {
    const on = await challengeOf(gate);
    expect(Object.keys(on.challenge.extensions ?? {}).sort()).toEqual(
      ['bazaar', PAYMENT_IDENTIFIER, SIGN_IN_WITH_X, OFFER_RECEIPT].sort(),
    );
    expect(on.headers).toBeLessThan(12_000);
    const off = await challengeOf(plain);
    expect(Object.keys(off.challenge.extensions ?? {}).sort()).toEqual(
      ['bazaar', PAYMENT_IDENTIFIER, SIGN_IN_WITH_X].sort(),
    );
  });

  it('holds a payment identifier as the package declares it', async () => {
    const { challenge } = await challengeOf(gate);
    const declared = challenge.extensions?.[PAYMENT_IDENTIFIER];
    expect(validatePaymentIdentifier(declared)).toEqual({ valid: true });
    expect(declared).toEqual({ info: { required: false }, schema: paymentIdentifierSchema });
  });

  it('holds a new message for each who asks', async () => {
    const messages = await Promise.all([challengeOf(gate), challengeOf(gate)]);
    const nonces = messages.map(({ challenge }) => {
      const extension = challenge.extensions?.[SIGN_IN_WITH_X] as { info: { nonce: string } };
      return extension.info.nonce;
    });
    expect(new Set(nonces).size).toBe(2);
  });

  it('x402-fetch of version 1 and @x402/fetch buy as before', async () => {
    const signer = await createSigner('base-sepolia', generatePrivateKey());
    const v1 = await wrapFetchWithPayment(fetch, signer)(gate.url + RECORD);
    expect(v1.status).toBe(200);
    const v2 = await bought(privateKeyToAccount(generatePrivateKey()));
    expect(v2.status).toBe(200);
  });
});

describe('offer-receipt', () => {
  it('the package verifies the receipt of a purchase by @x402/fetch', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const { status, headers, body } = await bought(account);
    expect(status).toBe(200);
    const receipt = extractReceiptFromResponse({ headers } as Response);
    if (receipt === undefined || !isJWSSignedReceipt(receipt)) throw new Error('no receipt');
    const payload = await verifyReceiptSignatureJWS(receipt);
    expect(payload).toEqual(extractReceiptPayload(receipt));
    const bodyHash = `sha256:${createHash('sha256').update(body).digest('hex')}`;
    expect(payload).toMatchObject({ bodyHash, simulated: true });
    const [header = ''] = receipt.signature.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString()).kid).toBe(SIGNER_DID);
    expect(payload.payer.toLowerCase()).toBe(account.address.toLowerCase());
  });

  it('signs no offers, and no receipt where the extension is off', async () => {
    const { challenge } = await challengeOf(plain);
    expect(extractOffersFromPaymentRequired(challenge as never)).toEqual([]);
    const account = privateKeyToAccount(generatePrivateKey());
    const schemes = [{ network: 'eip155:*' as const, client: new ExactEvmScheme(account) }];
    const pay = wrapFetchWithPaymentFromConfig(
      publicFetch(() => plain),
      { schemes },
    );
    const response = await pay(TINY_BASE_URL + RECORD);
    expect([response.status, extractReceiptFromResponse(response)]).toEqual([200, undefined]);
  });
});

describe('payment-identifier', () => {
  it('a purchase that the package names is charged once, whatever is signed', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const { challenge } = await challengeOf(gate);
    const client = new ExactEvmScheme(account);
    const [accepted] = challenge.accepts;
    if (accepted === undefined) throw new Error('nothing is offered');
    const extensions = structuredClone(challenge.extensions ?? {});
    appendPaymentIdentifierToExtensions(extensions, 'order-2026-11-21-0001');
    const send = async (path: string) => {
      const { payload } = await client.createPaymentPayload(2, accepted as never);
      const payment = {
        x402Version: 2,
        resource: challenge.resource,
        accepted,
        payload,
        extensions,
      };
      expect(extractPaymentIdentifier(payment as never)).toBe('order-2026-11-21-0001');
      const text = Buffer.from(JSON.stringify(payment)).toString('base64');
      const response = await fetch(gate.url + path, { headers: { 'payment-signature': text } });
      const receipt = response.headers.get('payment-response');
      return { status: response.status, body: await response.text(), receipt };
    };
    const first = await send(RECORD);
    expect(first.status).toBe(200);
    expect(await send(RECORD)).toEqual(first);
    const other = await send(`${RECORD}&format=thin`);
    expect([other.status, other.body]).toEqual([402, expect.stringContaining('identifier_used')]);
  });
});

describe('sign-in-with-x', () => {
  it('wrapFetchWithSIWx gets again what its account bought, and a stranger gets the 402', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const first = await bought(account);
    expect(first.status).toBe(200);
    const seen: Request[] = [];
    const again = await wrapFetchWithSIWx(
      publicFetch(() => gate, seen),
      account,
    )(TINY_BASE_URL + RECORD);
    expect([again.status, await again.text()]).toEqual([200, first.body]);
    expect(again.headers.get('payment-response')).toBeNull();
    const stranger = privateKeyToAccount(generatePrivateKey());
    const refused = await wrapFetchWithSIWx(
      publicFetch(() => gate),
      stranger,
    )(TINY_BASE_URL + RECORD);
    expect(await statusAndError(refused)).toEqual([402, expect.stringMatching(/^siwx_not_paid/)]);
    // The same header once more, as somebody who recorded it would send it.
    const header = seen.at(-1)?.headers.get(SIGN_IN_WITH_X) ?? '';
    const replayed = await fetch(gate.url + RECORD, { headers: { [SIGN_IN_WITH_X]: header } });
    expect(await statusAndError(replayed)).toEqual([
      402,
      expect.stringMatching(/^invalid_siwx_nonce/),
    ]);
  });

  it('the message of the challenge passes the checks of the package', async () => {
    const { challenge } = await challengeOf(gate);
    const extension = challenge.extensions?.[SIGN_IN_WITH_X] as {
      info: object;
      supportedChains: readonly { chainId: string; type: 'eip191' }[];
    };
    expect(extension.supportedChains.map(({ chainId }) => chainId)).toEqual([
      'eip155:84532',
      'eip155:43113',
    ]);
    const info = { ...extension.info, ...extension.supportedChains[1] } as never;
    const account = privateKeyToAccount(generatePrivateKey());
    const payload = await createSIWxPayload(info, account, TINY_BASE_URL + RECORD);
    const parsed = parseSIWxHeader(encodeSIWxHeader(payload));
    expect(await validateSIWxMessage(parsed, new URL(TINY_BASE_URL))).toEqual({ isValid: true });
    expect(await verifySIWxSignature(parsed)).toMatchObject({ isValid: true });
  });
});
