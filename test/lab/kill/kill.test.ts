import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../../compiler/cli/compile.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { built } from '../../built.ts';
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
import { optionsOf, writeBatch } from './kill-work.ts';
import { readCurrent, verifyCurrent, watch } from './watch-current.ts';

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
