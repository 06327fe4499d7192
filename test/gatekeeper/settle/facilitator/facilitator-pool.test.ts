import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { recoverTypedDataAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  canary,
  facilitatorPool,
} from '../../../../gatekeeper/settle/facilitator/facilitator-pool.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import {
  ABANDONED,
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type NoVerdict,
  type SettleOutcome,
  type ValidityOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { NOW_MS, payer, paymentRequest, typedTransfer } from '../../payer.ts';
import { tinyGate } from '../../tiny-gate.ts';

const REST_MS = 1000;
const FAILURES_MAX = 5;

const lost: NoVerdict = { verdict: 'none', detail: 'status 500' };
const unsent: NoVerdict = { verdict: 'none', detail: 'ECONNREFUSED', unsent: true };
const valid: ValidityOutcome = { verdict: 'valid' };
const settled: SettleOutcome = {
  verdict: 'settled',
  transaction: 'tx',
};
const refused: SettleOutcome = { verdict: 'refused', reason: 'insufficient_funds' };

interface Member extends Facilitator {
  readonly calls: string[];
  says: { verify: ValidityOutcome; settle: SettleOutcome; canary: ValidityOutcome };
}

/** What our own question is put in place of a payment. */
const ownQuestion = await paymentRequest(payer(NETWORKS.base, 'canary'));

/** As long as its own does, a facilitator answers our question like any other. */
function member(settle: SettleOutcome = settled, verify: ValidityOutcome = valid): Member {
  const calls: string[] = [];
  const one: Member = {
    calls,
    says: { verify, settle, canary: verify },
    async verify(request) {
      calls.push(request === ownQuestion ? 'canary' : 'verify');
      return request === ownQuestion ? one.says.canary : one.says.verify;
    },
    async settle() {
      calls.push('settle');
      return one.says.settle;
    },
    supported: async () => ({ verdict: 'supported', kinds: [] }),
  };
  return one;
}

const request = await paymentRequest();

function pool(facilitators: readonly Member[], isUnused?: () => Promise<boolean>) {
  const time = { now: 0 };
  const clock = (): number => time.now;
  const options = isUnused === undefined ? {} : { isUnused };
  const made = { facilitators, clock, canary: () => ownQuestion, slowMs: 50, ...options };
  return { time, ...facilitatorPool(made) };
}

/** One that says which networks it settles, as long as it says so. */
const listing = (one: Member, lists: boolean | (() => boolean)) => ({
  ...one,
  lists: () => (typeof lists === 'boolean' ? lists : lists()),
});

/** Lets a probe come back. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Purchases of as many strangers, each with a fresh key. */
async function strangers(count: number): Promise<readonly FacilitatorRequest[]> {
  const names = Array.from({ length: count }, (_, at) => `stranger ${at}`);
  return Promise.all(names.map((name) => paymentRequest(payer(NETWORKS.base, name))));
}

