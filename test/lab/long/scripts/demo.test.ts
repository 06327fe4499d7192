import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { built } from '../../../built.ts';
import { makeFolder, removeFolders } from '../../../snapshot-folder.ts';

afterAll(removeFolders);
const ROOT = join(import.meta.dirname, '../../../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A copy of the top folder, as far as the quick start reads it, so that it leaves nothing in the real one. */
function topFolder(): string {
  const folder = makeFolder();
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly text: () => string;
}

function run(script: string, folder: string, port: number): Running {
  const env = { PATH: process.env.PATH, SIGNALPRESS_PORT: String(port), NO_COLOR: '1' };
  const child = spawn(process.execPath, [built(`scripts/${script}`)], {
    cwd: folder,
    env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  return { child, text: () => text };
}

async function ended({ child, text }: Running): Promise<{ status: number; text: string }> {
  const [status] = (await once(child, 'close')) as [number];
  return { status, text: text() };
}

/** The port that the quick start says it serves; it ends with the words on how to stop it. */
async function portOf({ child, text }: Running): Promise<number> {
  while (!text().includes('Ctrl-C')) await once(child.stdout, 'data');
  return Number(/Serving http:\/\/127\.0\.0\.1:(\d+)/.exec(text())?.[1]);
}

describe('npm run demo', () => {
  it('buys from the shop that "npm start" started', async () => {
    const folder = topFolder();
    const shop = run('quick-start.js', folder, 0);
    const port = await portOf(shop);
    expect(shop.text()).toContain(`SIGNALPRESS_PORT=${port} npm run demo buys from this shop`);
    const { status, text } = await ended(run('demo.js', folder, port));
    expect([status, text]).toEqual([0, expect.stringContaining('The shop goes on.')]);
    expect(text).toContain(`http://127.0.0.1:${port} serves release 1 of `);
    expect(text).not.toContain('Compile');
    expect(text).toMatch(/payload sha256 matches; reading re-derived by usgs-earthquakes v\d/);
    expect(text).toContain('FAILED  one byte of the payload changed');
    expect(text).toContain('FAILED  one rule of the importer changed');
    shop.child.kill('SIGTERM');
    expect((await ended(shop)).status).toBe(0);
    expect(shop.text()).toContain(`"event":"started","version":"${version}"`);
    const sold = shop.text().match(/"path":"\/gauge[^"]*","status":200/g) ?? [];
    // one look at the menu, three purchases, one of them fetched again
    expect(sold).toHaveLength(5);
  });

  it('refuses a shop that takes real payments', async () => {
    const release = { sequence: 1, as_of: '2026-11-20T12:00:00Z' };
    const health = JSON.stringify({ status: 'ready', settlement: 'relayer', release });
    const server = createServer((_, response) => response.end(health)).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status, text } = await ended(run('demo.js', topFolder(), port));
    expect(status).toBe(1);
    expect(text).toMatch(/^Cannot buy from the shop at .* it takes real payments, .*\n$/);
  });
});
