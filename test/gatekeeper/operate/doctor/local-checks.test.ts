import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { keepNewest } from '../../../../gatekeeper/heart/release/newest-served.ts';
import { failed, ok } from '../../../../gatekeeper/operate/doctor/check.ts';
import { doctorCommand, examine } from '../../../../gatekeeper/operate/doctor/doctor-command.ts';
import {
  clockCheck,
  diskCheck,
  journalCheck,
  memoryCheck,
  releaseCheck,
  secretsCheck,
  settingsCheck,
  sourcesCheck,
} from '../../../../gatekeeper/operate/doctor/local-checks.ts';
import { StartError } from '../../../../gatekeeper/wire/start-error.ts';
import { built } from '../../../command-runs.ts';
import { freePort } from '../../raw-http.ts';
import { TINY_NOW, tinyData, tinyDataDir, writeTinyRelease } from '../../tiny-release.ts';
import { SECRET } from '../../tiny-service.ts';
import { answer, examined, reported } from './examined.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'signalpress-doctor-'));
const CLAIM = {
  key: 'base|0xa|0xb|0xc',
  resource: 'GET /gauge',
  version: 1,
  signed: 'a|b|c|d|e|f|g',
  body: Buffer.from('{}'),
  contentType: 'application/json',
  value: '10000',
  validBefore: TINY_NOW / 1000 + 300,
} as const;

/** A state folder whose journal was written at an instant, with a payment that is open or settled. */
async function stateAt(now: number, isSettled = true): Promise<string> {
  const stateDir = folder();
  const journal = sqliteJournal({ path: join(stateDir, 'payments.db'), clock: () => now });
  await journal.claim(CLAIM);
  if (isSettled) await journal.conclude({ key: CLAIM.key, state: 'settled', transaction: '0x1' });
  journal.close();
  return stateDir;
}

const FACILITATED = { facilitatorUrls: ['https://pay.example/x'], payTo: `0x${'11'.repeat(20)}` };

describe('settingsCheck()', () => {
  it('says what the settings amount to, and warns that payments are simulated', async () => {
    const [first, second] = await settingsCheck(examined());
    expect(first?.detail).toBe('127.0.0.1:0, network base-sepolia; payments are simulated');
    expect(second?.detail).toContain('TEST-ONLY');
    const node = { ...FACILITATED, rpcUrl: 'https://node.example' };
    expect(reported(await settingsCheck(examined({ config: node })))).toEqual([
      `ok: 127.0.0.1:0, network base-sepolia; facilitator settles, paid to ${FACILITATED.payTo}`,
    ]);
  });

  it('warns of a misspelt setting, and of settlements that nobody can look up', async () => {
    const ignored = ['"SIGNALPRESS_PROT" is not a setting'];
    const findings = await settingsCheck(examined({ config: FACILITATED, ignored }));
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'warning', 'warning']);
    expect(findings[1]?.detail).toContain('SIGNALPRESS_PROT');
    expect(findings[2]?.detail).toContain('No chain node is asked');
  });
});

describe('memoryCheck()', () => {
  it.each([
    [null, 'skipped'],
    ['postgres://shop:word@db.example/shop', 'ok'],
    ['https://store.example/memory', 'ok'],
    ['https://shop.example/log/checkpoint', 'warning'],
    ['/var/lib/shop/memory', 'warning'],
  ])('I65: tells whether %s stops two machines that compile: %s', async (logMemory, state) => {
    const [found] = await memoryCheck({ logMemory });
    expect(found?.state).toBe(state);
    expect(found?.detail).not.toContain('word');
  });
});

describe('secretsCheck()', () => {
  const KEY = '1'.repeat(64);
  it('is content with files for their owner alone', async () => {
    const [key, module] = [join(folder(), 'relayer.key'), join(folder(), 'auth.js')];
    writeFileSync(key, KEY, { mode: 0o600 });
    writeFileSync(module, '', { mode: 0o644 });
    const stateDir = await stateAt(TINY_NOW);
    const config = { relayerKey: key, facilitatorAuthModule: module, stateDir };
    expect(reported(await secretsCheck(examined({ config })))).toEqual([
      'ok: files with secrets are for their owner alone',
    ]);
  });

  it('names each that others may read or change, and the command that mends it', async () => {
    const [key, module] = [join(folder(), 'relayer.key'), join(folder(), 'auth.js')];
    writeFileSync(key, KEY);
    writeFileSync(module, '');
    const stateDir = await stateAt(TINY_NOW);
    chmodSync(key, 0o640);
    chmodSync(module, 0o664);
    chmodSync(join(stateDir, 'payments.db'), 0o644);
    chmodSync(stateDir, 0o777);
    const config = { relayerKey: key, facilitatorAuthModule: module, stateDir };
    const findings = await secretsCheck(examined({ config }));
    expect(findings.map(({ state, remedy }) => [state, remedy])).toEqual([
      ['failed', 'set its mode to 600'],
      ['failed', `run: chmod go-w "${module}"`],
      ['warning', `run: chmod go-rwx "${join(stateDir, 'payments.db')}"`],
      ['failed', `run: chmod go-w "${stateDir}"`],
    ]);
    expect(JSON.stringify(findings)).not.toContain(KEY);
  });
});

