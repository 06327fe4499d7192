import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { servedShop } from '../../gate.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { Watching } from './watching.ts';

let data: string;
let issuer: string;
let gate: Gatekeeper;
beforeAll(async () => {
  const earlier = Object.entries(smallSet()).filter(([path]) => !path.startsWith('2026-11-20T11Z'));
  const settings = { tokens: false, pollMs: 20 };
  ({ data, issuer, gate } = await servedShop(Object.fromEntries(earlier), settings));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

describe('Monitor.look() at a real gatekeeper', () => {
  it('follows it over two releases, each with its entry, and finds nothing wrong', async () => {
    const asked: string[] = [];
    let bytes = 0;
    const watching = new Watching({
      addresses: [gate.url],
      issuers: [issuer],
      signals: ['crypto.spot'],
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        asked.push(new URL(url).pathname);
        bytes += (await response.clone().arrayBuffer()).byteLength;
        return response;
      },
    });
    watching.clock.ms = Date.parse('2026-11-20T12:05:00Z');
    await watching.monitor.look();
    expect(watching.alarms()).toEqual([]);
    expect(watching.status()).toMatchObject({ verdict: 'well', release: { sequence: 1 } });
    const { tree_size: before } = watching.status();
    await compileFolder(writeSnapshots(smallSet()), { data, asOf: '2026-11-20T13:00:00Z' });
    await vi.waitFor(async () => {
      const head = await fetch(`${gate.url}/.well-known/release.json`);
      expect(await head.json()).toMatchObject({ sequence: 2 });
    }, 60_000);
    asked.length = 0;
    bytes = 0;
    await watching.monitor.look();
    expect(watching.lines.join('\n')).not.toMatch(/ALARM|seen once|cannot/);
    expect(watching.status()).toMatchObject({ verdict: 'well', release: { sequence: 2 } });
    expect(watching.status().tree_size).toBe(before + 1);
    expect(watching.status().notices).toEqual([]);
    const folder = join(watching.folder, 'readings');
    const kept = readdirSync(folder);
    expect(kept.length).toBeGreaterThan(0);
    // As a kill leaves it between the body and the state.
    writeFileSync(join(folder, `${'0'.repeat(64)}.json`), '{}');
    watching.reopened();
    expect(readdirSync(folder)).toEqual(kept);
    // A look costs a service little.
    expect(asked.length).toBeLessThan(20);
    expect(bytes).toBeLessThan(100_000);
  });
});
