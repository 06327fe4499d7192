import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseFiles } from '../../../compiler/format/release.ts';
import { folderSource } from '../../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../../gatekeeper/heart/release/open-release.ts';
import { built, CommandRuns, RUNS_MS_MAX } from '../../command-runs.ts';
import { tinyDataDir, tinyFilePath, writeTinyRelease } from '../../gatekeeper/tiny-release.ts';
import {
  AS_OF,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

// Pipes that nobody writes into, and devices that never end, in every place where a file is expected. All programs
// run as processes of their own with a time limit, for a read that waits would hold this one too.

const CLI = built('compiler/signalpress.js');
const GATE = built('gatekeeper/signalpress-gate.js');
const KEY = '0123456789abcdef'.repeat(4);
const LIMIT_MS = 20_000;
const TIMES = ['--as-of', AS_OF, '--valid-until', 'none', '--workers', '0'];

const NOT_PLAIN: readonly [string, (path: string) => void][] = [
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
];

const rows = ndjson([reading('btc', { price_usd: 1 })]);
const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': rows });
const data = join(makeFolder(), 'data');
const env = { SIGNALPRESS_ISSUER_KEY: KEY };
const compileArgs = (into: string, from = snapshots): string[] => {
  return ['compile', '--snapshots', from, '--data', into, ...TIMES];
};
execFileSync(process.execPath, [CLI, ...compileArgs(data)], {
  cwd: makeFolder(),
  env: { PATH: process.env.PATH, ...env },
  stdio: 'pipe',
});

/** All commands but those of a shell: a read that waits ends them all, and the first that asks is told which it was. */
const commands = new CommandRuns();
const cli = (args: readonly string[], cwd = makeFolder()) => commands.plan(args, { cwd, env });
afterAll(removeFolders);

/** A copy of the data folder, in which one file is made something else. */
function copyWith(place: (data: string) => string, make: (path: string) => void): string {
  const copy = join(makeFolder(), 'data');
  execFileSync('cp', ['-a', data, copy]);
  const path = place(copy);
  rmSync(path, { force: true, recursive: true });
  mkdirSync(dirname(path), { recursive: true });
  make(path);
  return copy;
}

const listed = (prefix: string) => (folder: string) => {
  const root = join(folder, 'current');
  const files = parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));
  const entry = files.find(({ path }) => path.startsWith(prefix));
  if (entry === undefined) throw new Error(`no file below ${prefix}`);
  return fileOf(root, entry.path);
};

const PLACES: readonly [string, (data: string) => string][] = [
  ['release.json', (folder) => join(folder, 'current/release.json')],
  ['files.txt', (folder) => join(folder, 'current/files.txt')],
  ['current', (folder) => join(folder, 'current')],
  ['a body', listed('record/')],
  ['the list of keys', listed('well-known/keys.json')],
  ['the checkpoint', (folder) => join(folder, 'log/checkpoint')],
  ['a tile', (folder) => join(folder, 'log/tile/0/000.p/1')],
  ['entries', (folder) => join(folder, 'log/tile/entries/000.p/1')],
  ['what a release took in', (folder) => join(folder, 'log/new/1')],
  ['a block of statements', listed('statements/000000.bin')],
  ['a look-up', listed('verify/')],
];

/** How a data folder is verified, whole and its log alone; and how that may end. */
const MODES: readonly [readonly string[], readonly number[]][] = [
  [[], [1, 2]],
  // Of the log, what is no part of it is not looked at.
  [['--log'], [0, 1, 2]],
];

describe('signalpress verify', () => {
  const cases = PLACES.flatMap(([place, at]) =>
    NOT_PLAIN.map(([kind, make]) => {
      const copy = copyWith(at, make);
      return { place, kind, ends: MODES.map(([more]) => cli(['verify', copy, ...more])) };
    }),
  );

  it.each(cases)(
    'I24: does not wait at $kind as $place',
    ({ ends }) => {
      for (const [at, [, expected]] of MODES.entries()) {
        expect(expected).toContain(ends[at]?.().status);
      }
    },
    RUNS_MS_MAX,
  );

  const head = readFileSync(join(data, 'current/release.json'), 'utf8');
  const { issuer_did } = JSON.parse(head) as { issuer_did: string };
  const plain = MODES.map(([more]) => cli(['verify', data, '--issuer', issuer_did, ...more]));

  it('reads the same release where nothing is in the way', () => {
    expect(plain.map((ended) => ended().status)).toEqual([0, 0]);
  });

  const piped = (
    [
      ['--mirror', ['body.json', '--mirror']],
      ['--trust', ['data', '--trust']],
      ['the target', []],
    ] as const
  ).map(([what, args]) => {
    const cwd = makeFolder();
    symlinkSync(data, join(cwd, 'data'));
    writeFileSync(join(cwd, 'body.json'), '{}');
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    return { what, ended: cli(['verify', ...args, 'pipe'], cwd) };
  });

  it.each(piped)('does not wait at a pipe that nobody writes into as $what', ({ ended }) => {
    expect(ended().status).toBe(2);
  });
});

