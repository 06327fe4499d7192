import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NOW_MS } from '../../../gatekeeper/payer.ts';
import {
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';

/** Two contracts of their own, of which each has other tables. */
const [OLD, NEW] = [41, 42] as const;
const SENTENCE = `of contract ${NEW}, this program is of contract ${OLD}; run the signalpress-gate of the version that compiled it`;

/** Compiler and gatekeeper as the program of a contract has them. */
async function programOf(contract: number) {
  vi.resetModules();
  vi.doMock('../../../../compiler/format/release.ts', async (original) => {
    const actual = await original<typeof import('../../../../compiler/format/release.ts')>();
    return { ...actual, CONTRACT_VERSION: contract };
  });
  vi.doMock('../../../../compiler/products/shapes/words.ts', async (original) => {
    return { ...(await original<object>()), WORD_OF_CONTRACT: contract };
  });
  const { compile } = await import('../../../../compiler/cli/compile.ts');
  const { startGatekeeper } = await import('../../../../gatekeeper/start.ts');
  const { loadConfig } = await import('../../../../gatekeeper/settings/load-config.ts');
  vi.doUnmock('../../../../compiler/format/release.ts');
  vi.doUnmock('../../../../compiler/products/shapes/words.ts');
  return { compile, startGatekeeper, loadConfig };
}
type Program = Awaited<ReturnType<typeof programOf>>;

const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
let programs: { readonly old: Program; readonly new: Program };
beforeAll(async () => {
  programs = { old: await programOf(OLD), new: await programOf(NEW) };
}, 120_000);
afterAll(removeFolders);

/** A shop with one release of the old program, served by it to clients who never stop asking. */
async function shopOf() {
  const data = join(makeFolder(), 'data');
  const state = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
  const said: Readonly<Record<string, unknown>>[] = [];
  const compiled = ({ compile }: Program, hour: number) =>
    compile({
      ...{ snapshots, data, asOf: `2026-11-20T${hour}:00:00Z`, seed: SEED, workers: 0 },
      ...{ issuerName: 'Test issuer', baseUrl: 'http://127.0.0.1:4021' },
    });
  const started = ({ startGatekeeper, loadConfig }: Program) => {
    const options = { port: '0', rate_limit: '0', data, state, test_payments: '1' };
    const log = (entry: Readonly<Record<string, unknown>>): void => void said.push(entry);
    const config = loadConfig({ options, env: {}, fileText: null });
    return startGatekeeper(config, { clock: () => NOW_MS, log });
  };
  await compiled(programs.old, 12);
  const running = { gate: await started(programs.old) };
  const failed: number[] = [];
  let [asked, isOver] = [0, false];
  const load = async (): Promise<void> => {
    while (!isOver) {
      const { url } = running.gate;
      const free = await fetch(`${url}/gauge/sample`);
      const paid = await fetch(`${url}/gauge?signal_id=crypto.spot&entity=btc`);
      await Promise.all([free.arrayBuffer(), paid.arrayBuffer()]);
      if (free.status !== 200) failed.push(free.status);
      if (paid.status !== 402) failed.push(paid.status);
      asked += 2;
    }
  };
  const clients = [load(), load(), load()];
  return {
    compiled,
    check: () => running.gate.checkRelease(),
    /** As one of several behind a balancer: the next one is there before this one goes. */
    async upgrade(program: Program) {
      const before = running.gate;
      running.gate = await started(program);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await before.close();
    },
    async served(): Promise<number> {
      const head = await (await fetch(`${running.gate.url}/.well-known/release.json`)).json();
      return (head as { sequence: number }).sequence;
    },
    async end() {
      isOver = true;
      await Promise.all(clients);
      await running.gate.close();
      return {
        failed,
        isLoaded: asked > 20,
        errors: said.filter(({ level, event }) => level === 'error' || event === 'release_refused'),
        foreign: said.filter(({ event }) => event === 'release_foreign').map(({ error }) => error),
      };
    },
  };
}

describe('an upgrade from one contract to the next', () => {
  it('works with the gatekeepers first: they serve what the older compiler publishes', async () => {
    const shop = await shopOf();
    await shop.upgrade(programs.new);
    expect(await shop.served()).toBe(1);
    await shop.compiled(programs.old, 13);
    await shop.check();
    expect(await shop.served()).toBe(2);
    await shop.compiled(programs.new, 14);
    await shop.check();
    expect(await shop.served()).toBe(3);
    expect(await shop.end()).toEqual({ failed: [], isLoaded: true, errors: [], foreign: [] });
  }, 60_000);

  it('works with the compiler first: gatekeepers serve on, say which program to run, and start again', async () => {
    const shop = await shopOf();
    await shop.compiled(programs.new, 13);
    await shop.check();
    expect(await shop.served()).toBe(1);
    await shop.upgrade(programs.old);
    expect(await shop.served()).toBe(1);
    await shop.upgrade(programs.new);
    expect(await shop.served()).toBe(2);
    const { foreign, ...told } = await shop.end();
    expect(told).toEqual({ failed: [], isLoaded: true, errors: [] });
    expect(foreign).toEqual([
      `Cannot serve release: ${SENTENCE}`,
      `Cannot serve release: ${SENTENCE}`,
    ]);
  }, 60_000);

  it('reads no contract but its own and the one before', async () => {
    const shop = await shopOf();
    const later = await programOf(NEW + 1);
    await expect(shop.upgrade(later)).rejects.toThrow(
      `of contract ${OLD}, this program is of contract ${NEW + 1}; compile again`,
    );
    expect(await shop.served()).toBe(1);
    await shop.end();
  }, 60_000);
});
