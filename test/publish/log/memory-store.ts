import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A store of one object that knows `If-Match` and `If-None-Match`; `puts` are the statuses of what was written. */
export async function memoryStore({
  auth,
  isWeak = false,
}: {
  auth?: string;
  isWeak?: boolean;
} = {}) {
  const state = { text: null as string | null, puts: [] as number[] };
  const tag = (): string | null =>
    state.text === null
      ? null
      : `${isWeak ? 'W/' : ''}"${hash('sha256', state.text).slice(0, 16)}"`;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = (status: number, body = ''): void => {
      if (request.method === 'PUT') state.puts.push(status);
      const etag = tag();
      response.writeHead(status, etag === null ? {} : { etag });
      response.end(body);
    };
    const { 'if-match': match, 'if-none-match': none, authorization } = request.headers;
    if (auth !== undefined && authorization !== auth) return answer(401);
    if (request.method === 'GET') {
      return state.text === null ? answer(404) : answer(200, state.text);
    }
    const isFree = none === '*' && state.text === null;
    if (!isFree && (match === undefined || match !== tag())) return answer(412);
    state.text = Buffer.concat(chunks).toString();
    answer(200);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/memory`,
    puts: state.puts,
    text: () => state.text,
    hold(text: string | null) {
      state.text = text;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
