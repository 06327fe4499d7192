import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { trustedBy } from '../../../../../compiler/verify/key-trust.ts';
import { checkEvidence, parseEvidence } from '../../../../../compiler/verify/monitor/evidence.ts';
import { MONITOR_EXIT } from '../../../../../compiler/verify/monitor/monitor.ts';
import { readState } from '../../../../../compiler/verify/monitor/monitor-state.ts';
import { built } from '../../../../built.ts';
import { killerOptions } from '../../../../publish/witness/killer.ts';
import { makeFolder, removeFolders } from '../../../../snapshot-folder.ts';
import {
  DID,
  type Files,
  filesOf,
  publish,
  publishHours,
} from '../../../../verify/monitor/lying-service.ts';

/** More than the calls of the disk after the last answer: the last kills come never. */
const STEPS = 30;
const PROOF_STEPS = 33;
const published = publishHours(STEPS + 1, '2026-11-20T00:00:00Z');
const releases = published.map((release) => filesOf(release));
let server: Server;
let address: string;
let shown: Files = new Map();
/** Is there once a look has asked for the checkpoint: what follows is mostly writing. */
let flag: string;

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const content = shown.get(url) ?? null;
    if (url === '/log/checkpoint') writeFileSync(flag, '');
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

/** Looks once in a process of its own, which is killed at a call of the disk behind the answers; answers its exit code. */
async function look(state: string, killAt: number): Promise<number | null> {
  const words = ['monitor', address, '--once', '--issuer', DID, '--state', state];
  flag = join(state, '..', 'switch');
  rmSync(flag, { force: true });
  const options = killerOptions(join(state, '..'));
  const env = { KILL_AT: String(killAt), KILL_SWITCH: flag };
  const child = spawn(process.execPath, [...options, built('compiler/signalpress.js'), ...words], {
    env,
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  return code;
}

/** Never. */
const UNKILLED = -1;

it('I70: a monitor that is killed at any write goes on, and takes nothing for a fork', async () => {
  const state = join(makeFolder(), 'state');
  const codes: (number | null)[] = [];
  for (const [at, files] of releases.slice(0, STEPS).entries()) {
    shown = files;
    codes.push(await look(state, at));
    expect(() => readState(state)).not.toThrow();
  }
  expect(codes.filter((code) => code === null).length).toBeGreaterThan(10);
  expect(codes.at(-1)).not.toBeNull();
  shown = releases.at(-1) ?? new Map();
  await look(state, UNKILLED);
  const known = readState(state);
  expect(known?.alarms.filter(({ kind }) => kind !== 'frozen' && kind !== 'silent')).toEqual([]);
  expect(known?.newest).toContain(`\n${STEPS + 1}\n`);
});

it('I70: a fork that was seen before a kill is proven after it, by one file', async () => {
  const before = join(makeFolder(), 'state');
  const [first, second] = published;
  if (!first || !second) throw new Error('too few releases');
  shown = filesOf(second);
  expect(await look(before, UNKILLED)).not.toBeNull();
  const fork = publish(first, { taken: 700, as_of: second.head.as_of });
  shown = filesOf(fork);
  const codes: (number | null)[] = [];
  for (let at = 0; at < PROOF_STEPS; at += 3) {
    const state = join(makeFolder(), 'state');
    cpSync(before, state, { recursive: true });
    codes.push(await look(state, at));
    const folder = join(state, 'evidence');
    // A draft that the kill left lies elsewhere, under one name for all: nothing would take it away here.
    expect([at, readdirSync(folder).filter((name) => !name.endsWith('.json'))]).toEqual([at, []]);
    expect([at, await look(state, UNKILLED)]).toEqual([at, MONITOR_EXIT.alarm]);
    const forks = readdirSync(folder).filter((name) => name.startsWith('fork-'));
    expect([at, forks.length]).toEqual([at, 1]);
    const evidence = parseEvidence(readFileSync(join(folder, forks[0] ?? ''), 'utf8'));
    expect(checkEvidence(evidence, trustedBy([DID])).verdict).toBe('proven');
  }
  expect(codes.filter((code) => code === null).length).toBeGreaterThan(5);
});
