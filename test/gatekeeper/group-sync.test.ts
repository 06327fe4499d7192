import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { groupSync } from '../../gatekeeper/group-sync.ts';

const folder = mkdtempSync(join(tmpdir(), 'group-sync-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('groupSync()', () => {
  it('resolves for everybody who asked, also while a sync is running', async () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'x');
    const sync = groupSync(path);
    const first = sync.synced();
    const others = [sync.synced(), sync.synced()];
    await expect(Promise.all([first, ...others])).resolves.toHaveLength(3);
    await expect(sync.synced()).resolves.toBeUndefined();
    sync.close();
  });

  it('rejects when there is no such file, and does not call it durable', async () => {
    const sync = groupSync(join(folder, 'absent'));
    await expect(sync.synced()).rejects.toThrow(/ENOENT/);
  });
});
