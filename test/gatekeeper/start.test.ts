import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { JOURNAL_NAME } from '../../gatekeeper/heart/journal/journal-file.ts';
import { startGatekeeper } from '../../gatekeeper/start.ts';
import { StartError } from '../../gatekeeper/wire/start-error.ts';
import { built } from '../command-runs.ts';
import { loadedModules } from '../loaded-modules.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { stub } from './raw-http.ts';
import { tinyConfig, tinyGate } from './tiny-gate.ts';
import {
  TINY_BASE_URL,
  TINY_NOW,
  tinyData,
  tinyDataDir,
  tinyFiles,
  tinyKey,
  writeTinyRelease,
} from './tiny-release.ts';
import { emptyJournal } from './tiny-service.ts';

const JOURNAL_FORMAT = 3;
const BY = { clock: Date.now, log: () => undefined };

async function refusal(config: Parameters<typeof startGatekeeper>[0]): Promise<string> {
  const error = await startGatekeeper(config, BY).catch((cause: unknown) => cause);
  if (error instanceof StartError) return error.message;
  throw new Error('it started');
}

describe('startGatekeeper()', () => {
  it('I47: says in one sentence why it does not start and what to do', async () => {
    const dataDir = tinyDataDir();
    expect(await refusal(tinyConfig(dataDir))).toMatch(/signalpress compile/);
    writeTinyRelease(dataDir);
    const config = tinyConfig(dataDir);
    expect(await refusal({ ...config, issuerDid: tinyKey(2).did })).toMatch(
      /SIGNALPRESS_ISSUER_DID/,
    );
    expect(await refusal({ ...config, baseUrl: 'https://x.example' })).toMatch(
      /SIGNALPRESS_BASE_URL/,
    );
    expect(await refusal({ ...config, facilitatorUrls: ['http://f.example'] })).toMatch(/https/);
    const payTo = '0x52908400098527886e0F7030069857D2E4169EE7';
    expect(await refusal({ ...config, payTo })).toMatch(/checksum/);
    const file = join(mkdtempSync(join(tmpdir(), 'signalpress-')), 'file');
    writeFileSync(file, '');
    expect(await refusal({ ...config, stateDir: file })).toBe(
      `Cannot open payment journal: "${file}" is a file; SIGNALPRESS_STATE must be a folder`,
    );
    expect(await refusal({ ...config, stateDir: join(file, 'below') })).toMatch(
      /payments\.db": E.*SIGNALPRESS_STATE to a folder of its own/,
    );
    expect(await refusal({ ...config, host: '203.0.113.1' })).toMatch(
      /refused with E.*; set SIGNALPRESS_HOST/,
    );
  });

  it('I58: does not sell for nothing at the public address of a release', async () => {
    const dataDir = tinyData();
    const config = { ...tinyConfig(dataDir), testPayments: false };
    const words = /base URL "https:\/\/records\.example" .*sold for nothing.*TEST_PAYMENTS=1/;
    expect(await refusal(config)).toMatch(words);
    expect(await refusal({ ...config, baseUrl: TINY_BASE_URL })).toMatch(words);
    await (await startGatekeeper({ ...config, testPayments: true }, BY)).close();
    const settler = { facilitatorUrls: ['http://127.0.0.1:9'] };
    await (await startGatekeeper({ ...config, ...settler }, BY)).close();
    const local = tinyData({ head: { base_url: 'http://localhost:4021' } });
    await (await startGatekeeper({ ...tinyConfig(local), testPayments: false }, BY)).close();
  });

  it('I47: says of a journal whether it is damaged or of another version, and never leads away from a sale', async () => {
    const dataDir = tinyData();
    const config = tinyConfig(dataDir);
    const path = join(config.stateDir, JOURNAL_NAME);
    writeFileSync(path, 'no database '.repeat(1000));
    expect(await refusal(config)).toMatch(/payments\.db": .*not a database.*restore a backup/);
    rmSync(path);
    const newer = new Database(path);
    newer.pragma(`user_version = ${JOURNAL_FORMAT + 1}`);
    newer.close();
    expect(await refusal(config)).toMatch(
      /format is 4, but this version writes 3; run the version that/,
    );
    for (const name of readdirSync(config.stateDir)) rmSync(join(config.stateDir, name));
    await (await startGatekeeper(config, BY)).close();
  });

  it('I47: names the port that is taken', async () => {
    const { port, close } = await stub();
    const dataDir = tinyData();
    expect(await refusal({ ...tinyConfig(dataDir), port })).toMatch(/taken.*SIGNALPRESS_PORT/);
    await close();
  });

  it('goes on with the newer release, and with the old one when the newer does not verify', async () => {
    const gate = await tinyGate();
    const spec = async (): Promise<unknown> => (await fetch(`${gate.url}/merkle/spec`)).json();
    expect(await spec()).toMatchObject({ text: 'archival' });
    const files = tinyFiles().set('free/merkle-spec.json', Buffer.from('{"text":"second"}'));
    writeTinyRelease(gate.dataDir, { sequence: 2, files });
    await gate.checkRelease();
    expect(await spec()).toEqual({ text: 'second' });
    writeTinyRelease(gate.dataDir, { sequence: 3, forged: { sequence: 4 } });
    await gate.checkRelease();
    writeTinyRelease(gate.dataDir, { sequence: 5, head: { base_url: 'https://moved.example' } });
    await gate.checkRelease();
    expect(await spec()).toEqual({ text: 'second' });
    expect(gate.logged.filter(({ event }) => event === 'release_refused')).toHaveLength(2);
    await gate.close();
  });

  it('shows in its challenges what the release of the moment answers, ready ones included', async () => {
    const gate = await tinyGate();
    const shown = async (path: string): Promise<string> => (await fetch(gate.url + path)).text();
    const [record, bundle] = ['/gauge', '/gauge/region'];
    for (let time = 0; time < 2; time += 1) {
      expect(await shown(record)).toContain('"examples":["us-denver"]');
      expect(await shown(bundle)).toContain('/gauge?entity=us-denver&');
    }
    const kept = [...tinyFiles()].filter(([path]) => !path.includes('us-denver'));
    writeTinyRelease(gate.dataDir, { sequence: 2, files: new Map(kept) });
    await gate.checkRelease();
    expect(await shown(record)).toContain('"examples":["us-chicago"]');
    expect(await shown(bundle)).not.toContain('entity=us-denver');
    expect(await shown(bundle)).toContain('"discoverable":false');
    await gate.close();
  });

  it('I33: says at its start that a clock before the journal keeps payments away, and nothing about another', async () => {
    for (const newest of [TINY_NOW, TINY_NOW + 60_000]) {
      const gate = await tinyGate({ journal: emptyJournal(newest) });
      const reported = gate.logged.filter(({ event }) => event === 'clock_behind');
      expect(reported).toHaveLength(newest === TINY_NOW ? 0 : 1);
      if (newest > TINY_NOW) expect(reported[0]?.error).toMatch(/ledger accept-clock$/);
      await gate.close();
    }
  });

  it('keeps its payments over a restart', async () => {
    const gate = await tinyGate();
    await gate.close();
    const again = await startGatekeeper(tinyConfig(gate.dataDir), BY);
    expect((await fetch(`${again.url}/healthz`)).status).toBe(200);
    await again.close();
  });
});

afterAll(removeFolders);
const loaded = (...args: readonly string[]) =>
  loadedModules('gatekeeper/signalpress-gate.js', args);

describe('the shipped gatekeeper (needs a build)', () => {
  it('loads few modules at its start, and nothing that only commands or a chain need', () => {
    const { status, modules } = loaded('--version');
    expect(status).toBe(0);
    expect(modules.some((url) => url.endsWith('/build/gatekeeper/bundle.js'))).toBe(true);
    expect(modules.length).toBeLessThan(60);
    expect(modules.filter((url) => /viem|commander|open-chain|-command-/.test(url))).toEqual([]);
  });

  it('loads a command only when that is asked for', () => {
    const { status, modules } = loaded('ledger', '--help');
    expect(status).toBe(0);
    expect(modules.filter((url) => /-command-/.test(url))).toEqual([
      expect.stringMatching(/\/ledger-command-/),
      expect.stringMatching(/\/books-command-/),
    ]);
  });

  it.each(['ledger', 'books', 'dashboard', 'doctor'])(
    'has the %s in a part that it loads on demand',
    (name) => {
      const text = readFileSync(built('gatekeeper/bundle.js'), 'utf8');
      const part = `\\./bundle-parts/${name}-command-[\\w-]+\\.js`;
      expect(text.match(new RegExp(`import\\("${part}"\\)`, 'g'))).toHaveLength(1);
      expect(text.match(new RegExp(part, 'g'))).toHaveLength(1);
    },
  );
});
