import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runningShop, tryPort } from '../../scripts/quick-start-data.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

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

afterAll(removeFolders);
const SCRIPT = join(import.meta.dirname, '../../scripts/install-packages.js');

it('install-packages.js installs where the lock file is newer or nothing is there, and says when npm fails', () => {
  const root = makeFolder();
  // Says what it is told, and fails where the folder is called so.
  const npm = '#!/bin/sh\necho "$@"\ncase "$*" in *failing*) exit 9 ;; esac\n';
  writeFileSync(join(root, 'npm'), npm);
  chmodSync(join(root, 'npm'), 0o755);
  const place = (folder: string, lockedAt: number, installedAt: number | null): void => {
    const copy = join(root, folder, 'node_modules/.package-lock.json');
    const lock = join(root, folder, 'package-lock.json');
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(lock, '{}');
    utimesSync(lock, lockedAt, lockedAt);
    if (installedAt === null) return;
    writeFileSync(copy, '{}');
    utimesSync(copy, installedAt, installedAt);
  };
  place('ready', 1000, 2000);
  place('older', 2000, 1000);
  place('bare', 1000, null);
  place('failing', 1000, null);
  const run = (...folders: string[]) => {
    const env = { PATH: `${root}:${process.env.PATH}` };
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, ...folders], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    return [status, stdout];
  };
  const told = (folder: string) => `ci --prefix ${folder} --ignore-scripts --no-audit --no-fund\n`;
  expect(run('ready', 'older', 'bare')).toEqual([0, told('older') + told('bare')]);
  expect(run('failing', 'bare')).toEqual([1, told('failing')]);
});
