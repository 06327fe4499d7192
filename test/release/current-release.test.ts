import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { currentRelease } from '../../compiler/release/current-release.ts';
import { CompileError } from '../../compiler/system/compile-error.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});
let data: string;
beforeEach(async () => {
  ({ data } = await compileFolder(snapshots));
});

/** Where the release keeps its list of blocks. */
function blocksFile(): string {
  const folder = join(data, 'files', 'statements');
  const name = readdirSync(folder).find((each) => each.startsWith('blocks'));
  return join(folder, name ?? '');
}

describe('currentRelease()', () => {
  it('reads the files of the release that is served, and knows which it does not have', () => {
    const release = currentRelease(data);
    expect(release?.read('statements/blocks.txt')?.toString('utf8')).toContain(' /gauge');
    expect(release?.read('log/checkpoint')).toBeNull();
    expect(currentRelease(join(makeFolder(), 'none'))).toBeNull();
  });

  it('refuses a file that is torn or missing, and a list that is not the one signed', () => {
    writeFileSync(blocksFile(), 'torn');
    expect(() => currentRelease(data)?.read('statements/blocks.txt')).toThrow(CompileError);
    rmSync(blocksFile());
    expect(() => currentRelease(data)?.read('statements/blocks.txt')).toThrow('never restarted');
    appendFileSync(join(data, 'current', 'files.txt'), 'more\n');
    expect(() => currentRelease(data)).toThrow(CompileError);
  });

  it('I27: refuses to begin a log again when the one before is missing or torn', async () => {
    const checkpoint = join(data, 'log', 'checkpoint');
    writeFileSync(checkpoint, 'torn');
    await expect(compileFolder(snapshots, { data })).rejects.toThrow('never shrinks or forks');
    rmSync(join(data, 'log'), { recursive: true });
    await expect(compileFolder(snapshots, { data })).rejects.toThrow('never shrinks or forks');
  });
});
