import { EventEmitter } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costOfSending, PAYMENT_COST } from '../../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../../gatekeeper/wire/header-facts.ts';
import {
  clientAddress,
  type Surroundings,
  surelyClient,
  trustedProxies,
} from '../../../../gatekeeper/wire/limits/client-address.ts';
import {
  admission,
  BodyReader,
  ConnectionCount,
  WaitingBytes,
} from '../../../../gatekeeper/wire/limits/open-limits.ts';
import { rateLimit } from '../../../../gatekeeper/wire/limits/rate-limit.ts';
import type { Arrival } from '../../../../gatekeeper/wire/request.ts';
import { rawHttp } from '../../raw-http.ts';

const RATE_LIMIT = 500;

const arrival = (address: string, ...headers: string[]): Arrival => ({
  address,
  method: 'GET',
  target: '/paid',
  facts: headerFacts(['Host', 'gate', ...headers]),
});
const NOBODY = trustedProxies('');

const options = (perSecond: number) => ({
  limit: rateLimit(perSecond),
  repeats: rateLimit(perSecond, 30),
  proxies: NOBODY,
  isPublic: false,
  isMonitor: ({ target }: Arrival) => target === '/monitor',
  isRepeat: ({ facts }: Arrival) => facts.paymentHeaders[0]?.text === 'paid',
});
const NEW = arrival('1.1.1.1', 'X-PAYMENT', 'new');
const PAID = arrival('1.1.1.1', 'X-PAYMENT', 'paid');

describe('admission()', () => {
  it('I46: counts who fetches again apart from all else, and generously', () => {
    const admit = admission(options(10));
    const passes = (one: Arrival, now: number): boolean => admit(one, now).wait === 0;
    while (passes(NEW, 0)) {}
    // What is used up elsewhere does not keep a buyer from an answer that is paid for.
    for (let at = 0; at < 100; at += 1) expect(passes(PAID, 0)).toBe(true);
    expect(passes(NEW, 0)).toBe(false);
    // One paid answer is no licence to ask without end.
    let more = 0;
    while (more < 1000 && passes(PAID, 0)) more += 1;
    expect(more).toBeLessThan(100);
    expect(passes(PAID, 1000)).toBe(true);
    expect(passes(arrival('2.2.2.2', 'X-PAYMENT', 'paid'), 0)).toBe(true);
  });

  it('asks whether a request is a repeat only where it pays', () => {
    const asked: string[] = [];
    const isRepeat = ({ facts }: Arrival): boolean => {
      asked.push(facts.paymentHeaders[0]?.text ?? 'unpaid');
      return true;
    };
    const admit = admission({ ...options(10), isRepeat });
    for (const one of [arrival('1.1.1.1'), NEW]) admit(one, 0);
    expect(asked).toEqual(['new']);
  });

  it('I54: a payment costs as much as several free answers', () => {
    const admitted = (one: Arrival): number => {
      const admit = admission(options(10));
      return Array.from({ length: 50 }, () => admit(one, 0)).filter(({ wait }) => wait === 0)
        .length;
    };
    expect(admitted(arrival('1.1.1.1'))).toBe(20);
    expect(admitted(NEW)).toBe(20 / PAYMENT_COST);
    expect(admitted({ ...arrival('1.1.1.1'), target: `/${'x'.repeat(8000)}` })).toBeLessThan(7);
  });

  it('I54: 20 purchases a second, each with its 402 before it, pass at the default', () => {
    const admit = admission(options(RATE_LIMIT));
    for (let at = 0; at < 60 * 20; at += 1) {
      const now = at * 50;
      for (const one of [arrival('1.1.1.1'), NEW]) {
        const { wait, account } = admit(one, now);
        expect(wait).toBe(0);
        account.charge(costOfSending(6000), now);
      }
    }
  });

  it('I46: counts clients behind a trusted proxy apart, and nobody by their own word', () => {
    const proxies = trustedProxies('10.0.0.1');
    const admit = admission({ ...options(1), proxies });
    const from = (socket: string, client: string): number =>
      Array.from({ length: 5 }, () => admit(arrival(socket, 'X-Forwarded-For', client), 0)).filter(
        ({ wait }) => wait === 0,
      ).length;
    expect(from('10.0.0.1', '1.1.1.1')).toBe(2);
    expect(from('10.0.0.1', '2.2.2.2')).toBe(2);
    expect(from('3.3.3.3', '4.4.4.4')).toBe(2);
    expect(from('3.3.3.3', '5.5.5.5')).toBe(0);
  });

  it('asks nothing of anybody while it is off', () => {
    const isRepeat = (): boolean => {
      throw new Error('not asked');
    };
    const admit = admission({ ...options(0), isRepeat });
    expect(admit(NEW, 0).wait).toBe(0);
  });

  it('lets a monitor in at any time, and nobody else', () => {
    const admit = admission(options(10));
    while (admit(NEW, 0).wait === 0) {}
    expect(admit({ ...NEW, target: '/monitor' }, 0).wait).toBe(0);
    expect(admit(NEW, 0).wait).toBeGreaterThan(0);
  });
});

