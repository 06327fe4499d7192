import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { built } from '../../built.ts';
import { tinyData } from '../tiny-release.ts';
import { samplesIn, sampleValue } from './scrape.ts';

const MAIN = 'gatekeeper/signalpress-gate.js';
const TRIES = 20;
const ASKED_MAX = 1000;

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

function listening(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((done) => {
    server.once('error', () => done(null));
    server.listen(port, '127.0.0.1', () => done(server));
  });
}

/** The first of two ports in a row that nobody listens at. */
async function freePair(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const first = await listening(0);
    if (first === null) continue;
    const { port } = first.address() as AddressInfo;
    const second = await listening(port + 1);
    first.close();
    second?.close();
    if (second !== null) return port;
  }
  throw new Error('no two ports in a row are free');
}

async function answersAt(port: number): Promise<number | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const labels = { operation: '/gauge/sample', status: '200' };
    const samples = samplesIn(await answer.text());
    if (sampleValue(samples, 'signalpress_connections') === undefined) return null;
    return sampleValue(samples, 'signalpress_answers_total', labels) ?? 0;
  } catch {
    return null;
  }
}

describe('metrics of several workers (needs a build)', () => {
  it('stand at a port of each, and add up to what was answered', async () => {
    const dataDir = tinyData();
    const port = await freePair();
    const env = {
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_TEST_PAYMENTS: '1',
      SIGNALPRESS_WORKERS: '2',
      SIGNALPRESS_METRICS: `127.0.0.1:${port}`,
    };
    const cwd = mkdtempSync(join(tmpdir(), 'signalpress-run-'));
    const child = spawn(process.execPath, [built(MAIN)], { cwd, env });
    running.add(child);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const places = [port, port + 1];
    const all = () => Promise.all(places.map(answersAt));
    for (let tries = 0; tries < 400 && (await all()).includes(null); tries += 1) await pause(50);
    const url = /listens on (\S+)/.exec(output)?.[1];
    // Which of them takes a connection is up to the system, so it is asked until each had one.
    let [asked, counts] = [0, [0, 0]];
    while (Math.min(...counts) === 0 && asked < ASKED_MAX) {
      const some = Array.from({ length: 20 }, async () => {
        const answer = await fetch(`${url}/gauge/sample`, { headers: { connection: 'close' } });
        await answer.text();
      });
      await Promise.all(some);
      asked += some.length;
      counts = (await all()) as number[];
      expect(counts.reduce((sum, count) => sum + count)).toBe(asked);
    }
    expect(Math.min(...counts)).toBeGreaterThan(0);
    child.kill('SIGTERM');
  });
});
