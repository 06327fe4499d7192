import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../gatekeeper/http/reply.ts';
import { NOW_MS } from '../payer.ts';
import {
  alice,
  BASE,
  type Bench,
  bench,
  expectRefused,
  gauge,
  header,
  json,
  TARGET,
  v1,
} from '../payment-bench.ts';
import { at, message } from '../sign-in-message.ts';

const OTHER = '/gauge?entity=us-boise&signal_id=airquality.aqi';
const DAY_MS = 86_400_000;

/** A request with this message; `sell` shows that what cannot be answered is never refused for money. */
async function signIn(purchases: Bench, text: string, target = TARGET): Promise<Reply> {
  const paymentHeader = { kind: 'sign-in', text } as const;
  const asked = { endpoint: gauge, target, method: 'GET', paymentHeader };
  const opened = await purchases.service().open(asked);
  const delivery = { body: Buffer.from('never'), contentType: 'text/plain' };
  return 'sell' in opened ? opened.sell(delivery) : opened;
}

async function sold(overrides: Parameters<typeof bench>[0] = {}) {
  const purchases = bench(overrides);
  const first = await purchases.pay({ header: await alice.header(v1) });
  expect(first.status).toBe(200);
  return { purchases, first };
}

describe('signing in', () => {
  it('I2: an account that paid gets the same bytes again, and nobody is asked for money', async () => {
    const { purchases, first } = await sold();
    const again = await signIn(purchases, await message());
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(header(again, 'cache-control')).toBe('private, no-store');
    expect(header(again, 'content-type')).toBe('application/json');
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I2: also after a restart, with every member that a message may have', async () => {
    const { purchases, first } = await sold();
    purchases.restart();
    const full = {
      statement: 'Get it again',
      expirationTime: at(60_000),
      notBefore: at(-1000),
      requestId: 'r-1',
    };
    expect((await signIn(purchases, await message(full))).body).toEqual(first.body);
  });

  it('I1: gives the newest sale of this account for this request, and nothing of another account or request', async () => {
    const { purchases, first } = await sold();
    const later = await purchases.pay({ header: await alice.header(v1) });
    expect(later.body).not.toEqual(first.body);
    expect((await signIn(purchases, await message())).body).toEqual(later.body);
    const bob = await signIn(purchases, await message({}, {}, 'bob'));
    expectRefused(bob, /^siwx_not_paid: /);
    const other = await message({ uri: BASE + OTHER });
    expectRefused(await signIn(purchases, other, OTHER), /^siwx_not_paid: /);
    expectRefused(await signIn(purchases, await message(), OTHER), /siwx_uri_mismatch/);
  });

  it('I1: gives nothing for a payment that did not settle', async () => {
    for (const verdict of [
      { verdict: 'none', detail: 'timeout' },
      { verdict: 'refused', reason: 'insufficient_funds' },
    ] as const) {
      const purchases = bench();
      purchases.script.settle = async () => verdict;
      await purchases.pay({ header: await alice.header(v1) });
      const reply = await signIn(purchases, await message());
      expectRefused(reply, /^siwx_not_paid: .*if you sent one, send the same payment again/);
    }
  });

  it.each<[string, object, object, RegExp]>([
    ['another service', { domain: 'evil.example' }, {}, /siwx_domain_mismatch/],
    ['a URL of another service', { uri: `https://evil.example${TARGET}` }, {}, /siwx_uri_mismatch/],
    ['a chain that is not offered', { chainId: 'eip155:1' }, {}, /siwx_unsupported_chain/],
    ['an old message', { issuedAt: at(-300_001) }, {}, /siwx_issued_at_too_old/],
    ['a message of the future', { issuedAt: at(6000) }, {}, /siwx_issued_at_in_future/],
    ['one that is over', { expirationTime: at(-1) }, {}, /siwx_expired/],
    ['one that is not yet valid', { notBefore: at(1000) }, {}, /siwx_not_yet_valid/],
    [
      'a line that a wallet did not show',
      { statement: 'a\nURI: b' },
      {},
      /siwx_payload.*statement/,
    ],
    ['a short nonce', { nonce: 'abc' }, {}, /siwx_payload.*nonce/],
    ['a changed message', {}, { nonce: 'changed0' }, /siwx_signature/],
    ['a foreign address', {}, { address: `0x${'cd'.repeat(20)}` }, /siwx_signature/],
    ['a longer signature', {}, { signature: `0x${'ab'.repeat(66)}` }, /siwx_signature/],
    ['another kind of signature', {}, { type: 'ed25519' }, /siwx_payload.*type/],
  ])('I1: refuses %s by name', async (...[, changes, after, reason]) => {
    const { purchases } = await sold();
    expectRefused(await signIn(purchases, await message(changes, after)), reason);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it.each(['', 'no base64!', 'e30=', 'AAAA', `${'QQ=='}, ${'QQ=='}`, 'A'.repeat(9000)])(
    'I1: refuses %j',
    async (text) => {
      const { purchases } = await sold();
      expectRefused(await signIn(purchases, text), /siwx_payload/);
    },
  );

  it('I1: a message fetches once, and the message of the next 402 again', async () => {
    const { purchases, first } = await sold();
    const text = await message();
    const replies = await Promise.all([signIn(purchases, text), signIn(purchases, text)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 402]);
    expectRefused(await signIn(purchases, text), /siwx_nonce/);
    expect((await signIn(purchases, await message())).body).toEqual(first.body);
  });

  it('I59: a message that fetched something works no more after a restart', async () => {
    const { purchases } = await sold();
    const text = await message();
    expect((await signIn(purchases, text)).status).toBe(200);
    purchases.restart();
    expectRefused(await signIn(purchases, text), /siwx_nonce/);
  });

  it('I9: what is no longer stored is named, and nothing is sold in its place', async () => {
    const { purchases } = await sold();
    purchases.script.now += 40 * DAY_MS;
    await purchases.pay({ header: await alice.header(v1, window(40 * DAY_MS)), target: OTHER });
    const issuedAt = at(40 * DAY_MS);
    await expect
      .poll(async () => json(await signIn(purchases, await message({ issuedAt }))).error)
      .toMatch(/paid_answer_no_longer_kept/);
  });
});

function window(ms: number) {
  const nowS = (NOW_MS + ms) / 1000;
  return { validAfter: String(nowS - 60), validBefore: String(nowS + 300) };
}
