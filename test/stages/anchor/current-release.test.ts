import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { currentRelease } from '../../../compiler/stages/anchor/current-release.ts';
import { CompileError } from '../../../compiler/stages/intake/compile-error.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});
let data: string;
beforeEach(async () => {
  ({ data } = await compileFolder(snapshots));
});

/** The stored bytes of the newest checkpoint. */
function checkpointFile(): string {
  const folder = join(data, 'files', 'log');
  const name = readdirSync(folder).find((each) => each.startsWith('checkpoint'));
  return join(folder, name ?? '');
}

describe('currentRelease()', () => {
  it('reads the files of the release that is served, and knows which it does not have', () => {
    const release = currentRelease(data);
    expect(release?.read('log/checkpoint')?.toString('utf8')).toContain('example.org/log\n2\n');
    expect(release?.leaf?.head.log_index).toBe(2);
    expect(release?.read('log/none')).toBeNull();
    expect(currentRelease(join(makeFolder(), 'none'))).toBeNull();
  });

  it('I27: refuses to begin a log again when the one before is missing, torn or not listed as signed', async () => {
    writeFileSync(checkpointFile(), 'torn');
    expect(() => currentRelease(data)?.read('log/checkpoint')).toThrow(CompileError);
    await expect(compileFolder(snapshots, { data })).rejects.toThrow('never restarted');
    rmSync(checkpointFile());
    rmSync(join(data, 'log-checkpoint'));
    await expect(compileFolder(snapshots, { data })).rejects.toThrow('never restarted');
    appendFileSync(join(data, 'current', 'files.txt'), 'more\n');
    expect(() => currentRelease(data)).toThrow(CompileError);
  });
});
