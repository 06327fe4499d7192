import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WaitingBytes } from '../../../gatekeeper/limits/open-limits.ts';

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

const socketOf = (address: string): FakeSocket & Socket =>
  new FakeSocket(address) as FakeSocket & Socket;
const unread = (writableLength: number): EventEmitter & ServerResponse =>
  Object.assign(new EventEmitter(), { writableLength }) as EventEmitter & ServerResponse;

describe('WaitingBytes', () => {
  it('I43: counts what is not taken yet, until it is or its connection ends', () => {
    const waiting = new WaitingBytes(1000);
    const [one, two] = [socketOf('1.1.1.1'), socketOf('1.1.1.2')];
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
    const honest = socketOf('2.2.2.2');
    waiting.hold(honest, unread(100));
    const many = Array.from({ length: 20 }, () => socketOf('1.1.1.1'));
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
    const honest = socketOf('2.2.2.2');
    waiting.hold(honest, unread(200));
    const many = Array.from({ length: 20 }, (_, at) => socketOf(`2001:db8:5:${at}::1`));
    for (const socket of many) waiting.hold(socket, unread(100));
    expect([waiting.total, honest.destroyed]).toEqual([1000, false]);
    expect(many.filter(({ destroyed }) => destroyed)).toHaveLength(12);
  });

  it('listens for the end of a connection once, however many answers it gets', () => {
    const waiting = new WaitingBytes(1000);
    const socket = socketOf('1.1.1.1');
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
      socketOf('1.1.1.1'),
      socketOf('1.1.1.1'),
      socketOf('1.1.1.1'),
    ];
    for (const socket of [reader, returned]) {
      const answer = unread(100);
      waiting.hold(socket, answer);
      answer.emit('finish');
    }
    waiting.hold(slow, unread(500));
    waiting.hold(returned, unread(400));
    waiting.hold(socketOf('1.1.1.1'), unread(200));
    expect([reader.destroyed, returned.destroyed, slow.destroyed]).toEqual([false, false, true]);
    expect(waiting.total).toBe(600);
  });

  it('holds one answer that is longer than its bound for nobody', () => {
    const waiting = new WaitingBytes(1000);
    const socket = socketOf('1.1.1.1');
    waiting.hold(socket, unread(1001));
    expect([socket.destroyed, waiting.total]).toEqual([true, 0]);
  });
});