const CONNECTIONS_PER_ADDRESS_MAX = 1024;

const socketOf = (remoteAddress: string): Socket =>
  Object.assign(new EventEmitter(), { remoteAddress }) as unknown as Socket;

/** How many of so many connections of an address are let in. */
function admitted(count: ConnectionCount, address: string, tries: number): Socket[] {
  const sockets = Array.from({ length: tries }, () => socketOf(address));
  return sockets.filter((socket) => count.admit(socket));
}

describe('ConnectionCount', () => {
  it('I54: bounds the connections of an address, and lets others in', () => {
    const count = new ConnectionCount(trustedProxies(''));
    const max = CONNECTIONS_PER_ADDRESS_MAX;
    const held = admitted(count, '9.9.9.9', max + 50);
    expect(held).toHaveLength(max);
    expect(admitted(count, '::ffff:9.9.9.9', 1)).toHaveLength(0);
    expect(admitted(count, '9.9.9.8', 5)).toHaveLength(5);
    for (const socket of held.slice(0, 10)) socket.emit('close');
    expect(admitted(count, '9.9.9.9', 50)).toHaveLength(10);
  });

  it('I54: counts a whole /64 as one', () => {
    const count = new ConnectionCount(trustedProxies(''));
    const max = CONNECTIONS_PER_ADDRESS_MAX;
    const held = Array.from({ length: max + 50 }, (_, at) => {
      return admitted(count, `2001:db8:0:1::${at.toString(16)}`, 1).length;
    });
    expect(held.filter((one) => one === 1)).toHaveLength(max);
  });

  it('I54: a /48 holds half of all, however many clients are in it', () => {
    const count = new ConnectionCount(trustedProxies(''));
    const inOne = Array.from({ length: 10 }, (_, at) =>
      admitted(count, `2001:db8:5:${at}::1`, 300),
    ).flat();
    expect(inOne).toHaveLength(2048);
    expect(admitted(count, '2001:db8:6::1', 5)).toHaveLength(5);
    for (const socket of inOne.slice(0, 10)) socket.emit('close');
    expect(admitted(count, '2001:db8:5:ff::1', 50)).toHaveLength(10);
  });

  it.each(['127.0.0.1', '127.5.5.5', '::1', '::ffff:127.0.0.1', '10.0.0.7'])(
    'bounds no proxy, which holds the connections of all its clients: %s',
    (address) => {
      const count = new ConnectionCount(trustedProxies('10.0.0.0/8'));
      const tries = CONNECTIONS_PER_ADDRESS_MAX + 50;
      expect(admitted(count, address, tries)).toHaveLength(tries);
    },
  );
});

const BODIES_BYTES_MAX = 32 * 1024 * 1024;
const BODY_BYTES_MAX = 256 * 1024;

