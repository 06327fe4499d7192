import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../built.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);
const GATE = 'gatekeeper/signalpress-gate.js';
/** Notes every module that is loaded. */
const LOAD = `import { appendFileSync } from 'node:fs';
export function load(url, context, next) { appendFileSync(process.env.LOADED, url + '\\n'); return next(url, context); }`;
const REGISTER = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(LOAD)}`)});`;

/** What a command of the shipped program loads beside Node itself. */
function loaded(...args: string[]): { readonly status: number | null; readonly modules: string[] } {
  const cwd = makeFolder();
  const [hook, notes] = [join(cwd, 'hook.mjs'), join(cwd, 'loaded.txt')];
  writeFileSync(hook, REGISTER);
  const env = { ...process.env, LOADED: notes };
  const { status } = spawnSync(process.execPath, ['--import', hook, built(GATE), ...args], {
    cwd,
    env,
  });
  const urls = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
  return {
    status,
    modules: urls.filter((url) => !url.startsWith('node:') && !url.endsWith('hook.mjs')),
  };
}

describe('the shipped gatekeeper (needs a build)', () => {
  it('loads few modules at its start, and nothing that only commands or a chain need', () => {
    const { status, modules } = loaded('--version');
    expect(status).toBe(0);
    expect(modules.some((url) => url.endsWith('/build/gatekeeper/bundle.js'))).toBe(true);
    expect(modules.length).toBeLessThan(60);
    expect(modules.filter((url) => /viem|commander|open-chain|-command-/.test(url))).toEqual([]);
  });

  it('loads a command only when that is asked for', () => {
    for (const [command, part] of [
      ['ledger', /\/ledger-command-/],
      ['dashboard', /\/dashboard-command-/],
      ['doctor', /\/doctor-command-/],
    ] as const) {
      const { status, modules } = loaded(command, '--help');
      expect([command, status]).toEqual([command, 0]);
      expect(modules.filter((url) => part.test(url))).toHaveLength(1);
    }
  });
});
