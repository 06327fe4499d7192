import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  clientLimit,
  clientOf,
  limitConnections,
  rateLimit,
} from '../../compiler/witness/witness-limits.ts';

describe('rateLimit()', () => {
  it('lets so many through, and as many more as time passes', () => {
    let now = 1000;
    const allows = rateLimit({ count: 3, ms: 300 }, () => now);
    expect(Array.from({ length: 4 }, () => allows('a'))).toEqual([true, true, true, false]);
    expect(allows('b')).toBe(true);
    now += 100;
    expect([allows('a'), allows('a')]).toEqual([true, false]);
    now -= 900;
    expect(allows('a')).toBe(false);
  });

  it('remembers a bounded number of clients, and forgets none that keeps coming', () => {
    const allows = rateLimit({ count: 1, ms: 1000 }, () => 0);
    expect([allows('busy'), allows('gone')]).toEqual([true, true]);
    for (let at = 0; at < 10_000; at += 1) {
      allows(`10.${at}`);
      if (at % 1000 === 0) expect(allows('busy')).toBe(false);
    }
    expect(allows('gone')).toBe(true);
  });
});

describe('clientLimit()', () => {
  it('an IPv6 /48 gets what eight clients would, and keeps no other out', () => {
    const allows = clientLimit({ count: 3, ms: 300 }, () => 0);
    const passed = (addresses: string[]): number => addresses.filter(allows).length;
    const inOne = Array.from({ length: 1000 }, (_, at) => `2001:db8:5:${at.toString(16)}::1`);
    expect(passed(inOne)).toBe(8 * 3);
    expect(passed(['2001:db8:6::1', '192.0.2.1', '::ffff:192.0.2.2'])).toBe(3);
    // Addresses of one client are one, whatever its network may.
    expect(passed(Array.from({ length: 5 }, (_, at) => `2001:db8:7::${at}`))).toBe(3);
  });
});

describe('clientOf()', () => {
  it.each([
    ['198.51.100.7', undefined, '198.51.100.7'],
    ['198.51.100.7', '192.0.2.1', '198.51.100.7'],
    ['::ffff:198.51.100.7', undefined, '::ffff:198.51.100.7'],
    ['127.0.0.1', undefined, null],
    ['::ffff:127.0.0.1', '192.0.2.1, 192.0.2.2', '192.0.2.2'],
    ['::1', '192.0.2.2', '192.0.2.2'],
    ['172.17.0.1', '2001:db8::5', '2001:db8::5'],
    ['fd00::1', 'unknown', null],
    ['2001:db8::1', undefined, '2001:db8::1'],
  ])('takes a request of %s for %s as one of %s', (remoteAddress, forwarded, client) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const request = { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
    expect(clientOf(request)).toBe(client);
  });
});

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  isDestroyed = false;

  get destroyed(): boolean {
    return this.isDestroyed;
  }

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

/** A server with its limits; what connects to it from an address. */
function listening(): (address: string) => FakeSocket {
  const server = new EventEmitter();
  limitConnections(server as Server);
  return (address) => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket);
    return socket;
  };
}

describe('limitConnections()', () => {
  it('ends those of one client beyond a number, and none of a server of the own network', () => {
    const connected = listening();
    const many = Array.from({ length: 18 }, () => connected('198.51.100.7'));
    expect(many.filter(({ isDestroyed }) => isDestroyed)).toHaveLength(2);
    expect(connected('198.51.100.8').isDestroyed).toBe(false);
    many[0]?.destroy();
    expect(connected('198.51.100.7').isDestroyed).toBe(false);
    expect(connected('198.51.100.7').isDestroyed).toBe(true);
    const own = Array.from({ length: 40 }, () => connected('127.0.0.1'));
    expect(own.some(({ isDestroyed }) => isDestroyed)).toBe(false);
  });

  it('lets a few clients that hold all of them keep no other out', () => {
    const connected = listening();
    const hoarded = Array.from({ length: 256 }, (_, at) => connected(`198.51.100.${at % 16}`));
    expect(hoarded.some(({ isDestroyed }) => isDestroyed)).toBe(false);
    const others = Array.from({ length: 30 }, (_, at) => connected(`192.0.2.${at}`));
    expect(others.some(({ isDestroyed }) => isDestroyed)).toBe(false);
    expect(hoarded.filter(({ isDestroyed }) => isDestroyed)).toHaveLength(30);
    // Each gave its oldest, and none much more than another.
    expect(hoarded.slice(0, 16).every(({ isDestroyed }) => isDestroyed)).toBe(true);
  });

  it('takes the clients of one IPv6 /48 for one hoarder', () => {
    const connected = listening();
    const first = [connected('192.0.2.1'), connected('192.0.2.1')];
    const inOne = Array.from({ length: 300 }, (_, at) => connected(`2001:db8:5:${at}::1`));
    expect(first.some(({ isDestroyed }) => isDestroyed)).toBe(false);
    expect(inOne.filter(({ isDestroyed }) => isDestroyed)).toHaveLength(46);
  });
});
