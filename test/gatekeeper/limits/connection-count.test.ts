import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { trustedProxies } from '../../../gatekeeper/limits/client-address.ts';
import { ConnectionCount } from '../../../gatekeeper/limits/open-limits.ts';

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
