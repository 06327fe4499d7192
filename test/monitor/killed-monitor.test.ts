import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readState } from '../../compiler/monitor/monitor-state.ts';
import { built } from '../built.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';
import { DID, type Files, filesOf, publishHours } from './lying-service.ts';

const KILLS = 12;
const releases = publishHours(KILLS + 1, '2026-11-20T00:00:00Z').map((release) => filesOf(release));
let server: Server;
let address: string;
let shown: Files = new Map();
/** Called at the last request of a look: all that follows is writing. */
let lastAsked = (): void => undefined;

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const content = shown.get(url) ?? null;
    if (url === '/gauge/sample') lastAsked();
    response.writeHead(content === null ? 404 : 200).end(content ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  removeFolders();
});

/** Looks once in a process of its own, which is killed so many milliseconds after the last answer; answers its exit code. */
async function look(state: string, killMs: number | null): Promise<number | null> {
  const words = ['monitor', address, '--once', '--issuer', DID, '--state', state];
  const child = spawn(process.execPath, [built('compiler/cli.js'), ...words], { stdio: 'ignore' });
  if (killMs !== null) lastAsked = () => setTimeout(() => child.kill('SIGKILL'), killMs);
  else lastAsked = () => undefined;
  const [code] = await once(child, 'exit');
  return code;
}

it('I61: a monitor that is killed while it writes goes on, and takes nothing for a fork', async () => {
  const state = makeFolder();
  let killed = 0;
  for (const [at, files] of releases.slice(0, KILLS).entries()) {
    shown = files;
    const code = await look(state, 2 * at);
    if (code === null) killed += 1;
    expect(() => readState(state)).not.toThrow();
  }
  expect(killed).toBeGreaterThan(0);
  shown = releases.at(-1) ?? new Map();
  await look(state, null);
  const known = readState(state);
  expect(known?.alarms.filter(({ kind }) => kind !== 'frozen' && kind !== 'silent')).toEqual([]);
  expect(known?.newest).toContain(`\n${(KILLS + 1) * 11}\n`);
}, 120_000);