describe('releaseCheck()', () => {
  it('opens the release and reads its files', async () => {
    const findings = await releaseCheck(examined({ config: { tokenSecret: SECRET } }));
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect(findings[0]?.detail).toMatch(/^release 1 as of .* files, issued by did:key:z6Mk/);
    expect(findings[1]?.detail).toMatch(/^[0-9]+ files were read and have their hashes$/);
  });

  it('warns where the release offers subscriptions and no secret is set', async () => {
    const [, , found] = await releaseCheck(examined());
    expect(found).toMatchObject({
      state: 'warning',
      detail: expect.stringContaining('SIGNALPRESS_TOKEN_SECRET'),
    });
  });

  it('names a damaged file', async () => {
    const checked = examined();
    const { files } = await checked.release();
    const entry = files.get('free/sample/~.json');
    if (entry === undefined) throw new Error('no such file');
    const path = join(checked.config.dataDir, storedPath(entry.path, entry.sha256));
    writeFileSync(path, '{}');
    const [, second] = await releaseCheck(checked);
    expect(second?.state).toBe('failed');
    expect(second?.detail).toContain('free/sample/~.json');
  });

  it('warns of a stale release, and fails for one that is older than what was served', async () => {
    const dataDir = tinyDataDir();
    const [valid_until, as_of] = ['2026-11-21T11:00:00Z', '2026-11-21T10:00:00Z'];
    writeTinyRelease(dataDir, { head: { valid_until, as_of } });
    const checked = examined({ config: { dataDir, tokenSecret: SECRET } });
    expect((await releaseCheck(checked)).map(({ state }) => state)).toEqual([
      'ok',
      'ok',
      'warning',
    ]);
    const newer = tinyData({ sequence: 2 });
    keepNewest(checked.config.stateDir, await examined({ config: { dataDir: newer } }).release());
    await expect(releaseCheck(checked)).rejects.toThrow(/older than release 2/);
  });

  it('fails where everything would be sold for nothing at a public address', async () => {
    const findings = await releaseCheck(examined({ config: { testPayments: false } }));
    expect(findings.at(-1)?.state).toBe('failed');
    expect(findings.at(-1)?.detail).toContain('so everything would be sold for nothing');
  });

  it('says what to do where there is no release', async () => {
    const checked = examined({ config: { dataDir: tinyDataDir() } });
    await expect(releaseCheck(checked)).rejects.toThrow(/run "signalpress compile" first/);
  });
});

/** Everything in a folder, with the time of its last write; locks of readers stand in the shared memory of SQLite. */
const seen = (dir: string): string[] =>
  readdirSync(dir).map((name) => {
    const { size, mtimeMs } = statSync(join(dir, name));
    return `${name} ${size} ${name.endsWith('-shm') ? 0 : mtimeMs}`;
  });

describe('journalCheck()', () => {
  it('is content before the first start, and with a whole journal, and writes nothing', async () => {
    expect(reported(await journalCheck(examined()))[0]).toMatch(
      /^skipped: nothing in ".*payments.db" yet/,
    );
    const stateDir = await stateAt(TINY_NOW);
    const before = seen(stateDir);
    expect(reported(await journalCheck(examined({ config: { stateDir } })))).toEqual([
      `ok: "${join(stateDir, 'payments.db')}" is whole`,
      'ok: no payment is open',
    ]);
    expect(seen(stateDir)).toEqual(before);
  });

  it('warns of a payment in doubt', async () => {
    const stateDir = await stateAt(TINY_NOW, false);
    expect(reported(await journalCheck(examined({ config: { stateDir } })))[1]).toBe(
      'warning: open payments: 1, the oldest since 2026-11-21T12:00:00.000Z',
    );
  });

  it('fails for a damaged file', async () => {
    const stateDir = folder();
    writeFileSync(join(stateDir, 'payments.db'), 'not a journal at all, but a text of some length');
    const run = journalCheck(examined({ config: { stateDir } }));
    await expect(run).rejects.toThrow(/Cannot (open|use) payment journal/);
  });
});