describe('facilitatorPool()', () => {
  it('facilitatorPool() asks in order of preference, and the next only without a verdict', async () => {
    const [first, second] = [member(), member()];
    const { verify, settle } = pool([first, second]);
    expect([await verify(request), await settle(request)]).toEqual([valid, settled]);
    expect([first.calls, second.calls]).toEqual([['verify', 'settle'], []]);

    const invalid: ValidityOutcome = { verdict: 'invalid', reason: 'no' };
    const [strict, lax] = [member(settled, invalid), member()];
    expect(await pool([strict, lax]).verify(request)).toEqual(invalid);
    expect(lax.calls).toEqual([]);
    const [down, up] = [member(settled, lost), member()];
    expect(await pool([down, up]).verify(request)).toEqual(valid);
  });

  it('I3: facilitatorPool() takes a settlement elsewhere that never left, not one that may have', async () => {
    const [away, near] = [member(unsent), member()];
    const apart = pool([away, near]);
    await apart.verify(request);
    expect(await apart.settle(request)).toEqual(settled);

    const [broken, other] = [member(lost), member()];
    const careful = pool([broken, other], async () => true);
    await careful.verify(request);
    expect(await careful.settle(request)).toEqual(lost);
    expect(other.calls).toEqual([]);
  });

  it('I3: facilitatorPool() asks another again only when the chain says unused', async () => {
    for (const [isUnused, moves] of [
      [undefined, false],
      [async () => false, false],
      [async () => true, true],
    ] as const) {
      const [broken, other] = [member(lost), member()];
      const both = pool([broken, other], isUnused);
      await both.verify(request);
      await both.settle(request);
      broken.says.settle = unsent;
      expect((await both.settle(request)).verdict).toBe(moves ? 'settled' : 'none');
      expect(broken.calls.filter((call) => call === 'settle')).toHaveLength(2);
      expect(other.calls).toEqual(moves ? ['settle'] : []);
    }
  });

  it('I3: facilitatorPool() asks the chain about a payment that was given away before a restart', async () => {
    const [first, second] = [member(), member()];
    expect(await pool([first, second]).settle(request)).toMatchObject({
      verdict: 'none',
      detail: expect.stringMatching(/^it is not known who was asked before/),
    });
    expect([first.calls, second.calls]).toEqual([[], []]);
    expect(await pool([first, second], async () => true).settle(request)).toEqual(settled);
    const alone = member();
    expect(await pool([alone]).settle(request)).toEqual(settled);
    const silent = member(unsent);
    const waiting = pool([silent, member()], async () => silent.calls.length === 0);
    expect((await waiting.settle(request)).verdict).toBe('none');
    expect((await waiting.settle(request)).verdict).toBe('none');
  });

  it('facilitatorPool() passes a refusal on, whoever else might not refuse', async () => {
    const other = member();
    const { verify, settle } = pool([member(refused), other]);
    await verify(request);
    expect(await settle(request)).toEqual(refused);
    expect(other.calls).toEqual([]);
  });

  it('I2: facilitatorPool() settles where verify succeeded, not where it had no verdict', async () => {
    const [silent, other] = [member(settled, lost), member()];
    const { verify, settle } = pool([silent, other]);
    expect(await verify(request)).toEqual(valid);
    expect(await settle(request)).toEqual(settled);
    expect([silent.calls, other.calls]).toEqual([['verify'], ['verify', 'settle']]);
    const [near, away] = [member(), member(unsent)];
    const both = pool([near, away], async () => false);
    near.says.verify = lost;
    await both.verify(request);
    expect(await both.settle(request), 'what never left goes to another').toEqual(settled);
    expect([near.calls, away.calls]).toEqual([
      ['verify', 'settle'],
      ['verify', 'settle'],
    ]);
  });

  it('facilitatorPool() asks nobody else first about a payment that was never given to anybody', async () => {
    const asked: string[] = [];
    const isUnused = async (): Promise<boolean> => asked.push('chain') > 0;
    const [first, second] = [member(unsent), member()];
    expect(await pool([first, second], isUnused).settle(request, true)).toEqual(settled);
    expect([first.calls, second.calls, asked]).toEqual([['settle'], ['settle'], []]);
    const [broken, other] = [member(lost), member()];
    const careful = pool([broken, other], async () => false);
    expect(await careful.settle(request, true)).toEqual(lost);
    expect(await careful.settle(request, false)).toEqual(lost);
    expect(other.calls).toEqual([]);
  });

  it('facilitatorPool() asks only who lists the network, and nobody where none does', async () => {
    const [first, second] = [member(refused), member()];
    const { settle, verify } = pool([listing(first, false), listing(second, true)]);
    expect(await verify(request)).toBe(valid);
    expect(await settle(request, true)).toBe(settled);
    expect([first.calls, second.calls]).toEqual([[], ['verify', 'settle']]);
    const nobody = { verdict: 'none', unsent: true, detail: 'no facilitator lists the network' };
    for (const members of [[first], [first, second]]) {
      const none = pool(members.map((one) => listing(one, false)));
      expect(await none.settle(request, true)).toEqual(nobody);
      expect(await none.verify(request)).toEqual(nobody);
      expect(none.circuits()).toEqual(members.map(() => 'closed'));
    }
    expect([first.calls, second.calls]).toEqual([[], ['verify', 'settle']]);
  });

  it('I3: facilitatorPool() asks who was asked to settle, though it lists the network no more', async () => {
    const [first, second] = [member(lost), member()];
    let isListed = true;
    const { settle } = pool([listing(first, () => isListed), listing(second, true)]);
    expect(await settle(request, true)).toEqual(lost);
    isListed = false;
    first.says.settle = settled;
    expect(await settle(request, false)).toEqual(settled);
    expect([first.calls, second.calls]).toEqual([['settle', 'settle'], []]);
    const [stranger] = await strangers(1);
    expect(await settle(stranger ?? request, true)).toEqual(settled);
    expect([first.calls.length, second.calls]).toEqual([2, ['settle']]);
  });

  it('I4: facilitatorPool() stays open to honest buyers when strangers make a facilitator fail', async () => {
    const bad: readonly NoVerdict[] = [
      { verdict: 'none', detail: 'status 400, no boolean', status: 400 },
      { verdict: 'none', detail: 'status 500', status: 500 },
      { verdict: 'none', detail: 'no answer in 60000 ms' },
    ];
    for (const outcome of bad) {
      const only = member();
      only.says = { verify: outcome, settle: outcome, canary: { verdict: 'invalid', reason: '' } };
      const { settle } = pool([only]);
      for (const stranger of await strangers(8)) expect(await settle(stranger, true)).toBe(outcome);
      only.says.settle = settled;
      for (const buyer of await strangers(6)) expect(await settle(buyer, true)).toEqual(settled);
      const probes = only.calls.filter((call) => call === 'canary').length;
      expect([outcome.detail, probes]).toEqual([outcome.detail, outcome.status === 400 ? 0 : 1]);
    }
  });

  it('I4: facilitatorPool() leaves out one that is dead: it has no verdict on our own question either', async () => {
    const dead: readonly NoVerdict[] = [
      { verdict: 'none', detail: 'status 500', status: 500 },
      { verdict: 'none', detail: 'status 401', status: 401 },
      { verdict: 'none', detail: 'no answer in 60000 ms' },
      unsent,
    ];
    for (const outcome of dead) {
      const only = member(outcome, outcome);
      const { settle } = pool([only]);
      for (const buyer of await strangers(FAILURES_MAX + 5)) {
        expect((await settle(buyer, true)).verdict).toBe('none');
        await turn();
      }
      const settles = only.calls.filter((call) => call === 'settle').length;
      expect([outcome.detail, settles]).toEqual([outcome.detail, FAILURES_MAX]);
    }
  });

  it('facilitatorPool() notices one that hangs before its calls time out', async () => {
    const only = member(settled, lost);
    only.settle = () => new Promise(() => {});
    const { settle } = pool([only]);
    for (const buyer of await strangers(FAILURES_MAX)) void settle(buyer, true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await settle(request, true)).toMatchObject({ verdict: 'none', unsent: true });
  });

  it('I9: facilitatorPool() has no verdict while all are left out, and tries them after a rest', async () => {
    const only = member(settled, lost);
    const { verify, time } = pool([only]);
    for (let at = 0; at < FAILURES_MAX + 5; at++) {
      expect((await verify(request)).verdict).toBe('none');
      await turn();
    }
    expect(only.calls.filter((call) => call === 'verify')).toHaveLength(FAILURES_MAX);
    only.says = { verify: valid, settle: settled, canary: valid };
    expect((await verify(request)).verdict).toBe('none');
    time.now = REST_MS;
    expect(await verify(request)).toEqual(valid);
  });

  it('facilitatorPool() prefers another one while calls to the first fail, whatever it says to our question', async () => {
    const first = member(lost);
    const second = member();
    const { settle } = pool([first, second]);
    for (const buyer of await strangers(FAILURES_MAX)) expect(await settle(buyer, true)).toBe(lost);
    for (const buyer of await strangers(3)) {
      const again = await paymentRequest(payer(NETWORKS.base, `${buyer}`));
      expect(await settle(again, true)).toEqual(settled);
    }
    expect(second.calls).toEqual(['settle', 'settle', 'settle']);
  });

  it('facilitatorPool() holds nothing against a facilitator that was not asked because the buyer had left', async () => {
    for (const [outcome, asked] of [
      [ABANDONED, 0],
      [unsent, FAILURES_MAX],
    ] as const) {
      const first = member(outcome);
      const second = member(outcome);
      const { settle } = pool([first, second]);
      for (const buyer of await strangers(FAILURES_MAX)) await settle(buyer, true);
      await turn();
      const { length } = second.calls.filter((call) => call === 'canary');
      expect([outcome.detail, length > 0]).toEqual([outcome.detail, asked > 0]);
    }
  });

  it('facilitatorPool() supports what any of them supports', async () => {
    const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base' }];
    const able = { ...member(), supported: async () => ({ verdict: 'supported', kinds }) as const };
    const silent = { ...member(), supported: async () => lost };
    expect(await pool([silent, able]).supported()).toEqual({ verdict: 'supported', kinds });
    expect(await pool([silent]).supported()).toEqual(lost);
  });
});