const reader = new BodyReader();
let server: Server;
let port = 0;
let heldMax = 0;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    request.on('data', () => {
      heldMax = Math.max(heldMax, reader.held);
    });
    const body = await reader.read(request);
    if (Buffer.isBuffer(body)) response.end(`${body.length} ${body.subarray(0, 4)}`);
    else response.writeHead(body.status).end(body.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function post(body: string, framing = `Content-Length: ${body.length}`): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framing}\r\n\r\n${body}`;
}

function chunked(body: string): string {
  const framed = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return post(framed, 'Transfer-Encoding: chunked');
}

describe('I43: BodyReader.read()', () => {
  const sized: readonly (readonly [string, number])[] = [
    ['one byte less', BODY_BYTES_MAX - 1],
    ['the limit', BODY_BYTES_MAX],
  ];
  it.each(sized)('takes %s, with a length and in chunks', async (_, size) => {
    const body = 'a'.repeat(size);
    for (const bytes of [post(body), chunked(body)]) {
      expect((await rawHttp(port, bytes)).text).toContain(`${size} aaaa`);
    }
  });

  it('refuses one byte more, and a megabyte, with a length and in chunks', async () => {
    for (const size of [BODY_BYTES_MAX + 1, 4 * BODY_BYTES_MAX]) {
      const body = 'a'.repeat(size);
      expect((await rawHttp(port, chunked(body))).statuses).toEqual([413]);
      expect((await rawHttp(port, post('', `Content-Length: ${size}`))).statuses).toEqual([413]);
    }
  });

  it('takes an empty body and gives every byte of its budget back', async () => {
    expect((await rawHttp(port, post(''))).text).toContain('0 ');
    expect(reader.held).toBe(0);
    expect(heldMax).toBeGreaterThan(0);
    expect(heldMax).toBeLessThanOrEqual(BODIES_BYTES_MAX);
  });

  it('gives its budget back when the client goes away in the middle', async () => {
    await rawHttp(port, post('abc', 'Content-Length: 9'), 50);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(reader.held).toBe(0);
  });

  it('refuses while other bodies hold the budget, and takes the same body afterwards', async () => {
    const busy = new BodyReader();
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
    };
    const request = (iterator: () => AsyncGenerator<Buffer>): Parameters<BodyReader['read']>[0] =>
      ({ headers: {}, complete: true, iterator }) as never;
    let answer: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = busy.read(
      request(async function* () {
        yield Buffer.alloc(BODIES_BYTES_MAX);
        await hold;
      }),
      BODIES_BYTES_MAX,
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(await busy.read(request(body))).toMatchObject({ status: 503 });
    answer();
    await slow;
    expect(await busy.read(request(body))).toEqual(Buffer.alloc(10));
  });
});

class FakeSocket extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const readerOf = (address: string): FakeSocket & Socket =>
  new FakeSocket(address) as FakeSocket & Socket;
const unread = (writableLength: number): EventEmitter & ServerResponse =>
  Object.assign(new EventEmitter(), { writableLength }) as EventEmitter & ServerResponse;

describe('WaitingBytes', () => {
  it('I43: counts what is not taken yet, until it is or its connection ends', () => {
    const waiting = new WaitingBytes(1000);
    const [one, two] = [readerOf('1.1.1.1'), readerOf('1.1.1.2')];
    const answer = unread(300);
    waiting.hold(one, answer);
    waiting.hold(one, unread(200));
    waiting.hold(two, unread(100));
    waiting.hold(two, unread(0));
    expect(waiting.total).toBe(600);
    // Who has read an answer asks again before the system says so.
    expect([waiting.beforeNewest(one), waiting.beforeNewest(two)]).toEqual([300, 0]);
    answer.emit('finish');
    expect([waiting.beforeNewest(one), waiting.total]).toEqual([0, 300]);
    one.emit('close');
    expect([waiting.beforeNewest(one), waiting.total]).toEqual([0, 100]);
  });

  it('I43: beyond its bound cuts who waits longest of the address that holds most', () => {
    const waiting = new WaitingBytes(1000);
    const honest = readerOf('2.2.2.2');
    waiting.hold(honest, unread(100));
    const many = Array.from({ length: 20 }, () => readerOf('1.1.1.1'));
    for (const socket of many) waiting.hold(socket, unread(100));
    expect(waiting.total).toBe(1000);
    expect(honest.destroyed).toBe(false);
    expect(many.map(({ destroyed }) => destroyed)).toEqual([
      ...Array<boolean>(11).fill(true),
      ...Array<boolean>(9).fill(false),
    ]);
  });

  it('I43: takes the clients of one IPv6 /48 for one that holds most', () => {
    const waiting = new WaitingBytes(1000);
    const honest = readerOf('2.2.2.2');
    waiting.hold(honest, unread(200));
    const many = Array.from({ length: 20 }, (_, at) => readerOf(`2001:db8:5:${at}::1`));
    for (const socket of many) waiting.hold(socket, unread(100));
    expect([waiting.total, honest.destroyed]).toEqual([1000, false]);
    expect(many.filter(({ destroyed }) => destroyed)).toHaveLength(12);
  });

  it('listens for the end of a connection once, however many answers it gets', () => {
    const waiting = new WaitingBytes(1000);
    const socket = readerOf('1.1.1.1');
    for (let at = 0; at < 100; at += 1) {
      const answer = unread(10);
      waiting.hold(socket, answer);
      answer.emit('finish');
    }
    expect([waiting.beforeNewest(socket), waiting.total]).toEqual([0, 0]);
    expect(socket.listenerCount('close')).toBe(1);
    socket.emit('close');
    expect(socket.listenerCount('close')).toBe(0);
  });

  it('I43: cuts nobody who has read everything, and lets him wait again', () => {
    const waiting = new WaitingBytes(1000);
    const [reader, returned, slow] = [
      readerOf('1.1.1.1'),
      readerOf('1.1.1.1'),
      readerOf('1.1.1.1'),
    ];
    for (const socket of [reader, returned]) {
      const answer = unread(100);
      waiting.hold(socket, answer);
      answer.emit('finish');
    }
    waiting.hold(slow, unread(500));
    waiting.hold(returned, unread(400));
    waiting.hold(readerOf('1.1.1.1'), unread(200));
    expect([reader.destroyed, returned.destroyed, slow.destroyed]).toEqual([false, false, true]);
    expect(waiting.total).toBe(600);
  });

  it('holds one answer that is longer than its bound for nobody', () => {
    const waiting = new WaitingBytes(1000);
    const socket = readerOf('1.1.1.1');
    waiting.hold(socket, unread(1001));
    expect([socket.destroyed, waiting.total]).toEqual([true, 0]);
  });
});

const PROXIES = trustedProxies('10.0.0.1, 192.168.0.0/16, fd00::/8');

describe('clientAddress()', () => {
  it('I46: believes no forwarding header of a stranger', () => {
    expect(clientAddress('1.2.3.4', '9.9.9.9', NOBODY)).toBe('1.2.3.4');
    expect(clientAddress('1.2.3.4', '9.9.9.9', PROXIES)).toBe('1.2.3.4');
    expect(clientAddress('10.0.0.2', '9.9.9.9', PROXIES)).toBe('10.0.0.2');
  });

  it('takes the last hop that no trusted proxy is', () => {
    expect(clientAddress('10.0.0.1', '9.9.9.9', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('::ffff:10.0.0.1', '9.9.9.9', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('10.0.0.1', '6.6.6.6, 9.9.9.9, 192.168.3.4', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('fd00::1', '2001:db8::1', PROXIES)).toBe('2001:db8::1');
  });

  it('takes a hop with a port for its address, so that proxies which name one tell clients apart', () => {
    expect(clientAddress('10.0.0.1', '9.9.9.9:4000', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('10.0.0.1', '6.6.6.6, [2001:db8::1]:65535', PROXIES)).toBe('2001:db8::1');
    expect(clientAddress('10.0.0.1', '9.9.9.9, [fd00::7], 192.168.3.4:80', PROXIES)).toBe(
      '9.9.9.9',
    );
    const none = ['9.9.9.9:', '9.9.9.9:port', '[9.9.9.9', '[]:80', 'host:80', ':80', '9.9.9:80'];
    for (const hop of none) {
      expect(clientAddress('10.0.0.1', `6.6.6.6, ${hop}`, PROXIES), hop).toBe('10.0.0.1');
    }
  });

  it('I46: stops at a hop that is no address, whatever stands before it', () => {
    expect(clientAddress('10.0.0.1', '6.6.6.6, unknown', PROXIES)).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', '6.6.6.6, , 192.168.0.9', PROXIES)).toBe('192.168.0.9');
    expect(clientAddress('10.0.0.1', null, PROXIES)).toBe('10.0.0.1');
  });
});

describe('trustedProxies()', () => {
  it('refuses what is no address and says what to give', () => {
    for (const list of ['proxy.local', '10.0.0.0/33', '10.0.0.0/x', '::1/129', '1.2.3.4/8/8']) {
      expect(() => trustedProxies(list), list).toThrow(/give 10\.0\.0\.1 or/);
    }
  });
});

describe('surelyClient()', () => {
  const PLAIN = { forwardedFor: null, via: null };
  const NONE = { proxies: trustedProxies(''), isPublic: true };
  const LOCAL = { ...NONE, isPublic: false };
  const FRONT = { ...NONE, proxies: trustedProxies('10.0.0.1') };

  it.each<[string, Parameters<typeof surelyClient>[1], Surroundings, string]>([
    ['203.0.113.9', PLAIN, NONE, '203.0.113.9'],
    ['127.0.0.1', PLAIN, LOCAL, '127.0.0.1'],
    ['10.0.0.1', { ...PLAIN, forwardedFor: '203.0.113.9' }, FRONT, '203.0.113.9'],
    ['10.0.0.1', { ...PLAIN, forwardedFor: 'a, 203.0.113.9', via: '1.1 x' }, FRONT, '203.0.113.9'],
  ])('I59: knows the client of %s with %j', (socket, ...[facts, around, client]) => {
    expect(surelyClient(socket, facts, around)).toBe(client);
  });

  it.each([
    ['203.0.113.9', { ...PLAIN, forwardedFor: '198.51.100.7' }, NONE],
    ['203.0.113.9', { ...PLAIN, via: '1.1 proxy' }, NONE],
    ['127.0.0.1', { ...PLAIN, via: '1.1 proxy' }, LOCAL],
    ['127.0.0.1', PLAIN, NONE],
    ['::ffff:172.17.0.1', PLAIN, NONE],
    ['fd00::1', PLAIN, NONE],
    ['10.0.0.1', PLAIN, FRONT],
    ['10.0.0.1', { ...PLAIN, forwardedFor: '10.0.0.1' }, FRONT],
    ['10.0.0.1', { ...PLAIN, forwardedFor: 'nobody' }, FRONT],
    ['10.0.0.2', { ...PLAIN, forwardedFor: '203.0.113.9' }, FRONT],
  ])('I59: does not know that of %s with %j', (socket, facts, around) => {
    expect(surelyClient(socket, facts, around)).toBeNull();
  });
});

const OVERALL_FACTOR = 40;
const CLIENTS_MAX = 50_000;

describe('rateLimit()', () => {
  it('I46: lets the rate through and tells how long to wait beyond it', () => {
    const limit = rateLimit(10);
    const burst = Array.from({ length: 21 }, () => limit.account('10.0.0.1').take(1, 0));
    expect(burst.slice(0, 20).every((wait) => wait === 0)).toBe(true);
    expect(burst[20]).toBe(1);
    expect(limit.account('10.0.0.2').take(1, 0)).toBe(0);
    expect(limit.account('10.0.0.1').take(1, 100)).toBe(0);
    expect(limit.account('10.0.0.1').take(1, 100)).toBe(1);
  });

  it('I46: does not forget a client that keeps coming', () => {
    const limit = rateLimit(10);
    for (let at = 0; at < 20; at += 1) limit.account('busy').take(1, 0);
    for (let at = 0; at < CLIENTS_MAX; at += 1) {
      limit.account(`10.${at}`).take(1, 0);
      if (at % 1000 === 0) expect(limit.account('busy').take(1, 0)).toBe(1);
    }
  });

  it('I46: is not loosened by a clock that jumps back', () => {
    const limit = rateLimit(1);
    limit.account('a').take(1, 1000);
    limit.account('a').take(1, 1000);
    expect(limit.account('a').take(1, 0)).toBe(1);
    expect(limit.account('a').take(1, 500)).toBe(1);
  });

  it('I46: remembers no more clients than its bound, however many addresses come', () => {
    const limit = rateLimit(1_000_000);
    for (let at = 0; at < CLIENTS_MAX * 3; at += 1) limit.account(`10.${at}`).take(1, 0);
    expect(limit.clients).toBeLessThanOrEqual(CLIENTS_MAX);
    expect(limit.clients).toBeGreaterThanOrEqual(CLIENTS_MAX / 2);
  });

  it('bounds all clients together', () => {
    const limit = rateLimit(1);
    let passed = 0;
    for (let at = 0; at < OVERALL_FACTOR * 5; at += 1) {
      if (limit.account(`10.0.${at}`).take(1, 0) === 0) passed += 1;
    }
    expect(passed).toBe(OVERALL_FACTOR * 2);
  });

  it('I46: an IPv6 /48 gets what eight clients would, and leaves the rest to others', () => {
    const limit = rateLimit(1);
    const passed = (addresses: string[]): number =>
      addresses.filter((address) => limit.account(address).take(1, 0) === 0).length;
    const inOne = Array.from({ length: 1000 }, (_, at) => `2001:db8:5:${at.toString(16)}::1`);
    expect(passed(inOne)).toBe(8 * 2);
    expect(passed(['2001:db8:6::1', '192.0.2.1', '::ffff:192.0.2.2'])).toBe(3);
    const inMany = Array.from({ length: 1000 }, (_, at) => `192.0.${at >> 8}.${at & 255}`);
    expect(passed(inMany)).toBeGreaterThan(8 * 2);
  });

  it('I54: what a network is charged, its clients pay alone', () => {
    const limit = rateLimit(10);
    const clients = Array.from({ length: 20 }, (_, at) => limit.account(`2001:db8:5:${at}::1`));
    // 300 units of the 160 that the network may use at once, and of the 800 that all may.
    for (const client of clients) client.charge(15, 0);
    expect(limit.account('2001:db8:5:ff::1').take(1, 0)).toBeGreaterThan(0);
    expect(limit.account('2001:db8:6::1').take(1, 0)).toBe(0);
  });

  it('I54: counts what an answer cost, also when that is known only afterwards', () => {
    const limit = rateLimit(10);
    const client = limit.account('10.0.0.1');
    expect(client.take(5, 0)).toBe(0);
    client.charge(30, 0);
    expect(client.take(1, 0)).toBe(2);
    expect(limit.account('10.0.0.2').take(1, 0)).toBe(0);
    expect(limit.account('10.0.0.1').take(1, 1500)).toBe(1);
    expect(limit.account('10.0.0.1').take(1, 1600)).toBe(0);
  });

  it('I54: a debt ends, however dear the answers were', () => {
    const client = rateLimit(10).account('10.0.0.1');
    for (let at = 0; at < 100; at += 1) client.charge(1000, 0);
    const wait = client.take(1, 0);
    expect(wait).toBeGreaterThan(20);
    expect(wait).toBeLessThanOrEqual(31);
    expect(client.take(1, wait * 1000)).toBe(0);
  });

  it('I54: what one client is forgiven is not owed by the others', () => {
    const limit = rateLimit(10);
    const dear = limit.account('10.0.0.1');
    for (let at = 0; at < 100; at += 1) dear.charge(1000, 0);
    expect(dear.take(1, 0)).toBeGreaterThan(20);
    expect(limit.account('10.0.0.2').take(1, 0)).toBe(0);
    // So it is with all of them together, each to its own limit.
    for (let at = 0; at < OVERALL_FACTOR * 3; at += 1)
      limit.account(`10.1.0.${at}`).charge(1000, 0);
    expect(limit.account('10.0.0.3').take(1, 0)).toBeGreaterThan(0);
  });

  it('is off at 0', () => {
    expect(rateLimit(0)).toMatchObject({ isOn: false, clients: 0 });
    expect(rateLimit(0).account('a').take(1, 0)).toBe(0);
  });
});