describe('signalpress compile', () => {
  const refused = NOT_PLAIN.map(([what, make]) => {
    const from = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': '' });
    rmSync(join(from, '2026-11-20/crypto.spot.ndjson'));
    make(join(from, '2026-11-20/crypto.spot.ndjson'));
    const into = join(makeFolder(), 'data');
    return { what, into, ended: cli(compileArgs(into, from)) };
  });

  it.each(refused)(
    'refuses $what among the snapshots with its name, and publishes nothing',
    ({ into, ended }) => {
      const { status, stderr } = ended();
      expect(status).toBe(1);
      expect(stderr).toContain('2026-11-20/crypto.spot.ndjson not a plain file');
      expect(existsSync(join(into, 'current'))).toBe(false);
    },
  );

  const piped = (
    [
      ['the state', 'state/state.json', 0],
      ['the signatures', 'signatures', 0],
      ['the operator’s keys', 'keys.json', 1],
      ['the newest checkpoint', 'log/checkpoint', 1],
      ['a tile', 'log/tile/0/000.p/1', 1],
      ['entries', 'log/tile/entries/000.p/1', 1],
      ['the lock', '.lock', 1],
      ['the current head', 'current/release.json', 1],
      ['the current list', 'current/files.txt', 1],
    ] as const
  ).map(([what, path, expected]) => {
    const copy = copyWith(
      (folder) => join(folder, path),
      (at) => execFileSync('mkfifo', [at]),
    );
    return { what, expected, ended: cli(compileArgs(copy)) };
  });

  it.each(piped)('does not wait at a pipe as $what', ({ expected, ended }) => {
    const { status, stderr } = ended();
    expect([status, stderr]).toEqual([expected, expect.any(String)]);
    if (expected === 1) expect(stderr).toMatch(/Cannot /);
  });

  const given = (
    [
      ['a key', (pipe: string) => ['compile', '--key', pipe]],
      ['a payload', (pipe: string) => ['import', 'usgs-earthquakes', pipe]],
      ['a block header', (pipe: string) => ['anchor', 'upgrade', '--block-header', pipe]],
    ] as const
  ).map(([what, argsOf]) => {
    const pipe = join(makeFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    return { what, ended: cli(argsOf(pipe)) };
  });

  it.each(given)('does not wait at a pipe that nobody writes into as $what', ({ ended }) => {
    const { status, stderr } = ended();
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Cannot /)]);
  });

  it('takes a key from the pipe that a shell makes of a command', () => {
    const script = `"$0" "$1" compile --snapshots "$2" --as-of ${AS_OF} --key <(sleep 0.2; echo ${KEY})`;
    const args = ['-c', script, process.execPath, CLI, snapshots];
    const { status, stderr } = spawnSync('bash', args, { cwd: makeFolder(), encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
  });
});

describe('openRelease()', () => {
  it.each(NOT_PLAIN)('I24: refuses %s as a head or as a list at once', async (_, make) => {
    for (const name of ['release.json', 'files.txt']) {
      const dataDir = tinyDataDir();
      const path = join(writeTinyRelease(dataDir), name);
      rmSync(path);
      make(path);
      await expect(
        openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null }),
      ).rejects.toThrow(new RegExp(`Cannot read ".*${name}"`));
    }
  });

  it('I24: reads no more of a list than the signed count of its files allows', async () => {
    const dataDir = tinyDataDir();
    const list = join(writeTinyRelease(dataDir), 'files.txt');
    execFileSync('truncate', ['-s', '20G', list]);
    await expect(
      openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null }),
    ).rejects.toThrow(/files.txt": 21474836480 bytes, more than/);
  });
});

