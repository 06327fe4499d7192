import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../compiler/compile.ts';
import { seeded } from '../../scripts/campaign-flips.ts';
import { optionsOf, writeBatch } from '../../scripts/kill-campaign/kill-work.ts';
import { look, runKills, type Tally } from '../../scripts/kill-campaign/run-kills.ts';
import { makeFolder, ndjson, reading, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

afterAll(removeFolders, 60_000);

/** `child FOLDER ROUND` compiles in a process of its own. */
const SCRIPT = resolve('build/scripts/campaign-kill.js');
const NOTHING: Tally = { killed: 0, finished: 0, reads: 0, broken: [] };

describe('the kill campaign, its short form', () => {
  it('I15: runKills() finds the release whole after each kill, and the next compile goes through', async () => {
    const random = seeded(5);
    const tally = await runKills({ root: makeFolder(), kills: 6, random, script: SCRIPT });
    expect(tally.broken).toEqual([]);
    expect(tally.killed).toBeGreaterThan(0);
    expect(tally.killed + tally.finished).toBe(6);
    expect(tally.reads).toBeGreaterThan(1);
  }, 60_000);

  it('look() tells a changed file, and a release that is older than one that was seen', async () => {
    const root = makeFolder();
    writeBatch(root, 0);
    const { folder } = await compile(optionsOf(root, 0));
    const tally = { ...NOTHING, broken: [] as string[] };
    expect(await look(root, tally, 1)).toBe(1);
    expect(tally.broken).toEqual([]);
    await look(root, tally, 2);
    expect(tally.broken).toEqual([expect.stringContaining('older than 2')]);
    appendFileSync(join(folder, 'files.txt'), 'x');
    await look(root, tally, 1);
    expect(tally.broken[1]).toContain('files.txt');
  }, 60_000);
});

/** One more compile of a folder as a process. */
async function compileApart(root: string, round: number) {
  const child = spawn(process.execPath, [SCRIPT, 'child', root, String(round)]);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  return { code, said };
}

describe('compile() in two processes', () => {
  it('I20: lets one of two that start together finish, and the other says that it runs', async () => {
    const coins = Array.from({ length: 400 }, (_, at) => reading(`coin-${at}`, { price_usd: at }));
    const root = makeFolder();
    writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(coins) }, join(root, 'snapshots'));
    const outcomes = await Promise.all([compileApart(root, 0), compileApart(root, 1)]);
    expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 1]);
    const refused = outcomes.find(({ code }) => code === 1);
    expect(refused?.said).toMatch(/another compile \(process \d+\) is writing here/);
    const tally = { ...NOTHING, broken: [] as string[] };
    expect(await look(root, tally)).toBe(1);
    expect(tally.broken).toEqual([]);
    expect((await compileApart(root, 2)).code).toBe(0);
    expect(await look(root, tally, 2)).toBe(2);
    expect(tally.broken).toEqual([]);
  }, 60_000);
});

/** Runs a command of the shell with a file system of a few megabytes at `$DISK`, which is gone with it. */
function onSmallDisk(command: string) {
  const mount = `mount -t tmpfs -o size=4m tmpfs "$DISK" && cd "$DISK" && ${command}`;
  const CLI = resolve('build/compiler/cli.js');
  const env = { ...process.env, DISK: makeFolder(), NODE: process.execPath, SCRIPT, CLI };
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', mount];
  return spawnSync('unshare', args, { encoding: 'utf8', env });
}
const canMount = onSmallDisk('true').status === 0;

/** A compile; two more with 0 and 256 KiB left, what is current being verified after each; a last one with room. */
const FULL_DISK = `
  step() {
    said=$("$NODE" "$SCRIPT" child . "$1" 2>&1); code=$?
    case "$said" in *ENOSPC*) why=ENOSPC ;; *) why= ;; esac
    echo "$code $why $(readlink data/current | cut -c 1-15)"
  }
  "$NODE" "$SCRIPT" batch . 0 && step 0
  for round in 1 2; do
    "$NODE" "$SCRIPT" batch . $round
    cat /dev/zero >filler 2>/dev/null
    truncate -s -$((round * 256 - 256))K filler
    step $round
    rm filler
    "$NODE" "$CLI" verify data >/dev/null && echo verified
  done
  step 3
  "$NODE" "$CLI" verify data >/dev/null && echo verified
`;

describe('compile() on a disk that is full', () => {
  it.skipIf(!canMount)(
    'I17: keeps what is there, and goes on once there is room (skipped where nothing may be mounted)',
    () => {
      const refused = ['1 ENOSPC releases/000001', 'verified'];
      expect(onSmallDisk(FULL_DISK).stdout.trim().split('\n')).toEqual([
        '0  releases/000001',
        ...refused,
        ...refused,
        '0  releases/000002',
        'verified',
      ]);
    },
    60_000,
  );
});
