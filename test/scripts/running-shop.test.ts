import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runningShop, tryPort } from '../../scripts/quick-start-data.ts';

const ISSUER = 'did:key:z6MkOurs';
const HEALTH = {
  status: 'ready',
  settlement: 'test',
  release: { sequence: 7, as_of: '2026-11-20T12:00:00Z' },
};

async function listening(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Something that answers as a shop does. */
function shop(health: object, did = ISSUER): Promise<number> {
  return listening(({ url }, response) => {
    response.end(JSON.stringify(url === '/healthz' ? health : { keys: [{ did }] }));
  });
}

describe('runningShop()', () => {
  it('finds the shop of the issuer that was asked for', async () => {
    const port = await shop(HEALTH);
    const url = `http://127.0.0.1:${port}`;
    const want = { url, issuer: ISSUER, sequence: 7, asOf: '2026-11-20T12:00:00Z' };
    expect(await runningShop(port, ISSUER)).toEqual(want);
  });

  it('finds none where nothing listens', async () => {
    const port = await tryPort(0);
    const want = { absent: `Nothing listens on port ${port}` };
    expect(await runningShop(port, ISSUER)).toEqual(want);
    expect(await runningShop(0, ISSUER)).toEqual({ absent: expect.stringContaining('is 0') });
  });

  it.each<[string, RequestListener]>([
    ['a page', (_, response) => response.end('<html>')],
    ['other JSON', (_, response) => response.end('{"status":"ready"}')],
    ['another address', (_, response) => response.writeHead(302, { location: '/x' }).end()],
    ['nothing', (_, response) => response.destroy()],
  ])('takes what answers %s for another program', async (_, answer) => {
    const port = await listening(answer);
    const want = { absent: `Another program listens on port ${port}` };
    expect(await runningShop(port, ISSUER)).toEqual(want);
  });

  it('takes what never answers for another program', async () => {
    const port = await listening(() => undefined);
    const want = { absent: `Another program listens on port ${port}` };
    expect(await runningShop(port, ISSUER, 100)).toEqual(want);
  });

  it('takes what speaks no HTTP for another program', async () => {
    const server = createSocketServer((socket) => socket.end('220 mail\r\n'));
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const want = { absent: `Another program listens on port ${port}` };
    expect(await runningShop(port, ISSUER)).toEqual(want);
  });

  it('buys from no shop of another issuer', async () => {
    const port = await shop(HEALTH, 'did:key:z6MkTheirs');
    const want = { absent: `Port ${port} serves the files of another issuer` };
    expect(await runningShop(port, ISSUER)).toEqual(want);
    expect(await runningShop(port, null)).toEqual(want);
  });

  it.each(['facilitator', 'relayer'])('refuses a shop that settles by a %s', async (settlement) => {
    const port = await shop({ ...HEALTH, settlement });
    await expect(runningShop(port, ISSUER)).rejects.toThrow(
      `Cannot buy from the shop at "http://127.0.0.1:${port}": it takes real payments, ` +
        'and the demo only pretends to pay; stop that shop, or let the demo look at another ' +
        `port: SIGNALPRESS_PORT=${port + 1} npm run demo`,
    );
  });

  it('refuses a shop that cannot sell, and says why', async () => {
    const port = await shop({ ...HEALTH, status: 'not_ready', why: ['disk full', 'stale'] });
    await expect(runningShop(port, ISSUER)).rejects.toThrow('it is not ready (disk full, stale);');
  });
});
