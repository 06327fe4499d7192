import { afterAll, describe, expect, it } from 'vitest';
import { loadedModules } from './loaded-modules.ts';
import { removeFolders } from './snapshot-folder.ts';

afterAll(removeFolders);
const CLI = 'compiler/signalpress.js';
const loaded = (...args: readonly string[]) => loadedModules(CLI, args);

describe('the shipped signalpress (needs a build)', () => {
  it('loads commander and a list of commands to show its help', () => {
    const { status, modules } = loaded('--help');
    expect(status).toBe(0);
    expect(modules.some((url) => url.endsWith('/build/compiler/bundle/cli.js'))).toBe(true);
    expect(modules.length).toBeLessThan(8);
    expect(modules.filter((url) => url.includes('/shared-'))).toEqual([]);
  });

  it('loads few modules for a compile, and no package beside them', () => {
    const { status, modules } = loaded('compile', '--help');
    expect(status).toBe(0);
    expect(modules.length).toBeLessThan(30);
    expect(modules.some((url) => /\/compile-[^/]+$/.test(url))).toBe(true);
    expect(modules.filter((url) => /node_modules|undici|import-command|upload/.test(url))).toEqual(
      [],
    );
  });

  it('loads no part of a compile to verify', () => {
    const { status, modules } = loaded('verify', '--help');
    expect(status).toBe(0);
    expect(modules.some((url) => url.includes('/verify-cli-'))).toBe(true);
    expect(modules.filter((url) => /compile-|signal-job|node_modules|undici/.test(url))).toEqual(
      [],
    );
  });
});
