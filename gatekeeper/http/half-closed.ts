import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Pauses before the interim answers that are sent behind a closed side, in milliseconds. */
const PROBE_PAUSES_MS = [50, 50, 200, 700];

/**
 * Tells a client that closed its side, and still reads, from one that is gone: both look alike until something is sent.
 * A client that reads skips interim answers (102). One that is gone answers the first with a reset, and the next one
 * fails, which destroys the socket.
 */
export class HalfClosed {
  readonly #paying = new WeakMap<Socket, ServerResponse>();

  connect(socket: Socket): void {
    socket.once('end', () => this.#probe(socket).catch(() => socket.destroy()));
  }

  /** The answer on this connection is paid for while its client waits. */
  watch(socket: Socket, response: ServerResponse): void {
    // HTTP/1.0 knows no interim answers.
    if (response.req.httpVersion !== '1.0') this.#paying.set(socket, response);
  }

  async #probe(socket: Socket): Promise<void> {
    for (const pauseMs of PROBE_PAUSES_MS) {
      await pause(pauseMs, undefined, { ref: false });
      const response = this.#paying.get(socket);
      if (response === undefined || response.headersSent || socket.destroyed) return;
      response.writeProcessing();
    }
  }
}
