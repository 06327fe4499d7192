import { createServer, type ServerResponse } from 'node:http';
import { isLoopback } from '../http/loopback.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { DASHBOARD_POLICY } from './dashboard-page.ts';

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': `${DASHBOARD_POLICY}; frame-ancestors 'none'`,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Serves a page on this machine alone; `make` makes it anew for each visit. */
export async function serveDashboard(
  port: number,
  make: () => Promise<string>,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const server = createServer(({ method = '', url = '', headers }, response) => {
    // A name of the web that points here must not let a page of the web read this one.
    if (!isOwnHost(headers.host ?? ''))
      return send(response, 403, 'Open the address that was printed');
    if (url !== '/') return send(response, 404, 'There is one page, at /');
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'Only GET is answered');
    make().then(
      (page) => send(response, 200, page),
      (error: unknown) => send(response, 503, messageOf(error)),
    );
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (cause) => {
      const why = `${messageOf(cause)}; choose another port`;
      fail(new StartError(`Cannot serve on port "${port}": ${why}`, { cause }));
    });
    server.listen(port, '127.0.0.1', done);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const stop = (): Promise<void> => {
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeAllConnections();
    return closed;
  };
  return { url: `http://127.0.0.1:${bound}/`, stop };
}

function isOwnHost(host: string): boolean {
  return isLoopback(host.replace(/:[0-9]+$/, ''));
}

function send(response: ServerResponse, status: number, text: string): void {
  const type = status === 200 ? 'text/html' : 'text/plain';
  response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` });
  response.end(text);
}