let drawn = 0;
const random = (bytes: number): Uint8Array => {
  drawn += 1;
  return createHash('sha256').update(`random ${drawn}`).digest().subarray(0, bytes);
};
const clock = (): number => NOW_MS;

describe('canary()', () => {
  it('I4: keeps nothing of a stranger: payer, value, window, nonce and signature are our own', async () => {
    const like = { ...(await paymentRequest()), trace: { id: 'a', sentId: 'a' } };
    const made = canary({ clock, random })(like);
    expect(made.trace).toBeUndefined();
    const [theirs, ours] = [authorizationOf(like), authorizationOf(made)];
    expect(ours.from).not.toBe(theirs.from);
    expect(ours.nonce).not.toBe(theirs.nonce);
    const signatures = [made, like].map(({ paymentPayload }) => paymentPayload.payload.signature);
    expect(signatures[0]).not.toBe(signatures[1]);
    expect(made.paymentRequirements).toBe(like.paymentRequirements);
    expect(ours.to).toBe(like.paymentRequirements.payTo);
    expect(Object.keys(made.paymentPayload)).toEqual(Object.keys(like.paymentPayload));
  });

  it('is signed as the token wants it, so a facilitator can judge it', async () => {
    const made = canary({ clock, random })(await paymentRequest());
    const signature = made.paymentPayload.payload.signature as `0x${string}`;
    const typed = typedTransfer(NETWORKS.base, authorizationOf(made));
    expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(authorizationOf(made).from);
    expect(await localFacilitator({ clock }).verify(made)).toMatchObject({ verdict: 'valid' });
  });

  it('has one payer, and a nonce of its own each time', async () => {
    const like = await paymentRequest();
    const make = canary({ clock, random });
    const [first, second] = [authorizationOf(make(like)), authorizationOf(make(like))];
    expect(first.from).toBe(second.from);
    expect(first.nonce).not.toBe(second.nonce);
    expect(authorizationOf(canary({ clock, random })(like)).from).not.toBe(first.from);
  });
});