describe('signalpress-gate', () => {
  const gate = async (more: Readonly<Record<string, string>> = {}, cwd = makeFolder()) => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const place = { SIGNALPRESS_DATA: dataDir, SIGNALPRESS_PORT: '0' };
    const isReal = 'SIGNALPRESS_FACILITATOR_URL' in more || 'SIGNALPRESS_RELAYER_KEY' in more;
    // The tiny release names a public address.
    const env = { ...place, ...(isReal ? {} : { SIGNALPRESS_TEST_PAYMENTS: '1' }), ...more };
    const child = spawn(process.execPath, [GATE], { cwd, env });
    let stated = '';
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (chunk) => {
        stated += chunk;
      });
    }
    const exit = new Promise<number | null>((done) => child.on('close', done));
    const text = async (found: RegExp): Promise<string> => {
      for (let tries = 0; tries < 400 && !found.test(stated); tries += 1) {
        await new Promise((done) => setTimeout(done, 25));
      }
      return stated;
    };
    return { dataDir, root, child, exit, text };
  };
  /** The exit code, or that there was none in time; the process is gone in any case. */
  const stopped = async ({ child, exit }: Awaited<ReturnType<typeof gate>>) => {
    child.kill('SIGTERM');
    const late = new Promise<string>((done) => setTimeout(done, LIMIT_MS, 'still running').unref());
    const code = await Promise.race([exit, late]);
    if (code === 'still running') child.kill('SIGKILL');
    return code;
  };

  it.each(NOT_PLAIN)('I47: serves on and stops beside a new release with %s', async (_, make) => {
    const at = await gate();
    const url = /listens on (\S+)/.exec(await at.text(/listens on/))?.[1] ?? '';
    for (const [sequence, name] of ['release.json', 'files.txt'].entries()) {
      const aside = tinyDataDir();
      const path = join(writeTinyRelease(aside, { sequence: sequence + 2 }), name);
      rmSync(path);
      make(path);
      const folder = `releases/${readdirSync(join(aside, 'releases'))[0]}`;
      renameSync(join(aside, folder), join(at.dataDir, folder));
      symlinkSync(folder, join(at.dataDir, 'next'));
      renameSync(join(at.dataDir, 'next'), join(at.dataDir, 'current'));
      await at.text(new RegExp(`release_refused.*${name}`));
    }
    expect(await at.text(/x/)).toMatch(/release_refused.*release.json[\s\S]*refused.*files.txt/);
    const body = tinyFilePath(at.root, 'free/sample/~.json');
    rmSync(body);
    make(body);
    expect((await fetch(`${url}/gauge/sample`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await stopped(at)).toBe(0);
  });

  it.each([
    ['signalpress.config.json', {}],
    ['key', { SIGNALPRESS_RELAYER_KEY: 'key', SIGNALPRESS_RPC_URL: 'http://127.0.0.1:1' }],
    ['auth.mjs', { SIGNALPRESS_FACILITATOR_AUTH_MODULE: 'auth.mjs' }],
    ['state/newest-release.json', { SIGNALPRESS_STATE: 'state' }],
    ['state/payments.db', { SIGNALPRESS_STATE: 'state' }],
  ])('I47: does not start with a pipe as %s, and says so', async (path, more) => {
    const cwd = makeFolder();
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    execFileSync('mkfifo', [join(cwd, path)]);
    const pays = {
      SIGNALPRESS_PAY_TO: '0x52908400098527886E0F7030069857D2E4169EE7',
      SIGNALPRESS_FACILITATOR_URL: 'http://127.0.0.1:1',
    };
    const isRelayed = 'SIGNALPRESS_RELAYER_KEY' in more;
    const { SIGNALPRESS_FACILITATOR_URL: _, ...relayed } = pays;
    const at = await gate({ ...(isRelayed ? relayed : pays), ...more }, cwd);
    const stated = await at.text(/Cannot|listens/);
    const killer = setTimeout(() => at.child.kill('SIGKILL'), LIMIT_MS);
    expect([await at.exit, stated]).toEqual([
      1,
      expect.stringMatching(/Cannot (read|open|load|use)/),
    ]);
    clearTimeout(killer);
  });
});
