import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../../compiler/cli/compile.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { built } from '../../command-runs.ts';
import { readLog, seenLog } from '../../publish/log/memory-store.ts';
import {
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { seeded } from '../campaign.ts';
import { fillDisk, mountedFill } from './disk-full.ts';
import { runKills } from './kill.ts';
import { optionsOf, readCurrent, verifyCurrent, watch, writeBatch } from './kill-work.ts';
import { callsOn, injectArgs, injectionsAt, runInjections, type TracedCall } from './syscalls.ts';

afterAll(removeFolders);

/** `child FOLDER ROUND` compiles in a process of its own. */
const SCRIPT = built('test/lab/apart.js');

describe('the kill campaign, its short form', () => {
  it('I15: runKills() finds the release whole after each kill, and the next compile goes through', async () => {
    const random = seeded(5);
    const own = { random, script: SCRIPT, readerRestMs: 100 };
    const tally = await runKills({ root: makeFolder(), kills: 3, ...own });
    expect(tally.broken).toEqual([]);
    expect(tally.killed).toBe(3);
    expect(tally.finished).toBeGreaterThan(1);
    // Readers looked at it all the while: at least one after each kill.
    expect(tally.reads).toBeGreaterThan(tally.killed);
    expect(tally.verified).toBeGreaterThan(1);
  });

  it('readCurrent() and verifyCurrent() tell a release that is older than one that was seen', async () => {
    const { root } = await compiled();
    const seen = watch();
    readCurrent(root, seen, seeded(1));
    await verifyCurrent(root, seen);
    expect(seen).toMatchObject({ reads: 1, verified: 1, newest: 1, broken: [] });
    seen.newest = 2;
    readCurrent(root, seen, seeded(1));
    await verifyCurrent(root, seen);
    const older = expect.stringContaining('older than 2');
    expect(seen.broken).toEqual([older, older]);
  });

  it.each([
    ['the list', 'list'],
    ['a file', 'file'],
  ] as const)('readCurrent() and verifyCurrent() tell a change of %s', async (_, changed) => {
    const { root, folder } = await compiled();
    const list = join(folder, FILES_NAME);
    const entry = parseFiles(readFileSync(list, 'utf8'))[0];
    const stored = join(root, 'data', storedPath(entry?.path ?? '', entry?.sha256 ?? ''));
    appendFileSync(changed === 'list' ? list : stored, 'x');
    const seen = watch();
    readCurrent(root, seen, () => 0);
    await verifyCurrent(root, seen);
    expect(seen.broken.length).toBeGreaterThanOrEqual(2);
  });
});

async function compiled(): Promise<{ root: string; folder: string }> {
  const root = makeFolder();
  writeBatch(root, 0);
  const { folder } = await compile(optionsOf(root, 0));
  return { root, folder };
}

/** One more compile of a folder as a process. */
async function compileApart(root: string, round: number) {
  const child = spawn(process.execPath, [SCRIPT, 'child', root, String(round)]);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

describe('compile() in two processes', () => {
  it('I20: lets one of two that start together finish, and the other says that it runs', async () => {
    const coins = Array.from({ length: 400 }, (_, at) => reading(`coin-${at}`, { price_usd: at }));
    const start = async () => {
      const root = makeFolder();
      writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(coins) }, join(root, 'snapshots'));
      const ends = await Promise.all([compileApart(root, 0), compileApart(root, 1)]);
      return { root, outcomes: ends, codes: ends.map(({ code }) => code).sort() };
    };
    let { root, outcomes, codes } = await start();
    // On a busy machine one may have ended before the other began; then they start again.
    for (let starts = 1; starts < 10 && codes[1] === 0; starts++) {
      ({ root, outcomes, codes } = await start());
    }
    expect(codes).toEqual([0, 1]);
    const refused = outcomes.find(({ code }) => code === 1);
    expect(refused?.output).toMatch(/another command( \(process \d+ on ".+"\))? is writing there/);
    const seen = watch();
    await verifyCurrent(root, seen);
    expect(seen.newest).toBe(1);
    await compile(optionsOf(root, 2));
    await verifyCurrent(root, seen);
    expect(seen).toMatchObject({ newest: 2, broken: [] });
  });
});

const MOUNT = 'mount -t tmpfs -o size=1m tmpfs "$1"';
const MOUNTING = ['--user', '--map-root-user', '--mount', 'sh', '-c', MOUNT, 'sh', makeFolder()];
const canMount = spawnSync('unshare', MOUNTING).status === 0;

describe('the disk campaign, its short form', () => {
  it.skipIf(!canMount)(
    'I17: fillDisk() finds what is there whole on a full disk, and goes on once there is room (skipped where nothing may be mounted)',
    () => {
      const tally = mountedFill(makeFolder(), 2, built('test/lab/apart.js'));
      expect(tally.broken).toEqual([]);
      expect(tally.refused).toBeGreaterThan(0);
      expect(tally.refused + tally.finished).toBe(2);
    },
  );

  it('I17: fillDisk() fills nothing where no point is given', async () => {
    const [disk, root] = [makeFolder(), makeFolder()];
    const tally = await fillDisk(disk, root, []);
    expect(tally).toEqual({ refused: 0, finished: 0, broken: [] });
  });
});