describe('diskCheck()', () => {
  const space = (free: number) => () => ({ free, total: 100e9, isLasting: true });
  it.each([
    [2e9, 'ok'],
    [5e8, 'warning'],
    [5e7, 'failed'],
  ])('judges %d free bytes: %s', async (free, state) => {
    const [first, second] = await diskCheck(examined({ space: space(free) }));
    expect([first?.state, second?.state]).toEqual(['ok', state]);
  });

  it('warns where the state folder is gone with its container', async () => {
    const findings = async (isLasting: boolean) =>
      diskCheck(examined({ space: () => ({ free: 2e9, total: 100e9, isLasting }) }));
    expect(await findings(true)).toHaveLength(2);
    expect((await findings(false))[2]).toMatchObject({
      state: 'warning',
      detail: expect.stringMatching(/^".*" lies in a container or in memory, and is gone with it$/),
      remedy: 'mount a volume there: without its journal, what was sold could be charged again',
    });
  });

  it('fails where the state folder cannot be made, and is content where it can', async () => {
    const [home, file] = [folder(), join(folder(), 'file')];
    writeFileSync(file, '');
    const state = async (stateDir: string) =>
      (await diskCheck(examined({ config: { stateDir } })))[0]?.state;
    expect(await state(join(home, 'a', 'b'))).toBe('ok');
    expect(readdirSync(home)).toEqual([]);
    expect(await state(join(file, 'b'))).toBe('failed');
  });
});

describe('clockCheck()', () => {
  it('compares the clock with the journal', async () => {
    const reported = async (now: number) => {
      const config = { stateDir: await stateAt(TINY_NOW) };
      return (await clockCheck(examined({ config, clock: () => now })))[0];
    };
    expect((await reported(TINY_NOW + 1000))?.state).toBe('ok');
    const behind = await reported(TINY_NOW - 60_000);
    expect(behind?.state).toBe('failed');
    expect(behind?.remedy).toContain('ledger accept-clock');
  });

  it.each([
    [0, 'ok: within 5 s of pay.example'],
    [4, 'ok: within 5 s of pay.example'],
    [30, 'warning: 30 s behind the clock of pay.example'],
    [-30, 'warning: 30 s ahead of the clock of pay.example'],
    [300, 'failed: 300 s behind the clock of pay.example'],
  ])('judges a facilitator that is %d s later: %s', async (seconds, expected) => {
    const date = new Date(TINY_NOW + seconds * 1000).toUTCString();
    const ask = async () => answer(401, '', { date });
    expect(reported(await clockCheck(examined({ config: FACILITATED, ask })))).toEqual([
      'skipped: no journal to compare the clock with',
      expected,
    ]);
  });

  it('shows no path of a URL, which may hold a key', async () => {
    const rpcUrl = 'https://node.example/v2/secret';
    expect(reported(await clockCheck(examined({ config: { rpcUrl } })))).toEqual([
      'skipped: no journal to compare the clock with',
      'skipped: node.example told no time',
    ]);
  });
});

describe('sourcesCheck()', () => {
  const fed = (...importers: readonly string[]) => {
    const bodyOf = (importer: string) => ({
      provenance: { data_lineage: [{ evidence: { importer } }] },
    });
    const release = async () => ({
      files: {
        namesUnder: () => importers.map((_, at) => `s${at}/`),
        pathsUnder: (prefix: string) => [`${prefix}a.json`],
      },
      body: async (path: string) => {
        const importer = importers[Number(/s(\d+)/.exec(path)?.[1])] ?? '';
        return { bytes: Buffer.from(JSON.stringify(bodyOf(importer))) };
      },
    });
    const clock = () => Date.parse('2026-11-29T18:00:00Z');
    return sourcesCheck(examined({ clock, release: release as never }));
  };

  it('names what ends soon and what may not be sold of the sources that feed the records', async () => {
    const found = reported(await fed('usgs-nwis', 'open-meteo-marine', 'fred', 'csv-map-1'));
    expect(found[0]).toBe('ok: 3 sources feed the records: fred, open-meteo-marine, usgs-nwis');
    expect(found).toHaveLength(4);
    expect(found[1]).toMatch(/^warning: fred: nobody has read its terms/);
    expect(found[2]).toMatch(/^warning: open-meteo-marine: its terms .* forbid sale/);
    expect(found[3]).toMatch(/^warning: usgs-nwis: .*waterservices.* ends on 2027-02-22/);
  });

  it('has nothing to say of sources that no register knows', async () => {
    expect(reported(await fed('csv-map-1'))).toEqual([
      'skipped: no record names a source of the register',
    ]);
    expect(reported(await sourcesCheck(examined()))).toEqual([
      'skipped: no record names a source of the register',
    ]);
  });
});

