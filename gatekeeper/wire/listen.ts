import type { Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { StartError } from './start-error.ts';

export interface ListeningServer {
  readonly port: number;
  /** Cuts off whoever is connected. */
  close(): Promise<void>;
}

/** Rejects with the error of the socket. */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(options, done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** The first descriptor that a service manager passes, by the protocol of sd_listen_fds(3). */
const FIRST_PASSED = 3;

/** The socket that systemd holds open over a restart (a `.socket` unit); null without one, or for another process. */
export function passedSocket(
  { LISTEN_PID: pid, LISTEN_FDS: count }: Readonly<Record<string, string | undefined>>,
  ownPid: number,
): number | null {
  if (count === undefined || pid !== String(ownPid)) return null;
  if (count === '1') return FIRST_PASSED;
  throw new StartError(
    `Cannot listen: LISTEN_FDS is "${count.slice(0, 20)}", but one socket is served; keep one ListenStream= in the .socket unit`,
  );
}

const LOOPBACK = /^(localhost|(::ffff:)?127(\.[0-9]{1,3}){3}|\[?::1\]?)$/i;

/** Whether a `Host` header names this machine: a name of the web that points here must not let a page of the web in. */
export function isLoopbackHost(header: string | undefined): boolean {
  return header !== undefined && isLoopback(header.replace(/:[0-9]+$/, ''));
}

/** Whether a host, as spelled in a setting, a URL or by a socket, is certainly a loopback address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
