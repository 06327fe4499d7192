import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadedModules } from './loaded-modules.ts';
import { removeFolders } from './snapshot-folder.ts';

/** What a program loads before its first line runs: `import … from`, without types and without `import()`. */
const LOADED = /^(?:import|export) (?!type\b)(?:[^'"]*? from )?'([^']+)';$/gms;

/** Names of the packages that a source file loads, itself or by others. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const names = [...readFileSync(file, 'utf8').matchAll(LOADED)].map(([, name = '']) => name);
  return new Set(
    names.flatMap((name) =>
      name.startsWith('.') ? [...packagesOf(join(dirname(file), name), seen)] : [name],
    ),
  );
}

const cli = join(import.meta.dirname, '../compiler/cli/cli.ts');

describe('the start of signalpress', () => {
  it('loads commander and nothing else of npm', () => {
    const packages = [...packagesOf(cli)].filter((name) => !name.startsWith('node:'));
    expect(packages).toEqual(['commander']);
  });

  it('loads no HTTP client for a compile or a verification', () => {
    for (const command of ['compile', 'verify']) {
      const packages = packagesOf(join(dirname(cli), `${command}-cli.ts`));
      expect([...packages]).toEqual(expect.arrayContaining(['zod', 'node:crypto']));
      expect(packages).not.toContain('undici');
      expect(packages).not.toContain('viem');
    }
  });

  it('is read as it is loaded: the client of agencies does load undici', () => {
    expect(packagesOf(join(dirname(cli), '../sources/fetch/agency-client.ts'))).toContain('undici');
  });
});

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