const network = NETWORKS['base-sepolia'];
const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const PRICE = 10_000n;
const ODD = String(PRICE + 1n);
const [STRANGERS, BUYERS] = [8, 6];

/** What a facilitator does when a payment is odd, and with every call when it is dead. */
type Fault = (response: ServerResponse) => unknown;
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['400 without a verdict', (response) => response.writeHead(400).end('{"error":"odd value"}')],
  ['500', (response) => response.writeHead(500).end('{"error":"odd value"}')],
  ['a reset', (response) => response.socket?.destroy()],
];

/** It has money on the accounts of buyers alone, as on a real chain. */
const facilitator = { fault: (() => {}) as Fault, isDead: false, settles: 0, url: '' };
let server: Server;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    // The clock of the gatekeeper stands still.
    response.sendDate = false;
    if (request.url === '/supported') return response.end('{"kinds":[]}');
    const { paymentPayload } = (await json(request)) as FacilitatorRequest;
    const { from, value, nonce } = paymentPayload.payload.authorization;
    if (request.url === '/settle') facilitator.settles += 1;
    if (facilitator.isDead || value === ODD) return facilitator.fault(response);
    const isFunded = buyers.some(({ address }) => address === from);
    const settled = { success: isFunded, transaction: isFunded ? nonce : '' };
    const reason = { invalidReason: 'insufficient_funds', errorReason: 'insufficient_funds' };
    return response.end(JSON.stringify({ isValid: isFunded, ...settled, ...reason }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  facilitator.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const accounts = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => payer(network, `${name} ${at}`));
const atTheDoor = accounts('stranger', STRANGERS);
const buyers = accounts('buyer', BUYERS);

/** One purchase after the other, each by another account; their statuses. */
async function statuses(
  url: string,
  by: readonly ReturnType<typeof payer>[],
  over: { readonly value?: string } = {},
): Promise<readonly number[]> {
  const { accepts } = (await (await fetch(url + PAID)).json()) as { accepts: [RequirementsV1] };
  const got: number[] = [];
  for (const account of by) {
    const header = await account.header(accepts[0], over);
    got.push((await fetch(url + PAID, { headers: { 'x-payment': header } })).status);
  }
  return got;
}

describe.each([true, false])('with strangers at the door, verify first: %s', (verifyFirst) => {
  const open = () =>
    tinyGate({ config: { facilitatorUrls: [facilitator.url], testPayments: false, verifyFirst } });

  it.each(FAULTS)(
    'I4: fresh keys whose odd payments bring %s close the shop to nobody',
    async (_, fault) => {
      const gate = await open();
      Object.assign(facilitator, { fault, isDead: false });
      const odd = await statuses(gate.url, atTheDoor, { value: ODD });
      expect(odd).toEqual(atTheDoor.map(() => 503));
      expect(await statuses(gate.url, buyers)).toEqual(buyers.map(() => 200));
      await gate.close();
    },
  );

  it.each(FAULTS.slice(1))(
    'I4: a facilitator that is dead with %s is left alone, and asked again when it is well',
    async (_, fault) => {
      const gate = await open();
      Object.assign(facilitator, { fault, isDead: true, settles: 0 });
      const all = [...atTheDoor, ...buyers];
      expect(await statuses(gate.url, all)).toEqual(all.map(() => 503));
      expect(facilitator.settles).toBeLessThan(STRANGERS);
      facilitator.isDead = false;
      expect((await statuses(gate.url, buyers))[0]).toBe(503);
      gate.now += 60_000;
      expect(await statuses(gate.url, buyers)).toEqual(buyers.map(() => 200));
      await gate.close();
    },
  );
});