/** Every check, in the order of the report. */
const NAMES = [
  'settings',
  'secrets',
  'release',
  'sources',
  'memory',
  'journal',
  'disk',
  'clock',
  'facilitator',
  'chain',
  'payee',
  'address',
];
const GATE = 'gatekeeper/signalpress-gate.js';
const LOCAL = { head: { base_url: 'http://127.0.0.1:4021' } };

/** A data folder whose release is for this machine alone. */
function localData(): string {
  const dataDir = tinyData(LOCAL);
  return dataDir;
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  let text = '';
  const state = join(mkdtempSync(join(tmpdir(), 'signalpress-doctor-')), 'state');
  const write = (part: string): void => {
    text += part;
  };
  const by = { env: { SIGNALPRESS_STATE: state, ...env }, fileText: null, write };
  const code = await doctorCommand(args, {
    ...by,
    clock: () => Date.parse('2026-11-21T12:00:00Z'),
  });
  return { code, text, state };
}

describe('doctorCommand()', () => {
  it('reports every check once, returns 0 where nothing failed, and makes nothing', async () => {
    const port = String(await freePort());
    const { code, text, state } = await run(['--data', localData(), '--port', port]);
    expect([code, text.includes('ready to start: ')]).toEqual([0, true]);
    const told = [...text.matchAll(/^(?:ok|skipped) +([a-z]+) /gm)].map(([, name]) => name);
    expect([...new Set(told)]).toEqual(NAMES);
    expect(existsSync(state)).toBe(false);
  });

  it('returns 1 where something failed, and says under it what to do', async () => {
    const { code, text } = await run(['--data', tinyDataDir(), '--port', '0']);
    expect(code).toBe(1);
    expect(text).toMatch(/^failed +release +Cannot open release .*\n +-> .*signalpress compile/m);
    expect(text).toMatch(/\nnot ready to start: .* 1 failed/);
  });

  it('reports all settings that cannot be read, and shows no secret', async () => {
    const env = { SIGNALPRESS_PORT: 'x', SIGNALPRESS_TOKEN_SECRET: 'too short' };
    const { code, text } = await run([], env);
    expect(code).toBe(1);
    expect(text).toMatch(
      /^failed +settings +SIGNALPRESS_PORT "x": not a whole number\n +-> set TCP/m,
    );
    expect(text).toContain('2 failed');
    expect(text).not.toContain('too short');
  });

  it('writes JSON for programs', async () => {
    for (const args of [['--format', 'json'], ['--format=json']]) {
      const { code, text } = await run([...args, '--data', localData(), '--port', '0']);
      const { ready, findings } = JSON.parse(text) as { ready: boolean; findings: object[] };
      expect([code, ready]).toEqual([0, true]);
      expect(findings[0]).toMatchObject({ check: 'settings', state: 'ok' });
    }
  });

  it('tells how it is called, and refuses what it does not know', async () => {
    expect((await run(['--help'])).text).toContain('Usage: signalpress-gate doctor');
    for (const args of [['--format', 'xml'], ['--format'], ['--prot', '1'], ['now']]) {
      await expect(run(args)).rejects.toThrow(StartError);
    }
  });
});

describe('examine()', () => {
  it('takes a check that throws for a failure, and the others go on', async () => {
    const findings = await examine(examined(), {
      one: () => Promise.reject(new StartError('Cannot do it: broken; mend it')),
      two: async () => [ok('well')],
    });
    expect(findings).toEqual([
      { check: 'one', ...failed('Cannot do it: broken', 'mend it') },
      { check: 'two', ...ok('well') },
    ]);
  });
});

describe('signalpress-gate doctor (needs a build)', () => {
  const doctor = (cwd: string, env: Record<string, string>) =>
    spawnSync(process.execPath, [built(GATE), 'doctor'], { cwd, env, encoding: 'utf8' });

  it('checks what the start would use, and leaves the folder as it was', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'signalpress-doctor-'));
    const port = await freePort();
    const config = { data: localData(), port };
    writeFileSync(join(cwd, 'signalpress.config.json'), JSON.stringify(config), { mode: 0o600 });
    const well = doctor(cwd, {});
    expect([well.status, well.stderr]).toEqual([0, '']);
    expect(well.stdout).toMatch(new RegExp(`^ok +address +127.0.0.1:${port} is free$`, 'm'));
    expect(readdirSync(cwd)).toEqual(['signalpress.config.json']);
    const ill = doctor(cwd, { SIGNALPRESS_DATA: join(cwd, 'none') });
    expect(ill.status).toBe(1);
    expect(ill.stdout).toMatch(/^failed +release /m);
  });
});