const TRACE = `
10 openat(AT_FDCWD</>, "/program.js", O_RDONLY) = 3</program.js>
10 openat(AT_FDCWD</>, "/data/.lock", O_WRONLY|O_CREAT) = 4</data/.lock>
11 openat(AT_FDCWD</>, "/data/file", O_RDONLY) = 5</data/file>
10 write(4</data/.lock>, "10", 2) = 2
12 syncfs(3</data>) = 0
10 rename("/data/.checkpoint.new", "/data/log/checkpoint") = 0
10 rename("/data/.current.new", "/data/current") = 0
10 +++ exited with 0 +++
`;

describe('callsOn()', () => {
  it('numbers calls by name and thread, and keeps those on the data folder', () => {
    expect(callsOn('/data', TRACE)).toEqual([
      { name: 'openat', when: 2, file: '.lock', isLate: false, isOfLog: false },
      { name: 'openat', when: 1, file: 'file', isLate: false, isOfLog: false },
      { name: 'write', when: 1, file: '.lock', isLate: false, isOfLog: false },
      { name: 'syncfs', when: 1, file: '', isLate: true, isOfLog: false },
      { name: 'rename', when: 1, file: 'log/checkpoint', isLate: true, isOfLog: true },
      { name: 'rename', when: 2, file: 'current', isLate: true, isOfLog: false },
    ]);
  });

  it('finds nothing where the folder is not named', () => {
    expect(callsOn('/elsewhere', TRACE)).toEqual([]);
  });
});

describe('injectionsAt()', () => {
  const calls = callsOn('/data', TRACE);

  it('I16: takes each fault at each call where all fit', () => {
    const made = injectionsAt(calls, 1000);
    expect(made).toHaveLength(24);
    const renames = made.filter(({ call }) => call.name === 'rename');
    expect(renames).toHaveLength(8);
    expect(new Set(renames.map(({ fault }) => fault)).size).toBe(4);
    expect(renames.map(injectArgs)).toContainEqual([
      ...['-e', 'trace=rename'],
      ...['-e', 'inject=rename:error=EIO:when=1'],
    ]);
  });

  it('takes mostly those around the switch where only some fit', () => {
    const made = injectionsAt(calls, 8);
    expect(made).toHaveLength(8);
    expect(made.filter(({ call }) => call.isLate)).toHaveLength(6);
  });
});

const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

describe('the system call campaign, its short form', () => {
  it.skipIf(!canTrace)(
    'I16: runInjections() finds a whole release after a fault at a call (skipped without strace)',
    async () => {
      const script = built('test/lab/apart.js');
      const choose = (calls: readonly TracedCall[]) =>
        calls.flatMap((call) => {
          if (call.name === 'symlink') return [{ call, fault: 'signal=KILL' }];
          return call.name === 'syncfs' ? [{ call, fault: 'error=ENOSPC' }] : [];
        });
      const tally = await runInjections({ root: makeFolder(), script, round: 1, choose });
      expect(tally).toMatchObject({ injections: 2, killed: 1, finished: 1, missed: 0 });
      expect(tally).toMatchObject({ old: 1, fresh: 1, broken: [] });
    },
  );
});

/** Folders of one release and of two, and one whose second release is another. */
let one: string;
let two: string;
let other: string;
beforeAll(async () => {
  one = makeFolder();
  writeBatch(one, 0);
  await compile(optionsOf(one, 0));
  const follow = async (batch: number): Promise<string> => {
    const root = makeFolder();
    cpSync(one, root, { recursive: true, verbatimSymlinks: true });
    writeBatch(root, batch);
    await compile(optionsOf(root, 1));
    return root;
  };
  two = await follow(1);
  other = await follow(2);
});

/** What is wrong with the log of the last of these folders, which somebody looked at one after the other. */
function wrongs(...roots: readonly string[]): string[] {
  const seen = seenLog();
  let wrong: string[] = [];
  for (const root of roots) {
    wrong = [];
    readLog(join(root, 'data'), seen, (what) => wrong.push(what));
  }
  return wrong;
}

function spoiled(spoil: (data: string) => void): string {
  const root = makeFolder();
  cpSync(two, root, { recursive: true, verbatimSymlinks: true });
  spoil(join(root, 'data'));
  return root;
}

describe('readLog()', () => {
  it('I15: takes a log that grows, and one that is what it was', () => {
    expect(wrongs(makeFolder(), one, one, two)).toEqual([]);
    expect(wrongs(one, other)).toEqual([]);
  });

  it('I15: tells one that shrinks, forks, or is gone', () => {
    expect(wrongs(two, one)).toEqual(['the log has 1 entries, and had 2']);
    expect(wrongs(two, other)).toEqual([
      'the log forks at 2 entries',
      'release 2 has another entry',
    ]);
    expect(wrongs(two, makeFolder())).toEqual(['the log is gone']);
  });

  it('tells a tile that is missing, and what a release took in that is missing or torn', () => {
    const tile = spoiled((data) => rmSync(join(data, 'log/tile/0/000.p/2')));
    expect(wrongs(tile)).toEqual([expect.stringContaining('log/tile/0/000.p/2')]);
    const gone = spoiled((data) => rmSync(join(data, 'log/new/2')));
    expect(wrongs(gone)).toEqual([expect.stringContaining('log/new/2')]);
    const torn = spoiled((data) => {
      const path = join(data, 'log/new/2');
      writeFileSync(path, readFileSync(path).subarray(32));
    });
    expect(wrongs(torn)).toEqual(['log/new/2 is not what its entry states']);
  });
});
