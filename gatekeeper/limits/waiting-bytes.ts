import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { holderKey } from '../../compiler/contract/client-key.ts';

/** Bytes of unpaid answers that may wait to be read, over all connections. */
export const FREE_WAITING_MAX = 64 * 1024 * 1024;
/** Bytes of bought answers that may wait to be read, over all connections: each can be fetched again. */
export const PAID_WAITING_MAX = 256 * 1024 * 1024;
/** Bytes that wait on one connection, without its newest answer, from which on it gets nothing more that is free. */
export const SOCKET_WAITING_MAX = 4 * 1024 * 1024;

interface Waiting {
  readonly key: string;
  bytes: number;
  /** Bytes of the answer that was handed over last. */
  newest: number;
}

/**
 * Answers that their clients do not read stay in memory. Beyond the bound the connection is cut that has waited longest
 * among those of the address or IPv6 network that holds most, so that nobody's patience is paid for by others.
 */
export class WaitingBytes {
  readonly #max: number;
  /** Every open connection that has ever waited, the one that has waited longest first. */
  readonly #sockets = new Map<Socket, Waiting>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * Bytes that wait without those of the newest answer: who has read all of it asks again before the system says that it was
   * taken, and a catalogue alone may be longer than what may wait.
   */
  beforeNewest(socket: Socket): number {
    const { bytes, newest } = this.#sockets.get(socket) ?? { bytes: 0, newest: 0 };
    return Math.max(0, bytes - newest);
  }

  /** Notes what of an answer the system has not taken yet, until it has. */
  hold(socket: Socket, response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || socket.destroyed) return;
    const waiting = this.#sockets.get(socket) ?? this.#begin(socket);
    if (waiting.bytes === 0) this.#queueLast(socket, waiting);
    waiting.bytes += bytes;
    waiting.newest = bytes;
    this.#total += bytes;
    response.once('finish', () => this.#release(waiting, bytes));
    while (this.#total > this.#max) this.#cutOne();
  }

  #begin(socket: Socket): Waiting {
    const waiting = { key: holderKey(socket.remoteAddress ?? ''), bytes: 0, newest: 0 };
    socket.once('close', () => {
      this.#release(waiting, waiting.bytes);
      this.#sockets.delete(socket);
    });
    return waiting;
  }

  /** Whoever has read everything begins to wait again. */
  #queueLast(socket: Socket, waiting: Waiting): void {
    this.#sockets.delete(socket);
    this.#sockets.set(socket, waiting);
  }

  #release(waiting: Waiting, bytes: number): void {
    const given = Math.min(bytes, waiting.bytes);
    waiting.bytes -= given;
    this.#total -= given;
  }

  #cutOne(): void {
    const heaviest = this.#heaviest();
    for (const [socket, waiting] of this.#sockets) {
      if (waiting.key !== heaviest || waiting.bytes === 0) continue;
      this.#release(waiting, waiting.bytes);
      socket.destroy();
      return;
    }
  }

  #heaviest(): string {
    const sums = new Map<string, number>();
    let heaviest = '';
    for (const { key, bytes } of this.#sockets.values()) {
      const sum = (sums.get(key) ?? 0) + bytes;
      sums.set(key, sum);
      if (sum > (sums.get(heaviest) ?? 0)) heaviest = key;
    }
    return heaviest;
  }
}
